// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on two or three operands, with PyTorch's conventions: integers
// wrap around, maximum and minimum hand NaN on, remainders have the sign of the
// divisor (`remainder`) or of the dividend (`fmod`), a clamp whose bounds cross
// gives the upper one. Of two zeros, the first is taken.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// `x` times a parameter such as `alpha`, which is 1 nearly everywhere.
static Num scaled(const ElementCall &call, ParamRef factor, const Num &x) {
  if (call.isNone(factor) || call.number(factor) == 1)
    return x;
  return call.argument(factor, x.type()) * x;
}

LogicalResult elements::add(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return call.ordered({"self", "other"}, [&](Num x, Num y) {
    return x + scaled(call, "alpha", y);
  });
}
LogicalResult elements::subtract(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return call.ordered({"self", "other"}, [&](Num x, Num y) {
    return x - scaled(call, "alpha", y);
  });
}
LogicalResult elements::subtractFrom(Operation *op, ElementBuilder &b,
                                     Results &r) {
  ElementCall call(op, b, r);
  return call.ordered({"self", "other"}, [&](Num x, Num y) {
    return y - scaled(call, "alpha", x);
  });
}

LogicalResult elements::multiply(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self", "other"},
                                       [](Num x, Num y) { return x * y; });
}

LogicalResult elements::multiplyAdd(Operation *op, ElementBuilder &b,
                                    Results &r) {
  return ElementCall(op, b, r).ordered(
      {"a", "b", "c"}, [](Num x, Num y, Num z) {
        return x.isFloat() ? fma(x, y, z) : x * y + z;
      });
}

LogicalResult elements::addProduct(Operation *op, ElementBuilder &b,
                                   Results &r) {
  ElementCall call(op, b, r);
  return call.ordered({"self", "tensor1", "tensor2"}, [&](Num x, Num y, Num z) {
    return x + scaled(call, "value", y) * z;
  });
}

LogicalResult elements::addQuotient(Operation *op, ElementBuilder &b,
                                    Results &r) {
  ElementCall call(op, b, r);
  return call.real({"self", "tensor1", "tensor2"}, [&](Num x, Num y, Num z) {
    return x + scaled(call, "value", y) / z;
  });
}

/// From the nearer end.
LogicalResult elements::interpolate(Operation *op, ElementBuilder &b,
                                    Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "end", "weight"}, [](Num x, Num y, Num weight) {
        Num whole = y - x;
        return select(abs(weight) < 0.5, x + weight * whole,
                      y - whole * (1 - weight));
      });
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

LogicalResult elements::divide(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real({"self", "other"},
                                    [](Num x, Num y) { return x / y; });
}

namespace {

/// A divisor of an integer division: neither -1, for which a quotient may
/// overflow, nor 0, for which there is none (the interpreter refuses it).
struct Divisor {
  explicit Divisor(const Num &y)
      : isMinusOne(y == -1), safe(select(isMinusOne | (y == 0), 1, y)) {}
  Num isMinusOne, safe;
};

Num truncDivide(const Num &x, const Num &y) {
  if (x.isFloat())
    return trunc(x / y);
  Divisor divisor(y);
  return select(divisor.isMinusOne, -x, x / divisor.safe);
}

Num modulo(const Num &x, const Num &y) {
  return x.isFloat() ? x % y : x % Divisor(y).safe;
}

/// True if a remainder has another sign than the divisor.
Num isAcross(const Num &rest, const Num &y) {
  return (rest != 0) & ((y < 0) ^ (rest < 0));
}

Num remainderOf(const Num &x, const Num &y) {
  Num rest = modulo(x, y);
  return select(isAcross(rest, y), rest + y, rest);
}

/// As Python: through the remainder, so that a quotient that was rounded up to
/// a whole number does not count.
Num floorDivide(const Num &x, const Num &y) {
  Num rest = modulo(x, y), across = isAcross(rest, y);
  if (!x.isFloat()) {
    Num quotient = truncDivide(x, y);
    return select(across, quotient - 1, quotient);
  }
  Num quotient = (x - rest) / y, ratio = x / y;
  quotient = select(across, quotient - 1, quotient);
  Num whole = floor(quotient);
  whole = select(quotient - whole > 0.5, whole + 1, whole);
  whole = select(quotient == 0, copysign(0, ratio), whole);
  return select(y == 0, ratio, whole);
}

template <Num (*fn)(const Num &, const Num &)>
LogicalResult division(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self", "other"}, fn, /*exact=*/true);
}

} // namespace

LogicalResult elements::divideFloor(Operation *op, ElementBuilder &b,
                                    Results &r) {
  return division<floorDivide>(op, b, r);
}
LogicalResult elements::remainder(Operation *op, ElementBuilder &b,
                                  Results &r) {
  return division<remainderOf>(op, b, r);
}
LogicalResult elements::fmod(Operation *op, ElementBuilder &b, Results &r) {
  return division<modulo>(op, b, r);
}

LogicalResult elements::divideMode(Operation *op, ElementBuilder &b,
                                   Results &r) {
  StringRef mode = ElementCall(op, b, r).string("rounding_mode");
  if (mode == "floor")
    return division<floorDivide>(op, b, r);
  if (mode == "trunc")
    return division<truncDivide>(op, b, r);
  return mode.empty() ? divide(op, b, r) : failure();
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// By squares, one multiplication a bit or two.
static Num wholePower(Num base, int64_t exponent) {
  Num result;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = result ? result * base : base;
    if (exponent > 1)
      base = base * base;
  }
  return result ? result : base.constant(1);
}

/// Of a negative exponent, 0 but for bases of 1 and -1.
static Num integerPower(const Num &base, const Num &exponent) {
  Num isOdd = (exponent & exponent.wholeConstant(1)) != 0;
  Num unit = select(isOdd, base, base * base);
  Num inverse = select((base == 1) | (base == -1), unit, 0);
  Num power = ipow(base, select(exponent < 0, 0, exponent));
  return select(exponent < 0, inverse, power);
}

/// Of a literal exponent: what is exact, or as exact as a power.
static Num literalPower(const Num &x, double exponent) {
  if (!x.isFloat())
    return exponent >= 0 ? wholePower(x, static_cast<int64_t>(exponent))
                         : Num();
  if (exponent == 0)
    return x.constant(1);
  if (exponent == 0.5)
    return sqrt(x);
  if (exponent == -0.5)
    return 1 / sqrt(x);
  if (exponent == -1)
    return 1 / x;
  if (exponent == -2)
    return 1 / (x * x);
  if (exponent == 1 || exponent == 2 || exponent == 3)
    return wholePower(x, static_cast<int64_t>(exponent));
  return pow(x, exponent);
}

static Num generalPower(const Num &x, const Num &y) {
  return x.isFloat() ? pow(x, y) : integerPower(x, y);
}

LogicalResult elements::power(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  std::optional<double> exponent = call.number("exponent");
  return call.ordered({"self", "exponent"}, [&](Num x, Num y) {
    return exponent && (x.isFloat() || *exponent >= 0)
               ? literalPower(x, *exponent)
               : generalPower(x, y);
  });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static Num greaterOf(const Num &x, const Num &y) {
  Num other = select((x < y) | isNan(y), y, x);
  return select(isNan(x), x, other);
}
static Num lesserOf(const Num &x, const Num &y) {
  Num other = select((y < x) | isNan(y), y, x);
  return select(isNan(x), x, other);
}

LogicalResult elements::maximum(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self", "other"}, greaterOf);
}
LogicalResult elements::minimum(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self", "other"}, lesserOf);
}
LogicalResult elements::fmax(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self", "other"}, [](Num x, Num y) {
    return select(isNan(x) | (x < y), y, x);
  });
}
LogicalResult elements::fmin(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).ordered({"self", "other"}, [](Num x, Num y) {
    return select(isNan(x) | (y < x), y, x);
  });
}

/// max(x, bound) or min(x, bound); a literal bound is a number.
static Num bounded(const ElementCall &call, ParamRef bound, bool isLower,
                   const Num &x, const Num &y) {
  std::optional<double> literal = call.number(bound);
  if (literal && !std::isnan(*literal))
    return select(isLower ? x < y : y < x, y, x);
  return isLower ? greaterOf(x, y) : lesserOf(x, y);
}

LogicalResult elements::clampLow(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return call.ordered({"self", "min"}, [&](Num x, Num low) {
    return bounded(call, "min", /*isLower=*/true, x, low);
  });
}
LogicalResult elements::clampHigh(Operation *op, ElementBuilder &b,
                                  Results &r) {
  ElementCall call(op, b, r);
  return call.ordered({"self", "max"}, [&](Num x, Num high) {
    return bounded(call, "max", /*isLower=*/false, x, high);
  });
}
LogicalResult elements::clamp(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  if (call.isNone("max"))
    return call.isNone("min") ? failure() : clampLow(op, b, r);
  if (call.isNone("min"))
    return clampHigh(op, b, r);
  return call.ordered({"self", "min", "max"}, [&](Num x, Num low, Num high) {
    Num above = bounded(call, "min", /*isLower=*/true, x, low);
    return bounded(call, "max", /*isLower=*/false, above, high);
  });
}

//===----------------------------------------------------------------------===//
// Functions of two real numbers
//===----------------------------------------------------------------------===//

LogicalResult elements::atan2(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "other"}, [](Num x, Num y) { return atan2(x, y); },
      /*exact=*/true);
}
LogicalResult elements::copysign(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "other"}, [](Num x, Num y) { return copysign(x, y); },
      /*exact=*/true);
}

/// Of the greater side and a ratio, so that no square overflows.
LogicalResult elements::hypot(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "other"},
      [](Num x, Num y) {
        x = abs(x);
        y = abs(y);
        Num isLess = x < y;
        Num high = select(isLess, y, x), ratio = select(isLess, x, y) / high;
        Num length = high * sqrt(1 + ratio * ratio);
        length = select((x == 0) & (y == 0), 0, length);
        return select(isInfinite(x) | isInfinite(y), HUGE_VAL, length);
      },
      /*exact=*/true);
}

LogicalResult elements::xlogy(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "other"},
      [](Num x, Num y) {
        return select(isNan(y), y, select(x == 0, 0, x * log(y)));
      },
      /*exact=*/true);
}

/// Of the greater one and their distance, so that nothing overflows.
template <Num (*fn)(const Num &)>
static LogicalResult logOfSum(Operation *op, ElementBuilder &b, Results &r) {
  return ElementCall(op, b, r).real(
      {"self", "other"},
      [](Num x, Num y) {
        Num isLess = x < y;
        Num high = select(isLess, y, x), low = select(isLess, x, y);
        // Infinities of one sign have no distance; NaN has none either.
        Num sum = high + fn(low - high);
        return select((x == y) & isInfinite(x), x,
                      select(isNan(x) | isNan(y), x + y, sum));
      },
      /*exact=*/true);
}
static Num log1pOfExp(const Num &x) { return log1p(exp(x)); }
static Num log2OfExp2(const Num &x) { return log2(1 + exp2(x)); }

LogicalResult elements::logAddExp(Operation *op, ElementBuilder &b,
                                  Results &r) {
  return logOfSum<log1pOfExp>(op, b, r);
}
LogicalResult elements::logAddExp2(Operation *op, ElementBuilder &b,
                                   Results &r) {
  return logOfSum<log2OfExp2>(op, b, r);
}

LogicalResult elements::heaviside(Operation *op, ElementBuilder &b,
                                  Results &r) {
  return ElementCall(op, b, r).ordered({"self", "values"}, [](Num x, Num v) {
    return select(x == 0, v, select(x > 0, x.constant(1), 0));
  });
}
