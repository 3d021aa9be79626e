// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of a stage as graphs.
#ifndef CUTBACK_PIPELINING_PHASEGRAPHS_H
#define CUTBACK_PIPELINING_PHASEGRAPHS_H

#include "cutback/Partition/Halves.h"
#include "cutback/Partition/Phases.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cutback {

/// Prefix of the number of a value that one phase of a stage keeps for a
/// later one, in files.
inline constexpr llvm::StringLiteral kSavedPrefix = "saved.";

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

#endif // CUTBACK_PIPELINING_PHASEGRAPHS_H
