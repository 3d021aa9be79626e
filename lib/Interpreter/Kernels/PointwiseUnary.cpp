// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one tensor: rounding, signs, and transcendental functions, in
// double precision (integers become doubles), and for complex numbers where
// PyTorch has them.
//
// erfinv starts from Winitzki's approximation and takes Newton steps on erf;
// digamma reflects, climbs to x >= 10 by the recurrence, and sums the
// asymptotic series.

#include "Kernels.h"
#include "Pointwise.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static constexpr double kPi = 3.14159265358979323846;

double interpreter::digamma(double x) {
  if (x == 0)
    return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    if (x == std::trunc(x))
      return std::numeric_limits<double>::quiet_NaN();
    double whole;
    return digamma(1 - x) - kPi / std::tan(kPi * std::modf(x, &whole));
  }
  double result = 0;
  while (x < 10) {
    result -= 1 / x;
    x += 1;
  }
  double z = 1 / (x * x);
  // Bernoulli numbers B(2k) / 2k.
  double series =
      z *
      (1.0 / 12 -
       z * (1.0 / 120 -
            z * (1.0 / 252 -
                 z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 -
                                                        z * (1.0 / 12)))))));
  return result + std::log(x) - 0.5 / x - series;
}

namespace {

template <double (*fn)(double)> LogicalResult unary(const KernelCall &call) {
  return Elementwise(call, {"self"}).real<1>(fn);
}

/// A function that complex numbers have too.
template <double (*fn)(double), Complex (*complexFn)(Complex)>
LogicalResult unary(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  return loop.domain() == Domain::Complex ? loop.in<Complex, 1>(complexFn)
                                          : loop.real<1>(fn);
}

#define CUTBACK_COMPLEX(name)                                                  \
  Complex name##Complex(Complex x) { return std::name(x); }
CUTBACK_COMPLEX(exp)
CUTBACK_COMPLEX(log)
CUTBACK_COMPLEX(log10)
CUTBACK_COMPLEX(sqrt)
CUTBACK_COMPLEX(sin)
CUTBACK_COMPLEX(cos)
CUTBACK_COMPLEX(tan)
CUTBACK_COMPLEX(asin)
CUTBACK_COMPLEX(acos)
CUTBACK_COMPLEX(atan)
CUTBACK_COMPLEX(sinh)
CUTBACK_COMPLEX(cosh)
CUTBACK_COMPLEX(tanh)
CUTBACK_COMPLEX(asinh)
CUTBACK_COMPLEX(acosh)
CUTBACK_COMPLEX(atanh)
#undef CUTBACK_COMPLEX

double rsqrt(double x) { return 1 / std::sqrt(x); }
Complex rsqrtComplex(Complex x) { return 1.0 / std::sqrt(x); }
double reciprocal(double x) { return 1 / x; }
Complex reciprocalComplex(Complex x) { return 1.0 / x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
Complex sigmoidComplex(Complex x) { return 1.0 / (1.0 + std::exp(-x)); }
Complex exp2Complex(Complex x) { return std::exp(x * std::log(2.0)); }
Complex log2Complex(Complex x) { return std::log(x) / std::log(2.0); }
Complex expm1Complex(Complex x) { return std::exp(x) - 1.0; }
Complex log1pComplex(Complex x) { return std::log(1.0 + x); }

double sinc(double x) { return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x); }

double inverseErf(double y) {
  if (!(std::fabs(y) < 1))
    return std::fabs(y) == 1
               ? std::copysign(std::numeric_limits<double>::infinity(), y)
               : std::numeric_limits<double>::quiet_NaN();
  constexpr double a = 0.147;
  double l = std::log1p(-y * y), b = 2 / (kPi * a) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(b * b - l / a) - b), y);
  for (int step = 0; step < 4; ++step) {
    // By what is left of 1 where y is near 1: erf has lost it.
    double error = std::fabs(y) < 0.5
                       ? std::erf(std::fabs(x)) - std::fabs(y)
                       : (1 - std::fabs(y)) - std::erfc(std::fabs(x));
    error = std::copysign(1.0, y) * error;
    x -= error * std::sqrt(kPi) / 2 * std::exp(x * x);
  }
  return x;
}

/// std::lgamma writes a global; the value alone is what we want.
double logGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

double degrees(double x) { return x * (180 / kPi); }
double radians(double x) { return x * (kPi / 180); }
double fraction(double x) { return x - std::trunc(x); }

/// exp(-|x|) times the modified Bessel function of the first kind, of order n:
/// the power series, or for large x the asymptotic one.
double scaledBessel(int n, double x) {
  double size = std::fabs(x), sum = 0;
  double sign = n % 2 && x < 0 ? -1 : 1;
  if (size < 30) {
    double term = std::pow(size / 2, n) * std::exp(-size);
    for (int k = 1; k < 200; ++k) {
      sum += term;
      term *= size * size / 4 / (static_cast<double>(k) * (k + n));
    }
    return sign * sum;
  }
  double term = 1;
  for (int k = 1; k < 20; ++k) {
    sum += term;
    double odd = 2 * k - 1;
    term *= -(4.0 * n * n - odd * odd) / (8 * k * size);
  }
  return sign * sum / std::sqrt(2 * kPi * size);
}
double bessel0(double x) { return scaledBessel(0, x) * std::exp(std::fabs(x)); }
double bessel1(double x) { return scaledBessel(1, x) * std::exp(std::fabs(x)); }
double bessel0Scaled(double x) { return scaledBessel(0, x); }
double bessel1Scaled(double x) { return scaledBessel(1, x); }

/// exp(x^2) erfc(x); for large x by its asymptotic series.
double scaledErfc(double x) {
  if (x < 25)
    return std::exp(x * x) * std::erfc(x);
  double z = 1 / (2 * x * x), series = 1;
  for (int odd = 13; odd > 0; odd -= 2)
    series = 1 - odd * z * series;
  return series / (x * std::sqrt(kPi));
}

double entropy(double x) {
  if (x > 0)
    return -x * std::log(x);
  return x == 0 ? 0 : std::isnan(x) ? x : -HUGE_VAL;
}

double normalBelow(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double logNormalBelow(double x) {
  return x < -1 ? std::log(scaledErfc(-x / std::sqrt(2.0)) / 2) - x * x / 2
                : std::log1p(-std::erfc(x / std::sqrt(2.0)) / 2);
}
double normalQuantile(double p) {
  if (!(p > 0 && p < 1))
    return p == 0 || p == 1 ? std::copysign(HUGE_VAL, p - 0.5) : NAN;
  double x = std::sqrt(2.0) * inverseErf(2 * p - 1);
  if (!std::isfinite(x))
    x = -std::sqrt(-2 * std::log(p));
  for (int step = 0; step < 8; ++step)
    x -= (normalBelow(x) - p) * std::sqrt(2 * kPi) * std::exp(x * x / 2);
  return x;
}

//===----------------------------------------------------------------------===//
// Signs and rounding
//===----------------------------------------------------------------------===//

LogicalResult negate(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return loop.in<int64_t, 1>([](int64_t a) { return minus(int64_t(0), a); });
  return loop.all<1>([](auto a) { return -a; });
}

LogicalResult absolute(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  switch (loop.domain()) {
  case Domain::Integer:
    return loop.in<int64_t, 1>(
        [](int64_t a) { return a < 0 ? minus(int64_t(0), a) : a; });
  case Domain::Real:
    return loop.real<1>([](double a) { return std::fabs(a); });
  case Domain::Complex:
    break;
  }
  return loop.in<Complex, 1>([](Complex a) { return std::abs(a); });
}

LogicalResult sign(const KernelCall &call) {
  return Elementwise(call, {"self"}).ordered<1>([](auto a) {
    using V = decltype(a);
    return V((V(0) < a) - (a < V(0)));
  });
}

Complex complexSign(Complex x) { return x == Complex(0) ? x : x / std::abs(x); }

/// A complex number of length 1, or the sign.
LogicalResult directionOf(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  return loop.domain() == Domain::Complex ? loop.in<Complex, 1>(complexSign)
                                          : sign(call);
}

LogicalResult square(const KernelCall &call) {
  return Elementwise(call, {"self"}).all<1>([](auto a) { return times(a, a); });
}

/// Integers are whole already.
template <double (*fn)(double)> LogicalResult whole(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return loop.in<int64_t, 1>([](int64_t a) { return a; });
  return loop.real<1>(fn);
}

LogicalResult roundDecimals(const KernelCall &call) {
  int64_t decimals = call.integer("decimals");
  double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return whole<std::nearbyint>(call);
  return loop.real<1>([=](double x) {
    return decimals < 0 ? std::nearbyint(x / scale) * scale
                        : std::nearbyint(x * scale) / scale;
  });
}

/// The largest finite number of a type.
double largest(DType type) {
  switch (type) {
  case DType::F64:
    return std::numeric_limits<double>::max();
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 0x1.fep127;
  case DType::F8E4M3FN:
    return 448;
  case DType::F8E5M2:
    return 57344;
  default:
    return std::numeric_limits<float>::max();
  }
}

LogicalResult nanToNum(const KernelCall &call) {
  double most = largest(call.resultType());
  double nan = call.number("nan", 0);
  double high = call.number("posinf", most), low = call.number("neginf", -most);
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return loop.in<int64_t, 1>([](int64_t a) { return a; });
  return loop.real<1>([=](double x) {
    if (std::isnan(x))
      return nan;
    return std::isinf(x) ? (x > 0 ? high : low) : x;
  });
}

//===----------------------------------------------------------------------===//
// Logit
//===----------------------------------------------------------------------===//

LogicalResult logit(const KernelCall &call) {
  double eps = call.number("eps", -1);
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    if (eps >= 0)
      x = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
    return std::log(x / (1 - x));
  });
}

LogicalResult logitBackward(const KernelCall &call) {
  double eps = call.number("eps", -1);
  Elementwise loop(call, {"grad_output", "self"});
  return loop.real<2>([=](double gradient, double x) {
    double low = eps < 0 ? 0 : eps, high = 1 - low;
    if (x < low || x > high)
      return eps < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0;
    return gradient / (x * (1 - x));
  });
}

constexpr KernelEntry entries[] = {
    {"aten.exp.default", unary<std::exp, expComplex>},
    {"aten.exp2.default", unary<std::exp2, exp2Complex>},
    {"aten.expm1.default", unary<std::expm1, expm1Complex>},
    {"aten.log.default", unary<std::log, logComplex>},
    {"aten.log2.default", unary<std::log2, log2Complex>},
    {"aten.log10.default", unary<std::log10, log10Complex>},
    {"aten.log1p.default", unary<std::log1p, log1pComplex>},
    {"aten.sqrt.default", unary<std::sqrt, sqrtComplex>},
    {"aten.rsqrt.default", unary<rsqrt, rsqrtComplex>},
    {"aten.reciprocal.default", unary<reciprocal, reciprocalComplex>},
    {"aten.sigmoid.default", unary<sigmoid, sigmoidComplex>},
    {"aten.tanh.default", unary<std::tanh, tanhComplex>},
    {"aten.sin.default", unary<std::sin, sinComplex>},
    {"aten.cos.default", unary<std::cos, cosComplex>},
    {"aten.tan.default", unary<std::tan, tanComplex>},
    {"aten.asin.default", unary<std::asin, asinComplex>},
    {"aten.acos.default", unary<std::acos, acosComplex>},
    {"aten.atan.default", unary<std::atan, atanComplex>},
    {"aten.sinh.default", unary<std::sinh, sinhComplex>},
    {"aten.cosh.default", unary<std::cosh, coshComplex>},
    {"aten.asinh.default", unary<std::asinh, asinhComplex>},
    {"aten.acosh.default", unary<std::acosh, acoshComplex>},
    {"aten.atanh.default", unary<std::atanh, atanhComplex>},
    {"aten.erf.default", unary<std::erf>},
    {"aten.erfc.default", unary<std::erfc>},
    {"aten.erfinv.default", unary<inverseErf>},
    {"aten.lgamma.default", unary<logGamma>},
    {"aten.digamma.default", unary<digamma>},
    {"aten.sinc.default", unary<sinc>},
    {"aten.deg2rad.default", unary<radians>},
    {"aten.rad2deg.default", unary<degrees>},
    {"aten.frac.default", unary<fraction>},
    {"aten.i0.default", unary<bessel0>},
    {"aten.special_i0e.default", unary<bessel0Scaled>},
    {"aten.special_i1.default", unary<bessel1>},
    {"aten.special_i1e.default", unary<bessel1Scaled>},
    {"aten.special_erfcx.default", unary<scaledErfc>},
    {"aten.special_entr.default", unary<entropy>},
    {"aten.special_ndtr.default", unary<normalBelow>},
    {"aten.special_ndtri.default", unary<normalQuantile>},
    {"aten.special_log_ndtr.default", unary<logNormalBelow>},
    {"aten.sgn.default", directionOf},
    {"aten.logit.default", logit},
    {"aten.logit_backward.default", logitBackward},
    {"aten.neg.default", negate},
    {"aten.abs.default", absolute},
    {"aten.sign.default", sign},
    {"aten.square.default", square},
    {"aten.ceil.default", whole<std::ceil>},
    {"aten.floor.default", whole<std::floor>},
    {"aten.round.default", whole<std::nearbyint>},
    {"aten.round.decimals", roundDecimals},
    {"aten.trunc.default", whole<std::trunc>},
    {"aten.nan_to_num.default", nanToNum},
};

} // namespace

ArrayRef<KernelEntry> interpreter::unaryKernels() { return entries; }
