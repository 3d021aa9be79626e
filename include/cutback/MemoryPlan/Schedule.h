// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of a straight-line program with few live bytes. Numbers alone, no IR.
#ifndef CUTBACK_MEMORYPLAN_SCHEDULE_H
#define CUTBACK_MEMORYPLAN_SCHEDULE_H

#include "cutback/Support/LiveProblem.h"

namespace cutback {

/// What is live, and what must come before what.
struct ScheduleProblem : LiveProblem {
  Rows depends; ///< by op: ops that must come before it; smaller numbers

  /// As LiveProblem::check. Linear.
  std::string check() const;
};

struct Schedule {
  std::vector<uint32_t> order; ///< ops as they run
  int64_t peakBefore = 0, peakAfter = 0;
  uint32_t moves = 0; ///< improvements that were made
  /// Proved by a minimum cut: no order has a lower peak.
  bool isLeast = false;
};

/// Most bytes that are live while an op runs, in `order`. Linear.
int64_t schedulePeak(const ScheduleProblem &problem,
                     const std::vector<uint32_t> &order);

/// An order whose peak is not above that of the present one. `work` bounds the
/// search, in ops looked at; it ends sooner where the op at the peak shows that
/// no order has a lower one. Deterministic.
Schedule improveSchedule(const ScheduleProblem &problem,
                         uint64_t work = 20'000'000);

/// True if `order` is a permutation in which everything comes behind what it
/// depends on.
bool isTopological(const ScheduleProblem &problem,
                   const std::vector<uint32_t> &order);

/// The least peak of all orders: the reference of the tests, for up to 9 ops.
int64_t leastPeak(const ScheduleProblem &problem);

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_SCHEDULE_H
