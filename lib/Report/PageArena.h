// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arena of a plan, as a page shows it.
#ifndef CUTBACK_LIB_REPORT_PAGEARENA_H
#define CUTBACK_LIB_REPORT_PAGEARENA_H

#include "cutback/Report/Page.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cutback {

/// A step in at most Page::kMoments stretches of nearly equal numbers of ops.
struct StretchedStep {
  uint32_t numOps = 0;

  uint32_t numStretches() const { return std::min(numOps, Page::kMoments); }
  /// Stretch i has the steps from beginOf(i) to beginOf(i + 1).
  uint32_t beginOf(uint32_t stretch) const {
    return uint64_t(stretch) * numOps / numStretches();
  }
  uint32_t stretchOf(uint32_t step) const {
    uint32_t stretch = uint64_t(step) * numStretches() / numOps;
    while (stretch + 1 < numStretches() && beginOf(stretch + 1) <= step)
      ++stretch;
    return stretch;
  }
};

/// `itemOf` gives the item of a value of the view. O(n log n).
PageArena collectArena(const PartitionResult &result,
                       const StepTimeline &timeline, const StretchedStep &step,
                       llvm::function_ref<uint32_t(uint32_t)> itemOf);

} // namespace cutback

#endif // CUTBACK_LIB_REPORT_PAGEARENA_H
