// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of `tosa`.

#include "UpstreamFixture.h"

using namespace mlir;
using namespace cutback;

namespace {

using TosaTest = UpstreamFixture;

constexpr const char *kZeros = ", %z: tensor<1xf32>";

TEST_F(TosaTest, ElementwiseOpsArePointwise) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>, %b: tensor<1x4xf32>",
                     "%r = tosa.add %a, %b {probe} : (tensor<3x4xf32>, "
                     "tensor<1x4xf32>) -> tensor<3x4xf32>"),
            "pointwise, 12 flops");
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = tosa.tanh %a {probe} : (tensor<3x4xf32>) -> "
                     "tensor<3x4xf32>"),
            "pointwise, 120 flops");
  EXPECT_EQ(describe("%a: tensor<3x4xf32>, %s: tensor<1xi8>",
                     "%r = tosa.mul %a, %a, %s {probe} : (tensor<3x4xf32>, "
                     "tensor<3x4xf32>, tensor<1xi8>) -> tensor<3x4xf32>"),
            "pointwise, 12 flops");
}

TEST_F(TosaTest, ProductsAreKept) {
  EXPECT_EQ(describe(std::string("%a: tensor<2x3x4xf32>, %b: "
                                 "tensor<2x4x5xf32>") +
                         kZeros,
                     "%r = tosa.matmul %a, %b, %z, %z {probe} : "
                     "(tensor<2x3x4xf32>, tensor<2x4x5xf32>, tensor<1xf32>, "
                     "tensor<1xf32>) -> tensor<2x3x5xf32>"),
            "never, 240 flops, intensive, matrix");
}

TEST_F(TosaTest, ConvolutionsCountTheirWindows) {
  EXPECT_EQ(
      describe(std::string("%a: tensor<1x8x8x4xf32>, %w: tensor<8x3x3x4xf32>, "
                           "%b: tensor<8xf32>") +
                   kZeros,
               "%r = tosa.conv2d %a, %w, %b, %z, %z {probe, acc_type = f32, "
               "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
               "stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, "
               "tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, "
               "tensor<1xf32>) -> tensor<1x6x6x8xf32>"),
      "never, 20736 flops, intensive, matrix");
  EXPECT_EQ(
      describe(std::string("%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x1xf32>, "
                           "%b: tensor<4xf32>") +
                   kZeros,
               "%r = tosa.depthwise_conv2d %a, %w, %b, %z, %z {probe, acc_type "
               "= f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, "
               "0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, "
               "tensor<3x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, "
               "tensor<1xf32>) -> tensor<1x6x6x4xf32>"),
      "never, 2592 flops, intensive, matrix");
  // Each of 1 x 4 x 4 x 2 input elements goes through 3 x 3 x 5 weights.
  EXPECT_EQ(
      describe(std::string("%a: tensor<1x4x4x2xf32>, %w: tensor<5x3x3x2xf32>, "
                           "%b: tensor<5xf32>") +
                   kZeros,
               "%r = tosa.transpose_conv2d %a, %w, %b, %z, %z {probe, acc_type "
               "= f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: "
               "1, 1>} : (tensor<1x4x4x2xf32>, tensor<5x3x3x2xf32>, "
               "tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> "
               "tensor<1x6x6x5xf32>"),
      "never, 2880 flops, intensive, matrix");
}

TEST_F(TosaTest, PoolsAreKernelsOfTheirOwn) {
  EXPECT_EQ(
      describe("%a: tensor<1x8x8x4xf32>",
               "%r = tosa.max_pool2d %a {probe = true, kernel = array<i64: 2, "
               "2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, "
               "2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>"),
      "never, 256 flops");
}

TEST_F(TosaTest, ReductionsFuse) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = tosa.reduce_sum %a {probe, axis = 1 : i32} : "
                     "(tensor<3x4xf32>) -> tensor<3x1xf32>"),
            "reduction, 12 flops");
}

TEST_F(TosaTest, ShapeOpsAreViews) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = tosa.transpose %a {probe, perms = array<i32: 1, 0>} "
                     ": (tensor<3x4xf32>) -> tensor<4x3xf32>"),
            "view of 0, 0 flops");
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%s = tosa.const_shape {values = dense<[12]> : "
                     "tensor<1xindex>} : () -> !tosa.shape<1>\n"
                     "%r = tosa.reshape %a, %s {probe} : (tensor<3x4xf32>, "
                     "!tosa.shape<1>) -> tensor<12xf32>"),
            "view of 0, 0 flops");
}

TEST_F(TosaTest, ConstantsAreLiterals) {
  EXPECT_EQ(describe("", "%r = \"tosa.const\"() <{values = dense<0.0> : "
                         "tensor<1xf32>}> {probe} : () -> tensor<1xf32>"),
            "create, 0 flops, literal");
}

TEST_F(TosaTest, DataMovesAsItsOpsSay) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = tosa.concat %a, %a {probe, axis = 0 : i32} : "
                     "(tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>"),
            "concat, 0 flops");
  EXPECT_EQ(describe("%a: tensor<3x4xf32>",
                     "%r = tosa.reverse %a {probe, axis = 0 : i32} : "
                     "(tensor<3x4xf32>) -> tensor<3x4xf32>"),
            "gather, 0 flops");
}

TEST_F(TosaTest, WhatHasNoModelIsLeftToItsEffects) {
  EXPECT_EQ(describe("%a: tensor<3xf32>",
                     "%r = tosa.custom %a {probe, domain_name = \"d\", "
                     "implementation_attrs = \"\", operator_name = \"o\"} : "
                     "(tensor<3xf32>) -> tensor<3xf32>"),
            "no model");
}

TEST_F(TosaTest, ReshapesAndTranspositionsLieInTheirOperand) {
  EXPECT_EQ(viewOf("func.func @f(%a: tensor<2x3x4xf32>) {\n"
                   "%r = tosa.transpose %a {perms = array<i32: 2, 0, 1>, "
                   "probe} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>\n"
                   "return\n}"),
            "[4 2 3] [1 12 4] + 0");
  EXPECT_EQ(viewOf("func.func @f(%a: tensor<2x3x4xf32>) {\n"
                   "%s = tosa.const_shape {values = dense<[6, 4]> : "
                   "tensor<2xindex>} : () -> !tosa.shape<2>\n"
                   "%r = tosa.reshape %a, %s {probe} : (tensor<2x3x4xf32>, "
                   "!tosa.shape<2>) -> tensor<6x4xf32>\nreturn\n}"),
            "[6 4] [4 1] + 0");
}

} // namespace
