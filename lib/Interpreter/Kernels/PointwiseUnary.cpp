// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one tensor: rounding, signs, and transcendental functions, in
// double precision (integers become doubles), and for complex numbers where
// PyTorch has them. Rounding and signs leave integers integers. Special
// functions are those of SpecialFunctions.h; what is elementary is the C
// library's.

#include "Kernels.h"
#include "Pointwise.h"
#include "SpecialFunctions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static constexpr double kPi = 3.14159265358979323846;

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

double degrees(double x) { return x * (180 / kPi); }
double radians(double x) { return x * (kPi / 180); }
double fraction(double x) { return x - std::trunc(x); }

template <int order, bool isScaled> double bessel(double x) {
  return besselI(order, isScaled, x);
}

double entropy(double x) {
  if (x > 0)
    return -x * std::log(x);
  return x == 0 ? 0 : std::isnan(x) ? x : -HUGE_VAL;
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

} // namespace

const KernelFn kernels::exp = unary<std::exp, expComplex>;
const KernelFn kernels::exp2 = unary<std::exp2, exp2Complex>;
const KernelFn kernels::expm1 = unary<std::expm1, expm1Complex>;
const KernelFn kernels::log = unary<std::log, logComplex>;
const KernelFn kernels::log2 = unary<std::log2, log2Complex>;
const KernelFn kernels::log10 = unary<std::log10, log10Complex>;
const KernelFn kernels::log1p = unary<std::log1p, log1pComplex>;
const KernelFn kernels::sqrt = unary<std::sqrt, sqrtComplex>;
const KernelFn kernels::rsqrt = unary<::rsqrt, rsqrtComplex>;
const KernelFn kernels::reciprocal = unary<::reciprocal, reciprocalComplex>;
const KernelFn kernels::sigmoid = unary<::sigmoid, sigmoidComplex>;
const KernelFn kernels::tanh = unary<std::tanh, tanhComplex>;
const KernelFn kernels::sin = unary<std::sin, sinComplex>;
const KernelFn kernels::cos = unary<std::cos, cosComplex>;
const KernelFn kernels::tan = unary<std::tan, tanComplex>;
const KernelFn kernels::asin = unary<std::asin, asinComplex>;
const KernelFn kernels::acos = unary<std::acos, acosComplex>;
const KernelFn kernels::atan = unary<std::atan, atanComplex>;
const KernelFn kernels::sinh = unary<std::sinh, sinhComplex>;
const KernelFn kernels::cosh = unary<std::cosh, coshComplex>;
const KernelFn kernels::asinh = unary<std::asinh, asinhComplex>;
const KernelFn kernels::acosh = unary<std::acosh, acoshComplex>;
const KernelFn kernels::atanh = unary<std::atanh, atanhComplex>;
const KernelFn kernels::erf = unary<std::erf>;
const KernelFn kernels::erfc = unary<std::erfc>;
const KernelFn kernels::erfinv = unary<::inverseErf>;
const KernelFn kernels::lgamma = unary<::logGamma>;
const KernelFn kernels::digamma = unary<::digamma>;
const KernelFn kernels::sinc = unary<::sinc>;
const KernelFn kernels::deg2rad = unary<radians>;
const KernelFn kernels::rad2deg = unary<degrees>;
const KernelFn kernels::frac = unary<fraction>;
const KernelFn kernels::i0 = unary<bessel<0, false>>;
const KernelFn kernels::specialI0e = unary<bessel<0, true>>;
const KernelFn kernels::specialI1 = unary<bessel<1, false>>;
const KernelFn kernels::specialI1e = unary<bessel<1, true>>;
const KernelFn kernels::specialErfcx = unary<::scaledErfc>;
const KernelFn kernels::specialEntr = unary<entropy>;
const KernelFn kernels::specialNdtr = unary<::normalBelow>;
const KernelFn kernels::specialNdtri = unary<::normalQuantile>;
const KernelFn kernels::specialLogNdtr = unary<::logNormalBelow>;
const KernelFn kernels::directionOf = ::directionOf;
const KernelFn kernels::logit = ::logit;
const KernelFn kernels::logitBackward = ::logitBackward;
const KernelFn kernels::neg = negate;
const KernelFn kernels::abs = absolute;
const KernelFn kernels::sign = ::sign;
const KernelFn kernels::square = ::square;
const KernelFn kernels::ceil = whole<std::ceil>;
const KernelFn kernels::floor = whole<std::floor>;
const KernelFn kernels::round = whole<std::nearbyint>;
const KernelFn kernels::roundDecimals = ::roundDecimals;
const KernelFn kernels::trunc = whole<std::trunc>;
const KernelFn kernels::nanToNum = ::nanToNum;
