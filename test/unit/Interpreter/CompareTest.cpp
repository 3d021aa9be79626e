// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a result counts as right.

#include "cutback/Interpreter/Compare.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace cutback::interpreter;

namespace {

Tensor floats(std::vector<double> values, DType type = DType::F32) {
  Tensor tensor = Tensor::zeros(type, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(i, values[i]);
  return tensor;
}

TEST(CompareTest, TheToleranceIsRelativeToTheLargestMagnitude) {
  Tolerance tolerance;
  Tensor expected = floats({100, 0});
  EXPECT_TRUE(
      compareTensors("x", floats({100, 9e-4}), expected, tolerance).isRight());
  Difference wrong =
      compareTensors("x", floats({100, 2e-3}), expected, tolerance);
  EXPECT_FALSE(wrong.isRight());
  EXPECT_NEAR(wrong.badness(), 2, 0.01);
  EXPECT_EQ(wrong.scale, 100);
}

TEST(CompareTest, AnAbsoluteFloorForWhatIsZero) {
  Tolerance tolerance;
  EXPECT_TRUE(
      compareTensors("x", floats({9e-8}), floats({0}), tolerance).isRight());
  EXPECT_FALSE(
      compareTensors("x", floats({2e-7}), floats({0}), tolerance).isRight());
}

TEST(CompareTest, HalfPrecisionAndNamesHaveTheirOwnTolerance) {
  Tolerance tolerance;
  EXPECT_TRUE(
      compareTensors("x", floats({1.01}), floats({1}, DType::BF16), tolerance)
          .isRight());
  tolerance.byName = [](llvm::StringRef name) -> std::optional<double> {
    if (name == "y")
      return 0.5;
    return std::nullopt;
  };
  EXPECT_TRUE(
      compareTensors("y", floats({1.4}), floats({1}), tolerance).isRight());
  EXPECT_FALSE(
      compareTensors("x", floats({1.4}), floats({1}), tolerance).isRight());
}

TEST(CompareTest, NaNIsRightOnlyWhereNaNIsExpected) {
  double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  Tolerance tolerance;
  EXPECT_TRUE(
      compareTensors("x", floats({nan, inf}), floats({nan, inf}), tolerance)
          .isRight());
  EXPECT_FALSE(
      compareTensors("x", floats({nan}), floats({1}), tolerance).isRight());
  EXPECT_FALSE(
      compareTensors("x", floats({1}), floats({nan}), tolerance).isRight());
  EXPECT_FALSE(
      compareTensors("x", floats({-inf}), floats({inf}), tolerance).isRight());
}

TEST(CompareTest, IntegersAreExact) {
  Tensor a = Tensor::zeros(DType::I64, {1}), b = Tensor::zeros(DType::I64, {1});
  a.setInt(0, (int64_t(1) << 60) + 1);
  b.setInt(0, int64_t(1) << 60);
  EXPECT_FALSE(compareTensors("x", a, b, {}).isRight());
  EXPECT_TRUE(compareTensors("x", b, b, {}).isRight());
  a.setInt(0, 7);
  b.setInt(0, 4);
  EXPECT_EQ(compareTensors("x", a, b, {}).largest, 3);
  EXPECT_EQ(compareTensors("x", b, a, {}).largest, 3);
}

TEST(CompareTest, AnotherShapeOrKindIsAProblem) {
  Difference shape = compareTensors("x", floats({1, 2}), floats({1}), {});
  EXPECT_EQ(shape.problem, "is f32[2], expected f32[1]");
  EXPECT_EQ(shape.badness(), std::numeric_limits<double>::infinity());
  Difference kind =
      compareTensors("x", Tensor::zeros(DType::I64, {1}), floats({0}), {});
  EXPECT_EQ(kind.problem, "is i64[1], expected f32[1]");
}

} // namespace
