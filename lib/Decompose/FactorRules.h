// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rules on matrices, quantiles and sizes share.
#ifndef CUTBACK_LIB_DECOMPOSE_FACTORRULES_H
#define CUTBACK_LIB_DECOMPOSE_FACTORRULES_H

#include "Rules.h"

namespace cutback::decompose {

/// The transpose of the last two dimensions.
mlir::Value transposed(aten::CallBuilder &b, mlir::Value matrix);
/// The same of the conjugates.
mlir::Value adjoint(aten::CallBuilder &b, mlir::Value matrix);

/// The first elements of `self`, in row-major order, under the sizes that a
/// call of `resize`, `resize_` or `resize_as_` asks for.
mlir::Value resized(aten::CallBuilder &b, const aten::CallReader &call,
                    mlir::Value self);

/// The operands of `quantile` and `nanquantile`, and the shape of what both
/// give.
struct Quantile {
  /// Reads the call; an error where there is no such interpolation.
  explicit Quantile(Rewrite &c);
  /// Where between the elements the value at place `at` is read: there, or at
  /// one of its neighbours.
  mlir::Value placeOf(mlir::Value at) const;
  /// The share of the upper neighbour, of places that lie `apart` from the
  /// lower one.
  mlir::Value shareOf(mlir::Value apart) const;
  /// Of values whose first dimension counts the quantiles, without `dim`: a
  /// number for each where q is one, `dim` where it is kept.
  mlir::Value shaped(mlir::Value values) const;

  aten::CallBuilder &b;
  mlir::Value line;                 ///< self, of one dimension without `dim`
  mlir::Value q;                    ///< of one dimension
  int64_t rank = 0;                 ///< of self
  int64_t dim = 0;                  ///< of `line`
  bool isAll = false, keep = false; ///< no `dim`; `keepdim`
  bool hasMany = false;             ///< q came with its dimension
  llvm::StringRef mode;             ///< "linear", "lower", "higher", ...
};

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_FACTORRULES_H
