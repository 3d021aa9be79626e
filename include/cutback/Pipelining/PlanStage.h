// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of a stage: what it saves, and the launches of its phases.
#ifndef CUTBACK_PIPELINING_PLANSTAGE_H
#define CUTBACK_PIPELINING_PLANSTAGE_H

#include "cutback/Pipelining/DescribeStage.h"
#include "cutback/Planner/ThreeWay.h"

namespace cutback {

struct StagePlanRequest {
  /// Of the stage's graph: device, sizes, policies, and with `isWhole` all that
  /// decides a plan.
  PartitionOptions partition;
  /// One backward, planned as that of a step (planStep); else input and weight
  /// gradients can run apart (partitionThreeWay).
  bool isWhole = false;
  /// Of the same stage for micro-batches of another size, or null: phases hand
  /// over what those of it do (ThreeWayOptions::as). Not with `isWhole`.
  const HandedNames *as = nullptr;
};

/// A phase with its launches in an arena.
struct PlannedPhase {
  PhaseGraph phase;
  std::string text; ///< of its module, as it was planned
  std::unique_ptr<PartitionResult> plan;
};

struct PlannedStage {
  PipelineStage stage; ///< its phases have no checksums yet
  std::vector<PlannedPhase> phases;
  HandedNames handed; ///< with gradients, and not with `isWhole`
};

/// Plans the launches of a phase, on the device of `options`, and adds it to
/// `stage`. Fails with an error at the graph.
mlir::FailureOr<PlannedPhase> planPhase(PhaseGraph phase,
                                        const PartitionOptions &options,
                                        PipelineStage &stage);

/// Plans stage `number` of `program` and its phases. The program stays as it
/// is: plans are made of copies. Fails with an error at the stage.
mlir::FailureOr<PlannedStage> planStage(const CutProgram &program,
                                        unsigned number,
                                        const StageFacts &facts,
                                        const StagePlanRequest &request);

} // namespace cutback

#endif // CUTBACK_PIPELINING_PLANSTAGE_H
