// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ops of a forward program would cost as parts of stages.
#ifndef CUTBACK_PIPELINING_STAGETIMES_H
#define CUTBACK_PIPELINING_STAGETIMES_H

#include "cutback/Pipelining/BalanceStages.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/TrainingGraph.h"

namespace cutback {

/// Of `graph`, functional and without markers: the time of each op and its
/// backward by the kernels of a plan that saves everything, and the bytes that
/// cross each boundary as cutGraph() would have it. The plan is made of a copy.
/// Fails where there is no plan.
mlir::FailureOr<StageCosts>
computeStageCosts(joint::GraphOp graph, const TrainingGraphOptions &gradients,
                  const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGETIMES_H
