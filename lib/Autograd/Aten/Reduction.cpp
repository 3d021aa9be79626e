// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of reductions: the gradient goes back to every element that was
// combined. Sums and means read nothing of the forward, variances read their
// input, norms and logsumexp their input and their result. Where a slope is not
// defined (norm and deviation at 0) it is 0, as in PyTorch; products do without
// dividing, so they are exact where elements are 0.

#include "Common.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

//===----------------------------------------------------------------------===//
// Sums and means
//===----------------------------------------------------------------------===//

/// Cast first: one element of the gradient stands for many.
static void sum(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value gradient = castTo(v.b, v.grad(), aten::elementOf(over.self));
  v.set("self", over.expand(v, gradient));
}

static void mean(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value gradient = v.call(op::div_Scalar, {v.grad(), over.count(v)});
  gradient = castTo(v.b, gradient, aten::elementOf(over.self));
  v.set("self", over.expand(v, gradient));
}

static Value isNumber(Vjp &v, Value self) {
  return v.un("logical_not", v.un("isnan", self));
}

static void nansum(Vjp &v) {
  Reduced over(v);
  Value gradient = castTo(v.b, v.grad(), aten::elementOf(over.self));
  v.set("self", v.mul(over.restore(v, gradient), isNumber(v, over.self)));
}

static void nanmean(Vjp &v) {
  Reduced over(v);
  Value number = isNumber(v, over.self);
  Value gradient = v.div(over.restore(v, v.grad()), over.sum(v, number));
  v.set("self", v.mul(gradient, number));
}

static void trace(Vjp &v) {
  Value self = v.value("self");
  ArrayRef<int64_t> shape = aten::shapeOf(self);
  if (ShapedType::isDynamicShape(shape)) {
    v.b.error("the gradient of a trace needs sizes that are numbers");
    return;
  }
  Value diagonal =
      v.call(op::expand, {v.grad(), {std::min(shape[0], shape[1])}});
  v.set("self",
        v.call(op::diagonal_backward, {diagonal, v.b.sizes(self), 0, 0, 1}));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Products of all elements before each one along `dim`, by shifting in a 1.
static Value productBefore(Vjp &v, Value x, int64_t dim) {
  std::vector<Arg> sizes = v.b.sizes(x).getList().vec();
  sizes[dim] = Arg(1);
  Value one = v.call(op::full, {sizes, 1}, {{"dtype", aten::elementOf(x)}});
  Value front = v.call(op::slice_Tensor, {x, dim, 0, -1});
  Value shifted = v.call(op::cat, {{one, front}, dim});
  return v.call(op::cumprod, {shifted, dim});
}

/// The product of all others, for each element: exact where elements are 0.
static Value productOfOthers(Vjp &v, Value x, int64_t dim) {
  Value flipped = v.call(op::flip, {x, {dim}});
  Value after = v.call(op::flip, {productBefore(v, flipped, dim), {dim}});
  return v.mul(productBefore(v, x, dim), after);
}

static void prod(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value gradient = castTo(v.b, v.grad(), aten::elementOf(over.self));
  if (over.rank == 0) {
    v.set("self", gradient);
    return;
  }
  if (llvm::is_contained(aten::shapeOf(over.self), 0)) {
    v.set("self", v.zerosLike(over.self));
    return;
  }
  if (over.dims.size() == 1) {
    Value others = productOfOthers(v, over.self, over.dims.front());
    v.set("self", v.mul(over.restore(v, gradient), others));
    return;
  }
  Value flat = v.call(op::view, {over.self, {-1}});
  Value slopes = v.mul(gradient, productOfOthers(v, flat, 0));
  v.set("self", v.call(op::view, {slopes, v.b.sizes(over.self)}));
}

//===----------------------------------------------------------------------===//
// Variances
//===----------------------------------------------------------------------===//

/// What the number of elements is reduced by.
static double correctionOf(Vjp &v) {
  if (std::optional<double> correction = v.in.number(optional("correction")))
    return *correction;
  return v.in.boolean(optional("unbiased")).value_or(true) ? 1 : 0;
}

/// gradient * 2 / (count - correction) * (self - mean)
static Value variance(Vjp &v, Reduced &over, Value gradient) {
  Arg count = over.count(v);
  double correction = correctionOf(v);
  Value scaled;
  if (std::optional<double> number = count.getNumber())
    scaled = v.scale(gradient, 2 / (*number - correction));
  else if (Value rest = v.call(op::operator_sub, {count, correction}))
    scaled = v.call(op::div_Scalar, {v.scale(gradient, 2), rest});
  Value mean = over.mean(v, over.self);
  return v.mul(over.restore(v, scaled), v.sub(over.self, mean));
}

/// The slope of a square root, 0 at 0.
static Value throughRoot(Vjp &v) {
  Value root = v.result();
  Value gradient = v.div(v.grad(), v.scale(root, 2));
  return v.call(op::masked_fill_Scalar,
                {gradient, v.call(op::eq_Scalar, {root, 0}), 0.0});
}

/// Result 1, where there is one, is the mean.
static void variances(Vjp &v, bool isRoot) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value total;
  if (v.grad(0))
    total = variance(v, over, isRoot ? throughRoot(v) : v.grad());
  if (v.in.getOp()->getNumResults() > 1 && v.grad(1)) {
    Value part =
        over.expand(v, v.call(op::div_Scalar, {v.grad(1), over.count(v)}));
    total = total ? v.add(total, part) : part;
  }
  v.set("self", total);
}

static void var(Vjp &v) { variances(v, false); }
static void std_(Vjp &v) { variances(v, true); }

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Value zeroWhereZero(Vjp &v, Value x, Value tested) {
  return v.call(op::masked_fill_Scalar,
                {x, v.call(op::eq_Scalar, {tested, 0}), 0.0});
}

static Value power(Vjp &v, Value x, double exponent) {
  return v.call(op::pow_Tensor_Scalar, {x, exponent});
}

/// The largest (or smallest) absolute values share the gradient.
static Value normOfExtremum(Vjp &v, Reduced &over, Value x, Value gradient,
                            Value norm) {
  Value magnitude = v.un("abs", x);
  Value mask = v.un2("logical_or", v.call(op::eq_Tensor, {magnitude, norm}),
                     v.un("isnan", magnitude));
  Value share = v.div(gradient, over.sum(v, mask));
  return v.mul(v.un("sign", x), v.mul(share, mask));
}

/// Slopes where the norm is 0, and at elements that are 0, are 0.
static Value normOfPower(Vjp &v, double p, Value x, Value gradient,
                         Value norm) {
  if (p < 1) {
    Value scaled = v.mul(v.un("sign", x), power(v, v.un("abs", x), p - 1));
    scaled = zeroWhereZero(v, scaled, x);
    return v.mul(v.mul(scaled, gradient), power(v, norm, 1 - p));
  }
  Value scaled = p < 2 ? v.mul(v.un("sign", x), power(v, v.un("abs", x), p - 1))
                       : v.mul(x, power(v, v.un("abs", x), p - 2));
  Value factor = v.div(gradient, power(v, norm, p - 1));
  return v.mul(scaled, zeroWhereZero(v, factor, norm));
}

/// Gradient of the p-norm of `x` over `over`; zeros for p = 0, which counts.
static Value normGradient(Vjp &v, Reduced &over, Value x, double p) {
  Value gradient = over.restore(v, v.grad());
  Value norm = over.restore(v, v.result());
  if (p == 0)
    return v.zerosLike(x);
  if (p == 1)
    return v.mul(v.un("sign", x), gradient);
  if (p == 2)
    return v.mul(gradient, zeroWhereZero(v, v.div(x, norm), norm));
  if (std::isinf(p))
    return normOfExtremum(v, over, x, gradient, norm);
  return normOfPower(v, p, x, gradient, norm);
}

/// The norm may be taken in another type.
static void norm(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  ParamRef order = optional(v.in.isNone(optional("ord")) ? "p" : "ord");
  double p = v.in.number(order).value_or(2);
  Value x = over.self;
  if (!isComplex(x)) {
    x = castTo(v.b, x, aten::elementOf(v.result()));
  } else if (p != 2) {
    v.b.error("the gradient of a norm of complex numbers is known for p = 2; "
              "take the norm of their absolute values");
    return;
  }
  v.set("self", normGradient(v, over, x, p));
}

/// A norm of a matrix is another matter, but for the Frobenius norm.
static void linalgNorm(Vjp &v) {
  Reduced over(v);
  if (!v.in.isNone("ord") && over.dims.size() != 1) {
    v.b.error("no rule for the gradient of a matrix norm");
    return;
  }
  norm(v);
}

static void dist(Vjp &v) {
  if (!v.needs("self") && !v.needs("other"))
    return;
  Value difference = v.sub(v.arg("self"), v.arg("other"));
  if (!difference)
    return;
  Reduced over = Reduced::all(difference);
  Value gradient =
      normGradient(v, over, difference, v.in.number("p").value_or(2));
  if (!gradient)
    return;
  v.set("self", gradient);
  if (v.needs("other"))
    v.set("other", v.neg(gradient));
}

static void logsumexp(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value share = v.un("exp", v.sub(over.self, over.restore(v, v.result())));
  v.set("self", v.mul(over.restore(v, v.grad()), share));
}

const VjpFn vjps::sum = vjpAny<::sum>;
const VjpFn vjps::mean = vjpAny<::mean>;
const VjpFn vjps::nansum = vjp<::nansum>;
const VjpFn vjps::nanmean = vjp<::nanmean>;
const VjpFn vjps::trace = vjp<::trace>;
const VjpFn vjps::prod = vjp<::prod>;
const VjpFn vjps::var = vjp<::var>;
const VjpFn vjps::std_ = vjp<::std_>;
const VjpFn vjps::norm = vjpAny<::norm>;
const VjpFn vjps::linalgNorm = vjp<::linalgNorm>;
const VjpFn vjps::dist = vjp<::dist>;
const VjpFn vjps::logsumexp = vjp<::logsumexp>;
