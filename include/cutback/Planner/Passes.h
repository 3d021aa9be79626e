// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioner as passes, and the one function that builds the pipeline.
#ifndef CUTBACK_PLANNER_PASSES_H
#define CUTBACK_PLANNER_PASSES_H

#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cutback {

#define GEN_PASS_DECL
#include "cutback/Planner/Passes.h.inc"

/// Where a pipeline stops. Each phase ends with a gate that says what may be
/// in the IR behind it.
enum class Phase { Joint, Prepare, Partition };

/// Adds the passes from the imported graph up to and with `lastPhase`.
void buildCutbackPipeline(mlir::OpPassManager &pm,
                          const PartitionOptions &options,
                          Phase lastPhase = Phase::Partition);

/// Adds the passes from an exported forward program to a joint graph: what
/// `makeTrainingGraph` does. Graphs that have gradients must not come here.
void buildTrainingPipeline(mlir::OpPassManager &pm);

/// `cutback-partition` with options in place of strings.
std::unique_ptr<mlir::Pass> createPartitionStep(PartitionOptions options);

#define GEN_PASS_REGISTRATION
#include "cutback/Planner/Passes.h.inc"

/// Registers the passes up to a plan, and the pipelines of them.
void registerPlanning();

} // namespace cutback

#endif // CUTBACK_PLANNER_PASSES_H
