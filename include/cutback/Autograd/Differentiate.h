// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward program becomes a training graph.
#ifndef CUTBACK_AUTOGRAD_DIFFERENTIATE_H
#define CUTBACK_AUTOGRAD_DIFFERENTIATE_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Support/HookKind.h"

#include <climits>
#include <string>
#include <vector>

namespace cutback {

/// Argument attributes that differentiation reads: the argument takes a
/// gradient (unit); it is the same tensor as another one (its name).
inline constexpr llvm::StringLiteral kRequiresGrad = "joint.requires_grad";
inline constexpr llvm::StringLiteral kTied = "joint.tied";
/// Op attribute: its number in the order of the backward (30 §1), an integer.
inline constexpr llvm::StringLiteral kSequenceNr = "joint.sequence_nr";

/// Graph attribute: how many ranks groups of processes have, a dictionary of
/// integers by the name of the group.
inline constexpr llvm::StringLiteral kGroupSizes = "joint.group_sizes";

/// A place for functions of the user (`joint.hook`).
struct HookRequest {
  HookKind kind = HookKind::TensorPre;
  /// An argument, by the names of `gradOf`, a pattern over names of parameters
  /// ("*.weight"), or a value of the forward. Hooks of a node name a value that
  /// its op gives, or the argument whose gradient is accumulated.
  std::string name;
};

struct DifferentiateOptions {
  /// Arguments whose gradients are asked for, by their name, by the name in
  /// their role, or "input.N". Empty: all that take a gradient, which are those
  /// with `joint.requires_grad`, or, where no argument has it, the
  /// floating-point parameters.
  std::vector<std::string> gradOf;
  /// Numbers of the forward results to differentiate. Empty: result 0 if it is
  /// a floating-point scalar, else all floating-point results that depend on
  /// an argument that takes a gradient.
  std::vector<unsigned> lossOutputs;
  /// Results from this number on have a tangent, scalars too: what is asked of
  /// them is a product with a vector that is given.
  unsigned firstVector = UINT_MAX;
  /// Sequence numbers of the nodes of ops, by the name of a value that the op
  /// computes; as with kSequenceNr, which they go over.
  std::vector<std::pair<std::string, uint64_t>> sequence;
  /// Communication of the backward starts as early as data allow, and waits for
  /// it stand where they are first read.
  bool collectivesFirst = false;
  /// Ranks of groups, by their names: they go over those of kGroupSizes.
  std::vector<std::pair<std::string, int64_t>> groupSizes;
  std::vector<HookRequest> hooks;
};

/// Reads "VALUE=N" into `options.sequence`. False, with a sentence in `error`,
/// if it is no such text, or a value has two numbers.
bool addSequence(llvm::StringRef text, DifferentiateOptions &options,
                 std::string &error);

/// Appends the backward to a forward-only graph of functional ops, in place:
/// an argument `grad_seed of N` for a scalar result N that is differentiated,
/// `tangent of N` for another one; the VJPs in the order of PyTorch's engine
/// (NodeGraph.h); the gradients as results. Regions of `joint.checkpoint` are
/// flattened first. A `joint.hook` stands wherever the engine runs one that is
/// asked for. Arguments tied to each other all get the whole sum.
/// An argument on which no differentiated result depends has no gradient.
///
/// Every backward op has the location of its forward op, with its BackwardKey,
/// and results with names that no other value has.
///
/// Fails, with an error at the op or at the graph, which is then half done.
/// O(ops log ops), and what the VJPs cost.
llvm::LogicalResult differentiate(joint::GraphOp graph,
                                  const DifferentiateOptions &options = {});

/// By argument: the first one that is the same tensor (kTied), itself where
/// there is none. Fails with an error at the graph where one is tied to
/// nothing, or to another type.
mlir::FailureOr<std::vector<unsigned>> findTied(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_DIFFERENTIATE_H
