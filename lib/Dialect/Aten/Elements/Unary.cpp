// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one tensor: rounding, signs, and elementary functions in
// floating point. Rounding and signs leave integers integers; elementary
// functions of integers are those of the same number in f32, which is their
// result's type. What `math` has no op for (gamma and Bessel functions, inverse
// error functions) has no formula.

#include "ElementCall.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

static constexpr double kPi = 3.14159265358979323846;
static constexpr double kSqrtHalf = 0.70710678118654752440;

#define CUTBACK_FUNCTION(name, formula)                                        \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).real({"self"},                                \
                                      [](Num x) { return formula; });          \
  }
CUTBACK_FUNCTION(exp, exp(x))
CUTBACK_FUNCTION(exp2, exp2(x))
CUTBACK_FUNCTION(expm1, expm1(x))
CUTBACK_FUNCTION(log, log(x))
CUTBACK_FUNCTION(log2, log2(x))
CUTBACK_FUNCTION(log10, log10(x))
CUTBACK_FUNCTION(log1p, log1p(x))
CUTBACK_FUNCTION(sqrt, sqrt(x))
CUTBACK_FUNCTION(rsqrt, 1 / sqrt(x))
CUTBACK_FUNCTION(reciprocal, 1 / x)
CUTBACK_FUNCTION(sin, sin(x))
CUTBACK_FUNCTION(cos, cos(x))
CUTBACK_FUNCTION(tan, tan(x))
CUTBACK_FUNCTION(asin, asin(x))
CUTBACK_FUNCTION(acos, acos(x))
CUTBACK_FUNCTION(atan, atan(x))
CUTBACK_FUNCTION(sinh, sinh(x))
CUTBACK_FUNCTION(cosh, cosh(x))
CUTBACK_FUNCTION(tanh, tanh(x))
CUTBACK_FUNCTION(asinh, asinh(x))
CUTBACK_FUNCTION(acosh, acosh(x))
CUTBACK_FUNCTION(atanh, atanh(x))
CUTBACK_FUNCTION(erf, erf(x))
CUTBACK_FUNCTION(erfc, erfc(x))
CUTBACK_FUNCTION(normalBelow, 0.5 * erfc(-x * kSqrtHalf))
CUTBACK_FUNCTION(sinc, select(x == 0, 1, sin(kPi *x) / (kPi * x)))
CUTBACK_FUNCTION(degrees, x * (180 / kPi))
CUTBACK_FUNCTION(radians, x *(kPi / 180))
CUTBACK_FUNCTION(fraction, x - trunc(x))
CUTBACK_FUNCTION(entropy,
                 select(x > 0, -x *log(x),
                        select(x == 0, 0, select(isNan(x), x, -HUGE_VAL))))
CUTBACK_FUNCTION(angle, select(isNan(x), x, select(x < 0, x.constant(kPi), 0)))
#undef CUTBACK_FUNCTION

//===----------------------------------------------------------------------===//
// Signs and rounding
//===----------------------------------------------------------------------===//

#define CUTBACK_FUNCTION(name, formula)                                        \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).ordered({"self"},                             \
                                         [](Num x) { return formula; });       \
  }
CUTBACK_FUNCTION(negate, -x)
CUTBACK_FUNCTION(absolute, x.isFloat() ? abs(x) : select(x < 0, -x, x))
CUTBACK_FUNCTION(sign,
                 select(x > 0, x.constant(1), select(x < 0, x.constant(-1), 0)))
CUTBACK_FUNCTION(square, x *x)
CUTBACK_FUNCTION(ceil, x.isFloat() ? ceil(x) : x)
CUTBACK_FUNCTION(floor, x.isFloat() ? floor(x) : x)
CUTBACK_FUNCTION(round, x.isFloat() ? roundEven(x) : x)
CUTBACK_FUNCTION(trunc, x.isFloat() ? trunc(x) : x)
#undef CUTBACK_FUNCTION

LogicalResult elements::roundDecimals(Operation *op, ElementBuilder &b,
                                      Results &r) {
  ElementCall call(op, b, r);
  double decimals = call.literal(optional("decimals"));
  double scale = std::pow(10.0, std::fabs(decimals));
  return call.ordered({"self"}, [&](Num x) {
    if (!x.isFloat())
      return x;
    return decimals < 0 ? roundEven(x / scale) * scale
                        : roundEven(x * scale) / scale;
  });
}

LogicalResult elements::nanToNum(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  auto real = dyn_cast<FloatType>(call.resultType());
  double most = real ? llvm::APFloat::getLargest(real.getFloatSemantics())
                           .convertToDouble()
                     : 0;
  double nan = call.literal("nan", 0);
  double high = call.literal("posinf", most);
  double low = call.literal("neginf", -most);
  return call.ordered({"self"}, [&](Num x) {
    if (!x.isFloat())
      return x;
    Num bounded = select(x == HUGE_VAL, high, select(x == -HUGE_VAL, low, x));
    return select(isNan(x), nan, bounded);
  });
}

//===----------------------------------------------------------------------===//
// Logit
//===----------------------------------------------------------------------===//

LogicalResult elements::logit(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  double eps = call.literal("eps", -1);
  return call.real({"self"}, [&](Num x) {
    if (eps >= 0)
      x = select(x < eps, eps, select(x > 1 - eps, 1 - eps, x));
    return log(x / (1 - x));
  });
}

LogicalResult elements::logitBackward(Operation *op, ElementBuilder &b,
                                      Results &r) {
  ElementCall call(op, b, r);
  double eps = call.literal("eps", -1), low = eps < 0 ? 0 : eps;
  return call.real({"grad_output", "self"}, [&](Num g, Num x) {
    return select((x < low) | (x > 1 - low), eps < 0 ? NAN : 0.0,
                  g / (x * (1 - x)));
  });
}
