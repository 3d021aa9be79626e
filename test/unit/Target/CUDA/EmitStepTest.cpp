// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of launches as text and manifest, and steps that cannot be one.

#include "cutback/Target/CUDA/EmitStep.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

/// y = exp(x), summed over rows; its gradient.
const char *const kStep = R"(
  joint.graph @g(%x: tensor<2x4xf32> {joint.name = "x", joint.role = #joint.role<input>},
                 %t: tensor<2xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
      -> (tensor<2xf32>) gradients (tensor<2x4xf32>) {
    %e = aten.exp(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %s = aten.sum.dim_IntList(%e, [1]) : (tensor<2x4xf32>) -> tensor<2xf32>
    %d = aten.neg(%e) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    joint.output %s gradients(%d of 0) : tensor<2xf32>, tensor<2x4xf32>
  }
  joint.partition @g_partition forward @g_forward backward @g_backward
      saved ["e"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64,
                   num_saved_sizes = 0 : i64}
  func.func @g_forward(%x: tensor<2x4xf32> {joint.name = "x"})
      -> (tensor<2xf32>, tensor<2x4xf32>) {
    %e.out, %s.out = kernel.launch @exp_sum(%x) outputs [0, 1] at [0, 32]
        : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {
      %e = aten.exp(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %s = aten.sum.dim_IntList(%e, [1]) : (tensor<2x4xf32>) -> tensor<2xf32>
      kernel.yield %e, %s : tensor<2x4xf32>, tensor<2xf32>
    }
    %v = aten.view(%x, [2, 4]) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %s.out, RETURNED : tensor<2xf32>, tensor<2x4xf32>
  }
  func.func @g_backward(%e: tensor<2x4xf32> {joint.name = "e"}, %t: tensor<2xf32> {joint.name = "t"},
                        %x: tensor<2x4xf32> {joint.name = "x"})
      -> tensor<2x4xf32> {
    BACKWARD
  }
  kernel.func @exp_sum(%x: memref<8xf32>) to (%e: memref<8xf32>, %s: memref<2xf32>)
      schedule "row" {
    kernel.nest (%i, %j) in [2, 4 reduced] {
      %0 = kernel.load %x[%i * 4 + %j] : memref<8xf32>
      %1 = math.exp %0 : f32
      %2 = kernel.reduce add %1 : f32
      kernel.store %1, %e[%i * 4 + %j] : memref<8xf32>
      kernel.store %2, %s[%i] : memref<2xf32>
    }
  }
  kernel.func @neg(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "pointwise" {
    kernel.nest (%i) in [8] {
      %0 = kernel.load %x[%i] : memref<8xf32>
      %1 = FORMULA : f32
      kernel.store %1, %y[%i] : memref<8xf32>
    }
  }
)";
const char *const kNegate = R"(
    %d.out = kernel.launch @neg(%e) outputs [0] at [AT]
        : (tensor<2x4xf32>) -> tensor<2x4xf32> {
      %d = aten.neg(%e) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      kernel.yield %d : tensor<2x4xf32>
    }
    return %d.out : tensor<2x4xf32>)";

class EmitStepTest : public testing::Test {
protected:
  EmitStepTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        kernel::KernelDialect, func::FuncDialect,
                        arith::ArithDialect, math::MathDialect>();
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        messages += note.str() + "\n";
    });
  }

  static std::string replaced(std::string text, const std::string &from,
                              const std::string &to) {
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  FailureOr<CudaStep> emit(const std::string &backward,
                           const std::string &formula = "arith.negf %0") {
    std::string text = replaced(kStep, "BACKWARD", backward);
    text = replaced(text, "RETURNED", returned);
    if (isVerified) // by the arena, which sees what is overwritten
      text = "kernel.arena 96 of @g_partition {\n"
             "  kernel.segment forward @g_forward keeps 1\n"
             "  kernel.segment backward @g_backward keeps 1\n"
             "      takes forward[1 as 0]\n"
             "}\n" +
             text;
    kernels.module = parseSourceString<ModuleOp>(
        replaced(text, "FORMULA", formula), &context);
    if (!kernels.module) {
      ADD_FAILURE() << messages;
      return failure();
    }
    auto module = *kernels.module;
    kernels.link = *module.getOps<joint::PartitionOp>().begin();
    if (!isVerified) {
      OpBuilder builder(kernels.link);
      kernel::addHalves(kernel::ArenaOp::create(builder, module.getLoc(), 96,
                                                kernels.link.getSymName(),
                                                DictionaryAttr()),
                        kernels.link);
    }
    return emitCudaStep(kernels, *module.getOps<joint::GraphOp>().begin());
  }

  MLIRContext context;
  KernelModule kernels;
  std::string messages;
  bool isVerified = true;
  std::string returned = "%e.out"; ///< by the forward, and saved
};

TEST_F(EmitStepTest, TensorsLieWhereThePlanHasThem) {
  auto step = emit(replaced(kNegate, "AT", "64"));
  ASSERT_TRUE(succeeded(step)) << messages;
  const Artifact &artifact = step->artifact;
  ASSERT_EQ(artifact.arguments.size(), 2u);
  EXPECT_EQ(artifact.arguments[0].name, "input.0");
  EXPECT_EQ(artifact.arguments[1].fill, ArtifactArgument::Required);
  ASSERT_EQ(artifact.segments[0].launches.size(), 1u);
  EXPECT_EQ(artifact.segments[0].launches[0].operands[0].memory.kind,
            ArtifactMemory::Argument);
  EXPECT_EQ(artifact.segments[0].launches[0].operands[2].memory.at, 32);
  ASSERT_EQ(artifact.segments[1].launches.size(), 1u);
  // What is saved lies where the forward wrote it.
  EXPECT_EQ(artifact.segments[1].launches[0].operands[0].memory.at, 0);
  EXPECT_EQ(artifact.segments[1].launches[0].operands[1].memory.at, 64);
  ASSERT_EQ(artifact.results.size(), 2u);
  EXPECT_EQ(artifact.results[1].memory.at, 64);
  EXPECT_NE(step->files[1].second.find("neg(const float *__restrict__ e_"),
            std::string::npos);
}

TEST_F(EmitStepTest, WhatIsOverwrittenIsNotRestrict) {
  auto step = emit(replaced(kNegate, "AT", "0"));
  ASSERT_TRUE(succeeded(step)) << messages;
  EXPECT_NE(step->files[1].second.find("neg(const float *e_, float *d)"),
            std::string::npos)
      << step->files[1].second;
}

TEST_F(EmitStepTest, AViewOfWhatTheBackwardWritesIsCopied) {
  // e becomes a view of x, which the backward writes.
  std::string text = R"(
    %d.out = kernel.launch @neg(%e) outputs [0] at [64]
        : (tensor<2x4xf32>) -> tensor<2x4xf32> {
      %d = aten.neg(%e) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      kernel.yield %d : tensor<2x4xf32>
    }
    kernel.launch call at [] : () -> () {
      %w = joint.write %x, %d.out {side = #joint.side<backward>} : tensor<2x4xf32>, tensor<2x4xf32>
      kernel.yield
    }
    return %d.out : tensor<2x4xf32>)";
  returned = "%v";
  auto step = emit(text);
  ASSERT_TRUE(succeeded(step)) << messages;
  ASSERT_EQ(step->artifact.segments[0].launches.size(), 2u);
  const ArtifactLaunch &copy = step->artifact.segments[0].launches[1];
  EXPECT_EQ(copy.op, "copy");
  EXPECT_EQ(copy.operands[0].memory.kind, ArtifactMemory::Argument);
  EXPECT_EQ(copy.operands[1].memory.at, 256);
  EXPECT_EQ(step->artifact.segments[1].launches[0].operands[0].memory.at, 256);
  EXPECT_EQ(step->artifact.segments[1].launches[1].operands[1].memory.kind,
            ArtifactMemory::Argument);
}

TEST_F(EmitStepTest, TheHostCallsKernelsByNumber) {
  auto step = emit(replaced(kNegate, "AT", "64"));
  ASSERT_TRUE(succeeded(step)) << messages;
  std::vector<TextFile> host = emitCudaHost(*step);
  EXPECT_EQ(host[0].first, "host.cpp");
  EXPECT_NE(
      host[0].second.find("{call_exp_sum, true},\n    {call_neg, false},"),
      std::string::npos);
}

TEST_F(EmitStepTest, AResultWithoutAPlaceIsADefect) {
  EXPECT_TRUE(failed(emit(replaced(kNegate, "AT", "-1"))));
  EXPECT_EQ(messages, "'d' has no place in memory\n");
}

TEST_F(EmitStepTest, APlaceThatNoDeviceReadsIsADefect) {
  // Sixteen bytes at a time.
  EXPECT_TRUE(failed(emit(replaced(kNegate, "AT", "52"))));
  EXPECT_EQ(messages,
            "the compiled step has a result 'grad.input.0' outside of "
            "memory\n");
}

TEST_F(EmitStepTest, AKernelWithoutTextIsNamed) {
  EXPECT_TRUE(failed(
      emit(replaced(kNegate, "AT", "64"), "math.clampf %0 to [%0, %0]")));
  EXPECT_EQ(messages,
            "cannot be written as CUDA: 'math.clampf' has no CUDA text\n"
            "run it with --reference\n");
}

TEST_F(EmitStepTest, ACallMustNotWriteOverWhatItReads) {
  const char *const product = R"(
    %p.out = kernel.launch call at [0] : () -> tensor<2x2xf32> {
      %v = aten.view(%e, [4, 2]) : (tensor<2x4xf32>) -> tensor<4x2xf32>
      %p = aten.mm(%e, %v) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
      kernel.yield %p : tensor<2x2xf32>
    }
    %d = aten.neg(%e) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %e : tensor<2x4xf32>)";
  isVerified = false;
  EXPECT_TRUE(failed(emit(product)));
  EXPECT_EQ(messages, "'mm' would write over what it reads\n");
}

} // namespace
