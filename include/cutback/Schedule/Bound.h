// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no schedule can beat.
#ifndef CUTBACK_SCHEDULE_BOUND_H
#define CUTBACK_SCHEDULE_BOUND_H

#include "cutback/Schedule/Simulate.h"

#include <limits>

namespace cutback::pipeline {

inline constexpr int64_t kNoMemoryLimit = std::numeric_limits<int64_t>::max();

/// What is to be scheduled: stages on ranks, whatever the order.
struct Problem {
  int ranks = 1, microBatches = 1;
  std::vector<int> rankOfStage;
  bool isForwardOnly = false;
  Costs costs;
  /// Bytes of a rank, as simulate() counts them.
  int64_t memoryLimit = kNoMemoryLimit;
};
/// That of a schedule, without a limit.
Problem problemOf(const Schedule &schedule, const Costs &costs);

/// A time that no order of F and B, or of F, I and W, ends before, and why.
struct Bound {
  int64_t makespan = 0; ///< picoseconds
  std::string reason;   ///< "rank 3 has 24.00 us of work from 3.00 us on"
};

/// The largest of, for each rank: its work after the first micro-batch can have
/// reached it; its work but for the forwards that memory has room for, after
/// the first gradient can have reached it; bytes of slots times the time for
/// which each must be held, divided by the bytes that there are. And the way of
/// one micro-batch through all stages and back. Stages times crossings.
Bound boundMakespan(const Problem &problem);

/// The bytes that a rank needs at least, with one micro-batch at a time.
int64_t leastBytes(const Problem &problem, int rank);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_BOUND_H
