// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One formula a function, of multiplications, additions, fma and selections
// that every machine rounds the same way: a value does not depend on its place
// in a vector, nor on the library that is installed. Both sides of a choice are
// computed, so that a loop of them has no branches.
//
// The polynomials are those of the CUDA target; the largest errors, in units in
// the last place, are measured over all f32 by NativeMathTest: exp and log 0.9,
// tanh 2.2, erf 1.0, sin and cos 1.5.

#include "Formulas.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Words of the language
//===----------------------------------------------------------------------===//

Value Formulas::number(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(float(value)));
}
Value Formulas::wide(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF64FloatAttr(value));
}
Value Formulas::integer(int64_t value, unsigned width) {
  return arith::ConstantIntOp::create(builder, loc, value, width);
}
Value Formulas::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value Formulas::compare(FP how, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, how, a, b);
}
Value Formulas::compare(IP how, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, how, a, b);
}
Value Formulas::add(Value a, Value b) {
  return isa<FloatType>(getElementTypeOrSelf(a)) ? make<arith::AddFOp>(a, b)
                                                 : make<arith::AddIOp>(a, b);
}
Value Formulas::subtract(Value a, Value b) {
  return isa<FloatType>(getElementTypeOrSelf(a)) ? make<arith::SubFOp>(a, b)
                                                 : make<arith::SubIOp>(a, b);
}
Value Formulas::multiply(Value a, Value b) {
  return isa<FloatType>(getElementTypeOrSelf(a)) ? make<arith::MulFOp>(a, b)
                                                 : make<arith::MulIOp>(a, b);
}
Value Formulas::absolute(Value x) {
  return math::AbsFOp::create(builder, loc, x);
}
Value Formulas::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}
Value Formulas::polynomial(Value x, ArrayRef<double> factors) {
  Value sum = number(factors.front());
  for (double factor : factors.drop_front())
    sum = fma(sum, x, factor);
  return sum;
}
Value Formulas::bits(Value x) {
  return arith::BitcastOp::create(builder, loc, builder.getI32Type(), x);
}
Value Formulas::fromBits(Value x) {
  return arith::BitcastOp::create(builder, loc, builder.getF32Type(), x);
}
Value Formulas::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}

//===----------------------------------------------------------------------===//
// Functions of single precision
//===----------------------------------------------------------------------===//

/// The greater, and the lesser; a NaN stays one.
Value Formulas::atLeast(Value x, Value bound) {
  return select(compare(FP::OGT, bound, x), bound, x);
}
Value Formulas::atMost(Value x, Value bound) {
  return select(compare(FP::OLT, bound, x), bound, x);
}

/// 2^n e^f with |f| about log(2) / 2 at most. No conversion, which would have
/// no result for a NaN: beside 1.5 * 2^23 the sum's low bits are n, and what is
/// added for the exponents of 1.
Value Formulas::expWithin(Value x, Scale scale) {
  Value front = number(12582912 + (scale == Scale::Normal   ? 127
                                   : scale == Scale::Halves ? 254
                                                            : 0));
  Value shifted = fma(x, number(1.44269504f), front);
  Value n = subtract(shifted, front);
  Value f = fma(n, number(-0.693145752f), x);
  f = fma(n, number(-1.42860677e-6f), f);
  Value p = polynomial(f, {1.37805939e-3f, 8.37312452e-3f, 4.16695364e-2f,
                           1.66664720e-1f, 4.99999851e-1f, 1.0f, 1.0f});
  if (scale == Scale::Instruction)
    return LLVM::LoadExpOp::create(builder, loc, p.getType(), p,
                                   subtract(bits(shifted), bits(front)));
  auto asExponent = [&](Value bits) {
    return make<arith::ShLIOp>(bits, integer(23));
  };
  Value both = asExponent(bits(shifted));
  if (scale == Scale::Normal)
    return multiply(p, fromBits(both));
  // Each half of n has a power of two, and only the second product rounds.
  Value half = asExponent(make<arith::ShRUIOp>(bits(shifted), integer(1)));
  return multiply(multiply(p, fromBits(half)), fromBits(subtract(both, half)));
}

Value Formulas::exp(Value x, bool hasScaling) {
  return expWithin(atMost(atLeast(x, number(-104)), number(89)),
                   hasScaling ? Scale::Instruction : Scale::Halves);
}

/// 2^n (1 + f) with 1 + f in [2/3, 4/3).
Value Formulas::log(Value x) {
  Value isSmall = compare(FP::OLT, x, number(1.17549435e-38f));
  Value scaled = bits(select(isSmall, multiply(x, number(8388608.0f)), x));
  Value e =
      make<arith::ShRSIOp>(subtract(scaled, integer(0x3F2AAAAB)), integer(23));
  Value f =
      subtract(fromBits(subtract(scaled, make<arith::ShLIOp>(e, integer(23)))),
               number(1));
  e = select(isSmall, subtract(e, integer(23)), e);
  Value n = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), e);
  Value s = multiply(f, f);
  Value p = polynomial(
      s, {-0.130310059f, -0.121483952f, -0.166846126f, -0.249996200f});
  Value q = polynomial(s, {0.140869141f, 0.139814854f, 0.200120345f});
  p = fma(q, f, p);
  p = fma(p, f, 0.333331972f);
  p = fma(p, f, -0.5f);
  p = fma(p, s, f);
  p = fma(n, number(0.693147182f), p);
  Value infinity = number(INFINITY);
  p = select(compare(FP::OEQ, x, infinity), x, p);
  p = select(compare(FP::OEQ, x, number(0)), number(-INFINITY), p);
  return select(compare(FP::UGE, x, number(0)),
                select(compare(FP::UNO, x, x), x, p), number(NAN));
}

/// An odd polynomial below 0.55, else 1 - 2 / (e^2x + 1).
Value Formulas::tanh(Value x) {
  Value a = absolute(x), s = multiply(x, x);
  Value p = polynomial(
      s, {1.57394409e-2f, -5.23025431e-2f, 1.33152977e-1f, -3.33327681e-1f});
  Value small = fma(multiply(p, s), x, x);
  Value t =
      add(expWithin(atMost(multiply(number(2), a), number(80)), Scale::Normal),
          number(1));
  t = subtract(number(1), make<arith::DivFOp>(number(2), t));
  return select(compare(FP::ULT, a, number(0.55f)), small, copySign(t, x));
}

/// An odd polynomial below 0.93, else 1 - e^q(|x|).
Value Formulas::erf(Value x) {
  Value t = absolute(x), s = multiply(x, x);
  Value r = fma(number(-1.72853470e-5f), t, 3.83197126e-4f);
  Value u = fma(number(-3.88396438e-3f), t, 2.42546219e-2f);
  r = fma(r, s, u);
  for (float factor : {-1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f})
    r = fma(r, t, factor);
  r = fma(r, t, arith::NegFOp::create(builder, loc, t));
  // What is below is lost beside 1.
  Value rest = expWithin(atLeast(r, number(-80)), Scale::Normal);
  Value large = copySign(subtract(number(1), rest), x);
  Value p = polynomial(s, {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f,
                           1.12819925e-1f, -3.76125336e-1f, 1.28379166e-1f});
  return select(compare(FP::OGT, t, number(0.927734375f)), large, fma(p, x, x));
}

Value Formulas::sinPart(Value r) {
  Value s = multiply(r, r);
  Value p = polynomial(
      s, {2.86567956e-6f, -1.98559923e-4f, 8.33338592e-3f, -1.66666672e-1f});
  return fma(multiply(p, s), r, r);
}
Value Formulas::cosPart(Value r) {
  return polynomial(multiply(r, r), {2.44677067e-5f, -1.38877297e-3f,
                                     4.16666567e-2f, -0.5f, 1.0f});
}

static constexpr double kAngles[80][2] = {
#include "../CUDA/Device/cutback_angles.cuh"
};

/// The table above as memory of the module that is built, on a GPU of the one
/// for it.
static Value angles(OpBuilder &builder, Location loc) {
  static constexpr llvm::StringLiteral kName("cutback_angles");
  Operation *module = SymbolTable::getNearestSymbolTable(
      builder.getInsertionBlock()->getParentOp());
  auto type = MemRefType::get({80, 2}, builder.getF64Type());
  if (!SymbolTable::lookupSymbolIn(module, kName)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&module->getRegion(0).front());
    auto values = DenseElementsAttr::get(
        RankedTensorType::get(type.getShape(), type.getElementType()),
        llvm::ArrayRef(&kAngles[0][0], 160));
    memref::GlobalOp::create(builder, loc, kName,
                             builder.getStringAttr("private"), type, values,
                             /*constant=*/true, /*alignment=*/IntegerAttr());
  }
  return memref::GetGlobalOp::create(builder, loc, type, kName);
}

/// x = n pi/2 + r with |r| <= pi/4, in double. From 2^48 on the power of two in
/// x is an angle itself, from the table.
Value Formulas::sinOrCos(Value x, bool isCos) {
  Value isInside = compare(FP::OLT, absolute(x), number(INFINITY));
  Value bounded = select(isInside, x, number(0));
  Type f64 = builder.getF64Type(), index = builder.getIndexType();
  Value plain = arith::ExtFOp::create(builder, loc, f64, bounded);
  Value table = angles(builder, loc);
  Value power = subtract(
      make<arith::AndIOp>(make<arith::ShRUIOp>(bits(bounded), integer(23)),
                          integer(255)),
      integer(175));
  power = make<arith::MaxSIOp>(power, integer(0));
  power = arith::IndexCastOp::create(builder, loc, index, power);
  auto part = [&](int64_t which) -> Value {
    Value column = arith::ConstantIndexOp::create(builder, loc, which);
    return memref::LoadOp::create(builder, loc, table,
                                  ValueRange{power, column});
  };
  Value high = part(0), low = part(1);
  Value digits = make<arith::OrIOp>(
      make<arith::AndIOp>(bits(bounded), integer(0x7FFFFF)), integer(0x800000));
  digits = copySign(arith::SIToFPOp::create(builder, loc, f64, digits), plain);
  Value angle = multiply(digits, high);
  Value negative = arith::NegFOp::create(builder, loc, angle);
  Value rest = fma(digits, low, fma(digits, high, negative));
  Value isLarge =
      compare(FP::OGE, absolute(bounded), number(281474976710656.0f));
  Value d = select(isLarge, angle, plain);
  Value n = math::RoundEvenOp::create(builder, loc,
                                      multiply(d, wide(0.63661977236758134)));
  Value r = fma(n, wide(-1.5707963267948966), d);
  r = fma(n, wide(-6.123233995736766e-17), r);
  r = add(r, select(isLarge, rest, wide(0)));
  r = arith::TruncFOp::create(builder, loc, builder.getF32Type(), r);
  Value quadrant =
      arith::FPToSIOp::create(builder, loc, builder.getI64Type(), n);
  auto hasBit = [&](Value value, int64_t bit) {
    return compare(IP::ne, make<arith::AndIOp>(value, integer(bit, 64)),
                   integer(0, 64));
  };
  Value isOdd = hasBit(quadrant, 1);
  Value sine = sinPart(r), cosine = cosPart(r);
  Value y = isCos ? select(isOdd, sine, cosine) : select(isOdd, cosine, sine);
  // Of the cosine, quadrants 1 and 2 are negative.
  Value isNegative =
      hasBit(isCos ? add(quadrant, integer(1, 64)) : quadrant, 2);
  y = select(isNegative, arith::NegFOp::create(builder, loc, y), y);
  return select(isInside, y, number(NAN));
}

Value Formulas::function(Operation *op, Value x, bool hasScaling) {
  if (isa<math::ExpOp>(op))
    return exp(x, hasScaling);
  if (isa<math::LogOp>(op))
    return log(x);
  if (isa<math::TanhOp>(op))
    return tanh(x);
  if (isa<math::ErfOp>(op))
    return erf(x);
  if (isa<math::SinOp, math::CosOp>(op))
    return sinOrCos(x, isa<math::CosOp>(op));
  return Value();
}

/// By the bits: LLVM narrows ops on widened numbers, and calls a library for
/// that where the machine has no such conversion.
Value Formulas::widenBf16(Value x) {
  Value narrow =
      arith::BitcastOp::create(builder, loc, builder.getI16Type(), x);
  Value all =
      arith::ExtUIOp::create(builder, loc, builder.getI32Type(), narrow);
  return arith::BitcastOp::create(builder, loc, builder.getF32Type(),
                                  make<arith::ShLIOp>(all, integer(16)));
}

/// By the bits: the machine's own conversion takes subnormal numbers for 0.
Value Formulas::roundToBf16(Value x) {
  Value all = bits(x);
  Value isOdd =
      make<arith::AndIOp>(make<arith::ShRUIOp>(all, integer(16)), integer(1));
  Value rounded =
      make<arith::ShRUIOp>(add(all, add(isOdd, integer(0x7FFF))), integer(16));
  rounded = select(compare(FP::UNO, x, x), integer(0x7FC0), rounded);
  Value narrow =
      arith::TruncIOp::create(builder, loc, builder.getI16Type(), rounded);
  return arith::BitcastOp::create(builder, loc, builder.getBF16Type(), narrow);
}

Value Formulas::roundToOdd(Value x) {
  Value narrow = arith::TruncFOp::create(builder, loc, builder.getF32Type(), x);
  Value back =
      arith::ExtFOp::create(builder, loc, builder.getF64Type(), narrow);
  Value isFurther = compare(FP::OGT, absolute(back), absolute(x));
  Value all = bits(narrow);
  Value odd = make<arith::OrIOp>(
      select(isFurther, subtract(all, integer(1)), all), integer(1));
  Value isExact = compare(FP::UEQ, back, x); // NaN too
  return arith::BitcastOp::create(builder, loc, builder.getF32Type(),
                                  select(isExact, all, odd));
}

Value Formulas::integerPower(Value base, Value exponent) {
  Value one = integer(1, 64), zero = integer(0, 64);
  auto hasMore = [&](OpBuilder &inside, Location where, ValueRange now) {
    Value more = arith::CmpIOp::create(inside, where, IP::sgt, now[2], zero);
    scf::ConditionOp::create(inside, where, more, now);
  };
  auto square = [&](OpBuilder &inside, Location where, ValueRange now) {
    Formulas f(inside, where);
    Value isOdd = f.compare(IP::ne, f.make<arith::AndIOp>(now[2], one), zero);
    Value result = f.multiply(now[0], f.select(isOdd, now[1], one));
    scf::YieldOp::create(inside, where,
                         ValueRange{result, f.multiply(now[1], now[1]),
                                    f.make<arith::ShRUIOp>(now[2], one)});
  };
  Type type = one.getType();
  return scf::WhileOp::create(builder, loc, TypeRange{type, type, type},
                              ValueRange{one, base, exponent}, hasMore, square)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

Value Formulas::streamOf(int64_t stream, Value round) {
  if (!round)
    return integer(stream, 64);
  Value high = make<arith::ShLIOp>(round, integer(32, 64));
  return make<arith::OrIOp>(high, integer(stream & 0xFFFFFFFF, 64));
}

/// Philox-4x32-10 (Salmon et al., SC 2011): four words of 32 bits, as i64.
std::array<Value, 4> Formulas::philox(Value seed, Value stream, Value number) {
  Value mask = integer(0xFFFFFFFF, 64), half = integer(32, 64);
  auto low = [&](Value x) { return make<arith::AndIOp>(x, mask); };
  auto high = [&](Value x) { return make<arith::ShRUIOp>(x, half); };
  std::array<Value, 4> c = {low(number), high(number), low(stream),
                            high(stream)};
  Value key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    Value a = multiply(integer(0xD2511F53, 64), c[0]);
    Value b = multiply(integer(0xCD9E8D57, 64), c[2]);
    auto mix = [&](Value x, Value y, Value z) {
      return make<arith::XOrIOp>(make<arith::XOrIOp>(x, y), z);
    };
    c = {mix(high(b), c[1], key0), low(b), mix(high(a), c[3], key1), low(a)};
    key0 = low(add(key0, integer(0x9E3779B9, 64)));
    key1 = low(add(key1, integer(0xBB67AE85, 64)));
  }
  return c;
}

Value Formulas::randomWord(Value seed, Value stream, Value i) {
  auto words = philox(seed, stream, make<arith::ShRUIOp>(i, integer(2, 64)));
  Value place = make<arith::AndIOp>(i, integer(3, 64));
  Value word = words[0];
  for (int k = 1; k < 4; ++k)
    word = select(compare(IP::eq, place, integer(k, 64)), words[k], word);
  return word;
}

Value Formulas::randomWord64(Value seed, Value stream, Value i) {
  auto words = philox(seed, stream, make<arith::ShRUIOp>(i, integer(1, 64)));
  Value isOdd =
      compare(IP::eq, make<arith::AndIOp>(i, integer(1, 64)), integer(1, 64));
  Value high = select(isOdd, words[3], words[1]);
  Value low = select(isOdd, words[2], words[0]);
  return make<arith::OrIOp>(make<arith::ShLIOp>(high, integer(32, 64)), low);
}

Value Formulas::randomUniform(Value seed, Value stream, Value i, bool isWide) {
  if (isWide) {
    Value word =
        make<arith::ShRUIOp>(randomWord64(seed, stream, i), integer(11, 64));
    Value all =
        arith::UIToFPOp::create(builder, loc, builder.getF64Type(), word);
    return multiply(all, wide(0x1p-53));
  }
  return uniformOf(arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                           randomWord(seed, stream, i)));
}

Value Formulas::uniformOf(Value word) {
  Value high = make<arith::ShRUIOp>(word, integer(8));
  Value all = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), high);
  return multiply(all, number(0x1p-24));
}
