// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops of checkpoint regions, which run twice with the same numbers.
#ifndef CUTBACK_DIALECT_JOINT_REPLAY_H
#define CUTBACK_DIALECT_JOINT_REPLAY_H

#include "cutback/Dialect/Joint/Joint.h"

#include <cstdint>

namespace cutback::joint {

/// Discardable op attribute `joint.replay = N`: the op is draw N of the step.
/// Whoever runs the step keeps the state of the generator in front of it, so
/// that each run of draw N gives the same numbers.
inline constexpr llvm::StringLiteral kReplay = "joint.replay";

/// Callees of the marks that PyTorch's halves have in place of numbers, each a
/// `joint.opaque` with effects right in front of a draw: one gives the state
/// of the generator that the draw begins with, the other sets it.
inline constexpr llvm::StringLiteral kSavesState =
    "higher_order.run_and_save_rng_state";
inline constexpr llvm::StringLiteral kSetsState =
    "higher_order.run_with_rng_state";

/// Discardable attribute (unit) of an unknown call: a second run gives the same
/// bits, and has no effect.
inline constexpr llvm::StringLiteral kRepeatable = "joint.repeatable";

/// What the results of a recomputed op are called besides their names.
inline constexpr llvm::StringLiteral kRecomputeSuffix = "_recompute";

/// What copies of checkpoint regions are called besides: the number of the
/// run, and in front of it how often random numbers were drawn anew.
inline constexpr llvm::StringLiteral kRunSuffix = "_run";
inline constexpr llvm::StringLiteral kFreshSuffix = "_fresh";

/// Puts `suffix` behind the names of the results of `op`, which are attribute
/// `namesId`, "names".
void addNameSuffix(mlir::Operation *op, mlir::StringAttr namesId,
                   llvm::StringRef suffix);

/// The name that the first result of `op` has in the graph: without what was
/// put behind it for a copy that computes the same.
llvm::StringRef nameInGraph(mlir::Operation *op);

/// The stream of random numbers of `op`, for a seed: a hash of the name that
/// its first result has in the graph, also where the op is recomputed, so that
/// it draws the same there.
uint64_t drawStreamOf(mlir::Operation *op);

/// Whether a second run of `op`, a random op, gives the numbers of the first.
bool isReplayed(mlir::Operation *op);

/// Numbers the random ops whose policy asks for recomputation, in program
/// order; a graph with copies has its numbers. Returns how many there are.
/// Linear.
uint64_t markReplays(GraphOp graph);

/// Numbers more random ops of `graph`, behind those that have a number.
void markReplays(GraphOp graph, llvm::ArrayRef<mlir::Operation *> draws);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_REPLAY_H
