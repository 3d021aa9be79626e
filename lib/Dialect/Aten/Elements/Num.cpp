// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function an op of `arith` or `math`. A constant takes the type of what it
// stands beside. Scalars of two types, which no formula means to combine, give
// a null one: then the call has no formula, and a test says so. Comparisons
// are ordered, so that NaN is on the side that C++ puts it on. Ops are created
// as they are written; folding is left to who lowers them.

#include "Num.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;
using joint::ElementBuilder;

bool Num::isFloat() const { return isa<FloatType>(type()); }

Num elements::constantOf(ElementBuilder &elements, Type type, double number) {
  auto real = dyn_cast<FloatType>(type);
  if (!real)
    return constantOf(elements, type, static_cast<int64_t>(number));
  TypedAttr attr = FloatAttr::get(real, number);
  return Num(elements,
             arith::ConstantOp::create(elements.builder, elements.loc, attr));
}

Num elements::constantOf(ElementBuilder &elements, Type type, int64_t number) {
  if (isa<FloatType>(type))
    return constantOf(elements, type, static_cast<double>(number));
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt bits = APInt(64, static_cast<uint64_t>(number)).trunc(width);
  TypedAttr attr = IntegerAttr::get(type, bits);
  return Num(elements,
             arith::ConstantOp::create(elements.builder, elements.loc, attr));
}

Num Num::constant(double number) const {
  return constantOf(*elements, type(), number);
}
Num Num::wholeConstant(int64_t number) const {
  return constantOf(*elements, type(), number);
}

/// An op on scalars of one type.
template <typename OpTy, typename... Nums>
static Num make(const Num &first, const Nums &...others) {
  if (!first || !(... && bool(others)))
    return {};
  ElementBuilder &elements = first.builder();
  return Num(elements, OpTy::create(elements.builder, elements.loc, first.get(),
                                    others.get()...));
}

template <typename FloatOp, typename IntOp>
static Num arithmetic(const Term &left, const Term &right) {
  Num a = left.like(right), b = right.like(left);
  if (!a || !b || a.type() != b.type())
    return {};
  return a.isFloat() ? make<FloatOp>(a, b) : make<IntOp>(a, b);
}

Num elements::operator+(const Term &a, const Term &b) {
  return arithmetic<arith::AddFOp, arith::AddIOp>(a, b);
}
Num elements::operator-(const Term &a, const Term &b) {
  return arithmetic<arith::SubFOp, arith::SubIOp>(a, b);
}
Num elements::operator*(const Term &a, const Term &b) {
  return arithmetic<arith::MulFOp, arith::MulIOp>(a, b);
}
Num elements::operator/(const Term &a, const Term &b) {
  return arithmetic<arith::DivFOp, arith::DivSIOp>(a, b);
}
Num elements::operator%(const Term &a, const Term &b) {
  return arithmetic<arith::RemFOp, arith::RemSIOp>(a, b);
}
Num elements::operator-(const Num &a) {
  return a && a.isFloat() ? make<arith::NegFOp>(a) : 0 - a;
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

static Num compare(const Term &left, const Term &right,
                   arith::CmpFPredicate real, arith::CmpIPredicate whole) {
  Num a = left.like(right), b = right.like(left);
  if (!a || !b || a.type() != b.type())
    return {};
  ElementBuilder &elements = a.builder();
  OpBuilder &builder = elements.builder;
  Location loc = elements.loc;
  return Num(elements,
             a.isFloat()
                 ? arith::CmpFOp::create(builder, loc, real, a.get(), b.get())
                       .getResult()
                 : arith::CmpIOp::create(builder, loc, whole, a.get(), b.get())
                       .getResult());
}

Num elements::operator<(const Term &a, const Term &b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Num elements::operator<=(const Term &a, const Term &b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Num elements::operator>(const Term &a, const Term &b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Num elements::operator>=(const Term &a, const Term &b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Num elements::operator==(const Term &a, const Term &b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Num elements::operator!=(const Term &a, const Term &b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}

/// Of integers of one type.
template <typename OpTy> static Num bits(const Num &a, const Num &b) {
  if (!a || !b || a.type() != b.type() || a.isFloat())
    return {};
  return make<OpTy>(a, b);
}

Num elements::operator&(const Num &a, const Num &b) {
  return bits<arith::AndIOp>(a, b);
}
Num elements::operator|(const Num &a, const Num &b) {
  return bits<arith::OrIOp>(a, b);
}
Num elements::operator^(const Num &a, const Num &b) {
  return bits<arith::XOrIOp>(a, b);
}
Num elements::shiftLeft(const Num &a, const Num &b) {
  return make<arith::ShLIOp>(a, b);
}
Num elements::shiftRight(const Num &a, const Num &b) {
  return make<arith::ShRSIOp>(a, b);
}
Num elements::negated(const Num &a) {
  return a ? a ^ a.wholeConstant(1) : Num();
}

Num elements::select(const Num &condition, const Term &a, const Term &b) {
  Num x = a.like(b), y = b.like(a);
  if (!x || !y || x.type() != y.type())
    return {};
  return make<arith::SelectOp>(condition, x, y);
}

Num elements::isNan(const Num &a) {
  if (a && !a.isFloat())
    return constantOf(a.builder(), a.builder().builder.getI1Type(), int64_t(0));
  return a != a;
}

Num elements::isInfinite(const Num &a) {
  if (a && !a.isFloat())
    return constantOf(a.builder(), a.builder().builder.getI1Type(), int64_t(0));
  return abs(a) == HUGE_VAL;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

#define CUTBACK_FUNCTION(name, Op)                                             \
  Num elements::name(const Num &a) { return make<math::Op>(a); }
CUTBACK_FUNCTION(abs, AbsFOp)
CUTBACK_FUNCTION(acos, AcosOp)
CUTBACK_FUNCTION(acosh, AcoshOp)
CUTBACK_FUNCTION(asin, AsinOp)
CUTBACK_FUNCTION(asinh, AsinhOp)
CUTBACK_FUNCTION(atan, AtanOp)
CUTBACK_FUNCTION(atanh, AtanhOp)
CUTBACK_FUNCTION(ceil, CeilOp)
CUTBACK_FUNCTION(cos, CosOp)
CUTBACK_FUNCTION(cosh, CoshOp)
CUTBACK_FUNCTION(erf, ErfOp)
CUTBACK_FUNCTION(erfc, ErfcOp)
CUTBACK_FUNCTION(exp, ExpOp)
CUTBACK_FUNCTION(exp2, Exp2Op)
CUTBACK_FUNCTION(expm1, ExpM1Op)
CUTBACK_FUNCTION(floor, FloorOp)
CUTBACK_FUNCTION(log, LogOp)
CUTBACK_FUNCTION(log10, Log10Op)
CUTBACK_FUNCTION(log1p, Log1pOp)
CUTBACK_FUNCTION(log2, Log2Op)
CUTBACK_FUNCTION(roundEven, RoundEvenOp)
CUTBACK_FUNCTION(sin, SinOp)
CUTBACK_FUNCTION(sinh, SinhOp)
CUTBACK_FUNCTION(sqrt, SqrtOp)
CUTBACK_FUNCTION(tan, TanOp)
CUTBACK_FUNCTION(tanh, TanhOp)
CUTBACK_FUNCTION(trunc, TruncOp)
#undef CUTBACK_FUNCTION

Num elements::atan2(const Num &a, const Num &b) {
  return make<math::Atan2Op>(a, b);
}
Num elements::copysign(const Term &a, const Num &b) {
  return make<math::CopySignOp>(a.like(b), b);
}
Num elements::pow(const Num &a, const Term &b) {
  return make<math::PowFOp>(a, b.like(a));
}
Num elements::ipow(const Num &a, const Num &b) {
  return make<math::IPowIOp>(a, b);
}
Num elements::fma(const Num &a, const Num &b, const Num &c) {
  return make<math::FmaOp>(a, b, c);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Type elements::signlessOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless()
             ? IntegerType::get(type.getContext(), integer.getWidth())
             : type;
}

template <typename OpTy> static Num convert(const Num &num, Type to) {
  ElementBuilder &elements = num.builder();
  return Num(elements,
             OpTy::create(elements.builder, elements.loc, to, num.get()));
}

static Num castFloat(const Num &num, FloatType to) {
  unsigned width = num.type().getIntOrFloatBitWidth();
  if (num.type() == to)
    return num;
  if (width < to.getWidth())
    return convert<arith::ExtFOp>(num, to);
  if (width > to.getWidth())
    return convert<arith::TruncFOp>(num, to);
  // f16 and bf16 do not hold each other.
  Type wide = Float32Type::get(to.getContext());
  return convert<arith::TruncFOp>(convert<arith::ExtFOp>(num, wide), to);
}

static Num castInteger(const Num &num, bool isUnsigned, IntegerType to) {
  unsigned width = num.type().getIntOrFloatBitWidth();
  if (width > to.getWidth())
    return convert<arith::TruncIOp>(num, to);
  if (width == to.getWidth())
    return num;
  return isUnsigned ? convert<arith::ExtUIOp>(num, to)
                    : convert<arith::ExtSIOp>(num, to);
}

static Num truncate(const Num &num, IntegerType to, bool isUnsigned) {
  if (isUnsigned && to.getWidth() == 64)
    return {}; // Half of the range does not go through i64.
  Num x = num.type().getIntOrFloatBitWidth() < 32
              ? castFloat(num, Float32Type::get(to.getContext()))
              : num;
  auto i64 = IntegerType::get(to.getContext(), 64);
  Num fits = (x >= -0x1p63) & (x < 0x1p63);
  Num whole = convert<arith::FPToSIOp>(select(fits, x, 0), i64);
  return castInteger(select(fits, whole, whole.wholeConstant(INT64_MIN)),
                     /*isUnsigned=*/false, to);
}

Num elements::cast(const Num &num, Type from, Type to) {
  if (!num || num.type() != signlessOf(from))
    return {};
  if (from == to)
    return num;
  auto fromReal = dyn_cast<FloatType>(from), toReal = dyn_cast<FloatType>(to);
  if (fromReal && toReal)
    return castFloat(num, toReal);
  auto fromInt = dyn_cast<IntegerType>(from), toInt = dyn_cast<IntegerType>(to);
  if ((!fromReal && !fromInt) || (!toReal && !toInt))
    return {};
  if (toInt && toInt.getWidth() == 1)
    return num != 0;
  bool isUnsigned =
      fromInt && (fromInt.isUnsigned() || fromInt.getWidth() == 1);
  if (toReal)
    return isUnsigned ? convert<arith::UIToFPOp>(num, to)
                      : convert<arith::SIToFPOp>(num, to);
  auto bits = llvm::cast<IntegerType>(signlessOf(to));
  return fromReal ? truncate(num, bits, toInt.isUnsigned())
                  : castInteger(num, isUnsigned, bits);
}
