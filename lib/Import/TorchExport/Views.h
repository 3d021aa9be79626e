// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of which strides decide whether PyTorch gives a view.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_VIEWS_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_VIEWS_H

#include "Types.h"

namespace cutback::pt2 {

/// Attribute of a call whose result shares storage with its first operand
/// though its schema does not say so.
inline constexpr llvm::StringLiteral kAliases = "joint.aliases";

/// The schema of `op` leaves open whether its result is a view.
bool mayBeView(mlir::Operation *op);

/// PyTorch gives a view (or the operand itself) where operand and result are
/// declared so. False where symbolic sizes without a hint leave it open.
bool isView(mlir::Operation *op, const Types::Tensor &operand,
            const Types::Tensor &result);

/// PyTorch hands `operand` through as `result`, one object under two names: its
/// gradients too, wherever the op stands.
bool isItself(mlir::Operation *op, const Types::Tensor &operand,
              const Types::Tensor &result);

/// A tensor of these sizes and strides can be viewed under other sizes.
bool canView(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
             llvm::ArrayRef<int64_t> to);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_VIEWS_H
