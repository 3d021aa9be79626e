// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends and receives of lists whose compute actions are right.
#ifndef CUTBACK_LIB_SCHEDULE_TRANSFERCHECK_H
#define CUTBACK_LIB_SCHEDULE_TRANSFERCHECK_H

#include "cutback/Schedule/Check.h"

namespace cutback::pipeline {

std::optional<ScheduleError>
checkTransfers(const Schedule &schedule, const std::vector<Crossing> &crossings,
               Transfers transfers);

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_TRANSFERCHECK_H
