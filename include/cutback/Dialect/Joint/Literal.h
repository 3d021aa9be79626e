// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose results are no work: `LiteralOpInterface`.
#ifndef CUTBACK_DIALECT_JOINT_LITERAL_H
#define CUTBACK_DIALECT_JOINT_LITERAL_H

#include "mlir/IR/OpDefinition.h"

#include "cutback/Dialect/Joint/LiteralInterface.h.inc"

namespace cutback::joint {

/// Whether there is nothing to compute in the results of `op`, which can be
/// recomputed: by its interface, or because it is `ConstantLike`.
bool isLiteral(mlir::Operation *op);

/// Whether a literal is one number everywhere, or undefined: a launch that
/// reads it can have it in itself.
bool isUniformLiteral(mlir::Operation *op);

/// Whether nobody defined the contents of the results; not of a null op.
bool isUndefined(mlir::Operation *op);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_LITERAL_H
