// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a graph to a plan of the whole step, memory included; and the partition
// that needs least of it.
#ifndef CUTBACK_PIPELINES_PEAKPLAN_H
#define CUTBACK_PIPELINES_PEAKPLAN_H

#include "cutback/Pipelines/PartitionPipeline.h"

namespace cutback {

/// Prepares and partitions `graph` as `options.minimize` says. The result knows
/// the options that it was made with: byte price and cost model may be others
/// than those that were asked for.
///
/// For time that is the minimum cut, but never with a larger arena than
/// PyTorch's decision (its rules of 2.13): where it would be larger, the
/// fastest plan, by kernels of fused ops, of PyTorch's decision and minimum
/// cuts under small prices of a byte whose arena is not; `passedOver` says so.
/// So it is for the roofline model without a price and where all sizes are
/// known, if `options.withinTorchPeak`; else the plan is what the options say.
/// Costs a second plan, and up to seven more where the first is not taken;
/// above `kFullComparisonOps` none: then it is PyTorch's decision that is
/// taken. The body of `graph` may be another one afterwards.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planStep(joint::GraphOp graph, const PartitionOptions &options);

/// Prepares `graph` and takes the minimum cut whose step has the smallest
/// planned arena, of those under rising prices of a saved byte, on the graph as
/// we prepare it and as PyTorch does, and of PyTorch's own decision (its rules
/// of 2.13); of equal ones the first, which costs least time. So the arena is
/// never larger than that of PyTorch's decision. Where no arena can be planned
/// it is the peak op by op that counts. Fails if no plan is possible. Costs up
/// to sixteen plans.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planForPeak(joint::GraphOp graph, const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PIPELINES_PEAKPLAN_H
