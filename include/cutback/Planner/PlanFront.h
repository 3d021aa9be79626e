// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which time the step takes within which memory.
#ifndef CUTBACK_PLANNER_PLANFRONT_H
#define CUTBACK_PLANNER_PLANFRONT_H

#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

/// What `memoryLimit` gives.
struct FrontPoint {
  int64_t limitBytes = 0, peakBytes = 0;
  int64_t pricedPs = 0; ///< as PlanFigures::pricedPs
};

/// Plans for `count` limits at equal distances, from the least peak that is
/// found to that of the fastest plan: those of asking for the limits.
/// By rising limit and peak and falling time; limits at which a plan is no
/// better than that of a lower one, or found to be no better than that of a
/// higher one, are left out. `options` have no objective of their own. `graph`
/// is as it was read, and stays so. `before` is called with the number of each
/// limit. Fails with an error at the graph where a plan fails.
mlir::FailureOr<std::vector<FrontPoint>>
planFront(joint::GraphOp graph, const PartitionOptions &options, unsigned count,
          llvm::function_ref<void(unsigned)> before);

} // namespace cutback

#endif // CUTBACK_PLANNER_PLANFRONT_H
