// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks of graphs that were read with their gradients.

#include "cutback/Autograd/Hooks.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Hook.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

constexpr const char *kGraph = R"(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "fc.weight">},
               %b: tensor<4xf32> {joint.role = #joint.role<param "fc.bias">},
               %u: tensor<4xf32> {joint.role = #joint.role<param "unused">},
               %x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %add = aten.add.Tensor(%mul, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mul_1 = aten.mul.Tensor(%t, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %add gradients(%mul_1 of 0, %t of 1)
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
)";

struct HooksTest : testing::Test {
  HooksTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
    module = parseSourceString<ModuleOp>(kGraph, &context);
    graph = *module->getOps<joint::GraphOp>().begin();
  }

  /// What stands in front of the results, a line a hook; or the error.
  std::vector<std::string> hook(const std::vector<HookRequest> &requests) {
    std::vector<std::string> lines;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      lines.push_back(diagnostic.str());
      for (Diagnostic &note : diagnostic.getNotes())
        if (!StringRef(note.str()).starts_with("see current"))
          lines.push_back(note.str());
    });
    if (failed(hookGradients(graph, requests)))
      return lines;
    EXPECT_TRUE(succeeded(verify(graph)));
    for (auto op : graph.getBlock().getOps<joint::HookOp>())
      lines.push_back(op.getPoint().str() + " " +
                      stringifyHookPointKind(op.getKind()).str() + " " +
                      std::to_string(op.getKey()));
    return lines;
  }
  Value gradient(unsigned number) {
    return graph.getOutput().getGradients()[number];
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  joint::GraphOp graph;
};

using Lines = std::vector<std::string>;

TEST_F(HooksTest, AHookStandsBehindWhatMakesTheGradient) {
  EXPECT_EQ(hook({{HookKind::TensorPre, "fc.weight"},
                  {HookKind::PostAccumulate, "fc.weight"}}),
            (Lines{"fc.weight tensor_pre 0", "fc.weight post_accumulate 1"}));
  auto last = gradient(0).getDefiningOp<joint::HookOp>();
  ASSERT_TRUE(last);
  EXPECT_EQ(last.getKind(), joint::HookPointKind::PostAccumulate);
  EXPECT_TRUE(last.getGradient().getDefiningOp<joint::HookOp>());
}

TEST_F(HooksTest, APatternIsOfParametersWithAGradient) {
  EXPECT_EQ(hook({{HookKind::TensorPre, "*"}}),
            (Lines{"fc.weight tensor_pre 0", "fc.bias tensor_pre 1"}));
}

TEST_F(HooksTest, APointThatIsThereStaysAsItIs) {
  hook({{HookKind::TensorPre, "fc.bias"}});
  EXPECT_EQ(hook({{HookKind::TensorPre, "fc.bias"},
                  {HookKind::TensorPre, "fc.*"},
                  {HookKind::RetainsGrad, "fc.bias"}}),
            (Lines{"fc.bias tensor_pre 0", "fc.weight tensor_pre 1",
                   "fc.bias retains_grad 2"}));
  EXPECT_EQ(nextHookKey(graph), 3);
}

TEST_F(HooksTest, WhoRetainsAGradientGivesNone) {
  Value before = gradient(1);
  hook({{HookKind::RetainsGrad, "fc.bias"}});
  EXPECT_EQ(gradient(1), before);
}

TEST_F(HooksTest, WhatHasNoGradientIsAnError) {
  EXPECT_EQ(hook({{HookKind::TensorPre, "unused"}}),
            Lines{"hook on 'unused', which has no gradient in this graph"});
}

TEST_F(HooksTest, ValuesHaveNoNamesAmongGradients) {
  EXPECT_EQ(hook({{HookKind::TensorPre, "mul"}}),
            Lines{"hook on 'mul': the graph was read with its gradients, of "
                  "which only those of arguments have names"});
}

TEST_F(HooksTest, AGradientWithStridesIsCopiedForItsHooks) {
  module = parseSourceString<ModuleOp>(R"(
joint.graph @g(%w: tensor<8x4xf32> {joint.role = #joint.role<param "w">},
               %v: tensor<4x?xf32> {joint.role = #joint.role<param "v">},
               %t: tensor<4x8xf32> {joint.role = #joint.role<tangent of 0>},
               %u: tensor<?x4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4x8xf32>) gradients (tensor<8x4xf32>, tensor<4x?xf32>) {
  %y = aten.t(%w) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %back = aten.t(%t) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %turned = aten.permute(%u, [1, 0]) : (tensor<?x4xf32>) -> tensor<4x?xf32>
  joint.output %y gradients(%back of 0, %turned of 1)
      : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x?xf32>
})",
                                       &context);
  graph = *module->getOps<joint::GraphOp>().begin();
  hook({{HookKind::TensorPre, "*"}, {HookKind::RetainsGrad, "*"}});
  makeHooksDense(graph);
  makeHooksDense(graph);
  EXPECT_TRUE(succeeded(verify(graph)));
  std::string made;
  for (auto op : graph.getBlock().getOps<joint::HookOp>())
    made +=
        op.getGradient().getDefiningOp()->getName().getStringRef().str() + " ";
  EXPECT_EQ(made, "aten.clone aten.clone joint.hook joint.hook ");
}

TEST_F(HooksTest, ADenseGradientIsNotCopied) {
  hook({{HookKind::TensorPre, "*"}});
  makeHooksDense(graph);
  for (Operation &op : graph.getBlock())
    EXPECT_NE(op.getName().getStringRef(), "aten.clone");
}

TEST_F(HooksTest, AnUnknownNameComesWithTheNearest) {
  EXPECT_EQ(hook({{HookKind::TensorPre, "fc.wight"}}),
            (Lines{"hook: no argument or value of 'g' is called 'fc.wight'",
                   "did you mean 'fc.weight'?"}));
}

} // namespace
