// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three functions in the place of two halves: forward, input gradients, weight
// gradients. The middle one is on the critical path of a pipeline, the last one
// fills its bubbles (docs/Rationale/ThreeWayCut.md).
#ifndef CUTBACK_PARTITION_PHASES_H
#define CUTBACK_PARTITION_PHASES_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/GraphView.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/Halves.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace cutback {

/// Where an op belongs, whatever the plan.
enum class PhaseKind : uint8_t {
  /// F and what of X may run twice and has no effect: may run in any phase. The
  /// rest of X runs in the forward.
  Forward,
  /// Needed by the gradient of an input: runs in the input phase.
  Input,
  /// Other ops of the backward: one of the two phases runs them.
  Weight
};

struct PhaseKinds {
  std::vector<PhaseKind> ops; ///< by op
  /// By op of `Weight`: it must run in the weight phase, for it, or one that it
  /// is computed from, has an effect or must run once, or reads what the phase
  /// writes before it. By op of the others: it must run once.
  std::vector<uint8_t> pinned;
  /// By op of `Forward`: it must not run in the weight phase, for the input
  /// phase writes an argument that it reads.
  std::vector<uint8_t> notInWeight;
  /// Numbers of the gradients (of GraphView::gradients()) of arguments with
  /// role input, and of all others.
  std::vector<uint32_t> inputGradients, weightGradients;

  /// The input phase has the ops of the backward that its gradients need;
  /// effects that come before one of those; and readers and writers of an
  /// argument that have to come before them. With `severalInFlight`, where
  /// phases of other micro-batches run in between, what reads an argument that
  /// is written anywhere runs once. Linear.
  static PhaseKinds compute(const GraphView &view, const GraphSets &sets,
                            bool severalInFlight = false);
};

/// What is handed over: by value, 0 or 1. What a phase needs and is not given
/// it computes; what may run only once is handed over whether the plan says so
/// or not, and so is an argument.
struct PhasePlan {
  std::vector<uint8_t> toInput;  ///< by the forward
  std::vector<uint8_t> toWeight; ///< by the input phase
};

/// The three parts as numbers, before any IR is made.
struct Phases {
  std::vector<uint32_t> forwardOps, inputOps, weightOps; ///< as they will run
  /// Handed over; values that are no tensors first.
  std::vector<uint32_t> toInput, toWeight;
  /// Arguments of the forward, and those that only the backward takes
  /// (tangents, seeds); in argument order.
  std::vector<uint32_t> forwardArgs, backwardArgs;
  /// By op: it runs in the phase, and has run in an earlier one.
  std::vector<uint8_t> againInInput, againInWeight;
};

/// Computes the parts from what has to come out of each, last phase first.
/// Recomputed ops stand right before what first needs them. Linear.
Phases splitPhases(const GraphView &view, const GraphSets &sets,
                   const PhaseKinds &kinds, const PhasePlan &plan);

/// Fails with an error at the graph if an argument that one phase writes is
/// read or written by another one: with several micro-batches in flight their
/// order is the schedule's. Linear.
mlir::LogicalResult verifyInFlight(const GraphView &view, const Phases &phases);
/// The same of two halves.
mlir::LogicalResult verifyInFlight(const GraphView &view, const Halves &halves);

/// A value that one phase hands to a later one.
struct HandedValue {
  std::string name; ///< of the value in the graph
  /// The argument of the graph that it is, or -1. Parameters, buffers and
  /// constants (outlivesStep) are there in every phase: they need no memory.
  int argument = -1;
};

/// The functions, and what their arguments and results are, by position:
///
///   @g_forward  takes   the graph's arguments but `backwardArgs`
///               returns the graph's forward results, `toInput`
///   @g_input    takes   `toInput`, `backwardArgs`
///               returns the gradients of `inputGradientOf`, `toWeight`
///   @g_weight   takes   `toWeight`
///               returns the gradients of `weightGradientOf`
///
/// Handed values that are no tensors come before those that are. A
/// `joint.write` in a phase has the argument of the function that carries the
/// graph's argument as its destination: in @g_forward that argument itself, in
/// the other two a handed value whose `argument` says which it is. Names of
/// arguments are in `joint.name`; handed ones have the role `saved`.
struct PhaseFunctions {
  mlir::func::FuncOp forward, input, weight;
  unsigned numForwardResults = 0;
  std::vector<HandedValue> toInput, toWeight;
  /// Arguments of the graph that only the backward takes (tangents, seeds), in
  /// their order.
  std::vector<unsigned> backwardArgs;
  /// Arguments of the graph whose gradients are the first results of `input`,
  /// and the results of `weight`, in the order of the graph's gradients.
  std::vector<int> inputGradientOf, weightGradientOf;
};

/// Writes the three functions after the graph. Linear.
PhaseFunctions emitPhases(const GraphView &view, const Phases &phases,
                          const PhaseKinds &kinds);

/// Erases the three functions.
void erasePhases(PhaseFunctions &phases);

/// The certificate of halves (verifyHalves) for the forward, and as the
/// backward the input phase followed by the weight phase, linked as
/// PhaseFunctions says: results, gradients and effects are those of the graph,
/// and effects have its order. Fails with its errors, and where a handed value
/// and the argument that takes it differ in type, or the value shares the
/// storage of an argument that the input phase writes. Linear.
mlir::LogicalResult verifyPhases(joint::GraphOp graph,
                                 const PhaseFunctions &phases);

} // namespace cutback

#endif // CUTBACK_PARTITION_PHASES_H
