// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors about a place of a schedule.
#ifndef CUTBACK_LIB_SCHEDULE_FAULTS_H
#define CUTBACK_LIB_SCHEDULE_FAULTS_H

#include "cutback/Schedule/Schedule.h"

namespace cutback::pipeline {

struct Place {
  const Schedule &schedule;
  int rank, step;
};

/// "rank 1, step 5: MESSAGE"; the note ends with the grid, the place marked.
inline ScheduleError fault(const Place &place, const std::string &message,
                           const std::string &nextStep) {
  return {"rank " + std::to_string(place.rank) + ", step " +
              std::to_string(place.step) + ": " + message,
          nextStep + "\n" + formatGrid(place.schedule, place.rank, place.step)};
}

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_FAULTS_H
