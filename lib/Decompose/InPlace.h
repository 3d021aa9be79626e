// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In-place ops as functions: the value that `self` has after the op.
#ifndef CUTBACK_LIB_DECOMPOSE_INPLACE_H
#define CUTBACK_LIB_DECOMPOSE_INPLACE_H

#include "cutback/Decompose/Functionalize.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallOp.h"

namespace cutback {

/// What an in-place op does to its operand.
enum class InPlaceKind {
  Value, ///< gives it another value
  View,  ///< shows it otherwise: `squeeze_`, `t_`, …
  Detach,
  Nothing, ///< `requires_grad_`
};
InPlaceKind getInPlaceKind(aten::CallOp op);

/// The new value of `self`, of its type.
mlir::Value buildValue(aten::CallBuilder &b, aten::CallOp op, mlir::Value self);

/// The view of `self` that it becomes.
mlir::Value buildView(aten::CallBuilder &b, aten::CallOp op, mlir::Value self);

/// `value` cast and expanded to the type of `self`, as `copy_` does.
mlir::Value fitTo(aten::CallBuilder &b, mlir::Value value, mlir::Value self);

} // namespace cutback

#endif // CUTBACK_LIB_DECOMPOSE_INPLACE_H
