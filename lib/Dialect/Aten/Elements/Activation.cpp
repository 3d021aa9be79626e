// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions and their gradients. Each formula is PyTorch's, with its
// side of every boundary: what is decided there for NaN and for the points
// where a derivative jumps follows from which comparison is written. They are
// the formulas of the interpreter's kernels, computed in the compute type. A
// parameter that is not a literal number leaves a call without a formula.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

static constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
static constexpr double kSeluScale = 1.0507009873554804934193349852946;
static constexpr double kSqrtHalf = 0.70710678118654752440;
static constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
static constexpr double kSqrtHalfOverPi = 0.39894228040143267794;
static constexpr double kGeluCubic = 0.044715;

/// Of one argument, in floating point.
#define CUTBACK_ACTIVATION(name, formula)                                      \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).real({"self"},                                \
                                      [](Num x) { return formula; });          \
  }

/// From the gradient of the result, `g`, and `from`.
#define CUTBACK_GRADIENT(name, from, x, formula)                               \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).real({"grad_output", from},                   \
                                      [](Num g, Num x) { return formula; });   \
  }

static Num logistic(const Num &x) { return 1 / (1 + exp(-x)); }
/// NaN stays NaN.
static Num bounded(const Num &x, double low, double high) {
  return select(x < low, low, select(x > high, high, x));
}
/// 0 where the condition holds.
static Num unless(const Num &condition, const Num &x) {
  return select(condition, 0, x);
}

//===----------------------------------------------------------------------===//
// Piecewise linear
//===----------------------------------------------------------------------===//

LogicalResult elements::relu(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self"},
                                       [](Num x) { return unless(x < 0, x); });
}

/// A bound that integers are compared with as such.
static bool isWhole(double bound) {
  return bound == std::trunc(bound) && std::fabs(bound) < 0x1p31;
}

static LogicalResult clampBetween(const ElementCall &call, double low,
                                  double high) {
  return call.ordered({"self"}, [&](Num x) {
    return x.isFloat() || (isWhole(low) && isWhole(high))
               ? bounded(x, low, high)
               : Num();
  });
}
LogicalResult elements::relu6(Operation *op, ElementBuilder &b, Results &r) {
  return clampBetween(ElementCall(op, b, r), 0, 6);
}
LogicalResult elements::hardtanh(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return clampBetween(call, call.literal("min_val", -1),
                      call.literal("max_val", 1));
}
LogicalResult elements::hardtanhBackward(Operation *op, ElementBuilder &b,
                                         Results &r) {
  ElementCall call(op, b, r);
  double low = call.literal("min_val"), high = call.literal("max_val");
  return call.real({"grad_output", "self"}, [&](Num g, Num x) {
    return unless((x <= low) | (x >= high), g);
  });
}

LogicalResult elements::leakyRelu(Operation *op, ElementBuilder &b,
                                  Results &r) {
  ElementCall call(op, b, r);
  double slope = call.literal("negative_slope");
  return call.real({"self"},
                   [&](Num x) { return select(x > 0, x, x * slope); });
}
LogicalResult elements::leakyReluBackward(Operation *op, ElementBuilder &b,
                                          Results &r) {
  ElementCall call(op, b, r);
  double slope = call.literal("negative_slope");
  return call.real({"grad_output", "self"},
                   [&](Num g, Num x) { return select(x > 0, g, g * slope); });
}

LogicalResult elements::threshold(Operation *op, ElementBuilder &b,
                                  Results &r) {
  ElementCall call(op, b, r);
  double limit = call.literal("threshold"), value = call.literal("value");
  return call.ordered({"self"}, [&](Num x) {
    return x.isFloat() || (isWhole(limit) && isWhole(value))
               ? select(x <= limit, value, x)
               : Num();
  });
}
LogicalResult elements::thresholdBackward(Operation *op, ElementBuilder &b,
                                          Results &r) {
  ElementCall call(op, b, r);
  double limit = call.literal("threshold");
  return call.ordered({"grad_output", "self"}, [&](Num g, Num x) {
    return x.isFloat() || isWhole(limit) ? unless(x <= limit, g) : Num();
  });
}

CUTBACK_ACTIVATION(hardswish, x *bounded(x + 3, 0, 6) / 6)
CUTBACK_ACTIVATION(hardsigmoid, bounded(x + 3, 0, 6) / 6)
CUTBACK_GRADIENT(hardswishBackward, "self", x,
                 unless(x <= -3, select(x < 3, g *(x / 3 + 0.5), g)))
CUTBACK_GRADIENT(hardsigmoidBackward, "self", x,
                 select((x > -3) & (x < 3), g / 6, 0))

/// 0 in [-lambd, lambd]; outside, x, or what it exceeds the bound by.
LogicalResult elements::hardshrink(Operation *op, ElementBuilder &b,
                                   Results &r) {
  ElementCall call(op, b, r);
  double bound = call.literal("lambd");
  return call.real(
      {"self"}, [&](Num x) { return unless((x >= -bound) & (x <= bound), x); });
}
LogicalResult elements::softshrink(Operation *op, ElementBuilder &b,
                                   Results &r) {
  ElementCall call(op, b, r);
  double bound = call.literal("lambd");
  return call.real({"self"}, [&](Num x) {
    return unless((x >= -bound) & (x <= bound),
                  select(x > bound, x - bound, x + bound));
  });
}
static LogicalResult shrinkBackward(const ElementCall &call,
                                    const char *gradient) {
  double bound = call.literal("lambd");
  return call.real({gradient, "self"}, [&](Num g, Num x) {
    return unless((x >= -bound) & (x <= bound), g);
  });
}
LogicalResult elements::hardshrinkBackward(Operation *op, ElementBuilder &b,
                                           Results &r) {
  return shrinkBackward(ElementCall(op, b, r), "grad_out");
}
LogicalResult elements::softshrinkBackward(Operation *op, ElementBuilder &b,
                                           Results &r) {
  return shrinkBackward(ElementCall(op, b, r), "grad_output");
}

LogicalResult elements::prelu(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "weight"}, [](Num x, Num w) { return select(x > 0, x, w * x); });
}
/// Gradients of `self` and, not summed, of `weight`.
LogicalResult elements::preluBackward(Operation *op, ElementBuilder &b,
                                      Results &r) {
  ElementCall call(op, b, r);
  Type type = call.realTypeIn(call.resultType());
  Num x = call.argument("self", type), w = call.argument("weight", type);
  Num g = call.argument("grad_output", type);
  return call.give({select(x > 0, g, w * g), unless(x > 0, x * g)});
}

//===----------------------------------------------------------------------===//
// Smooth
//===----------------------------------------------------------------------===//

CUTBACK_ACTIVATION(sigmoid, logistic(x))
CUTBACK_ACTIVATION(silu, x / (1 + exp(-x)))
CUTBACK_ACTIVATION(mish, x *tanh(log1p(exp(x))))
CUTBACK_GRADIENT(sigmoidBackward, "output", y, g * (1 - y) * y)
CUTBACK_GRADIENT(tanhBackward, "output", y, g * (1 - y * y))
CUTBACK_GRADIENT(logSigmoidBackward, "self", x, g *logistic(-x))

static Num siluGradient(const Num &g, const Num &x) {
  Num s = logistic(x);
  return g * s * (1 + x * (1 - s));
}
CUTBACK_GRADIENT(siluBackward, "self", x, siluGradient(g, x))

static Num mishGradient(const Num &g, const Num &x) {
  Num t = tanh(log1p(exp(x)));
  return g * (t + x * logistic(x) * (1 - t * t));
}
CUTBACK_GRADIENT(mishBackward, "self", x, mishGradient(g, x))

CUTBACK_ACTIVATION(logSigmoid, select(x < 0, x, 0) - log1p(exp(-abs(x))))

/// The buffer is what the function computed on its way.
LogicalResult elements::logSigmoidForward(Operation *op, ElementBuilder &b,
                                          Results &r) {
  ElementCall call(op, b, r);
  Num x = call.argument("self", call.realTypeIn(call.resultType()));
  Num buffer = exp(-abs(x));
  return call.give({select(x < 0, x, 0) - log1p(buffer), buffer});
}

static Num geluErf(const Num &x) { return 0.5 * x * (1 + erf(x * kSqrtHalf)); }
static Num geluErfGradient(const Num &g, const Num &x) {
  Num cdf = 0.5 * (1 + erf(x * kSqrtHalf));
  return g * (cdf + x * (exp(-0.5 * x * x) * kSqrtHalfOverPi));
}
static Num geluInner(const Num &x) {
  return tanh(kSqrtTwoOverPi * (x + kGeluCubic * x * x * x));
}
static Num geluTanh(const Num &x) { return 0.5 * x * (1 + geluInner(x)); }
static Num geluTanhGradient(const Num &g, const Num &x) {
  Num t = geluInner(x);
  Num slope = kSqrtTwoOverPi * (1 + 3 * kGeluCubic * x * x);
  return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope);
}

LogicalResult elements::gelu(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return call.real({"self"},
                   call.string("approximate") == "tanh" ? geluTanh : geluErf);
}
LogicalResult elements::geluBackward(Operation *op, ElementBuilder &b,
                                     Results &r) {
  ElementCall call(op, b, r);
  return call.real({"grad_output", "self"}, call.string("approximate") == "tanh"
                                                ? geluTanhGradient
                                                : geluErfGradient);
}

//===----------------------------------------------------------------------===//
// Exponential units
//===----------------------------------------------------------------------===//

/// x < 0: negative * (exp(input * x) - 1), else positive * x.
static LogicalResult exponentialUnit(const ElementCall &call, double negative,
                                     double positive, double input) {
  return call.real({"self"}, [&](Num x) {
    return select(x < 0, negative * expm1(input * x), positive * x);
  });
}
LogicalResult elements::elu(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  double scale = call.literal("scale", 1);
  return exponentialUnit(call, call.literal("alpha", 1) * scale, scale,
                         call.literal("input_scale", 1));
}
LogicalResult elements::selu(Operation *op, ElementBuilder &b, Results &r) {
  return exponentialUnit(ElementCall(op, b, r), kSeluAlpha * kSeluScale,
                         kSeluScale, 1);
}
LogicalResult elements::celu(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  double alpha = call.literal("alpha", 1);
  return exponentialUnit(call, alpha, 1, 1 / alpha);
}
LogicalResult elements::eluBackward(Operation *op, ElementBuilder &b,
                                    Results &r) {
  ElementCall call(op, b, r);
  double scale = call.literal("scale"), input = call.literal("input_scale");
  double negative = call.literal("alpha") * scale;
  std::optional<bool> isResult = call.boolean("is_result");
  if (!isResult)
    return failure();
  return call.real({"grad_output", "self_or_result"}, [&](Num g, Num x) {
    Num below = *isResult ? g * input * (x + negative)
                          : g * input * negative * exp(x * input);
    return select(x > 0, g * scale, below);
  });
}

LogicalResult elements::softplus(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  double beta = call.literal("beta", 1), limit = call.literal("threshold", 20);
  return call.real({"self"}, [&](Num x) {
    Num scaled = x * beta;
    return select(scaled > limit, x, log1p(exp(scaled)) / beta);
  });
}
LogicalResult elements::softplusBackward(Operation *op, ElementBuilder &b,
                                         Results &r) {
  ElementCall call(op, b, r);
  double beta = call.literal("beta"), limit = call.literal("threshold");
  return call.real({"grad_output", "self"}, [&](Num g, Num x) {
    Num scaled = x * beta, z = exp(scaled);
    return select(scaled > limit, g, g * z / (z + 1));
  });
}

//===----------------------------------------------------------------------===//
// Of what was drawn
//===----------------------------------------------------------------------===//

LogicalResult elements::dropoutBackward(Operation *op, ElementBuilder &b,
                                        Results &r) {
  ElementCall call(op, b, r);
  double scale = call.literal("scale");
  Type type = call.realTypeIn(call.resultType());
  return call.give(call.argument("grad_output", type) *
                   (call.argument("mask", type) * scale));
}

/// A slope of 1 throughout needs no noise.
LogicalResult elements::rreluBackward(Operation *op, ElementBuilder &b,
                                      Results &r) {
  ElementCall call(op, b, r);
  double lower = call.literal("lower"), upper = call.literal("upper");
  std::optional<bool> isTraining = call.boolean("training");
  if (!isTraining)
    return failure();
  Type type = call.realTypeIn(call.resultType());
  Num g = call.argument("grad_output", type), x = call.argument("self", type);
  if (*isTraining && upper - lower > 1e-6)
    return call.give(g * call.argument("noise", type));
  return call.give(select(x > 0, g, g * ((lower + upper) / 2)));
}
