// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stages with their backward.
#ifndef CUTBACK_PIPELINING_STAGEGRAPHS_H
#define CUTBACK_PIPELINING_STAGEGRAPHS_H

#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Planner/TrainingGraph.h"

namespace cutback {

/// Makes each stage of `program` a training graph, from the last to the first:
/// what it sends has a gradient if a user gives one, and a stage whose results
/// get none stays a forward program. The loss is `loss`, or with `lossOutputs`
/// these results of the model; without one, all results that could have a
/// gradient are given it (`tangent.N`). CrossingValue::hasGradient is known
/// then. Of `options` the rest is for every stage. Errors are emitted where
/// they belong.
mlir::LogicalResult differentiateStages(CutProgram &program,
                                        const TrainingGraphOptions &options);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGEGRAPHS_H
