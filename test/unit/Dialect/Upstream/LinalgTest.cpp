// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of `linalg`: what an op is follows from its structure, whether it
// has a name or not.

#include "UpstreamFixture.h"

using namespace mlir;
using namespace cutback;

namespace {

class LinalgTest : public UpstreamFixture {
protected:
  /// Of a generic op on one or two inputs.
  std::string generic(const std::string &maps, const std::string &iterators,
                      const std::string &inputs, const std::string &output,
                      const std::string &body) {
    bool isBinary = inputs.find(',') != std::string::npos;
    std::string first = inputs.substr(0, inputs.find(','));
    std::string second = isBinary ? inputs.substr(inputs.find(',') + 2) : first;
    return describe(
        "%a: " + first + ", %b: " + second + ", %o: " + output + ", %s: f32",
        "%r = linalg.generic {probe, indexing_maps = [" + maps +
            "], iterator_types = [" + iterators + "]} ins(%a" +
            (isBinary ? ", %b" : "") + " : " + inputs + ") outs(%o : " +
            output + ") {\n^bb0(%x: f32" + (isBinary ? ", %y: f32" : "") +
            ", %z: f32):\n" + body + "\n} -> " + output);
  }
};

constexpr const char *kSame =
    "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>";
constexpr const char *kParallel = "\"parallel\", \"parallel\"";

TEST_F(LinalgTest, ProductsAreKept) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, "
                     "%c: tensor<3x5xf32>",
                     "%r = linalg.matmul {probe} ins(%a, %b : tensor<3x4xf32>, "
                     "tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) -> "
                     "tensor<3x5xf32>"),
            "never, 120 flops, intensive, matrix");
  EXPECT_EQ(describe("%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, "
                     "%c: tensor<2x3x5xf32>",
                     "%r = linalg.batch_matmul {probe} ins(%a, %b : "
                     "tensor<2x3x4xf32>, tensor<2x4x5xf32>) outs(%c : "
                     "tensor<2x3x5xf32>) -> tensor<2x3x5xf32>"),
            "never, 240 flops, intensive, matrix");
  // The same without a name.
  EXPECT_EQ(generic("affine_map<(m, n, k) -> (m, k)>, "
                    "affine_map<(m, n, k) -> (k, n)>, "
                    "affine_map<(m, n, k) -> (m, n)>",
                    "\"parallel\", \"parallel\", \"reduction\"",
                    "tensor<3x4xf32>, tensor<4x5xf32>", "tensor<3x5xf32>",
                    "%p = arith.mulf %x, %y : f32\n"
                    "%q = arith.addf %z, %p : f32\nlinalg.yield %q : f32"),
            "never, 120 flops, intensive, matrix");
}

TEST_F(LinalgTest, ConvolutionsAreProductsAndPoolsAreWindows) {
  // 2 * 6 * 6 outputs * 3 * 3 window * 4 inputs * 8 outputs.
  EXPECT_EQ(describe("%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>, "
                     "%c: tensor<1x6x6x8xf32>",
                     "%r = linalg.conv_2d_nhwc_hwcf {probe} ins(%a, %w : "
                     "tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) outs(%c : "
                     "tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>"),
            "never, 20736 flops, intensive, matrix");
  EXPECT_EQ(describe("%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x4xf32>, "
                     "%c: tensor<1x6x6x4xf32>",
                     "%r = linalg.depthwise_conv_2d_nhwc_hwc {probe} ins(%a, "
                     "%w : tensor<1x8x8x4xf32>, tensor<3x3x4xf32>) outs(%c : "
                     "tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>"),
            "never, 2592 flops, intensive, matrix");
  EXPECT_EQ(describe("%a: tensor<1x8x8x4xf32>, %w: tensor<2x2xf32>, "
                     "%c: tensor<1x7x7x4xf32>",
                     "%r = linalg.pooling_nhwc_max {probe} ins(%a, %w : "
                     "tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%c : "
                     "tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>"),
            "never, 784 flops");
}

TEST_F(LinalgTest, ProductsOfVectorsAreReductions) {
  EXPECT_EQ(
      describe("%a: tensor<3x4xf32>, %b: tensor<4xf32>, %c: tensor<3xf32>",
               "%r = linalg.matvec {probe} ins(%a, %b : tensor<3x4xf32>, "
               "tensor<4xf32>) outs(%c : tensor<3xf32>) -> "
               "tensor<3xf32>"),
      "reduction, 24 flops");
}

TEST_F(LinalgTest, PointwiseOpsCostWhatTheirBodiesCost) {
  EXPECT_EQ(generic(kSame, kParallel, "tensor<3x4xf32>", "tensor<3x4xf32>",
                    "%e = math.exp %x : f32\n%q = arith.mulf %e, %x : f32\n"
                    "linalg.yield %q : f32"),
            "pointwise, 132 flops");
  // Broadcast, as a map without a dimension and as a dimension of one.
  EXPECT_EQ(generic("affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, "
                    "affine_map<(i, j) -> (i, j)>",
                    kParallel, "tensor<3x4xf32>, tensor<4xf32>",
                    "tensor<3x4xf32>",
                    "%q = arith.addf %x, %y : f32\nlinalg.yield %q : f32"),
            "pointwise, 12 flops");
  EXPECT_EQ(generic("affine_map<(i, j) -> (i, j)>, "
                    "affine_map<(i, j) -> (i, 0)>, "
                    "affine_map<(i, j) -> (i, j)>",
                    kParallel, "tensor<3x4xf32>, tensor<3x1xf32>",
                    "tensor<3x4xf32>",
                    "%q = arith.addf %x, %y : f32\nlinalg.yield %q : f32"),
            "pointwise, 12 flops");
}

TEST_F(LinalgTest, HandingThroughIsAView) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>, %c: tensor<4x3xf32>",
                     "%r = linalg.transpose ins(%a : tensor<3x4xf32>) outs(%c "
                     ": tensor<4x3xf32>) permutation = [1, 0] {probe}"),
            "view of 0, 0 flops");
  EXPECT_EQ(describe("%a: tensor<4xf32>, %c: tensor<3x4xf32>",
                     "%r = linalg.broadcast ins(%a : tensor<4xf32>) outs(%c : "
                     "tensor<3x4xf32>) dimensions = [0] {probe}"),
            "view of 0, 0 flops");
  EXPECT_EQ(generic("affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, "
                    "j)>",
                    kParallel, "tensor<4x3xf32>", "tensor<3x4xf32>",
                    "linalg.yield %x : f32"),
            "view of 0, 0 flops");
  // A number from outside is no view of anything.
  EXPECT_EQ(generic(kSame, kParallel, "tensor<3x4xf32>", "tensor<3x4xf32>",
                    "linalg.yield %s : f32"),
            "pointwise, 0 flops");
}

TEST_F(LinalgTest, ReductionsFuse) {
  EXPECT_EQ(describe("%a: tensor<3x4xf32>, %c: tensor<3xf32>",
                     "%r = linalg.reduce {arith.addf} ins(%a : "
                     "tensor<3x4xf32>) outs(%c : tensor<3xf32>) dimensions = "
                     "[1] {probe}"),
            "reduction, 12 flops");
  EXPECT_EQ(describe("%a: tensor<3x4xf32>, %c: tensor<3x4xf32>",
                     "%r = linalg.softmax {probe} dimension(1) ins(%a : "
                     "tensor<3x4xf32>) outs(%c : tensor<3x4xf32>) -> "
                     "tensor<3x4xf32>"),
            "reduction, 168 flops");
}

TEST_F(LinalgTest, ComputedIndicesAreGathers) {
  EXPECT_EQ(generic("affine_map<(i, j) -> (i + j, j)>, "
                    "affine_map<(i, j) -> (i, j)>, "
                    "affine_map<(i, j) -> (i, j)>",
                    kParallel, "tensor<6x4xf32>, tensor<3x4xf32>",
                    "tensor<3x4xf32>",
                    "%q = arith.addf %x, %y : f32\nlinalg.yield %q : f32"),
            "gather, 12 flops");
  EXPECT_EQ(generic(kSame, kParallel, "tensor<3x4xf32>", "tensor<3x4xf32>",
                    "%i = linalg.index 0 : index\n"
                    "%v = tensor.extract %b[%i, %i] : tensor<3x4xf32>\n"
                    "linalg.yield %v : f32"),
            "gather, 0 flops");
}

TEST_F(LinalgTest, FillIsALiteral) {
  EXPECT_EQ(describe("%v: f32, %c: tensor<3x4xf32>",
                     "%r = linalg.fill {probe} ins(%v : f32) outs(%c : "
                     "tensor<3x4xf32>) -> tensor<3x4xf32>"),
            "create, 0 flops, literal");
}

TEST_F(LinalgTest, BuffersAreEffects) {
  EXPECT_EQ(describe("%v: f32, %c: memref<3x4xf32>",
                     "linalg.fill {probe} ins(%v : f32) outs(%c : "
                     "memref<3x4xf32>)"),
            "never, 0 flops, once, effects");
}

TEST_F(LinalgTest, WhatHandsItsInputThroughLiesInIt) {
  EXPECT_EQ(viewOf("func.func @f(%a: tensor<6x4xf32>, %e: tensor<4x6xf32>) {\n"
                   "%r = linalg.transpose ins(%a : tensor<6x4xf32>) outs(%e : "
                   "tensor<4x6xf32>) permutation = [1, 0] {probe}\n"
                   "return\n}"),
            "[4 6] [1 4] + 0");
  EXPECT_EQ(viewOf("func.func @f(%a: tensor<4xf32>, %e: tensor<6x4xf32>) {\n"
                   "%r = linalg.broadcast ins(%a : tensor<4xf32>) outs(%e : "
                   "tensor<6x4xf32>) dimensions = [0] {probe}\nreturn\n}"),
            "[6 4] [0 1] + 0");
  EXPECT_EQ(
      viewOf("func.func @f(%a: tensor<6x4xf32>, %e: tensor<6x4xf32>) {\n"
             "%r = linalg.exp {probe} ins(%a : tensor<6x4xf32>) outs(%e : "
             "tensor<6x4xf32>) -> tensor<6x4xf32>\nreturn\n}"),
      "none");
}

} // namespace
