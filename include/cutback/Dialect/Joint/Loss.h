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

/// Whether an argument is the gradient of a loss: one, where none is given.
inline bool isLossSeed(RoleAttr role, mlir::Type type) {
  return role.getKind() == RoleKind::GradSeed ||
         (role.getKind() == RoleKind::Tangent && role.getOf() == 0 &&
          isLossType(type));
}

/// The argument that must be given because the graph has a backward and no
/// loss: the gradient of its first result that has one. -1 for none.
inline int findNeededTangent(GraphOp graph) {
  int first = -1;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    RoleAttr role = graph.getRole(arg);
    if (isLossSeed(role, graph.getArgumentTypes()[arg]))
      return -1;
    if (role.getKind() == RoleKind::Tangent &&
        (first < 0 || role.getOf() < graph.getRole(first).getOf()))
      first = static_cast<int>(arg);
  }
  return first;
}

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_LOSS_H
