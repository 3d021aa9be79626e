// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stages with their backward, and the phases of a stage.
#ifndef CUTBACK_PIPELINING_STAGEGRAPHS_H
#define CUTBACK_PIPELINING_STAGEGRAPHS_H

#include "cutback/Partition/Halves.h"
#include "cutback/Partition/Phases.h"
#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

namespace cutback {

/// In front of the number of a value that one phase of a stage keeps for a
/// later one, in files.
inline constexpr llvm::StringLiteral kSavedPrefix = "saved.";

/// Makes each stage of `program` a training graph, from the last to the first:
/// what it sends has a gradient if a user gives one, and a stage whose results
/// get none stays a forward program. The loss is `loss`, or with `lossOutputs`
/// these results of the model; without one, all results that could have a
/// gradient are given it (`tangent.N`). CrossingValue::hasGradient is known
/// then. Of `options` the rest is for every stage. Errors are emitted where
/// they belong.
mlir::LogicalResult differentiateStages(CutProgram &program,
                                        const TrainingGraphOptions &options);

/// A phase: a graph without gradients of its own, whose arguments and results
/// all have names in files.
struct PhaseGraph {
  std::string name; ///< "forward", "backward", "input", "weight"
  mlir::OwningOpRef<mlir::ModuleOp> module;
  joint::GraphOp graph;
};

/// The phases of `stage` by the functions of a plan (emitPhases): `forward`;
/// `input` and `weight`, or `backward`, which is both of them in one. A phase
/// takes what another one hands over by its name in files: that of an argument
/// or of a result which it is, else `saved.K`. A stage without gradients has
/// its forward alone. Fails with an error at the stage if a size would be
/// handed over. Linear.
mlir::FailureOr<std::vector<PhaseGraph>>
makePhases(joint::GraphOp stage, const PhaseFunctions &functions);

/// The same from a plan of two halves: `forward`, and `backward` if there is
/// one.
mlir::FailureOr<std::vector<PhaseGraph>> makePhases(joint::GraphOp stage,
                                                    const Partition &partition);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGEGRAPHS_H
