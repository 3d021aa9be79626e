// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cheapest layouts of an arena: an allocator as at run time, with all
// lifetimes known. What the search of orders starts with, and all there is for
// very large instances.
#ifndef CUTBACK_LIB_MEMORYPLAN_ARENASWEEP_H
#define CUTBACK_LIB_MEMORYPLAN_ARENASWEEP_H

#include "cutback/MemoryPlan/ArenaLayout.h"

#include <numeric>

namespace cutback {

using Intervals = std::vector<ArenaInterval>;

enum class Fit { Lowest, Tightest };

inline std::vector<uint32_t> identity(size_t count) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The better of two greedy layouts, in the order of time and against it, on
/// top of everything that is fixed. `sizes` are rounded up to the alignment.
/// O(n log n).
void sweepAll(const Intervals &intervals, const std::vector<int64_t> &sizes,
              ArenaLayout &layout);

} // namespace cutback

#endif // CUTBACK_LIB_MEMORYPLAN_ARENASWEEP_H
