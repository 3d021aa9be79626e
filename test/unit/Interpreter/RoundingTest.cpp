// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes a narrow float is as coarse as it, at whatever width it ends.

#include "cutback/Interpreter/Rounding.h"
#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr const char *kGraph = R"mlir(
joint.graph @step(
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">},
    %v: tensor<4xf16> {joint.role = #joint.role<param "v">},
    %m: tensor<4xf32> {joint.role = #joint.role<buffer "m">},
    %n: tensor<4xf32> {joint.role = #joint.role<buffer "n">},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>, tensor<4xf32>)
    gradients (tensor<4xf32>, tensor<4xf16>) {
  %h = aten._to_copy(%w, dtype = bf16) : (tensor<4xf32>) -> tensor<4xbf16>
  %x = aten.mul.Tensor(%h, %v) : (tensor<4xbf16>, tensor<4xf16>) -> tensor<4xf32>
  %loss = aten.sum(%x) : (tensor<4xf32>) -> tensor<f32>
  %plain = aten.mul.Tensor(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = joint.write %m, %x : tensor<4xf32>, tensor<4xf32>
  %b = joint.write %n, %plain : tensor<4xf32>, tensor<4xf32>
  %g = aten.mul.Tensor(%w, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss, %plain gradients(%g of 0, %v of 1) : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf16>
}
)mlir";

TEST(RoundingTest, AResultIsAsCoarseAsTheCoarsestThatItIsComputedFrom) {
  MLIRContext context;
  context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  auto module = parseSourceString<ModuleOp>(kGraph, &context);
  ASSERT_TRUE(module);
  joint::GraphOp graph = *module->getOps<joint::GraphOp>().begin();
  llvm::StringMap<double> rounding = getRounding(graph, nameStep(graph));
  EXPECT_EQ(rounding.lookup("loss"), 1.0 / 128);
  EXPECT_EQ(rounding.lookup("buffer.m"), 1.0 / 128);
  EXPECT_EQ(rounding.lookup("grad.v"), 1.0 / 1024);
  EXPECT_FALSE(rounding.count("output.1"));
  EXPECT_FALSE(rounding.count("buffer.n"));
  EXPECT_FALSE(rounding.count("grad.w"));
}

} // namespace
