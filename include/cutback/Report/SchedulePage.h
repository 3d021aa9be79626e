// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated schedule as a page for a browser.
#ifndef CUTBACK_REPORT_SCHEDULEPAGE_H
#define CUTBACK_REPORT_SCHEDULEPAGE_H

#include "cutback/Schedule/Views.h"

namespace cutback {

/// One HTML document: figures, the picture, a table of ranks. It needs neither
/// network nor script. Linear in actions.
std::string writeSchedulePage(const pipeline::ScheduleView &view);

} // namespace cutback

#endif // CUTBACK_REPORT_SCHEDULEPAGE_H
