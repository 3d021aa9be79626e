// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated schedule to look at.
#ifndef CUTBACK_SCHEDULE_VIEWS_H
#define CUTBACK_SCHEDULE_VIEWS_H

#include "cutback/Schedule/Bound.h"

namespace cutback::pipeline {

/// A schedule, what came of it, and what it was simulated with.
struct ScheduleView {
  const Schedule &schedule;
  const Costs &costs;
  const Simulation &simulation;
  Bound bound;
};

/// "InterleavedZeroBubble: 4 ranks, 8 stages, 8 micro-batches".
std::string titleOf(const Schedule &schedule);
/// "makespan 27.00 us, largest bubble 3.00 us (11.1 %, 3 forwards of a stage)".
std::string summaryOf(const ScheduleView &view);

/// Title, summary, a row for each rank with time from left to right, at most 80
/// columns, and a table of ranks. Nothing of memory where nothing has bytes.
std::string formatTimeline(const ScheduleView &view);

/// One JSON object; docs/Schedules.md describes it. Times in picoseconds.
std::string writeScheduleJson(const ScheduleView &view);

/// The Trace Event Format (Perfetto, chrome://tracing): a track for each rank
/// and a counter of its bytes.
std::string writeScheduleTrace(const ScheduleView &view);

/// A picture: bars of actions for each rank, and below them its memory, where
/// something has bytes. `isPart` leaves out what a page has of its own: colours
/// and fonts.
std::string writeScheduleSvg(const ScheduleView &view, bool isPart = false);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_VIEWS_H
