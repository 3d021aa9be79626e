// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of a straight-line program with few live bytes. Numbers alone, no IR.
#ifndef CUTBACK_MEMORYPLAN_SCHEDULE_H
#define CUTBACK_MEMORYPLAN_SCHEDULE_H

#include <cstdint>
#include <vector>

namespace cutback {

/// Rows of numbers of different lengths.
struct Rows {
  std::vector<uint32_t> begin{0}, list;

  void add(uint32_t number) { list.push_back(number); }
  void endRow() { begin.push_back(list.size()); }
  uint32_t size() const { return begin.size() - 1; }

  struct Row {
    const uint32_t *first, *last;
    const uint32_t *begin() const { return first; }
    const uint32_t *end() const { return last; }
  };
  Row operator[](uint32_t i) const {
    return {list.data() + begin[i], list.data() + begin[i + 1]};
  }
};

/// Ops 0 … n-1 in their present order.
struct ScheduleProblem {
  Rows depends; ///< by op: ops that must come before it; smaller numbers
  Rows reads;   ///< by op: storages that it reads, each once
  Rows makes;   ///< by op: storages that it makes
  /// By op: storages whose place its result takes if nobody reads them later;
  /// all as large as the result.
  Rows replaces;
  std::vector<int64_t> bytes;   ///< by storage
  std::vector<uint8_t> isGiven; ///< by storage: live at the start
  std::vector<uint8_t> isKept;  ///< by storage: live at the end

  uint32_t numOps() const { return depends.size(); }
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
