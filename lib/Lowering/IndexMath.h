// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices as sums over the axes of a loop nest, whose extents are known: a
// division that the extents answer disappears.
#ifndef CUTBACK_LIB_LOWERING_INDEXMATH_H
#define CUTBACK_LIB_LOWERING_INDEXMATH_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace cutback {

/// Expressions whose dimension i is axis i, from 0 to extents[i] - 1; none is
/// negative.
class IndexMath {
public:
  using Indices = llvm::SmallVector<mlir::AffineExpr, 6>;

  IndexMath(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> extents)
      : context(context), extents(extents.begin(), extents.end()) {}

  /// expr / divisor, and what is left.
  std::pair<mlir::AffineExpr, mlir::AffineExpr> divide(mlir::AffineExpr expr,
                                                       int64_t divisor) const;
  /// offset + the sum of strides[i] * indices[i].
  mlir::AffineExpr linearize(llvm::ArrayRef<mlir::AffineExpr> indices,
                             llvm::ArrayRef<int64_t> strides,
                             int64_t offset) const;
  /// Indices of the row-major element `linear` of a tensor of `sizes`.
  Indices delinearize(mlir::AffineExpr linear,
                      llvm::ArrayRef<int64_t> sizes) const;

private:
  struct Sum;
  Sum sumOf(mlir::AffineExpr expr) const;
  mlir::AffineExpr exprOf(const Sum &sum) const;
  int64_t greatest(mlir::AffineExpr atom) const;

  mlir::MLIRContext *context;
  llvm::SmallVector<int64_t> extents;
};

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_INDEXMATH_H
