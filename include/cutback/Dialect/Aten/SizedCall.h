// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call of symbolic sizes as it is where they are known. Whether it has an
// element formula, and which, follows from sizes as much as from types.
#ifndef CUTBACK_DIALECT_ATEN_SIZEDCALL_H
#define CUTBACK_DIALECT_ATEN_SIZEDCALL_H

#include "cutback/Dialect/Aten/CallOp.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>

namespace cutback::aten {

/// `args` of a call with literals in the place of operands: `literalOf` gives
/// that of operand i, or null. Numbers of the operands that stay are appended
/// to `kept`.
mlir::ArrayAttr
withLiterals(mlir::ArrayAttr args,
             llvm::function_ref<mlir::Attribute(unsigned operand)> literalOf,
             llvm::SmallVectorImpl<unsigned> &kept);

/// A copy of a call, in no block, whose tensors have the sizes of `types`
/// (operands, then results) and whose integer operands are literals where
/// `ints` has them (by operand; kDynamic: not known).
class SizedCall {
public:
  SizedCall(CallOp call, llvm::ArrayRef<mlir::Type> types,
            llvm::ArrayRef<int64_t> ints);
  /// Where sizes are not known: all of those are the same.
  explicit SizedCall(CallOp call);

  CallOp get() const { return CallOp(copy.get()); }
  /// By operand of the copy: that of the call.
  llvm::ArrayRef<unsigned> operands() const { return kept; }

  /// Whether `op` is a call that takes sizes which are not known.
  static bool takesSizes(mlir::Operation *op);

private:
  void make(CallOp call, llvm::ArrayRef<mlir::Type> types,
            llvm::ArrayRef<int64_t> ints);

  std::unique_ptr<mlir::Block> operandBlock; ///< operands of the copy
  mlir::OwningOpRef<mlir::Operation *> copy;
  llvm::SmallVector<unsigned, 4> kept;
};

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_SIZEDCALL_H
