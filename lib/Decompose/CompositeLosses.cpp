// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances and losses between vectors, by PyTorch's formulas. A loss is
// computed for each element (or row) and reduced at the end.
//
// The order of operations is PyTorch's too where rounding shows: a cosine
// divides each vector by its norm first, a distance adds `eps` to the
// difference.

#include "Rules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value sumOver(CallBuilder &b, Value value, int64_t dim) {
  return b.call("aten.sum.dim_IntList", {value, ArrayRef<int64_t>(dim)});
}

static Value times(CallBuilder &b, Value a, Value c) {
  return b.call("aten.mul.Tensor", {a, c});
}

static Value minus(CallBuilder &b, Value a, Value c) {
  return b.call("aten.sub.Tensor", {a, c});
}

/// max(0, value)
static Value atLeastZero(CallBuilder &b, Value value) {
  return b.call("aten.clamp_min.default", {value, 0});
}

/// `value` as long as `with` along dimension `dim` (from the end, below 0), in
/// which it may be one element that stands for all.
static Value alongAs(CallBuilder &b, Value value, Value with, int64_t dim) {
  int64_t rank = rankOf(value), missing = -dim - rank;
  if (missing <= 0 && shapeOf(value)[rank + dim] != 1)
    return value;
  std::vector<Arg> sizes = b.sizes(value).getList().vec();
  sizes.insert(sizes.begin(), std::max<int64_t>(missing, 0), Arg(int64_t(1)));
  if (rankOf(with) + dim >= 0)
    sizes[sizes.size() + dim] = b.size(with, rankOf(with) + dim);
  return expandTo(b, value, sizes);
}

/// x1 · x2 / (max(|x1|, eps) max(|x2|, eps)), each vector divided first. The
/// bound below is set where PyTorch records no gradient: a small vector has
/// that of its norm.
static Value cosine(Rewrite &c) {
  Value a = c.r.value("x1"), other = c.r.value("x2");
  int64_t rank = std::max(rankOf(a), rankOf(other));
  if (rank == 0) { // one number is a vector
    a = viewAs(c.b, a, {Arg(int64_t(1))});
    other = viewAs(c.b, other, {Arg(int64_t(1))});
    rank = 1;
  }
  int64_t dim = wrapDim(c.r.integer("dim").value_or(1), rank) - rank;
  auto normalized = [&](Value value, Value with) {
    value = alongAs(c.b, value, with, dim);
    if (c.b.failed())
      return value;
    int64_t at = dim + rankOf(value);
    Value norm = c.b.call("aten.linalg_vector_norm.default",
                          {value, 2.0, ArrayRef<int64_t>(at), true});
    Value kept = c.b.call("aten.clamp_min.default", {norm, c.r.arg("eps")});
    return c.b.call("aten.div.Tensor",
                    {value, withGradientOf(c.b, kept, norm)});
  };
  return sumOver(c.b, times(c.b, normalized(a, other), normalized(other, a)),
                 dim);
}

/// |x1 - x2 + eps| over the last dimension.
static Value distance(CallBuilder &b, Value a, Value c, const Arg &p,
                      const Arg &eps, bool keep) {
  Value difference = b.call("aten.add.Scalar", {minus(b, a, c), eps});
  return b.call("aten.linalg_vector_norm.default", {difference, p, {-1}, keep});
}

static Value pairwiseDistance(Rewrite &c) {
  return distance(c.b, c.r.value("x1"), c.r.value("x2"), c.r.arg("p"),
                  c.r.arg("eps"), c.r.boolean("keepdim").value_or(false));
}

static Value tripletMargin(Rewrite &c) {
  Value anchor = c.r.value("anchor"), negative = c.r.value("negative");
  Value positive = c.r.value("positive");
  auto to = [&](Value a, Value other) {
    return distance(c.b, a, other, c.r.arg("p"), c.r.arg("eps"), false);
  };
  Value near = to(anchor, positive), far = to(anchor, negative);
  if (c.r.boolean("swap").value_or(false))
    far = c.b.call("aten.minimum.default", {far, to(positive, negative)});
  Value loss =
      c.b.call("aten.add.Scalar", {minus(c.b, near, far), c.r.arg("margin")});
  return reduceLoss(c, atLeastZero(c.b, loss));
}

/// 1 - cos for target 1, max(0, cos - margin) for target -1.
static Value cosineEmbedding(Rewrite &c) {
  constexpr double eps = 1e-12;
  Value a = c.r.value("input1"), other = c.r.value("input2");
  Value target = c.r.value("target");
  auto squares = [&](Value value) {
    Value sum = sumOver(c.b, times(c.b, value, value), -1);
    return c.b.call("aten.add.Scalar", {sum, eps});
  };
  Value product = sumOver(c.b, times(c.b, a, other), -1);
  Value norms =
      c.b.call("aten.sqrt.default", {times(c.b, squares(a), squares(other))});
  Value cosine = c.b.call("aten.div.Tensor", {product, norms});
  Value zeros = c.b.call("aten.zeros_like.default", {cosine});
  Value near = c.b.call("aten.rsub.Scalar", {cosine, 1});
  Value far = atLeastZero(
      c.b, c.b.call("aten.sub.Scalar", {cosine, c.r.arg("margin")}));
  auto where = [&](int64_t sign, Value loss) {
    Value chosen = c.b.call("aten.eq.Scalar", {target, sign});
    return c.b.call("aten.where.self", {chosen, loss, zeros});
  };
  Value loss = c.b.call("aten.add.Tensor", {where(1, near), where(-1, far)});
  return reduceLoss(c, loss);
}

/// max(0, -target (input1 - input2) + margin)
static Value marginRanking(Rewrite &c) {
  Value difference = minus(c.b, c.r.value("input1"), c.r.value("input2"));
  Value opposite = c.b.call("aten.neg.default", {c.r.value("target")});
  Value loss = c.b.call("aten.add.Scalar",
                        {times(c.b, opposite, difference), c.r.arg("margin")});
  return reduceLoss(c, atLeastZero(c.b, loss));
}

/// x for target 1, max(0, margin - x) for target -1; where it is neither, both.
static Value hingeEmbedding(Rewrite &c) {
  Value self = c.r.value("self"), target = c.r.value("target");
  Value zeros = c.b.call("aten.zeros_like.default", {self});
  Value rest =
      atLeastZero(c.b, c.b.call("aten.rsub.Scalar", {self, c.r.arg("margin")}));
  auto where = [&](int64_t sign, Value loss) {
    Value chosen = c.b.call("aten.ne.Scalar", {target, sign});
    return c.b.call("aten.where.self", {chosen, loss, zeros});
  };
  return reduceLoss(
      c, c.b.call("aten.add.Tensor", {where(1, rest), where(-1, self)}));
}

/// exp(x) - target x, or x - target log(x + eps); `full` adds Stirling's term
/// for targets above 1.
static Value poissonNll(Rewrite &c) {
  Value input = c.r.value("input"), target = c.r.value("target"), loss;
  CallBuilder &b = c.b;
  if (c.r.boolean("log_input").value_or(true)) {
    loss =
        minus(b, b.call("aten.exp.default", {input}), times(b, target, input));
  } else {
    Value shifted = b.call("aten.add.Scalar", {input, c.r.arg("eps")});
    loss = minus(b, input,
                 times(b, target, b.call("aten.log.default", {shifted})));
  }
  if (c.r.boolean("full").value_or(false)) {
    constexpr double twoPi = 6.283185307179586;
    Value logarithm = b.call("aten.log.default", {target});
    Value root = b.call("aten.mul.Scalar",
                        {b.call("aten.log.default",
                                {b.call("aten.mul.Scalar", {target, twoPi})}),
                         0.5});
    Value stirling =
        b.call("aten.add.Tensor",
               {minus(b, times(b, target, logarithm), target), root});
    Value small = b.call("aten.le.Scalar", {target, 1});
    loss =
        b.call("aten.add.Tensor",
               {loss, b.call("aten.masked_fill.Scalar", {stirling, small, 0})});
  }
  return reduceLoss(c, loss);
}

const DecomposeFn decompositions::cosine = one<::cosine>;
const DecomposeFn decompositions::pairwiseDistance = one<::pairwiseDistance>;
const DecomposeFn decompositions::tripletMargin = one<::tripletMargin>;
const DecomposeFn decompositions::cosineEmbedding = one<::cosineEmbedding>;
const DecomposeFn decompositions::marginRanking = one<::marginRanking>;
const DecomposeFn decompositions::hingeEmbedding = one<::hingeEmbedding>;
const DecomposeFn decompositions::poissonNll = one<::poissonNll>;
