// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of ops that are written down here: what becomes one, what does not
// and why, and kernels that are not those of their launches.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Lowering/FormKernels.h"
#include "cutback/Lowering/KernelBody.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class BuildKernelBodyTest : public testing::Test {
protected:
  BuildKernelBodyTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        kernel::KernelDialect, func::FuncDialect>();
  }

  /// The kernel of all ops of a function of `text`; its results are those that
  /// the function returns. Else why there is none.
  std::string build(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    auto function = *module->getOps<func::FuncOp>().begin();
    SmallVector<Operation *> ops;
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
    SmallVector<Value> outputs(function.front().getTerminator()->getOperands());
    std::string problem;
    auto body = buildKernelBody(ops, outputs, "row", problem);
    if (!body)
      return problem;
    std::string printed;
    llvm::raw_string_ostream os(printed);
    body->function->print(os);
    return printed;
  }

  bool refuses(const std::string &body, const std::string &why) {
    std::string is = build("func.func @f" + body);
    EXPECT_EQ(is, why);
    return is == why;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(BuildKernelBodyTest, ViewsAreStrides) {
  std::string text = build(R"(
    func.func @f(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
      %t = aten.permute(%x, [2, 0, 1]) : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
      %e = aten.exp(%t) : (tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
      %v = aten.view(%e, [4, 6]) : (tensor<4x2x3xf32>) -> tensor<4x6xf32>
      %s = aten.neg(%v) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      return %s : tensor<4x6xf32>
    })");
  EXPECT_NE(text.find("in [4, 6]"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel.load %arg0[%i + %j * 4]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("kernel.store"), std::string::npos) << text;
}

/// PyTorch's old habit: an empty list of numbers goes with everything, whatever
/// the axis.
TEST_F(BuildKernelBodyTest, AnEmptyPartOfAnyRankIsNoPart) {
  std::string text = build(R"(
    func.func @f(%n: tensor<0xf32>, %x: tensor<2x3x4xf32>, %y: tensor<2x2x4xf32>, %z: tensor<2x0x4xf32>) -> tensor<2x5x4xf32> {
      %c = aten.cat([%n, %x, %z, %n, %y], -2) : (tensor<0xf32>, tensor<2x3x4xf32>, tensor<2x0x4xf32>, tensor<0xf32>, tensor<2x2x4xf32>) -> tensor<2x5x4xf32>
      return %c : tensor<2x5x4xf32>
    })");
  EXPECT_NE(text.find("%arg2[%i * 20 + %j]"), std::string::npos) << text;
  EXPECT_NE(text.find("%arg2[%i * 20 + %j + 12]"), std::string::npos) << text;
}

TEST_F(BuildKernelBodyTest, WhatIsNoKernelIsNamed) {
  refuses(R"((%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
    %v = aten.slice.Tensor(%x, 0, 0, %n) : (tensor<4xf32>, index) -> tensor<?xf32>
    %y = aten.exp(%v) : (tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  })",
          "'aten.slice.Tensor' has a size that depends on data");
  refuses(R"((%x: tensor<4xf32>) -> tensor<2x2xf32> {
    %v = aten.view(%x, [2, 2]) : (tensor<4xf32>) -> tensor<2x2xf32>
    return %v : tensor<2x2xf32>
  })",
          "'aten.view' has nothing to compute");
  refuses(R"((%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %y = aten.mm(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  })",
          "'aten.mm' has no loops of its own");
  refuses(R"((%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
    %y = aten.exp(%x) : (tensor<0x4xf32>) -> tensor<0x4xf32>
    return %y : tensor<0x4xf32>
  })",
          "'aten.exp' has no elements");
  refuses(R"((%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = aten.digamma(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  })",
          "'aten.digamma' has no element formula");
}

TEST_F(BuildKernelBodyTest, OpsThatNoNestHasAreNamed) {
  refuses(
      R"((%x: tensor<2x4xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %s = aten.sum.dim_IntList(%x, [1], true) : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %a = aten.add.Tensor(%s, %z) : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %a : tensor<2x3xf32>
  })",
      "'aten.add.Tensor' has other iterations than its kernel");
  refuses(R"((%x: tensor<2x4xf32>, %z: tensor<2x3xf32>) -> tensor<2xf32> {
    %s = aten.sum.dim_IntList(%x, [1]) : (tensor<2x4xf32>) -> tensor<2xf32>
    %t = aten.sum.dim_IntList(%z, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
    %a = aten.add.Tensor(%s, %t) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %a : tensor<2xf32>
  })",
          "'aten.sum.dim_IntList' combines other elements than its kernel");
  refuses(
      R"((%x: tensor<4xf32>, %i: tensor<2xi64>) -> (tensor<4xf32>, tensor<2xf32>) {
    %a = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %b = aten.index_select(%a, 0, %i) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    return %a, %b : tensor<4xf32>, tensor<2xf32>
  })",
      "'aten.exp' is computed by no iteration");
}

TEST_F(BuildKernelBodyTest, LoopsThatAllAccessesWalkAsOneAreOne) {
  std::string whole = build(R"(
    func.func @f(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
      %e = aten.exp(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
      return %e : tensor<2x3x4xf32>
    })");
  EXPECT_NE(whole.find("kernel.nest (%i) in [24]"), std::string::npos) << whole;
  // Neither the last loop, which the bias has alone, nor what is summed, nor
  // the place of an element in a triangle.
  std::string rows = build(R"(
    func.func @f(%x: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<2x3xf32> {
      %a = aten.add.Tensor(%x, %b) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
      %s = aten.sum.dim_IntList(%a, [2]) : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
      return %s : tensor<2x3xf32>
    })");
  EXPECT_NE(rows.find("kernel.nest (%i, %j) in [6, 4 reduced]"),
            std::string::npos)
      << rows;
  EXPECT_NE(rows.find("kernel.load %arg0[%i * 4 + %j]"), std::string::npos)
      << rows;
  EXPECT_NE(rows.find("kernel.store %3, %arg2[%i]"), std::string::npos) << rows;
  std::string triangle = build(R"(
    func.func @f(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
      %t = aten.tril(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
      return %t : tensor<2x3x4xf32>
    })");
  EXPECT_NE(triangle.find("in [2, 3, 4]"), std::string::npos) << triangle;
}

TEST_F(BuildKernelBodyTest, PartsOfOneShapeAreOneNest) {
  std::string text = build(R"(
    func.func @f(%x: tensor<2x4xf32>, %z: tensor<3xf32>, %u: tensor<8xf32>)
        -> (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<8xf32>) {
      %s = aten.sum.dim_IntList(%x, [1]) : (tensor<2x4xf32>) -> tensor<2xf32>
      %e = aten.exp(%z) : (tensor<3xf32>) -> tensor<3xf32>
      %q = aten.mul.Tensor(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %m = aten.amax(%q, [1]) : (tensor<2x4xf32>) -> tensor<2xf32>
      %n = aten.neg(%u) : (tensor<8xf32>) -> tensor<8xf32>
      return %s, %e, %m, %n : tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<8xf32>
    })");
  auto count = [&](StringRef part) { return StringRef(text).count(part); };
  EXPECT_EQ(count("kernel.nest"), 3u) << text;
  EXPECT_EQ(count("kernel.nest (%i, %j) in [2, 4 reduced]"), 1u) << text;
  EXPECT_EQ(count("kernel.nest (%i) in [3]"), 1u) << text;
  EXPECT_EQ(count("kernel.nest (%i) in [8]"), 1u) << text;
  // Both reductions read x once.
  EXPECT_EQ(count("kernel.load %arg0["), 1u) << text;
  EXPECT_EQ(count("kernel.reduce"), 2u) << text;
}

const char *const kStep = R"(
  joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>})
      -> (tensor<4xf32>) gradients () {
    %y = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    joint.output %y gradients() : tensor<4xf32>
  }
  func.func @g_forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y.out = kernel.launch @k(%x) outputs [0] at [-1] : (tensor<4xf32>) -> tensor<4xf32> {
      %y = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      kernel.yield %y : tensor<4xf32>
    }
    return %y.out : tensor<4xf32>
  }
  kernel.func @k(%x: memref<4xf32>) to (%y: memref<4xf32>) schedule "pointwise" {
    kernel.nest (%i) in [4] {
      %0 = kernel.load %x[%i] : memref<4xf32>
      %1 = math.exp2 %0 : f32
      kernel.store %1, %y[%i] : memref<4xf32>
    }
  })";

TEST_F(BuildKernelBodyTest, AnotherKernelThanThatOfTheOpsIsFound) {
  KernelModule kernels;
  kernels.module = parseSourceString<ModuleOp>(kStep, &context);
  ASSERT_TRUE(kernels.module);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  auto graph = *kernels.module->getOps<joint::GraphOp>().begin();
  EXPECT_TRUE(failed(verifyKernels(graph, kernels)));
  EXPECT_EQ(error, "'kernel.launch' op has ops that are not those of its "
                   "kernel @k");
  // Run beside its ops, it shows too.
  auto forward = *kernels.module->getOps<func::FuncOp>().begin();
  Tensor x = Tensor::zeros(DType::F32, {4});
  x.assign(ArrayRef<double>({1, 2, 3, 4}));
  InterpreterOptions options;
  EXPECT_TRUE(succeeded(run(forward, {x}, options)));
  options.checkKernels = true;
  EXPECT_TRUE(failed(run(forward, {x}, options)));
  EXPECT_NE(error.find("computes 'y' by kernel @k off by "), std::string::npos)
      << error;
  EXPECT_NE(error.find(" from the ops that it stands for"), std::string::npos);
}

} // namespace
