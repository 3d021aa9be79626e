// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a graph to a plan of the whole step, memory included: what every command
// gives that is asked for a plan, and every figure of a plan beside it.
#ifndef CUTBACK_PLANNER_PLANNER_H
#define CUTBACK_PLANNER_PLANNER_H

#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

/// Prepares and partitions `graph`, under the objective that the options ask
/// for. The result knows the choice that it was made by: strategy, byte price,
/// cost model and rules may be others than those that were asked for. The body
/// of `graph` may be another one afterwards.
///
/// `minimize` time: the minimum cut of time and bytes, each byte at its own
/// price, but never with a larger arena than the reference
/// decision, which is PyTorch's (its rules of 2.13), nor with one as large and
/// more time. Where it would be so: of the corners of the front of time and
/// bytes (PriceSweep.h), on the graph as we prepare it and as PyTorch does, and
/// of the reference decision, the fastest by kernels whose arena is not;
/// `passedOver` says so. So it is for the roofline model without a price and
/// where all sizes are known, if `options.withinTorchPeak`; else the plan is
/// what the options say. Costs a second plan, and one without an arena for each
/// corner where the first is not taken. Above `kFullComparisonOps` the one of
/// the minimum cut and the reference decision whose peak op by op is lower.
///
/// `minimize` peak: the least arena of all these corners, all strategies, and
/// PyTorch's decisions under all rules; of equal ones the one that takes least
/// time. So it is never larger than that of any plan without policies that can
/// be asked for; and from the best of them on, values that are saved at the
/// peak are recomputed one by one as long as that lowers it
/// (`PlanChoice::recompute`). Where no arena can be planned it is the peak op
/// by op that counts. `search` says how many plans were looked at, and whether
/// the graph is so large that corners were left out. Fails if no plan is
/// possible.
///
/// A plan that a check refuses (of kernels, arena or halves, or the options'
/// own) is not taken, but one of a strategy without a cut; `refused` says why.
/// Fails with what was found in the first if all are refused.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planStep(joint::GraphOp graph, const PartitionOptions &options);

/// A plan of a copy of a graph.
struct CopiedPlan {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< the copy and its halves
  std::unique_ptr<PartitionResult> result;
};

/// planStep() of a copy of `graph`, which is as it was read: the figures of the
/// result are those that asking for such a plan gives.
mlir::FailureOr<CopiedPlan> planCopy(joint::GraphOp graph,
                                     const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PLANNER_PLANNER_H
