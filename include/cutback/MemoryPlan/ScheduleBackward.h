// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward in an order that needs less memory.
#ifndef CUTBACK_MEMORYPLAN_SCHEDULEBACKWARD_H
#define CUTBACK_MEMORYPLAN_SCHEDULEBACKWARD_H

#include "cutback/MemoryPlan/Schedule.h"
#include "cutback/MemoryPlan/StepView.h"

namespace cutback {

/// The backward of a step: op i of the problem is its launch number i, the
/// terminator left out. Sizes are rounded up to `alignment`; what lies inside a
/// launch weighs nothing. Launches with effects and random ops without a seed
/// keep their order, and so do readers and writers of an argument that is
/// written. Linear.
ScheduleProblem makeScheduleProblem(const StepView &step,
                                    int64_t alignment = 64);

struct ScheduleOutcome {
  int64_t peakBefore = 0, peakAfter = 0; ///< of the backward, in bytes
  bool isChanged = false;
  bool isLeast = false; ///< proved: no order of the backward has a lower peak
  /// By place in the new order: the place in the old one, of ops and of
  /// launches. Empty if unchanged.
  std::vector<uint32_t> order, launchOrder;
  /// Of `joint.launches`; empty where the backward has no such attribute.
  std::vector<int32_t> launchSizes;
};

/// Reorders the launches of a step's backward where that lowers its planned
/// peak: views, copies and places taken over as the memory plan counts them.
/// The peak is never above that of the order it had, and no launch is torn.
/// `step` is of the old order then.
ScheduleOutcome scheduleBackward(const StepView &step,
                                 uint64_t work = 20'000'000);

/// The same, from a partition. Fails as StepView::ofPartition does. `graph`
/// may be null.
mlir::FailureOr<ScheduleOutcome>
scheduleBackward(joint::PartitionOp partition, joint::GraphOp graph,
                 const llvm::StringMap<int64_t> &symbols,
                 uint64_t work = 20'000'000);

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_SCHEDULEBACKWARD_H
