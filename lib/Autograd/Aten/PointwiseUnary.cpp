// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of functions of one tensor, element by element. Where the slope can be
// written in the result (exp, tanh, sqrt, tan, erfinv) it is, because the
// result is what other ops have saved already. Slopes at points where there is
// none are PyTorch's: 0 for abs and sinc at 0, 1/2 for i1.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static constexpr double kPi = 3.14159265358979323846;
static constexpr double kLn2 = 0.693147180559945309417;
static constexpr double kLn10 = 2.30258509299404568402;
static constexpr double kSqrtPi = 1.77245385090551602730;
static constexpr double kSqrt2Pi = 2.50662827463100050242;

static Value self(Vjp &v) { return v.value("self"); }
static Value plus(Vjp &v, const Arg &x, double number) {
  return v.call(op::add_Scalar, {x, number});
}
/// number - x
static Value minusFrom(Vjp &v, double number, const Arg &x) {
  return v.call(op::rsub_Scalar, {x, number});
}
static Value square(Vjp &v, Value x) { return v.mul(x, x); }
/// The conjugate of a slope: itself where it is real.
static Arg conj(Vjp &v, Value x) { return v.conj(Arg(x)); }

static Value same(Vjp &v) { return v.grad(); }

//===----------------------------------------------------------------------===//
// Exponentials, logarithms, roots
//===----------------------------------------------------------------------===//

static Value exp(Vjp &v) { return v.mul(v.grad(), conj(v, v.result())); }
static Value exp2(Vjp &v) {
  return v.mul(v.grad(), conj(v, v.scale(v.result(), kLn2)));
}
static Value expm1(Vjp &v) {
  return v.mul(v.grad(), conj(v, plus(v, v.result(), 1)));
}
static Value log(Vjp &v) { return v.div(v.grad(), conj(v, self(v))); }
static Value log2(Vjp &v) {
  return v.div(v.grad(), conj(v, v.scale(self(v), kLn2)));
}
static Value log10(Vjp &v) {
  return v.div(v.grad(), conj(v, v.scale(self(v), kLn10)));
}
static Value log1p(Vjp &v) {
  return v.div(v.grad(), conj(v, plus(v, self(v), 1)));
}
static Value sqrt(Vjp &v) {
  return v.div(v.grad(), conj(v, v.scale(v.result(), 2.0)));
}
static Value rsqrt(Vjp &v) {
  Value cube = v.call(op::pow_Tensor_Scalar, {v.result(), 3});
  return v.mul(v.scale(v.grad(), -0.5), conj(v, cube));
}
static Value reciprocal(Vjp &v) {
  return v.mul(v.neg(v.grad()), conj(v, square(v, v.result())));
}
static Value squared(Vjp &v) {
  return v.mul(v.grad(), conj(v, v.scale(self(v), 2.0)));
}

//===----------------------------------------------------------------------===//
// Trigonometry
//===----------------------------------------------------------------------===//

static Value sin(Vjp &v) {
  return v.mul(v.grad(), conj(v, v.un("cos", self(v))));
}
static Value cos(Vjp &v) {
  return v.mul(v.grad(), conj(v, v.neg(v.un("sin", self(v)))));
}
static Value tan(Vjp &v) {
  return v.mul(v.grad(), plus(v, square(v, v.result()), 1));
}
/// 1 / sqrt(1 - x * x)
static Value arcSlope(Vjp &v) {
  return v.un("rsqrt", minusFrom(v, 1, square(v, self(v))));
}
static Value asin(Vjp &v) { return v.mul(v.grad(), arcSlope(v)); }
static Value acos(Vjp &v) { return v.mul(v.neg(v.grad()), arcSlope(v)); }
static Value atan(Vjp &v) {
  return v.div(v.grad(), plus(v, square(v, self(v)), 1));
}
static Value sinh(Vjp &v) {
  return v.mul(v.grad(), conj(v, v.un("cosh", self(v))));
}
static Value cosh(Vjp &v) {
  return v.mul(v.grad(), conj(v, v.un("sinh", self(v))));
}
static Value asinh(Vjp &v) {
  return v.mul(v.grad(), v.un("rsqrt", plus(v, square(v, self(v)), 1)));
}
static Value acosh(Vjp &v) {
  return v.mul(v.grad(), v.un("rsqrt", plus(v, square(v, self(v)), -1)));
}
static Value atanh(Vjp &v) {
  return v.div(v.grad(), minusFrom(v, 1, square(v, self(v))));
}
static Value deg2rad(Vjp &v) { return v.scale(v.grad(), kPi / 180); }
static Value rad2deg(Vjp &v) { return v.scale(v.grad(), 180 / kPi); }

/// sin(pi x) / (pi x); flat at 0.
static Value sinc(Vjp &v) {
  Value x = v.scale(self(v), kPi);
  Value below = v.scale(square(v, self(v)), kPi);
  Value above = v.sub(v.mul(x, v.un("cos", x)), v.un("sin", x));
  return v.dropWhere(v.call(op::eq_Scalar, {below, 0}),
                     v.mul(v.grad(), v.div(above, below)));
}

//===----------------------------------------------------------------------===//
// Special functions
//===----------------------------------------------------------------------===//

/// gradient * number * exp(-x * x / divisor)
static Value bell(Vjp &v, double number, double divisor) {
  Value power = v.neg(square(v, self(v)));
  if (divisor != 1)
    power = v.call(op::div_Scalar, {power, divisor});
  return v.mul(v.grad(), v.scale(v.un("exp", power), number));
}

static Value erf(Vjp &v) { return bell(v, 2 / kSqrtPi, 1); }
static Value erfc(Vjp &v) { return bell(v, -2 / kSqrtPi, 1); }
static Value erfinv(Vjp &v) {
  Value slope = v.un("exp", square(v, v.result()));
  return v.mul(v.grad(), v.scale(slope, kSqrtPi / 2));
}
/// 2 x erfcx(x) - 2 / sqrt(pi)
static Value erfcx(Vjp &v) {
  Value slope = plus(v, v.scale(v.mul(self(v), v.result()), 2.0), -2 / kSqrtPi);
  return v.mul(v.grad(), slope);
}
static Value ndtr(Vjp &v) { return bell(v, 1 / kSqrt2Pi, 2); }
static Value ndtri(Vjp &v) {
  Value power = v.call(op::div_Scalar, {square(v, v.result()), 2});
  return v.mul(v.grad(), v.scale(v.un("exp", power), kSqrt2Pi));
}
static Value logNdtr(Vjp &v) {
  Value power = v.call(op::div_Scalar, {square(v, self(v)), -2});
  Value slope = v.un("exp", v.sub(power, v.result()));
  return v.mul(v.grad(), v.scale(slope, 1 / kSqrt2Pi));
}
static Value entr(Vjp &v) {
  return v.mul(v.grad(), v.neg(plus(v, v.un("log", self(v)), 1)));
}
static Value lgamma(Vjp &v) {
  return v.mul(v.grad(), v.un("digamma", self(v)));
}
/// A draw goes on at the same quantile.
static Value standardGamma(Vjp &v) {
  return v.mul(v.grad(), v.un2("_standard_gamma_grad", self(v), v.result()));
}
/// The exponent has no slope.
static void frexp(Vjp &v) {
  if (v.grad(0) && v.needs("self"))
    v.set("self", v.div(v.grad(0), v.un("exp2", v.result(1))));
}
static Value digamma(Vjp &v) {
  return v.mul(v.grad(), v.call(op::polygamma, {1, self(v)}));
}
static Value polygamma(Vjp &v) {
  int64_t n = v.in.integer("n").value_or(0);
  return v.mul(v.grad(), v.call(op::polygamma, {n + 1, self(v)}));
}
/// i1e(x) - sign(x) i0e(x)
static Value i0e(Vjp &v) {
  Value turn = v.mul(v.un("sign", self(v)), v.result());
  return v.mul(v.grad(), v.sub(v.un("special_i1e", self(v)), turn));
}
/// i0e(x) - i1e(x) (sign(x) + 1 / x), which is 1/2 at 0.
static Value i1e(Vjp &v) {
  Value isZero = v.call(op::eq_Scalar, {self(v), 0});
  Value turn = v.add(v.un("sign", self(v)), v.un("reciprocal", self(v)));
  Value slope = v.sub(v.un("special_i0e", self(v)), v.mul(v.result(), turn));
  slope = v.call(op::masked_fill_Scalar, {slope, isZero, 0.5});
  return v.mul(v.grad(), slope);
}
static Value i0(Vjp &v) { return v.mul(v.grad(), v.un("special_i1", self(v))); }
/// i0(x) - i1(x) / x, which is 1/2 at 0.
static Value i1(Vjp &v) {
  Value isZero = v.call(op::eq_Scalar, {self(v), 0});
  Value slope = v.sub(v.un("i0", self(v)), v.div(v.result(), self(v)));
  slope = v.call(op::masked_fill_Scalar, {slope, isZero, 0.5});
  return v.mul(v.grad(), slope);
}
static Value logit(Vjp &v) {
  return v.call(op::logit_backward, {v.grad(), self(v), v.arg("eps")});
}

//===----------------------------------------------------------------------===//
// Signs and parts
//===----------------------------------------------------------------------===//

/// The slope at 0 is 0. Of a complex tensor the gradient points along it.
static void abs(Vjp &v) {
  Value x = v.value("self");
  v.set("self", v.mul(v.grad(), v.un(isComplex(x) ? "sgn" : "sign", x)));
}
static Value nanToNum(Vjp &v) {
  return v.mul(v.grad(), v.un("isfinite", self(v)));
}
static void pass(Vjp &v) { v.set("self", v.grad()); }
static void negate(Vjp &v) { v.set("self", v.neg(v.grad())); }
static void conjugate(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.un("_conj_physical", v.grad()));
}
/// i z / |z|^2, which turns z; 0 at 0. Real numbers do not turn.
static void angle(Vjp &v) {
  Value z = v.value("self");
  if (!isComplex(z))
    return v.setZero("self");
  if (!v.needs("self"))
    return;
  Value real = v.un("real", z), imaginary = v.un("imag", z);
  Value length = v.add(square(v, real), square(v, imaginary));
  Value share = v.div(v.grad(), length);
  share = v.call(op::masked_fill_Scalar,
                 {share, v.call(op::eq_Scalar, {length, 0}), 0.0});
  v.set("self",
        v.un2("complex", v.neg(v.mul(imaginary, share)), v.mul(real, share)));
}
/// Constant almost everywhere.
static void constant(Vjp &v) { v.setZero("self"); }

const VjpFn vjps::negate = vjpAny<::negate>;
const VjpFn vjps::conjugate = vjpAny<::conjugate>;
const VjpFn vjps::angle = vjpAny<::angle>;
const VjpFn vjps::positive = vjpAny<pass>;
const VjpFn vjps::same = vjpOfSelf<::same>;
const VjpFn vjps::constant = vjp<::constant>;
const VjpFn vjps::abs = vjpAny<::abs>;
const VjpFn vjps::nanToNum = vjpOfSelf<::nanToNum>;
const VjpFn vjps::squared = vjpOfAnySelf<::squared>;
const VjpFn vjps::exp = vjpOfAnySelf<::exp>;
const VjpFn vjps::exp2 = vjpOfAnySelf<::exp2>;
const VjpFn vjps::expm1 = vjpOfAnySelf<::expm1>;
const VjpFn vjps::log = vjpOfAnySelf<::log>;
const VjpFn vjps::log2 = vjpOfAnySelf<::log2>;
const VjpFn vjps::log10 = vjpOfAnySelf<::log10>;
const VjpFn vjps::log1p = vjpOfAnySelf<::log1p>;
const VjpFn vjps::sqrt = vjpOfAnySelf<::sqrt>;
const VjpFn vjps::rsqrt = vjpOfAnySelf<::rsqrt>;
const VjpFn vjps::reciprocal = vjpOfAnySelf<::reciprocal>;
const VjpFn vjps::sin = vjpOfAnySelf<::sin>;
const VjpFn vjps::cos = vjpOfAnySelf<::cos>;
const VjpFn vjps::tan = vjpOfSelf<::tan>;
const VjpFn vjps::asin = vjpOfSelf<::asin>;
const VjpFn vjps::acos = vjpOfSelf<::acos>;
const VjpFn vjps::atan = vjpOfSelf<::atan>;
const VjpFn vjps::sinh = vjpOfAnySelf<::sinh>;
const VjpFn vjps::cosh = vjpOfAnySelf<::cosh>;
const VjpFn vjps::asinh = vjpOfSelf<::asinh>;
const VjpFn vjps::acosh = vjpOfSelf<::acosh>;
const VjpFn vjps::atanh = vjpOfSelf<::atanh>;
const VjpFn vjps::deg2rad = vjpOfSelf<::deg2rad>;
const VjpFn vjps::rad2deg = vjpOfSelf<::rad2deg>;
const VjpFn vjps::sinc = vjpOfSelf<::sinc>;
const VjpFn vjps::erf = vjpOfSelf<::erf>;
const VjpFn vjps::erfc = vjpOfSelf<::erfc>;
const VjpFn vjps::erfinv = vjpOfSelf<::erfinv>;
const VjpFn vjps::erfcx = vjpOfSelf<::erfcx>;
const VjpFn vjps::ndtr = vjpOfSelf<::ndtr>;
const VjpFn vjps::ndtri = vjpOfSelf<::ndtri>;
const VjpFn vjps::logNdtr = vjpOfSelf<::logNdtr>;
const VjpFn vjps::entr = vjpOfSelf<::entr>;
const VjpFn vjps::lgamma = vjpOfSelf<::lgamma>;
const VjpFn vjps::digamma = vjpOfSelf<::digamma>;
const VjpFn vjps::standardGamma = vjpOfSelf<::standardGamma>;
const VjpFn vjps::frexp = vjp<::frexp>;
const VjpFn vjps::polygamma = vjpOfSelf<::polygamma>;
const VjpFn vjps::i0e = vjpOfSelf<::i0e>;
const VjpFn vjps::i1e = vjpOfSelf<::i1e>;
const VjpFn vjps::i0 = vjpOfSelf<::i0>;
const VjpFn vjps::i1 = vjpOfSelf<::i1>;
const VjpFn vjps::logit = vjpOfSelf<::logit>;
