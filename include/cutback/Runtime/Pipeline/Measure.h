// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When the actions of a rank ran and what they waited for, as a trace and as
// times that a simulation takes.
#ifndef CUTBACK_RUNTIME_PIPELINE_MEASURE_H
#define CUTBACK_RUNTIME_PIPELINE_MEASURE_H

#include "cutback/Schedule/Schedule.h"

#include <string>
#include <vector>

namespace cutback::pipeline {

/// A wait for a message of another rank; seconds since the step began.
struct MeasuredWait {
  std::string what; ///< "'value.3' of micro-batch 1 from rank 0"
  double begin = 0, end = 0;
};

/// An action that was run: after its waits it computed from `begin` to `end`,
/// in seconds since the step began.
struct MeasuredAction {
  Action action;
  std::vector<MeasuredWait> waits; ///< one after another, before `begin`
  double begin = 0, end = 0;
};

/// Of one rank and one step, in the order of its row.
using MeasuredStep = std::vector<MeasuredAction>;

/// Seconds from the start of the step to the end of its last action.
double makespanOf(const MeasuredStep &step);
/// Seconds of its actions, and of its waits.
double computedIn(const MeasuredStep &step);
double waitedIn(const MeasuredStep &step);

/// Events of Chrome's trace format, separated by commas: a name for the track
/// of `rank`, a slice for each action and one for each wait. A replica is a
/// process of the trace.
std::string traceEventsOf(int replica, int rank, const MeasuredStep &step);

/// What `cutback schedule --times` takes, a line for each stage, by number:
/// "2:F=1523.1,B=3011.7". Microseconds of computing, means over the
/// micro-batches.
std::string timesOf(const MeasuredStep &step);

/// The lines of timesOf() of all ranks, by stage.
std::string mergeTimes(const std::vector<std::string> &ofRanks);

/// Which of the steps to show: that of the median makespan, of an even number
/// the smaller one; the first of several is left out, since caches and memory
/// were cold.
size_t chooseStep(const std::vector<double> &makespans);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_MEASURE_H
