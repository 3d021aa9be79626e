// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan says which values are saved; the halves follow from it.
#ifndef CUTBACK_PARTITION_HALVES_H
#define CUTBACK_PARTITION_HALVES_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/GraphView.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cutback {

/// The decision of a strategy: the values that the forward hands over.
/// Everything else that the backward needs is computed there.
struct Plan {
  std::vector<uint8_t> saved; ///< by value number, 0 or 1
  /// What is handed over whether an op of the backward reads it or not: sizes
  /// that are the symbols of what it is given; what was decided on other ops.
  /// By value; may be empty.
  std::vector<uint8_t> bound;
  /// Why (one of a fixed list of phrases), by value; empty for values that are
  /// not saved. May be left empty as a whole.
  std::vector<const char *> reason;
};

/// Both halves of a graph as numbers (20-partition §6), before any IR is made.
struct Halves {
  std::vector<uint32_t> forwardOps;  ///< in program order
  std::vector<uint32_t> backwardOps; ///< in the order they will run
  /// Ops in both, and copies of the runs of checkpoint regions in the backward,
  /// in program order.
  std::vector<uint32_t> recomputed;
  std::vector<uint32_t> savedSizes;   ///< values of type index, f64 or i1
  std::vector<uint32_t> savedTensors; ///< arguments among them too
  /// Tangents, gradient seed and backward random seeds: arguments that only
  /// the backward takes, in argument order.
  std::vector<uint32_t> backwardArgs;
  /// The others, in argument order: all are arguments of the forward.
  std::vector<uint32_t> forwardArgs;
};

/// The two functions that stand for a plan, and their link.
struct Partition {
  mlir::func::FuncOp forward, backward;
  joint::PartitionOp link;
};

/// Computes the halves: forward = what forward results, forward effects and
/// saved values need; backward = the rest, from saved values, tangents, seeds;
/// saved values that the backward does not use are dropped. Fails with an
/// error at the op if the plan makes the backward run an op a second time that
/// must not be recomputed, or reads an argument after it was written. Linear.
mlir::FailureOr<Halves> splitGraph(const GraphView &view, const GraphSets &sets,
                                   const Plan &plan);

/// Writes `@<graph>_forward`, `@<graph>_backward` and `joint.partition` behind
/// `place`, which is the graph, or that of which it is a copy. A copy in the
/// backward of an op that the forward runs too is called NAME_recompute and
/// carries `joint.recompute = <number>`. Linear, about 200 ns an op.
Partition emitHalves(const GraphView &view, const Halves &halves,
                     joint::GraphOp place);
Partition emitHalves(const GraphView &view, const Halves &halves);

/// What the name of a partition has behind that of its graph.
inline constexpr llvm::StringLiteral kPartitionSuffix = "_partition";

/// The graph that a partition is of; null if it names none.
joint::GraphOp graphOf(joint::PartitionOp partition);

/// Erases `graph`; its partitions stay and name no graph.
void eraseGraph(joint::GraphOp graph);

/// Erases both functions and their link.
void erasePartition(Partition &partition);

} // namespace cutback

#endif // CUTBACK_PARTITION_HALVES_H
