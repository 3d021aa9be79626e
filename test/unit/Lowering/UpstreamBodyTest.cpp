// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of ops of `arith`, `math`, `linalg` and `tosa`, run on numbers: what
// one gets by hand from the definition of the op.

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Upstream/ExternalModels.h"
#include "cutback/Interpreter/KernelBodies.h"
#include "cutback/Lowering/KernelBody.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class UpstreamBodyTest : public testing::Test {
protected:
  UpstreamBodyTest() {
    DialectRegistry registry;
    registerUpstreamDialects(registry);
    registry.insert<joint::JointDialect, kernel::KernelDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The one result of function `f` with this body (operands %x: 2x3, %v: 2,
  /// %n: 2x3xi32, all from 1 on), by its kernel; or why there is none.
  std::vector<double> run(const std::string &type, const std::string &body) {
    why.clear();
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: tensor<2x3xf32>, %v: tensor<2xf32>, "
        "%n: tensor<2x3xi32>, %number: f32) -> " +
            type + " {\n" + body + "\nreturn %r : " + type + "\n}",
        &context);
    if (!module) {
      why = "does not parse";
      return {};
    }
    auto function = *module->getOps<func::FuncOp>().begin();
    SmallVector<Operation *> ops;
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
    SmallVector<Value> outputs(function.front().getTerminator()->getOperands());
    auto kernel = buildKernelBody(ops, outputs, "row", why);
    if (!kernel)
      return {};
    std::vector<Tensor> arguments;
    for (Value input : kernel->inputs)
      arguments.push_back(counted(cast<RankedTensorType>(input.getType())));
    auto shaped = cast<RankedTensorType>(outputs[0].getType());
    Tensor result =
        Tensor::zeros(*dtypeOf(shaped.getElementType()), shaped.getShape());
    arguments.push_back(result);
    if (failed(runKernelBody(*kernel->function, arguments)))
      why = "does not run";
    return result.doubles();
  }

  static Tensor counted(RankedTensorType type) {
    Tensor tensor =
        Tensor::zeros(*dtypeOf(type.getElementType()), type.getShape());
    std::vector<double> values;
    for (int64_t i = 0; i < tensor.numel(); ++i)
      values.push_back(static_cast<double>(i + 1));
    tensor.assign(values);
    return tensor;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string why;
};

using Numbers = std::vector<double>;

TEST_F(UpstreamBodyTest, OpsOnTensorsAreThoseOnTheirElements) {
  EXPECT_EQ(run("tensor<2x3xf32>", R"(
    %c = arith.constant dense<2.0> : tensor<2x3xf32>
    %0 = arith.mulf %x, %c : tensor<2x3xf32>
    %1 = arith.cmpf ogt, %0, %x : tensor<2x3xf32>
    %r = arith.select %1, %0, %x : tensor<2x3xi1>, tensor<2x3xf32>)"),
            (Numbers{2, 4, 6, 8, 10, 12}))
      << why;
  EXPECT_EQ(run("tensor<2x3xi32>", R"(
    %c = arith.constant dense<3> : tensor<2x3xi32>
    %r = arith.remsi %n, %c : tensor<2x3xi32>)"),
            (Numbers{1, 2, 0, 1, 2, 0}))
      << why;
  EXPECT_EQ(run("tensor<2xf32>", "%r = math.sqrt %v : tensor<2xf32>"),
            (Numbers{1, std::sqrt(2.0f)}))
      << why;
}

/// Rows are centred; the sum starts with 10.
TEST_F(UpstreamBodyTest, BodiesOfStructuredOps) {
  EXPECT_EQ(run("tensor<2x3xf32>", R"(
    %ten = arith.constant 10.0 : f32
    %third = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2xf32>
    %e2 = tensor.empty() : tensor<2x3xf32>
    %i = linalg.fill ins(%ten : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<2x3xf32>) outs(%i : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %sq = arith.mulf %a, %a : f32
      %t = arith.addf %o, %sq : f32
      linalg.yield %t : f32
    } -> tensor<2xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<2x3xf32>, tensor<2xf32>)
        outs(%e2 : tensor<2x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %k = linalg.index 1 : index
      %ki = arith.index_cast %k : index to i64
      %kf = arith.sitofp %ki : i64 to f32
      %h = arith.mulf %b, %third : f32
      %d = arith.subf %h, %a : f32
      %t = arith.addf %d, %kf : f32
      linalg.yield %t : f32
    } -> tensor<2x3xf32>)"),
            // (10 + 14) / 2 and (10 + 77) / 2
            (Numbers{11, 11, 11, 39.5, 39.5, 39.5}))
      << why;
}

TEST_F(UpstreamBodyTest, ReductionsAndOpsOfTosa) {
  EXPECT_EQ(run("tensor<2x3xf32>", R"(
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %d = tosa.sub %x, %m : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    %c = tosa.clamp %d {min_val = -1.5 : f32, max_val = 0.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %r = tosa.mul %c, %c, %shift : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>)"),
            (Numbers{2.25, 1, 0, 2.25, 1, 0}))
      << why;
  EXPECT_EQ(run("tensor<1x3xi32>", "%r = tosa.reduce_sum %n {axis = 0 : i32} : "
                                   "(tensor<2x3xi32>) -> tensor<1x3xi32>"),
            (Numbers{5, 7, 9}))
      << why;
}

TEST_F(UpstreamBodyTest, WhatHasNoFormulaIsNamed) {
  run("tensor<2xf32>", R"(
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<2x3xf32>) outs(%v : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.subf %a, %o : f32
      linalg.yield %t : f32
    } -> tensor<2xf32>)");
  EXPECT_EQ(why, "'linalg.generic' has no element formula");
  run("tensor<2x3xf32>", R"(
    %r = tosa.maximum %x, %x {nan_mode = IGNORE} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)");
  EXPECT_EQ(why, "'tosa.maximum' has no element formula");
  run("tensor<2x3xf32>", R"(
    %e = tensor.empty() : tensor<2x3xf32>
    %r = arith.addf %x, %e : tensor<2x3xf32>)");
  EXPECT_EQ(why, "'tensor.empty' has contents that nobody defined");
  run("tensor<2xf32>", R"(
    %r = linalg.fill ins(%number : f32) outs(%v : tensor<2xf32>) -> tensor<2xf32>)");
  EXPECT_EQ(why, "'linalg.fill' reads a number that is no constant");
}

} // namespace
