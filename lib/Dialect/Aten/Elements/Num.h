// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars that formulas are written with, as arithmetic:
//
//   Num s = 1 / (1 + exp(-x));
//
// The ops are those of `arith` and `math` for floats, and for integers, which
// are signed here; truth values are of type i1. What is computed from a null
// scalar is null, so a formula looks for that once, at its end.
#ifndef CUTBACK_LIB_DIALECT_ATEN_ELEMENTS_NUM_H
#define CUTBACK_LIB_DIALECT_ATEN_ELEMENTS_NUM_H

#include "cutback/Dialect/Joint/ElementBuilder.h"

#include <cmath>
#include <optional>

namespace cutback::aten::elements {

class Num {
public:
  Num() = default;
  Num(joint::ElementBuilder &elements, mlir::Value value)
      : elements(value ? &elements : nullptr), value(value) {}

  explicit operator bool() const { return elements != nullptr; }
  mlir::Value get() const { return value; }
  mlir::Type type() const { return value.getType(); }
  bool isFloat() const;
  joint::ElementBuilder &builder() const { return *elements; }

  /// A constant of this type. Of an integer type, `number` is whole.
  Num constant(double number) const;
  Num wholeConstant(int64_t number) const;

private:
  joint::ElementBuilder *elements = nullptr;
  mlir::Value value;
};

/// A scalar, or a constant of the other operand's type.
class Term {
public:
  Term(const Num &num) : num(num) {}
  Term(double constant) : real(constant) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Term(T constant) : whole(static_cast<int64_t>(constant)) {}
  Num like(const Term &other) const {
    if (real)
      return other.num ? other.num.constant(*real) : Num();
    if (whole)
      return other.num ? other.num.wholeConstant(*whole) : Num();
    return num;
  }

private:
  Num num;
  std::optional<double> real;
  std::optional<int64_t> whole;
};

/// A constant of any type of `arith`; integers wrap around.
Num constantOf(joint::ElementBuilder &elements, mlir::Type type, double number);
Num constantOf(joint::ElementBuilder &elements, mlir::Type type,
               int64_t number);

//===-- Arithmetic --------------------------------------------------------===//
Num operator+(const Term &a, const Term &b);
Num operator-(const Term &a, const Term &b);
Num operator*(const Term &a, const Term &b);
/// Of integers, rounded to zero; the divisor is neither 0 nor -1.
Num operator/(const Term &a, const Term &b);
/// The remainder of that, with the sign of `a`.
Num operator%(const Term &a, const Term &b);
Num operator-(const Num &a);

//===-- Truth values ------------------------------------------------------===//
/// False where an operand is NaN, but `!=`.
Num operator<(const Term &a, const Term &b);
Num operator<=(const Term &a, const Term &b);
Num operator>(const Term &a, const Term &b);
Num operator>=(const Term &a, const Term &b);
Num operator==(const Term &a, const Term &b);
Num operator!=(const Term &a, const Term &b);
/// Bits, or truth values.
Num operator&(const Num &a, const Num &b);
Num operator|(const Num &a, const Num &b);
Num operator^(const Num &a, const Num &b);
/// By less than the width.
Num shiftLeft(const Num &a, const Num &b);
Num shiftRight(const Num &a, const Num &b);
/// Of a truth value.
Num negated(const Num &a);
Num select(const Num &condition, const Term &a, const Term &b);
/// False of an integer.
Num isNan(const Num &a);
Num isInfinite(const Num &a);

//===-- Functions of floats -----------------------------------------------===//
Num abs(const Num &a);
Num acos(const Num &a);
Num acosh(const Num &a);
Num asin(const Num &a);
Num asinh(const Num &a);
Num atan(const Num &a);
Num atanh(const Num &a);
Num ceil(const Num &a);
Num cos(const Num &a);
Num cosh(const Num &a);
Num erf(const Num &a);
Num erfc(const Num &a);
Num exp(const Num &a);
Num exp2(const Num &a);
Num expm1(const Num &a);
Num floor(const Num &a);
Num log(const Num &a);
Num log10(const Num &a);
Num log1p(const Num &a);
Num log2(const Num &a);
Num roundEven(const Num &a);
Num sin(const Num &a);
Num sinh(const Num &a);
Num sqrt(const Num &a);
Num tan(const Num &a);
Num tanh(const Num &a);
Num trunc(const Num &a);
Num atan2(const Num &a, const Num &b);
Num copysign(const Term &a, const Num &b);
Num pow(const Num &a, const Term &b);
/// Of integers; the exponent is not negative.
Num ipow(const Num &a, const Num &b);
Num fma(const Num &a, const Num &b, const Num &c);

//===-- Conversions -------------------------------------------------------===//
/// The same bits of an integer as a signless one, which scalars are.
mlir::Type signlessOf(mlir::Type type);
/// `num`, an element of type `from`, as an element of type `to`. A float to an
/// integer goes through i64 as the processor converts: rounded to zero, the
/// least integer for NaN and where it does not fit. Null where there is none.
Num cast(const Num &num, mlir::Type from, mlir::Type to);

} // namespace cutback::aten::elements

#endif // CUTBACK_LIB_DIALECT_ATEN_ELEMENTS_NUM_H
