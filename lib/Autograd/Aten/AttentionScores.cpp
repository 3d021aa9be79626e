// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores and weights of attention as products of matrices, for gradients that
// no kernel gives. They take the memory that the kernels save. Heads and
// batches are one dimension of `bmm`.
//
// A row that looks at nothing has -inf as its log-sum-exp, and scores of -inf:
// 0 is taken off instead, so that its weights are 0 and not undefined.

#include "AttentionScores.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

/// [B, H, M, N] as [B * H, M, N], or as [B * H, N, M].
static Value batched(Vjp &v, Value heads, bool isTurned) {
  Arg batch = v.b.times(v.b.size(heads, 0), v.b.size(heads, 1));
  Value flat = v.call(op::reshape,
                      {heads, {batch, v.b.size(heads, 2), v.b.size(heads, 3)}});
  return isTurned ? v.call(op::permute, {flat, {0, 2, 1}}) : flat;
}

Value autograd::headProduct(Vjp &v, Value left, bool isLeftTurned, Value right,
                            bool isRightTurned) {
  Value product = v.call(op::bmm, {batched(v, left, isLeftTurned),
                                   batched(v, right, isRightTurned)});
  return v.call(op::view, {product,
                           {v.b.size(left, 0), v.b.size(left, 1),
                            v.b.size(left, isLeftTurned ? 3 : 2),
                            v.b.size(right, isRightTurned ? 2 : 3)}});
}

Arg autograd::attentionScale(Vjp &v) {
  if (!v.in.isNone("scale"))
    return v.arg("scale");
  int64_t width = shapeOf(v.value("query")).back();
  if (ShapedType::isDynamic(width))
    v.b.error("this gradient of attention needs a scale, or a width of heads "
              "that is a number");
  return Arg(1.0 / std::sqrt(static_cast<double>(width)));
}

Value autograd::attentionWeights(Vjp &v, Value query, Value key, Value mask,
                                 Value logSumExp) {
  Value scores = headProduct(v, query, false, key, true);
  scores = v.mul(scores, attentionScale(v));
  if (mask)
    scores = v.add(scores, mask);
  Value isEmpty = v.call(op::eq_Scalar,
                         {logSumExp, -std::numeric_limits<double>::infinity()});
  Value rows = v.call(op::unsqueeze, {v.dropWhere(isEmpty, logSumExp), -1});
  Value weights = v.call(op::exp, {v.sub(scores, rows)});
  if (v.in.boolean("is_causal").value_or(false))
    weights = v.call(op::tril, {weights});
  return weights;
}
