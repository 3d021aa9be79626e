// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses that compare element with element, and their gradients, as pointwise
// ops and one reduction. With n elements, d = x - t, and g the gradient that
// arrives, a mean divides by n:
//
//   mse         d²                        2 d g
//   l1          |d|
//   smooth l1   d²/2β below β, else       clamp(d/β, -1, 1) g
//               |d| - β/2
//   huber       d²/2 up to δ, else        clamp(d, -δ, δ) g
//               δ (|d| - δ/2)
//   margin      log(1 + exp(-t x))        -t g / (1 + exp(t x))
//   kl          t log t - t x, or exp(t) (t - x) of logarithms
//   bce         -w (t log x + (1 - t) log(1 - x)), logarithms above -100
//                                         w (x - t) g / max(x (1 - x), 1e-12)
//   with logits w ((1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)))
//
// 16-bit floats are computed in f32 and rounded once, behind the reduction. The
// rules are of the list alone: PyTorch's rules decide on losses as they stand.

#include "CoreRules.h"
#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

namespace {

/// A loss or its gradient: operands in the type that it is computed in.
struct Loss {
  explicit Loss(Rewrite &c)
      : c(c), b(c.b), type(computeType(c.result())), x(operand("self")),
        t(operand("target")) {}

  Value operand(const char *name) { return castTo(b, c.r.value(name), type); }
  Value unary(const char *name, Value a) { return b.call(name, {a}); }
  Value add(Value a, const Arg &d) { return b.call("aten.add.Tensor", {a, d}); }
  Value sub(Value a, const Arg &d) { return b.call("aten.sub.Tensor", {a, d}); }
  Value mul(Value a, const Arg &d) { return b.call("aten.mul.Tensor", {a, d}); }
  Value div(Value a, const Arg &d) { return b.call("aten.div.Tensor", {a, d}); }
  Value scaled(Value a, double by) {
    return by == 1.0 ? a : b.call("aten.mul.Scalar", {a, by});
  }
  Value minus(Value a) { return unary("aten.neg.default", a); }
  Value apart() { return unary("aten.abs.default", sub(x, t)); }
  double number(const char *name) { return c.r.number(name).value_or(0.0); }
  /// `a` times the operand `name`, if there is one.
  Value weighted(Value a, const char *name) {
    return c.r.isNone(name) ? a : mul(a, operand(name));
  }
  /// log(1 + exp(-|z|)), of what never overflows.
  Value tailOf(Value z) {
    Value power = minus(unary("aten.abs.default", z));
    return unary("aten.log1p.default", unary("aten.exp.default", power));
  }

  Value reduced(Value losses) {
    return castTo(b, reduceLoss(c, losses), elementOf(c.result()));
  }
  /// Of the elements' slopes, `factor` times: the gradient of the operand.
  Value gradient(Value slope, double factor = 1.0) {
    if (c.r.integer("reduction") == 1) {
      Arg count = b.numel(c.r.value("self"));
      if (std::optional<int64_t> known = count.getInt())
        factor /= static_cast<double>(std::max<int64_t>(*known, 1));
      else
        slope = b.call("aten.div.Scalar", {slope, count});
    }
    Value all = mul(scaled(slope, factor), operand("grad_output"));
    return castTo(b, all, elementOf(c.result()));
  }

  Rewrite &c;
  CallBuilder &b;
  Type type;
  Value x, t;
};

} // namespace

//===----------------------------------------------------------------------===//
// Of a difference
//===----------------------------------------------------------------------===//

static Value meanSquare(Rewrite &c) {
  Loss l(c);
  Value difference = l.sub(l.x, l.t);
  return l.reduced(l.mul(difference, difference));
}
static Value meanSquareBackward(Rewrite &c) {
  Loss l(c);
  return l.gradient(l.sub(l.x, l.t), 2.0);
}

static Value absolute(Rewrite &c) {
  Loss l(c);
  return l.reduced(l.apart());
}

/// Without a width it is the absolute difference.
static Value smoothAbsolute(Rewrite &c) {
  Loss l(c);
  double beta = l.number("beta");
  Value apart = l.apart();
  if (beta == 0.0)
    return l.reduced(apart);
  Value isNear = l.b.call("aten.lt.Scalar", {apart, beta});
  Value near = l.scaled(l.mul(apart, apart), 0.5 / beta);
  Value far = l.b.call("aten.sub.Scalar", {apart, 0.5 * beta});
  return l.reduced(l.b.call("aten.where.self", {isNear, near, far}));
}
/// Without a width it is the sign; -1 of 0, as PyTorch has it.
static Value smoothAbsoluteBackward(Rewrite &c) {
  Loss l(c);
  double beta = l.number("beta");
  Value difference = l.sub(l.x, l.t);
  Value isLow = l.b.call("aten.le.Scalar", {difference, -beta});
  Value isHigh = l.b.call("aten.ge.Scalar", {difference, beta});
  Value slope = l.b.call("aten.div.Scalar", {difference, beta});
  slope = l.b.call("aten.where.ScalarSelf", {isHigh, 1.0, slope});
  return l.gradient(l.b.call("aten.where.ScalarSelf", {isLow, -1.0, slope}));
}

static Value huber(Rewrite &c) {
  Loss l(c);
  double delta = l.number("delta");
  Value apart = l.apart();
  Value isNear = l.b.call("aten.le.Scalar", {apart, delta});
  Value near = l.scaled(l.mul(apart, apart), 0.5);
  Value far =
      l.scaled(l.b.call("aten.sub.Scalar", {apart, 0.5 * delta}), delta);
  return l.reduced(l.b.call("aten.where.self", {isNear, near, far}));
}
static Value huberBackward(Rewrite &c) {
  Loss l(c);
  double delta = l.number("delta");
  return l.gradient(
      l.b.call("aten.clamp.default", {l.sub(l.x, l.t), -delta, delta}));
}

//===----------------------------------------------------------------------===//
// Of a product, of distributions
//===----------------------------------------------------------------------===//

static Value softMargin(Rewrite &c) {
  Loss l(c);
  Value z = l.minus(l.mul(l.t, l.x));
  Value kink = l.b.call("aten.clamp_min.default", {z, 0.0});
  return l.reduced(l.add(kink, l.tailOf(z)));
}
static Value softMarginBackward(Rewrite &c) {
  Loss l(c);
  Value share = l.unary("aten.sigmoid.default", l.minus(l.mul(l.t, l.x)));
  return l.gradient(l.mul(l.minus(l.t), share));
}

static Value divergence(Rewrite &c) {
  Loss l(c);
  if (c.r.boolean("log_target").value_or(false))
    return l.reduced(l.mul(l.unary("aten.exp.default", l.t), l.sub(l.t, l.x)));
  Value own = l.b.call("aten.xlogy.Tensor", {l.t, l.t});
  return l.reduced(l.sub(own, l.mul(l.t, l.x)));
}

static Value crossEntropyOfTwo(Rewrite &c) {
  Loss l(c);
  auto bounded = [&](Value logarithm) {
    return l.b.call("aten.clamp_min.default", {logarithm, -100.0});
  };
  Value ofOne = bounded(l.unary("aten.log.default", l.x));
  Value ofOther = bounded(l.unary("aten.log1p.default", l.minus(l.x)));
  Value other = l.b.call("aten.sub.Scalar", {l.t, 1.0});
  Value losses = l.sub(l.mul(other, ofOther), l.mul(l.t, ofOne));
  return l.reduced(l.weighted(losses, "weight"));
}
static Value crossEntropyOfTwoBackward(Rewrite &c) {
  Loss l(c);
  Value spread = l.mul(l.b.call("aten.rsub.Scalar", {l.x, 1.0}), l.x);
  Value slope = l.div(l.sub(l.x, l.t),
                      l.b.call("aten.clamp_min.default", {spread, 1e-12}));
  return l.gradient(l.weighted(slope, "weight"));
}

static Value crossEntropyWithLogits(Rewrite &c) {
  Loss l(c);
  // -log sigmoid(x)
  Value tail = l.add(l.tailOf(l.x),
                     l.b.call("aten.clamp_min.default", {l.minus(l.x), 0.0}));
  if (!c.r.isNone("pos_weight")) {
    Value more = l.b.call("aten.sub.Scalar", {l.operand("pos_weight"), 1.0});
    tail = l.mul(l.b.call("aten.add.Scalar", {l.mul(l.t, more), 1.0}), tail);
  }
  Value other = l.b.call("aten.rsub.Scalar", {l.t, 1.0});
  return l.reduced(l.weighted(l.add(l.mul(other, l.x), tail), "weight"));
}

/// Of real numbers, with a float as result.
static bool isReal(CallOp op) {
  auto elementType = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  return isa<FloatType>(elementType(op.getOperation()->getResult(0))) &&
         llvm::all_of(op.getOperation()->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) ||
                  !isa<ComplexType>(elementType(operand));
         });
}

const CoreRule forms::meanSquare = {one<::meanSquare>, ::isReal};
const CoreRule forms::meanSquareBackward = {one<::meanSquareBackward>,
                                            ::isReal};
const CoreRule forms::absolute = {one<::absolute>, ::isReal};
const CoreRule forms::smoothAbsolute = {one<::smoothAbsolute>, ::isReal};
const CoreRule forms::smoothAbsoluteBackward = {one<::smoothAbsoluteBackward>,
                                                ::isReal};
const CoreRule forms::huber = {one<::huber>, ::isReal};
const CoreRule forms::huberBackward = {one<::huberBackward>, ::isReal};
const CoreRule forms::softMargin = {one<::softMargin>, ::isReal};
const CoreRule forms::softMarginBackward = {one<::softMarginBackward>,
                                            ::isReal};
const CoreRule forms::divergence = {one<::divergence>, ::isReal};
const CoreRule forms::crossEntropyOfTwo = {one<::crossEntropyOfTwo>, ::isReal};
const CoreRule forms::crossEntropyOfTwoBackward = {
    one<::crossEntropyOfTwoBackward>, ::isReal};
const CoreRule forms::crossEntropyWithLogits = {one<::crossEntropyWithLogits>,
                                                ::isReal};
