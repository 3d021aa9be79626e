// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on two or three operands, with PyTorch's conventions: integers
// wrap around, maximum and minimum hand NaN on, remainders have the sign of the
// divisor (`remainder`) or of the dividend (`fmod`), a clamp whose bounds cross
// gives the upper one.

#include "Kernels.h"
#include "Pointwise.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// self + alpha * other, other - alpha * self (`swap`), ...
template <bool subtract, bool swap>
LogicalResult addScaled(const KernelCall &call) {
  RuntimeValue alpha = call.scalar("alpha");
  return Elementwise(call, {"self", "other"}).all<2>([&](auto a, auto b) {
    using V = decltype(a);
    V scaled = times(factorAs<V>(alpha, V(1)), swap ? a : b);
    V kept = swap ? b : a;
    return subtract ? minus(kept, scaled) : plus(kept, scaled);
  });
}

LogicalResult multiply(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).all<2>([](auto a, auto b) {
    return times(a, b);
  });
}

LogicalResult fusedMultiplyAdd(const KernelCall &call) {
  Elementwise loop(call, {"a", "b", "c"});
  if (loop.domain() == Domain::Real)
    return loop.real<3>(
        [](double a, double b, double c) { return std::fma(a, b, c); });
  return loop.all<3>(
      [](auto a, auto b, auto c) { return plus(times(a, b), c); });
}

LogicalResult addProduct(const KernelCall &call) {
  RuntimeValue value = call.scalar("value");
  return Elementwise(call, {"self", "tensor1", "tensor2"})
      .all<3>([&](auto self, auto a, auto b) {
        using V = decltype(self);
        return plus(self, times(times(factorAs<V>(value, V(1)), a), b));
      });
}

LogicalResult addQuotient(const KernelCall &call) {
  RuntimeValue value = call.scalar("value");
  Elementwise loop(call, {"self", "tensor1", "tensor2"});
  auto f = [&](auto self, auto a, auto b) {
    using V = decltype(self);
    return self + factorAs<V>(value, V(1)) * a / b;
  };
  return loop.domain() == Domain::Complex ? loop.in<Complex, 3>(f)
                                          : loop.real<3>(f);
}

LogicalResult interpolate(const KernelCall &call) {
  Elementwise loop(call, {"self", "end", "weight"});
  return loop.real<3>([](double a, double b, double weight) {
    return std::fabs(weight) < 0.5 ? a + weight * (b - a)
                                   : b - (b - a) * (1 - weight);
  });
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

LogicalResult divide(const KernelCall &call) {
  Elementwise loop(call, {"self", "other"});
  auto f = [](auto a, auto b) { return a / b; };
  return loop.domain() == Domain::Complex ? loop.in<Complex, 2>(f)
                                          : loop.real<2>(f);
}

/// Integers are divided after this.
LogicalResult checkDivisor(const KernelCall &call, const char *param) {
  Tensor divisor = call.tensor(param);
  if (isIntegral(divisor.type) && llvm::is_contained(divisor.ints(), 0) &&
      isIntegral(call.resultType()))
    return call.error("division by zero");
  return success();
}

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == -1)
    return minus(int64_t(0), a);
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// As Python: through the remainder, so that a quotient that was rounded up to
/// a whole number does not count.
double floorDivide(double a, double b) {
  if (b == 0)
    return a / b;
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

int64_t truncDivide(int64_t a, int64_t b) {
  return b == -1 ? minus(int64_t(0), a) : a / b;
}
double truncDivide(double a, double b) { return std::trunc(a / b); }

int64_t remainderOf(int64_t a, int64_t b) {
  return b == -1 ? 0 : minus(a, times(floorDivide(a, b), b));
}
double remainderOf(double a, double b) {
  double rest = std::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

int64_t fmodOf(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
double fmodOf(double a, double b) { return std::fmod(a, b); }

#define CUTBACK_DIVISION(name, function)                                       \
  LogicalResult name(const KernelCall &call) {                                 \
    if (failed(checkDivisor(call, "other")))                                   \
      return failure();                                                        \
    return Elementwise(call, {"self", "other"}, /*exact=*/true)                \
        .ordered<2>([](auto a, auto b) { return function(a, b); });            \
  }
CUTBACK_DIVISION(floorDivision, floorDivide)
CUTBACK_DIVISION(truncDivision, truncDivide)
CUTBACK_DIVISION(flooredRemainder, remainderOf)
CUTBACK_DIVISION(modulo, fmodOf)
#undef CUTBACK_DIVISION

LogicalResult divideMode(const KernelCall &call) {
  StringRef mode = call.string("rounding_mode");
  if (mode == "floor")
    return floorDivision(call);
  return mode == "trunc" ? truncDivision(call) : divide(call);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

int64_t powerOf(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = times(result, base);
    base = times(base, base);
  }
  return result;
}
double powerOf(double base, double exponent) {
  return std::pow(base, exponent);
}
Complex powerOf(Complex base, Complex exponent) {
  return base == Complex(0) && exponent == Complex(0)
             ? Complex(1)
             : std::pow(base, exponent);
}

LogicalResult power(const KernelCall &call) {
  return Elementwise(call, {"self", "exponent"}).all<2>([](auto a, auto b) {
    return powerOf(a, b);
  });
}

/// A constant exponent of one half is a root.
LogicalResult powerScalar(const KernelCall &call) {
  Elementwise loop(call, {"self", "exponent"});
  double exponent = call.number("exponent");
  if (loop.domain() != Domain::Real || std::fabs(exponent) != 0.5)
    return power(call);
  return loop.real<2>([&](double base, double) {
    return exponent > 0 ? std::sqrt(base) : 1 / std::sqrt(base);
  });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

template <typename V> bool isNan(V) { return false; }
bool isNan(double x) { return std::isnan(x); }

template <typename V> V greater(V a, V b) {
  return isNan(a) ? a : isNan(b) ? b : std::max(a, b);
}
template <typename V> V lesser(V a, V b) {
  return isNan(a) ? a : isNan(b) ? b : std::min(a, b);
}

LogicalResult maximum(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).ordered<2>([](auto a, auto b) {
    return greater(a, b);
  });
}
LogicalResult minimum(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).ordered<2>([](auto a, auto b) {
    return lesser(a, b);
  });
}
LogicalResult fmaxOp(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).ordered<2>([](auto a, auto b) {
    return isNan(a) ? b : isNan(b) ? a : std::max(a, b);
  });
}
LogicalResult fminOp(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).ordered<2>([](auto a, auto b) {
    return isNan(a) ? b : isNan(b) ? a : std::min(a, b);
  });
}

LogicalResult clampMin(const KernelCall &call) {
  return Elementwise(call, {"self", "min"}).ordered<2>([](auto a, auto b) {
    return greater(a, b);
  });
}
LogicalResult clampMax(const KernelCall &call) {
  return Elementwise(call, {"self", "max"}).ordered<2>([](auto a, auto b) {
    return lesser(a, b);
  });
}
LogicalResult clamp(const KernelCall &call) {
  if (call.isNone("max") && call.isNone("min"))
    return call.error("needs a lower or an upper bound");
  if (call.isNone("max"))
    return clampMin(call);
  if (call.isNone("min"))
    return clampMax(call);
  return Elementwise(call, {"self", "min", "max"})
      .ordered<3>(
          [](auto a, auto b, auto c) { return lesser(greater(a, b), c); });
}

//===----------------------------------------------------------------------===//
// Functions of two real numbers
//===----------------------------------------------------------------------===//

double xlogyOf(double x, double y) {
  if (std::isnan(y))
    return y;
  return x == 0 ? 0 : x * std::log(y);
}

double logAddExp(double a, double b) {
  if (std::isinf(a) && a == b)
    return a;
  double high = std::max(a, b), low = std::min(a, b);
  return std::isnan(a) || std::isnan(b)
             ? a + b
             : high + std::log1p(std::exp(low - high));
}

template <double (*fn)(double, double)>
LogicalResult binary(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}, /*exact=*/true).real<2>(fn);
}

double logAddExp2(double a, double b) {
  if (std::isinf(a) && a == b)
    return a;
  double high = std::max(a, b), low = std::min(a, b);
  return std::isnan(a) || std::isnan(b)
             ? a + b
             : high + std::log2(1 + std::exp2(low - high));
}

template <bool least> LogicalResult commonFactor(const KernelCall &call) {
  return Elementwise(call, {"self", "other"})
      .in<int64_t, 2>([](int64_t a, int64_t b) {
        int64_t x = a, y = b;
        while (y != 0) {
          int64_t rest = y == -1 ? 0 : x % y;
          x = y;
          y = rest;
        }
        if (!least)
          return x < 0 ? minus(int64_t(0), x) : x;
        int64_t multiple = x == 0 ? 0 : times(a / x, b);
        return multiple < 0 ? minus(int64_t(0), multiple) : multiple;
      });
}

LogicalResult heaviside(const KernelCall &call) {
  return Elementwise(call, {"self", "values"}).ordered<2>([](auto x, auto v) {
    using V = decltype(x);
    return x == V(0) ? v : V(x > V(0));
  });
}

LogicalResult nextAfter(const KernelCall &call) {
  Elementwise loop(call, {"self", "other"});
  if (loop.commonType() == DType::F64)
    return loop.real<2>(
        [](double a, double b) { return std::nextafter(a, b); });
  if (loop.commonType() == DType::F32)
    return loop.real<2>([](double a, double b) -> double {
      return std::nextafter(static_cast<float>(a), static_cast<float>(b));
    });
  return call.error("elements must be of type f32 or f64");
}

LogicalResult makeComplex(const KernelCall &call) {
  Elementwise loop(call, {"real", "imag"});
  return loop.in<double, 2>([](double a, double b) { return Complex(a, b); });
}

LogicalResult polar(const KernelCall &call) {
  Elementwise loop(call, {"abs", "angle"});
  return loop.in<double, 2>([](double length, double angle) {
    return Complex(length * std::cos(angle), length * std::sin(angle));
  });
}

} // namespace

const KernelFn kernels::add = addScaled<false, false>;
const KernelFn kernels::sub = addScaled<true, false>;
const KernelFn kernels::rsub = addScaled<true, true>;
const KernelFn kernels::multiply = ::multiply;
const KernelFn kernels::fusedMultiplyAdd = ::fusedMultiplyAdd;
const KernelFn kernels::addProduct = ::addProduct;
const KernelFn kernels::addQuotient = ::addQuotient;
const KernelFn kernels::interpolate = ::interpolate;
const KernelFn kernels::divide = ::divide;
const KernelFn kernels::divideMode = ::divideMode;
const KernelFn kernels::floorDivision = ::floorDivision;
const KernelFn kernels::modulo = ::modulo;
const KernelFn kernels::remainder = flooredRemainder;
const KernelFn kernels::pow = power;
const KernelFn kernels::powerScalar = ::powerScalar;
const KernelFn kernels::maximum = ::maximum;
const KernelFn kernels::minimum = ::minimum;
const KernelFn kernels::fmaxOp = ::fmaxOp;
const KernelFn kernels::fminOp = ::fminOp;
const KernelFn kernels::clamp = ::clamp;
const KernelFn kernels::clampMin = ::clampMin;
const KernelFn kernels::clampMax = ::clampMax;
const KernelFn kernels::atan2 = binary<std::atan2>;
const KernelFn kernels::hypot = binary<std::hypot>;
const KernelFn kernels::xlogy = binary<xlogyOf>;
const KernelFn kernels::copysign = binary<std::copysign>;
const KernelFn kernels::logaddexp2 = binary<logAddExp2>;
const KernelFn kernels::gcd = commonFactor<false>;
const KernelFn kernels::lcm = commonFactor<true>;
const KernelFn kernels::heaviside = ::heaviside;
const KernelFn kernels::logaddexp = binary<logAddExp>;
const KernelFn kernels::nextAfter = ::nextAfter;
const KernelFn kernels::makeComplex = ::makeComplex;
const KernelFn kernels::polar = ::polar;
