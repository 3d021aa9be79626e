// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of decomposition, declared as the ODS files name them
// (`Decomposition<"linear">`), and what rules are written with. A rule is
// defined in one of the files here; one that is not does not link.
#ifndef CUTBACK_LIB_DECOMPOSE_RULES_H
#define CUTBACK_LIB_DECOMPOSE_RULES_H

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Aten/Rules.h"

namespace cutback::decompose {

using aten::DecomposeFn;
using aten::optional;
namespace op = aten::op;

namespace decompositions {
#define ATEN_RULE(name) extern const DecomposeFn name;
#include "cutback/Dialect/Aten/AtenDecompositions.inc"
} // namespace decompositions

/// An op being written in terms of others.
struct Rewrite {
  aten::CallOp op;
  aten::CallReader r;
  aten::CallBuilder b;

  Rewrite(aten::CallOp op, mlir::OpBuilder &builder)
      : op(op), r(op), b(builder, op.getOperation()->getLoc()) {}

  llvm::StringRef packet() { return op.getSchema().packet; }
  mlir::Value result(unsigned i = 0) { return op.getOperation()->getResult(i); }
};

/// A rule for ops of one result; null after an error.
template <mlir::Value (*build)(Rewrite &)>
llvm::LogicalResult one(aten::CallOp op, mlir::OpBuilder &builder,
                        llvm::SmallVectorImpl<mlir::Value> &results) {
  Rewrite rewrite(op, builder);
  mlir::Value value = build(rewrite);
  results.push_back(value);
  return llvm::success(value && !rewrite.b.failed());
}

using Values = llvm::SmallVector<mlir::Value>;

/// A rule for ops of several results; empty after an error.
template <Values (*build)(Rewrite &)>
llvm::LogicalResult many(aten::CallOp op, mlir::OpBuilder &builder,
                         llvm::SmallVectorImpl<mlir::Value> &results) {
  Rewrite rewrite(op, builder);
  llvm::append_range(results, build(rewrite));
  return llvm::success(!results.empty() && !rewrite.b.failed());
}

//===-- Idioms ------------------------------------------------------------===//

/// a + c and a * c of sizes, folded where both are numbers.
aten::Arg plus(aten::CallBuilder &b, const aten::Arg &a, const aten::Arg &c);
/// floor(a / c).
aten::Arg floorDiv(aten::CallBuilder &b, const aten::Arg &a, int64_t c);
/// The product of sizes `from` to `to` (not included) of `tensor`.
aten::Arg countOf(aten::CallBuilder &b, mlir::Value tensor, int64_t from,
                  int64_t to);
/// `value` under `sizes`; itself if they are its own.
mlir::Value viewAs(aten::CallBuilder &b, mlir::Value value,
                   const std::vector<aten::Arg> &sizes);
/// `value` expanded to `sizes`; itself if they are its own.
mlir::Value expandTo(aten::CallBuilder &b, mlir::Value value,
                     const std::vector<aten::Arg> &sizes);
/// `value` of element type `type`.
mlir::Value castTo(aten::CallBuilder &b, mlir::Value value, mlir::Type type);
/// `value`, with the gradient of `history`, of the same type: what a write that
/// PyTorch does not record leaves. An infinite element has none.
mlir::Value withGradientOf(aten::CallBuilder &b, mlir::Value value,
                           mlir::Value history);
/// The elements from `start` to `end` of one dimension.
mlir::Value sliceOf(aten::CallBuilder &b, mlir::Value value, int64_t dim,
                    const aten::Arg &start, const aten::Arg &end);
/// The mean (1), the sum (2) or all (0) of losses.
mlir::Value reduceLoss(aten::CallBuilder &b, mlir::Value loss,
                       int64_t reduction);
/// One of the shape types that only differ by `reduction` of the call.
mlir::Value reduceLoss(Rewrite &c, mlir::Value loss);
/// All dimensions of `value`, in order.
llvm::SmallVector<int64_t> allDims(mlir::Value value);
/// `a` times `b` by `matmul`'s rules, in terms of products of matrices.
mlir::Value matmul(aten::CallBuilder &b, mlir::Value left, mlir::Value right);
/// `input` times the transpose of `weight`, plus `bias` (may be null).
mlir::Value linear(aten::CallBuilder &b, mlir::Value input, mlir::Value weight,
                   mlir::Value bias);

/// The norm of matrices by their singular values along dimensions `row` and
/// `column`: the sum (order 0), the largest (2) or the smallest (-2).
mlir::Value singularNorm(aten::CallBuilder &b, mlir::Value matrix, int64_t row,
                         int64_t column, double order, bool keep);

/// True if a gradient may flow back through `value` to an argument that takes
/// one.
bool mayHaveGradient(mlir::Value value);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_RULES_H
