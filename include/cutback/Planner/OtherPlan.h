// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a partition costs that somebody else made, by the measures of our own.
#ifndef CUTBACK_PLANNER_OTHERPLAN_H
#define CUTBACK_PLANNER_OTHERPLAN_H

#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

struct OtherFigures {
  int64_t peakBytes = 0; ///< as PartitionResult::peak
  int64_t pricedPs = 0;  ///< as PartitionResult::pricedPs
};

/// Peak and extra time of halves of `graph` that hand over `saved`, values of
/// the graph (null ones are left out), with everything else that the backward
/// needs recomputed, scheduled and with an arena planned as our own plans are.
/// The graph is not changed. Fails, with an error, if no halves follow from
/// that: an op would run twice that we never run twice. Linear, and the work of
/// the memory plan.
mlir::FailureOr<OtherFigures> figureOther(joint::GraphOp graph,
                                          llvm::ArrayRef<mlir::Value> saved,
                                          const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PLANNER_OTHERPLAN_H
