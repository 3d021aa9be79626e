// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table from op to function. Floating point is computed in double precision
// and rounded by the caller: for the basic operations on narrower types that is
// what the type itself gives. What the ops leave open (a shift by the width, a
// division by 0) is 0 here: formulas do not get there.

#include "ScalarOps.h"

#include "Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static Scalar real(double x) {
  Scalar scalar;
  scalar.real = x;
  return scalar;
}
static Scalar integer(int64_t x) {
  Scalar scalar;
  scalar.integer = x;
  return scalar;
}

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

static int64_t wrap(unsigned width, int64_t x) {
  if (width >= 64)
    return x;
  unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(x) << unused) >> unused;
}

/// The bits of an integer, as an unsigned number.
static uint64_t bitsOf(Operation *op, Scalar x, unsigned operand = 0) {
  unsigned width = widthOf(op->getOperand(operand).getType());
  auto bits = static_cast<uint64_t>(x.integer);
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

Scalar interpreter::roundScalar(Type type, Scalar value) {
  if (!isa<FloatType>(type))
    return integer(wrap(widthOf(type), value.integer));
  return type.isF64() ? value : real(roundTo(*dtypeOf(type), value.real));
}

namespace {

template <double (*fn)(double)> Scalar unary(Operation *, const Scalar *x) {
  return real(fn(x[0].real));
}
template <double (*fn)(double, double)>
Scalar binary(Operation *, const Scalar *x) {
  return real(fn(x[0].real, x[1].real));
}
template <int64_t (*fn)(int64_t, int64_t)>
Scalar integers(Operation *, const Scalar *x) {
  return integer(fn(x[0].integer, x[1].integer));
}
template <uint64_t (*fn)(uint64_t, uint64_t)>
Scalar naturals(Operation *op, const Scalar *x) {
  return integer(static_cast<int64_t>(fn(bitsOf(op, x[0]), bitsOf(op, x[1]))));
}

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

/// Of what is no NaN.
double maximumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
}
double minimumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
}

Scalar constant(Operation *op, const Scalar *) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat wide = number.getValue();
    bool isInexact = false;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &isInexact);
    return real(wide.convertToDouble());
  }
  return integer(cast<IntegerAttr>(value).getValue().getSExtValue());
}

Scalar select(Operation *, const Scalar *x) {
  return x[0].integer ? x[1] : x[2];
}

Scalar compareFloats(Operation *op, const Scalar *x) {
  using P = arith::CmpFPredicate;
  double a = x[0].real, b = x[1].real;
  bool isOpen = std::isnan(a) || std::isnan(b);
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case P::AlwaysFalse:
    return integer(0);
  case P::OEQ:
    return integer(a == b);
  case P::OGT:
    return integer(a > b);
  case P::OGE:
    return integer(a >= b);
  case P::OLT:
    return integer(a < b);
  case P::OLE:
    return integer(a <= b);
  case P::ONE:
    return integer(!isOpen && a != b);
  case P::ORD:
    return integer(!isOpen);
  case P::UEQ:
    return integer(isOpen || a == b);
  case P::UGT:
    return integer(isOpen || a > b);
  case P::UGE:
    return integer(isOpen || a >= b);
  case P::ULT:
    return integer(isOpen || a < b);
  case P::ULE:
    return integer(isOpen || a <= b);
  case P::UNE:
    return integer(a != b);
  case P::UNO:
    return integer(isOpen);
  case P::AlwaysTrue:
    return integer(1);
  }
  return integer(0);
}

Scalar compareIntegers(Operation *op, const Scalar *x) {
  using P = arith::CmpIPredicate;
  int64_t a = x[0].integer, b = x[1].integer;
  uint64_t ua = bitsOf(op, x[0]), ub = bitsOf(op, x[1]);
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case P::eq:
    return integer(a == b);
  case P::ne:
    return integer(a != b);
  case P::slt:
    return integer(a < b);
  case P::sle:
    return integer(a <= b);
  case P::sgt:
    return integer(a > b);
  case P::sge:
    return integer(a >= b);
  case P::ult:
    return integer(ua < ub);
  case P::ule:
    return integer(ua <= ub);
  case P::ugt:
    return integer(ua > ub);
  case P::uge:
    return integer(ua >= ub);
  }
  return integer(0);
}

Scalar same(Operation *, const Scalar *x) { return x[0]; }
Scalar extendUnsigned(Operation *op, const Scalar *x) {
  return integer(static_cast<int64_t>(bitsOf(op, x[0])));
}
Scalar fromSigned(Operation *, const Scalar *x) {
  return real(static_cast<double>(x[0].integer));
}
Scalar fromUnsigned(Operation *op, const Scalar *x) {
  return real(static_cast<double>(bitsOf(op, x[0])));
}
/// Beyond the type, as x86 has it; NaN, too.
Scalar toSigned(Operation *, const Scalar *x) {
  double value = x[0].real;
  bool fits = value >= -0x1p63 && value < 0x1p63;
  return integer(fits ? static_cast<int64_t>(value) : INT64_MIN);
}
Scalar toUnsigned(Operation *op, const Scalar *x) {
  double value = x[0].real;
  if (value >= 0x1p63 && value < 0x1p64)
    return integer(static_cast<int64_t>(static_cast<uint64_t>(value)));
  return toSigned(op, x);
}
Scalar absolute(Operation *, const Scalar *x) {
  int64_t value = x[0].integer;
  return integer(value < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(value))
                           : value);
}
/// Rounded once to its type, and not to double in front of that: of 16 bits to
/// single.
Scalar fusedMultiplyAdd(Operation *op, const Scalar *x) {
  if (op->getResult(0).getType().isF64())
    return real(std::fma(x[0].real, x[1].real, x[2].real));
  return real(std::fma(static_cast<float>(x[0].real),
                       static_cast<float>(x[1].real),
                       static_cast<float>(x[2].real)));
}
Scalar integerPower(Operation *, const Scalar *x) {
  return real(std::pow(x[0].real, static_cast<double>(x[1].integer)));
}

// Shifts by the width or more, and divisions by 0, are not defined: 0.
int64_t divideSigned(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? static_cast<int64_t>(-uint64_t(a)) : a / b;
}
int64_t remainderSigned(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = divideSigned(a, b);
  return quotient - (remainderSigned(a, b) != 0 && (a < 0) != (b < 0));
}
int64_t ceilDivide(int64_t a, int64_t b) {
  int64_t quotient = divideSigned(a, b);
  return quotient + (remainderSigned(a, b) != 0 && (a < 0) == (b < 0));
}
int64_t shiftLeft(int64_t a, int64_t b) {
  return b < 0 || b > 63 ? 0 : static_cast<int64_t>(uint64_t(a) << b);
}
int64_t shiftRight(int64_t a, int64_t b) {
  return b < 0 || b > 63 ? 0 : a >> b;
}
uint64_t shiftRightUnsigned(uint64_t a, uint64_t b) {
  return b > 63 ? 0 : a >> b;
}
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
}
int64_t subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) - uint64_t(b));
}
int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) * uint64_t(b));
}

double plus(double a, double b) { return a + b; }
double minus(double a, double b) { return a - b; }
double times(double a, double b) { return a * b; }
double over(double a, double b) { return a / b; }
double negative(double a) { return -a; }
double inverseRoot(double a) { return 1 / std::sqrt(a); }
bool isNan(double a) { return std::isnan(a); }
bool isInf(double a) { return std::isinf(a); }
bool isFinite(double a) { return std::isfinite(a); }

template <bool (*fn)(double)> Scalar classify(Operation *, const Scalar *x) {
  return integer(fn(x[0].real));
}

/// The exponent is not negative.
int64_t power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base = multiply(base, base))
    result = exponent & 1 ? multiply(result, base) : result;
  return result;
}
int64_t greater(int64_t a, int64_t b) { return std::max(a, b); }
int64_t less(int64_t a, int64_t b) { return std::min(a, b); }
uint64_t greaterUnsigned(uint64_t a, uint64_t b) { return std::max(a, b); }
uint64_t lessUnsigned(uint64_t a, uint64_t b) { return std::min(a, b); }
uint64_t divideUnsigned(uint64_t a, uint64_t b) { return b ? a / b : 0; }
uint64_t remainderUnsigned(uint64_t a, uint64_t b) { return b ? a % b : 0; }
uint64_t bitAnd(uint64_t a, uint64_t b) { return a & b; }
uint64_t bitOr(uint64_t a, uint64_t b) { return a | b; }
uint64_t bitXor(uint64_t a, uint64_t b) { return a ^ b; }

class Finder {
public:
  explicit Finder(Operation *op) : op(op) {}
  template <typename... Ops> Finder &of(ScalarFn fn) {
    if (!found && isa<Ops...>(op))
      found = fn;
    return *this;
  }
  ScalarFn found = nullptr;

private:
  Operation *op;
};

} // namespace

static void findArith(Finder &finder) {
  using namespace arith;
  finder.of<ConstantOp>(constant)
      .of<SelectOp>(select)
      .of<CmpFOp>(compareFloats)
      .of<CmpIOp>(compareIntegers)
      .of<ExtFOp, TruncFOp, ExtSIOp, TruncIOp, IndexCastOp>(same)
      .of<ExtUIOp, IndexCastUIOp>(extendUnsigned)
      .of<SIToFPOp>(fromSigned)
      .of<UIToFPOp>(fromUnsigned)
      .of<FPToSIOp>(toSigned)
      .of<FPToUIOp>(toUnsigned)
      .of<AddFOp>(binary<plus>)
      .of<SubFOp>(binary<minus>)
      .of<MulFOp>(binary<times>)
      .of<DivFOp>(binary<over>)
      .of<RemFOp>(binary<std::fmod>)
      .of<NegFOp>(unary<negative>)
      .of<MaximumFOp>(binary<maximum>)
      .of<MinimumFOp>(binary<minimum>)
      .of<MaxNumFOp>(binary<maximumNumber>)
      .of<MinNumFOp>(binary<minimumNumber>)
      .of<AddIOp>(integers<add>)
      .of<SubIOp>(integers<subtract>)
      .of<MulIOp>(integers<multiply>)
      .of<DivSIOp>(integers<divideSigned>)
      .of<RemSIOp>(integers<remainderSigned>)
      .of<FloorDivSIOp>(integers<floorDivide>)
      .of<CeilDivSIOp>(integers<ceilDivide>)
      .of<ShLIOp>(integers<shiftLeft>)
      .of<ShRSIOp>(integers<shiftRight>)
      .of<ShRUIOp>(naturals<shiftRightUnsigned>)
      .of<DivUIOp>(naturals<divideUnsigned>)
      .of<RemUIOp>(naturals<remainderUnsigned>)
      .of<AndIOp>(naturals<bitAnd>)
      .of<OrIOp>(naturals<bitOr>)
      .of<XOrIOp>(naturals<bitXor>)
      .of<MaxSIOp>(integers<greater>)
      .of<MinSIOp>(integers<less>)
      .of<MaxUIOp>(naturals<greaterUnsigned>)
      .of<MinUIOp>(naturals<lessUnsigned>);
}

static void findMath(Finder &finder) {
  using namespace math;
  finder.of<ExpOp>(unary<std::exp>)
      .of<Exp2Op>(unary<std::exp2>)
      .of<ExpM1Op>(unary<std::expm1>)
      .of<LogOp>(unary<std::log>)
      .of<Log2Op>(unary<std::log2>)
      .of<Log10Op>(unary<std::log10>)
      .of<Log1pOp>(unary<std::log1p>)
      .of<SqrtOp>(unary<std::sqrt>)
      .of<RsqrtOp>(unary<inverseRoot>)
      .of<CbrtOp>(unary<std::cbrt>)
      .of<SinOp>(unary<std::sin>)
      .of<CosOp>(unary<std::cos>)
      .of<TanOp>(unary<std::tan>)
      .of<AsinOp>(unary<std::asin>)
      .of<AcosOp>(unary<std::acos>)
      .of<AtanOp>(unary<std::atan>)
      .of<SinhOp>(unary<std::sinh>)
      .of<CoshOp>(unary<std::cosh>)
      .of<TanhOp>(unary<std::tanh>)
      .of<AsinhOp>(unary<std::asinh>)
      .of<AcoshOp>(unary<std::acosh>)
      .of<AtanhOp>(unary<std::atanh>)
      .of<ErfOp>(unary<std::erf>)
      .of<ErfcOp>(unary<std::erfc>)
      .of<FloorOp>(unary<std::floor>)
      .of<CeilOp>(unary<std::ceil>)
      .of<RoundOp>(unary<std::round>)
      .of<RoundEvenOp>(unary<std::nearbyint>)
      .of<TruncOp>(unary<std::trunc>)
      .of<AbsFOp>(unary<std::fabs>)
      .of<Atan2Op>(binary<std::atan2>)
      .of<PowFOp>(binary<std::pow>)
      .of<CopySignOp>(binary<std::copysign>)
      .of<FPowIOp>(integerPower)
      .of<IPowIOp>(integers<power>)
      .of<AbsIOp>(absolute)
      .of<FmaOp>(fusedMultiplyAdd)
      .of<IsNaNOp>(classify<isNan>)
      .of<IsInfOp>(classify<isInf>)
      .of<IsFiniteOp>(classify<isFinite>);
}

ScalarFn interpreter::findScalarOp(Operation *op) {
  Finder finder(op);
  findArith(finder);
  findMath(finder);
  return finder.found;
}
