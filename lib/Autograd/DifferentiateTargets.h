// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arguments take a gradient, and which are one tensor.
#ifndef CUTBACK_LIB_AUTOGRAD_DIFFERENTIATETARGETS_H
#define CUTBACK_LIB_AUTOGRAD_DIFFERENTIATETARGETS_H

#include "cutback/Autograd/Differentiate.h"

#include <set>

namespace cutback {

/// Whether a value of this type may have a gradient: a tensor of floats, real
/// or complex.
bool isDifferentiable(mlir::Type type);
/// Whether a gradient of a result may go on to operand `operand`. An op without
/// rules lets it: that it has none is an error where a gradient arrives.
bool mayPassGradient(mlir::Operation *op, unsigned operand);

/// The arguments of findGradientTargets() (Activity.h).
std::set<unsigned> takeGradient(joint::GraphOp graph);

struct GradientTargets {
  /// Arguments that take a gradient, tied ones together, in the order of the
  /// first of each.
  std::vector<std::vector<unsigned>> groups;
  /// Those whose gradient is a result.
  std::set<unsigned> wanted;

  bool isWanted(unsigned group) const;
  /// "'w', 'b'", or "none".
  std::string describe(joint::GraphOp graph) const;
};

/// The argument called `name`: by its own name, by that in its role, or
/// "input.N", the N-th input. -1 for none.
int findArgument(joint::GraphOp graph, llvm::StringRef name);

/// Says what a program has a detach for, which its author may not have written.
void noteDetach(mlir::InFlightDiagnostic &diagnostic);

/// Fails, with an error at the graph, if it has a backward already, or an
/// option or an attribute names what is not there.
llvm::LogicalResult chooseTargets(joint::GraphOp graph,
                                  const DifferentiateOptions &options,
                                  GradientTargets &targets);

} // namespace cutback

#endif // CUTBACK_LIB_AUTOGRAD_DIFFERENTIATETARGETS_H
