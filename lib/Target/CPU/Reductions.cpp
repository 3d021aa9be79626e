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

/// Elements [first, first + count), `step` apart.
static Value shuffle(OpBuilder &builder, Location loc, Value x, int64_t first,
                     int64_t step, int64_t count) {
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < count; ++i)
    mask.push_back(first + i * step);
  return vector::ShuffleOp::create(builder, loc, x, x, mask);
}

/// Halves until one is left.
static Value foldHalves(NestScopes &scopes, kernel::Combine how, Value x,
                        int64_t count) {
  OpBuilder &builder = scopes.here();
  for (int64_t half = count / 2; half > 0; half /= 2)
    x = scopes.scalars.combine(scopes.loc, how,
                               shuffle(builder, scopes.loc, x, 0, 1, half),
                               shuffle(builder, scopes.loc, x, half, 1, half));
  return vector::ExtractOp::create(builder, scopes.loc, x, 0);
}

/// Up to 128 accumulators from `first` on.
static Value foldWarp(NestScopes &scopes, kernel::Combine how, Value memory,
                      Value first, int64_t count) {
  OpBuilder &builder = scopes.here();
  Location loc = scopes.loc;
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value x = vector::LoadOp::create(
      builder, loc, VectorType::get({count}, element), memory, first);
  int64_t lanes = count / 4;
  Value four[4];
  for (int64_t i = 0; i < 4; ++i)
    four[i] = shuffle(builder, loc, x, i, 4, lanes);
  ScalarOps &scalars = scopes.scalars;
  Value sum =
      scalars.combine(loc, how, scalars.combine(loc, how, four[0], four[1]),
                      scalars.combine(loc, how, four[2], four[3]));
  return foldHalves(scopes, how, sum, lanes);
}

Value cpu::foldRow(NestScopes &scopes, kernel::Combine how, Value memory,
                   int64_t count) {
  if (count <= 128)
    return foldWarp(scopes, how, memory, scopes.constant(0), count);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  int64_t warps = count / 128;
  Value sums = scopes.allocate(element, warps);
  Value warp = scopes.enterLoop(warps, /*isParallel=*/true);
  Value first = arith::MulIOp::create(scopes.here(), scopes.loc, warp,
                                      scopes.constant(128));
  Value sum = foldWarp(scopes, how, memory, first, 128);
  memref::StoreOp::create(scopes.here(), scopes.loc, sum, sums, warp);
  scopes.leaveLoop();
  Value x = vector::LoadOp::create(scopes.here(), scopes.loc,
                                   VectorType::get({warps}, element), sums,
                                   scopes.constant(0));
  return foldHalves(scopes, how, x, warps);
}
