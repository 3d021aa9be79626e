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

int64_t cpu::numUsed(int64_t count) {
  return std::min<int64_t>(
      numAccumulators(count),
      std::max<int64_t>(4, llvm::PowerOf2Ceil(uint64_t(count))));
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

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

namespace {

/// What a fold computes with: numbers of accumulators as lanes of a vector.
struct AsLanes {
  using Numbers = Value;
  NestScopes &scopes;
  kernel::Combine how;
  Value memory, first;

  Numbers load(int64_t at, int64_t count) const {
    Value from = arith::AddIOp::create(scopes.here(), scopes.loc, first,
                                       scopes.constant(at));
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    return vector::LoadOp::create(scopes.here(), scopes.loc,
                                  VectorType::get({count}, element), memory,
                                  from);
  }
  /// Numbers of `a` and of `b` behind it.
  Numbers shuffle(Numbers a, Numbers b, ArrayRef<int64_t> mask) const {
    return vector::ShuffleOp::create(scopes.here(), scopes.loc, a, b, mask);
  }
  Numbers combine(Numbers a, Numbers b) const {
    return scopes.scalars.combine(scopes.loc, how, a, b);
  }
  Value front(Numbers x) const {
    return vector::ExtractOp::create(scopes.here(), scopes.loc, x, 0);
  }
};

/// The same with a vector for each: its lanes are rows.
struct AsVectors {
  using Numbers = SmallVector<Value>;
  NestScopes &scopes;
  kernel::Combine how;
  Value memory;
  int64_t rows;

  Numbers load(int64_t at, int64_t count) const {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    Numbers numbers;
    for (int64_t i = at; i < at + count; ++i)
      numbers.push_back(vector::LoadOp::create(
          scopes.here(), scopes.loc, VectorType::get({rows}, element), memory,
          scopes.constant(i * rows)));
    return numbers;
  }
  Numbers shuffle(Numbers a, const Numbers &b, ArrayRef<int64_t> mask) const {
    a.append(b.begin(), b.end());
    Numbers chosen;
    for (int64_t i : mask)
      chosen.push_back(a[i]);
    return chosen;
  }
  Numbers combine(const Numbers &a, const Numbers &b) const {
    Numbers all;
    for (auto [x, y] : llvm::zip_equal(a, b))
      all.push_back(scopes.scalars.combine(scopes.loc, how, x, y));
    return all;
  }
  Value front(const Numbers &x) const { return x.front(); }
};

/// One order for both.
template <typename As> class Fold {
  using Numbers = typename As::Numbers;
  As as;

public:
  explicit Fold(As as) : as(std::move(as)) {}

  /// Halves until one is left.
  Value halves(Numbers x, int64_t count) const {
    for (int64_t half = count / 2; half > 0; half /= 2)
      x = apart(x, half);
    return as.front(x);
  }
  /// Up to 128 accumulators, eight of a vector: neighbors become one by the
  /// shuffles that processors have, within halves of a vector.
  Value warp(int64_t count) const {
    if (count < 32)
      return few(count);
    // Of 32 accumulators eight: 0, 2, 4, 6 and behind them 1, 3, 5, 7.
    SmallVector<Numbers, 4> eights;
    for (int64_t at = 0; at < count; at += 32) {
      Numbers x[4];
      for (int64_t i = 0; i < 4; ++i)
        x[i] = as.load(at + i * 8, 8);
      eights.push_back(neighbors(neighbors(x[0], x[1]), neighbors(x[2], x[3])));
    }
    for (size_t half = eights.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i)
        eights[i] = as.combine(eights[i], eights[i + half]);
    // Those that are 4, 2 and 1 apart.
    Numbers x = as.combine(as.shuffle(eights[0], eights[0], {0, 1, 4, 5}),
                           as.shuffle(eights[0], eights[0], {2, 3, 6, 7}));
    x = as.combine(as.shuffle(x, x, {0, 2}), as.shuffle(x, x, {1, 3}));
    return as.front(apart(x, 1));
  }

private:
  /// Combines those that are `distance` apart: as many are left. The last one
  /// four times: a choice between two scalars is a branch, which would be
  /// guessed.
  Numbers apart(const Numbers &x, int64_t distance) const {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < (distance == 1 ? 4 : distance); ++i) {
      low.push_back(i % distance);
      high.push_back(i % distance + distance);
    }
    return as.combine(as.shuffle(x, x, low), as.shuffle(x, x, high));
  }
  Numbers neighbors(const Numbers &a, const Numbers &b) const {
    return as.combine(as.shuffle(a, b, {0, 2, 8, 10, 4, 6, 12, 14}),
                      as.shuffle(a, b, {1, 3, 9, 11, 5, 7, 13, 15}));
  }
  /// Up to 16 accumulators.
  Value few(int64_t count) const {
    Numbers x = as.load(0, count), four[4];
    int64_t lanes = count / 4;
    for (int64_t i = 0; i < 4; ++i) {
      SmallVector<int64_t> mask;
      for (int64_t lane = 0; lane < lanes; ++lane)
        mask.push_back(lane * 4 + i);
      four[i] = as.shuffle(x, x, mask);
    }
    return halves(
        as.combine(as.combine(four[0], four[1]), as.combine(four[2], four[3])),
        lanes);
  }
};

} // namespace

Value cpu::foldRow(NestScopes &scopes, kernel::Combine how, Value memory,
                   Value first, int64_t count) {
  if (count <= 128)
    return Fold(AsLanes{scopes, how, memory, first}).warp(count);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  int64_t warps = count / 128;
  Value sums = scopes.allocate(element, warps);
  Value warp = scopes.enterLoop(warps, /*isParallel=*/true);
  Value place =
      arith::AddIOp::create(scopes.here(), scopes.loc, first,
                            arith::MulIOp::create(scopes.here(), scopes.loc,
                                                  warp, scopes.constant(128)));
  Value sum = Fold(AsLanes{scopes, how, memory, place}).warp(128);
  memref::StoreOp::create(scopes.here(), scopes.loc, sum, sums, warp);
  scopes.leaveLoop();
  AsLanes all{scopes, how, sums, scopes.constant(0)};
  return Fold(all).halves(all.load(0, warps), warps);
}

Value cpu::foldRows(NestScopes &scopes, kernel::Combine how, Value memory,
                    int64_t count, int64_t rows) {
  return Fold(AsVectors{scopes, how, memory, rows}).warp(count);
}
