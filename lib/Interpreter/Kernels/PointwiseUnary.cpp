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
    {"aten.i0.default", unary<bessel<0, false>>},
    {"aten.special_i0e.default", unary<bessel<0, true>>},
    {"aten.special_i1.default", unary<bessel<1, false>>},
    {"aten.special_i1e.default", unary<bessel<1, true>>},
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
