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

/// The fastest schedule found within the limit that adds the gradients of
/// micro-batches in their order; of equally fast ones among those tried that of
/// the lowest peak. Ends where the bound is reached. Never slower than a named
/// one that is within the limit: those are candidates as they are (LoopedBFS
/// with its backwards from the first micro-batch on, which takes as long).
/// Others are the orders of named schedules, of building blocks (arXiv
/// 2405.15362) and of 1F1B with more or fewer forwards at the beginning, with
/// weights put where a rank would wait, or where memory asks for them. The same
/// request gives the same schedule. Nothing, with `error` set, if none is
/// within the limit. Some hundred lists, fewer for large pipelines.
std::optional<AutomaticSchedule> findSchedule(const AutomaticRequest &request,
                                              ScheduleError &error);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_AUTOMATIC_H
