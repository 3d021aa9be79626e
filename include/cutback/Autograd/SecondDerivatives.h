// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of a joint graph as values that can be differentiated again.
#ifndef CUTBACK_AUTOGRAD_SECONDDERIVATIVES_H
#define CUTBACK_AUTOGRAD_SECONDDERIVATIVES_H

#include "cutback/Autograd/Differentiate.h"

namespace cutback {

/// Adds `weight` times the sum of squares of the gradient of `argument` to the
/// loss.
struct GradientPenalty {
  std::string argument; ///< as in DifferentiateOptions::gradOf
  double weight = 0;
};

struct SecondDerivativeOptions {
  /// Results to differentiate: "loss", "output.N", "grad.NAME" ("grad.input.N"
  /// of an input). Empty: the loss, with its penalties.
  std::vector<std::string> of;
  std::vector<GradientPenalty> penalties;

  bool isAsked() const { return !of.empty() || !penalties.empty(); }
  /// The first gradients that are read: `gradOf` of the first differentiation.
  std::vector<std::string> firstGradients() const;
};

/// Turns a graph that has gradients into one that has none, ready for
/// `differentiate`: the seed of a scalar becomes the number one, a tangent an
/// input; gradients that `of` names become forward results, behind the others;
/// penalties are added to the loss. Gradients that nobody names go. `next` is
/// told which results `of` names, and which of them are gradients.
///
/// Fails, with an error at the graph, where a name is that of no result, or a
/// penalty has no loss to be added to. Linear.
llvm::LogicalResult openGradients(joint::GraphOp graph,
                                  const SecondDerivativeOptions &options,
                                  DifferentiateOptions &next);

/// A graph that brings its backward records detach() as an alias: those that
/// its forward results depend on become detach() again. For a graph as it was
/// read: making it functional takes aliases away.
llvm::LogicalResult detachAliases(joint::GraphOp graph);

/// Checks at run time (`joint.assert`) that the gradients that a graph brings
/// are those of its forward, which is differentiated anew for it. What was not
/// differentiated through (no_grad) is not in such a program; where it makes a
/// difference, the run stops with an error that names the argument.
///
/// Fails, with an error, where the forward cannot be differentiated. Linear.
llvm::LogicalResult checkGivenGradients(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_SECONDDERIVATIVES_H
