// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Through which values of a forward program gradients would go.
#ifndef CUTBACK_AUTOGRAD_ACTIVITY_H
#define CUTBACK_AUTOGRAD_ACTIVITY_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/DenseSet.h"

#include <string>
#include <vector>

namespace cutback {

/// Arguments that take a gradient without a caller naming them: those with
/// `joint.requires_grad`, or where no argument has it, the floating-point
/// parameters.
std::vector<unsigned> findGradientTargets(joint::GraphOp graph);

/// Marks the arguments that are called so (DifferentiateOptions::gradOf) as
/// those that take a gradient, and no others; without names nothing changes.
/// Fails with an error at the graph for a name that no argument has, or one
/// that takes none.
mlir::LogicalResult markGradientTargets(joint::GraphOp graph,
                                        const std::vector<std::string> &names);

/// Values that depend on such an argument by ops that let a gradient through,
/// and the arguments themselves: what `differentiate` would give a gradient if
/// one arrived. Linear.
llvm::DenseSet<mlir::Value> findActiveValues(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_ACTIVITY_H
