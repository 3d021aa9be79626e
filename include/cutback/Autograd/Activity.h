// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Through which values of a forward program gradients would go.
#ifndef CUTBACK_AUTOGRAD_ACTIVITY_H
#define CUTBACK_AUTOGRAD_ACTIVITY_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/DenseSet.h"

namespace cutback {

/// Arguments that take a gradient without a caller naming them: those with
/// `joint.requires_grad`, or where no argument has it, the floating-point
/// parameters.
std::vector<unsigned> findGradientTargets(joint::GraphOp graph);

/// Values that depend on such an argument by ops that let a gradient through,
/// and the arguments themselves: what `differentiate` would give a gradient if
/// one arrived. Linear.
llvm::DenseSet<mlir::Value> findActiveValues(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_ACTIVITY_H
