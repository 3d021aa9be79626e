// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which result of a training graph is a loss, and what its gradient begins
// with.
#ifndef CUTBACK_DIALECT_JOINT_LOSS_H
#define CUTBACK_DIALECT_JOINT_LOSS_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinTypes.h"

namespace cutback::joint {

/// A floating-point tensor of one element, of any rank: PyTorch's backward()
/// takes it without a gradient.
inline bool isLossType(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1 &&
         mlir::isa<mlir::FloatType>(tensor.getElementType());
}

/// The gradient of the first result that has one (before it there may be tokens
/// and integers); -1 for none.
inline int findFirstTangent(GraphOp graph) {
  int first = -1;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    RoleAttr role = graph.getRole(arg);
    if (role.getKind() == RoleKind::Tangent &&
        (first < 0 || role.getOf() < graph.getRole(first).getOf()))
      first = static_cast<int>(arg);
  }
  return first;
}

/// Whether argument `arg` is the gradient of a loss: one, where none is given.
inline bool isLossSeed(GraphOp graph, unsigned arg) {
  RoleKind kind = graph.getRole(arg).getKind();
  return kind == RoleKind::GradSeed ||
         (kind == RoleKind::Tangent &&
          isLossType(graph.getArgumentTypes()[arg]) &&
          findFirstTangent(graph) == static_cast<int>(arg));
}

/// The argument that must be given because the graph has a backward and no
/// loss: the gradient of its first result that has one. -1 for none.
inline int findNeededTangent(GraphOp graph) {
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    if (graph.getRole(arg).getKind() == RoleKind::GradSeed)
      return -1;
  int first = findFirstTangent(graph);
  return first < 0 || isLossSeed(graph, first) ? -1 : first;
}

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_LOSS_H
