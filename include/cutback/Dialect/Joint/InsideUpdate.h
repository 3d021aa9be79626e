// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs whose backward updates parameters, and so has no gradients of these.
#ifndef CUTBACK_DIALECT_JOINT_INSIDEUPDATE_H
#define CUTBACK_DIALECT_JOINT_INSIDEUPDATE_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::joint {

/// Attribute of a graph that writes parameters and the optimizer's states in
/// its backward: the names of arguments that are updated without weight decay
/// that others have, an array of strings.
inline constexpr llvm::StringLiteral kInsideUpdate = "joint.inside_update";

/// How names in files of arguments begin that are an optimizer's: its states,
/// and numbers that change from step to step.
inline constexpr llvm::StringLiteral kOptimizerPrefix = "optimizer.";

/// True of a graph with such an update.
inline bool hasInsideUpdate(GraphOp graph) {
  return graph->hasAttr(kInsideUpdate);
}

/// True of a joint graph; one without a backward is a forward alone.
inline bool hasBackward(GraphOp graph) {
  return !graph.getOutput().getGradientOf().empty() || hasInsideUpdate(graph);
}

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_INSIDEUPDATE_H
