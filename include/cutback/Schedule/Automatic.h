// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule for given costs and memory.
#ifndef CUTBACK_SCHEDULE_AUTOMATIC_H
#define CUTBACK_SCHEDULE_AUTOMATIC_H

#include "cutback/Schedule/Bound.h"
#include "cutback/Schedule/Generate.h"

namespace cutback::pipeline {

struct AutomaticRequest {
  Shape shape;
  Costs costs;
  /// Bytes of each rank, as simulate() counts them.
  int64_t memoryLimit = kNoMemoryLimit;
  /// Whether stages have I and W beside B.
  bool splitsBackwards = true;
};

struct AutomaticSchedule {
  Schedule schedule; ///< its name is "auto"
  Simulation simulation;
  /// Of all orders on all mappings that were tried.
  Bound bound;
  std::string from; ///< what it began as: "V-Half", "block 2,1,2,1"
  int tried = 0;    ///< schedules that were simulated
};

/// The fastest schedule found within the limit; of equally fast ones that of
/// the lowest peak. Never slower than a named one that is within it, whose
/// lists are candidates as they are. Others are the orders of named schedules,
/// of building blocks (arXiv 2405.15362) and of 1F1B with more forwards at the
/// beginning, with weights put where a rank would wait, or where memory asks
/// for them. The same request gives the same schedule. Nothing, with `error`
/// set, if none is within the limit. Some hundred simulations, fewer for large
/// pipelines.
std::optional<AutomaticSchedule> findSchedule(const AutomaticRequest &request,
                                              ScheduleError &error);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_AUTOMATIC_H
