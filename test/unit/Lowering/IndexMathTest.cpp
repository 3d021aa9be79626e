// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices against arithmetic on every iteration.

#include "Lowering/IndexMath.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace cutback;

namespace {

int64_t valueOf(AffineExpr expr, ArrayRef<int64_t> at) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue();
  case AffineExprKind::DimId:
    return at[cast<AffineDimExpr>(expr).getPosition()];
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = valueOf(binary.getLHS(), at), b = valueOf(binary.getRHS(), at);
  return expr.getKind() == AffineExprKind::Add   ? a + b
         : expr.getKind() == AffineExprKind::Mul ? a * b
         : expr.getKind() == AffineExprKind::Mod ? a % b
                                                 : a / b;
}

std::string textOf(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  expr.print(os);
  return text;
}

/// Runs `fn` for every iteration.
template <typename Fn> void forEach(ArrayRef<int64_t> extents, Fn fn) {
  SmallVector<int64_t> at(extents.size(), 0);
  for (;;) {
    fn(ArrayRef<int64_t>(at));
    size_t axis = extents.size();
    while (axis > 0 && ++at[axis - 1] == extents[axis - 1])
      at[--axis] = 0;
    if (axis == 0)
      return;
  }
}

int64_t numel(ArrayRef<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes)
    all *= size;
  return all;
}

SmallVector<int64_t> contiguous(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

/// Sizes whose product is that of `sizes`.
SmallVector<int64_t> regroup(ArrayRef<int64_t> sizes, std::mt19937_64 &random) {
  SmallVector<int64_t> primes, groups(1 + random() % 4, 1);
  for (int64_t size : sizes)
    for (int64_t p = 2; size > 1; ++p)
      for (; size % p == 0; size /= p)
        primes.push_back(p);
  for (int64_t p : primes)
    groups[random() % groups.size()] *= p;
  return groups;
}

class IndexMathTest : public testing::Test {
protected:
  AffineExpr dim(unsigned i) { return getAffineDimExpr(i, &context); }
  MLIRContext context;
};

TEST_F(IndexMathTest, RegroupedIndicesAreThoseOfTheSameElement) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    SmallVector<int64_t> extents(1 + random() % 3);
    for (int64_t &extent : extents)
      extent = 2 + random() % 5;
    IndexMath math(&context, extents);
    SmallVector<AffineExpr> axes;
    for (unsigned i = 0; i < extents.size(); ++i)
      axes.push_back(dim(i));
    AffineExpr linear = math.linearize(axes, contiguous(extents), 0);
    SmallVector<int64_t> sizes = regroup(extents, random);
    IndexMath::Indices indices = math.delinearize(linear, sizes);
    AffineExpr again = math.linearize(indices, contiguous(sizes), 0);
    forEach(extents, [&](ArrayRef<int64_t> at) {
      int64_t wanted = valueOf(linear, at), rest = wanted;
      for (size_t i = sizes.size(); i-- > 0;) {
        ASSERT_EQ(valueOf(indices[i], at), rest % sizes[i]) << round;
        rest /= sizes[i];
      }
      ASSERT_EQ(valueOf(again, at), wanted) << round;
    });
    // Taken apart and put together it is what it was.
    EXPECT_EQ(again, linear)
        << round << ": " << textOf(again) << ", not " << textOf(linear);
    EXPECT_EQ(numel(sizes), numel(extents));
  }
}

TEST_F(IndexMathTest, StridesAndOffsetsAreDividedRight) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 3000; ++round) {
    SmallVector<int64_t> extents(1 + random() % 3), strides;
    SmallVector<AffineExpr> axes;
    for (unsigned i = 0; i < extents.size(); ++i) {
      extents[i] = 1 + random() % 5;
      strides.push_back(random() % 13);
      axes.push_back(dim(i));
    }
    IndexMath math(&context, extents);
    AffineExpr linear =
        math.linearize(axes, strides, static_cast<int64_t>(random() % 9));
    int64_t divisor = 1 + random() % 12;
    auto [quotient, remainder] = math.divide(linear, divisor);
    auto [twice, rest] = math.divide(quotient, 3);
    forEach(extents, [&](ArrayRef<int64_t> at) {
      int64_t value = valueOf(linear, at);
      ASSERT_EQ(valueOf(quotient, at), value / divisor) << round;
      ASSERT_EQ(valueOf(remainder, at), value % divisor) << round;
      ASSERT_EQ(valueOf(twice, at), value / divisor / 3) << round;
      ASSERT_EQ(valueOf(rest, at), value / divisor % 3) << round;
    });
  }
}

TEST_F(IndexMathTest, DivisionsThatExtentsAnswerDisappear) {
  IndexMath math(&context, {8, 12, 64});
  AffineExpr linear = math.linearize({dim(0), dim(1), dim(2)}, {768, 64, 1}, 0);
  IndexMath::Indices same = math.delinearize(linear, {8, 12, 64});
  EXPECT_EQ(same[0], dim(0));
  EXPECT_EQ(same[1], dim(1));
  EXPECT_EQ(same[2], dim(2));
  IndexMath::Indices rows = math.delinearize(linear, {96, 64});
  EXPECT_EQ(rows[0], dim(0) * 12 + dim(1));
  EXPECT_EQ(rows[1], dim(2));
  // One that they do not answer stays.
  IndexMath::Indices halves = math.delinearize(linear, {8, 24, 32});
  EXPECT_EQ(halves[2], dim(2) % 32);
}

} // namespace
