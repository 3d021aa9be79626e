// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of `arith` and `math`: pointwise ops by their price, constants, and
// integers as sizes.

#include "UpstreamFixture.h"

using namespace mlir;
using namespace cutback;

namespace {

using ArithTest = UpstreamFixture;

TEST_F(ArithTest, OpsArePointwiseWithOneFlopAnElement) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = arith.mulf %a, %a {probe} : tensor<3x4xf32>"),
            "pointwise, 12 flops");
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = arith.truncf %a {probe} : tensor<3x4xf32> to "
                     "tensor<3x4xbf16>"),
            "pointwise, 12 flops");
  // Trapping keeps an op from being speculated, not from running again.
  EXPECT_EQ(describe("%a: tensor<5xi32>",
                     "%r = arith.divsi %a, %a {probe} : tensor<5xi32>"),
            "pointwise, 5 flops");
  EXPECT_EQ(describe("%a: f32", "%r = arith.addf %a, %a {probe} : f32"),
            "pointwise, 1 flops");
}

TEST_F(ArithTest, ConstantsAreLiterals) {
  EXPECT_EQ(describe("", "%r = arith.constant {probe} dense<2.0> : "
                         "tensor<8xf32>"),
            "create, 0 flops, literal");
}

TEST_F(ArithTest, MathCountsTenForATranscendental) {
  EXPECT_EQ(
      describe("%a: tensor<4xf32>", "%r = math.exp %a {probe} : tensor<4xf32>"),
      "pointwise, 40 flops");
  EXPECT_EQ(describe("%a: tensor<4xf32>",
                     "%r = math.absf %a {probe} : tensor<4xf32>"),
            "pointwise, 4 flops");
  EXPECT_EQ(describe("%a: tensor<4xf32>",
                     "%r = math.fma %a, %a, %a {probe} : tensor<4xf32>"),
            "pointwise, 8 flops");
}

TEST_F(ArithTest, IntegersAreFollowedWhereTheyAreDefined) {
  auto evaluate = [&](const char *name, int64_t a, int64_t b) {
    Operation *op =
        probe(std::string("func.func @f(%a: index, %b: index) {\n%r = arith.") +
              name + " %a, %b {probe} : index\nreturn\n}");
    SmallVector<Type> types;
    SmallVector<int64_t> ints;
    Type index = IndexType::get(&context);
    bool known = op && cast<joint::SizeEvaluationOpInterface>(op).evaluateSizes(
                           {index, index}, {a, b}, types, ints);
    return known ? ints.front() : ShapedType::kDynamic;
  };
  constexpr int64_t unknown = ShapedType::kDynamic;
  EXPECT_EQ(evaluate("addi", 5, 3), 8);
  EXPECT_EQ(evaluate("subi", 5, 3), 2);
  EXPECT_EQ(evaluate("subi", 3, 5), unknown); // no size is negative
  EXPECT_EQ(evaluate("muli", 5, 3), 15);
  EXPECT_EQ(evaluate("muli", int64_t(1) << 62, 4), unknown);
  EXPECT_EQ(evaluate("ceildivui", 7, 2), 4);
  EXPECT_EQ(evaluate("floordivsi", 7, 2), 3);
  EXPECT_EQ(evaluate("remui", 7, 4), 3);
  EXPECT_EQ(evaluate("divui", 7, 0), unknown);
  EXPECT_EQ(evaluate("maxsi", 7, 2), 7);
  EXPECT_EQ(evaluate("minui", 7, 2), 2);
  EXPECT_EQ(evaluate("addi", unknown, 3), unknown);
}

TEST_F(ArithTest, IntegerTensorsKeepTheShapeOfTheirOperands) {
  Operation *op = probe("func.func @f(%a: tensor<?x4xi32>) {\n"
                        "%r = arith.addi %a, %a {probe} : tensor<?x4xi32>\n"
                        "return\n}");
  ASSERT_TRUE(op);
  Type known = cast<RankedTensorType>(op->getResult(0).getType()).clone({7, 4});
  SmallVector<Type> types;
  SmallVector<int64_t> ints;
  ASSERT_TRUE(cast<joint::SizeEvaluationOpInterface>(op).evaluateSizes(
      {known, known}, {ShapedType::kDynamic, ShapedType::kDynamic}, types,
      ints));
  EXPECT_EQ(types.front(), known);
}

} // namespace
