// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a sum is that of the CUDA target (a warp a row to 1024 elements,
// then a block of 256 or 1024 threads, four neighbours a thread): it depends on
// the length alone, so equal rows have equal bits on all targets. Each addition
// of a fold is one of vectors, whatever the machine's vectors are.

#include "Reductions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

using IP = arith::CmpIPredicate;

int64_t cpu::numAccumulators(int64_t count) {
  return count <= 1024 ? 128 : count <= 4096 ? 1024 : 4096;
}

Type cpu::accumulatorType(Type type) {
  if (type.isBF16() || type.isF16())
    return Float32Type::get(type.getContext());
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return type;
}

Value cpu::toAccumulator(NestScopes &scopes, Value x) {
  OpBuilder &builder = scopes.here();
  if (x.getType().isInteger(1))
    return arith::ExtUIOp::create(builder, scopes.loc, builder.getI8Type(), x);
  return scopes.scalars.widen(scopes.loc, x);
}

Value cpu::fromAccumulator(NestScopes &scopes, Value x, Type type) {
  if (type.isInteger(1))
    return arith::TruncIOp::create(scopes.here(), scopes.loc, type, x);
  scopes.here();
  return scopes.scalars.round(scopes.loc, x, type);
}

Value cpu::identityOf(NestScopes &scopes, kernel::Combine how, Type type) {
  OpBuilder &builder = scopes.here();
  using kernel::Combine;
  TypedAttr attr;
  if (auto real = dyn_cast<FloatType>(type)) {
    double value = how == Combine::Mul   ? 1
                   : how == Combine::Max ? -INFINITY
                   : how == Combine::Min ? INFINITY
                                         : 0;
    attr = builder.getFloatAttr(real, value);
  } else {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    APInt value = how == Combine::Mul   ? APInt(width, 1)
                  : how == Combine::Max ? APInt::getSignedMinValue(width)
                  : how == Combine::Min ? APInt::getSignedMaxValue(width)
                  : how == Combine::MinUnsigned || how == Combine::And
                      ? APInt::getAllOnes(width)
                      : APInt::getZero(width);
    attr = builder.getIntegerAttr(type, value);
  }
  return arith::ConstantOp::create(builder, scopes.loc, attr);
}

/// Elements of `a` and of `b` behind it by number.
static Value shuffle(NestScopes &scopes, Value a, Value b,
                     ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(scopes.here(), scopes.loc, a, b, mask);
}

/// Combines those that are `apart` in `x`: as many are left. The last one four
/// times: a choice between two scalars is a branch, which would be guessed.
static Value foldApart(NestScopes &scopes, kernel::Combine how, Value x,
                       int64_t apart) {
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < (apart == 1 ? 4 : apart); ++i) {
    low.push_back(i % apart);
    high.push_back(i % apart + apart);
  }
  return scopes.scalars.combine(scopes.loc, how, shuffle(scopes, x, x, low),
                                shuffle(scopes, x, x, high));
}

/// Halves until one is left.
static Value foldHalves(NestScopes &scopes, kernel::Combine how, Value x,
                        int64_t count) {
  for (int64_t half = count / 2; half > 0; half /= 2)
    x = foldApart(scopes, how, x, half);
  return vector::ExtractOp::create(scopes.here(), scopes.loc, x, 0);
}

static Value loadLanes(NestScopes &scopes, Value memory, Value first,
                       int64_t count) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  return vector::LoadOp::create(scopes.here(), scopes.loc,
                                VectorType::get({count}, element), memory,
                                first);
}

/// Up to 16 accumulators from `first` on.
static Value foldFew(NestScopes &scopes, kernel::Combine how, Value memory,
                     Value first, int64_t count) {
  Value x = loadLanes(scopes, memory, first, count), four[4];
  int64_t lanes = count / 4;
  for (int64_t i = 0; i < 4; ++i) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane)
      mask.push_back(lane * 4 + i);
    four[i] = shuffle(scopes, x, x, mask);
  }
  auto combine = [&](Value a, Value b) {
    return scopes.scalars.combine(scopes.loc, how, a, b);
  };
  return foldHalves(
      scopes, how,
      combine(combine(four[0], four[1]), combine(four[2], four[3])), lanes);
}

/// Up to 128 accumulators from `first` on, eight of a vector: neighbors become
/// one by the shuffles that processors have, within halves of a vector.
static Value foldWarp(NestScopes &scopes, kernel::Combine how, Value memory,
                      Value first, int64_t count) {
  if (count < 32)
    return foldFew(scopes, how, memory, first, count);
  auto combine = [&](Value a, Value b) {
    return scopes.scalars.combine(scopes.loc, how, a, b);
  };
  auto combineNeighbors = [&](Value a, Value b) {
    return combine(shuffle(scopes, a, b, {0, 2, 8, 10, 4, 6, 12, 14}),
                   shuffle(scopes, a, b, {1, 3, 9, 11, 5, 7, 13, 15}));
  };
  // Of 32 accumulators eight: 0, 2, 4, 6 and behind them 1, 3, 5, 7.
  SmallVector<Value, 4> eights;
  for (int64_t at = 0; at < count; at += 32) {
    Value x[4];
    for (int64_t i = 0; i < 4; ++i) {
      Value from = arith::AddIOp::create(scopes.here(), scopes.loc, first,
                                         scopes.constant(at + i * 8));
      x[i] = loadLanes(scopes, memory, from, 8);
    }
    eights.push_back(combineNeighbors(combineNeighbors(x[0], x[1]),
                                      combineNeighbors(x[2], x[3])));
  }
  for (size_t half = eights.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      eights[i] = combine(eights[i], eights[i + half]);
  // Those that are 4, 2 and 1 apart.
  Value x = combine(shuffle(scopes, eights[0], eights[0], {0, 1, 4, 5}),
                    shuffle(scopes, eights[0], eights[0], {2, 3, 6, 7}));
  x = combine(shuffle(scopes, x, x, {0, 2}), shuffle(scopes, x, x, {1, 3}));
  x = foldApart(scopes, how, x, 1);
  return vector::ExtractOp::create(scopes.here(), scopes.loc, x, 0);
}

Value cpu::foldRow(NestScopes &scopes, kernel::Combine how, Value memory,
                   Value first, int64_t count) {
  if (count <= 128)
    return foldWarp(scopes, how, memory, first, count);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  int64_t warps = count / 128;
  Value sums = scopes.allocate(element, warps);
  Value warp = scopes.enterLoop(warps, /*isParallel=*/true);
  Value place =
      arith::AddIOp::create(scopes.here(), scopes.loc, first,
                            arith::MulIOp::create(scopes.here(), scopes.loc,
                                                  warp, scopes.constant(128)));
  Value sum = foldWarp(scopes, how, memory, place, 128);
  memref::StoreOp::create(scopes.here(), scopes.loc, sum, sums, warp);
  scopes.leaveLoop();
  return foldHalves(scopes, how,
                    loadLanes(scopes, sums, scopes.constant(0), warps), warps);
}
