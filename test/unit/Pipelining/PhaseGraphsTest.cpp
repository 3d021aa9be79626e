// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases from functions that are written by hand.

#include "cutback/Pipelining/PhaseGraphs.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

class PhaseGraphs : public ::testing::Test {
protected:
  PhaseGraphs() {
    context.printOpOnDiagnostic(false);
    registerTrainingGraph(context);
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  /// A stage that sends `relu` and keeps %kept for its backward.
  void read(const std::string &kept, const std::string &type) {
    std::string text =
        "joint.graph @s(%x: tensor<4xf32> {joint.role = #joint.role<input>, "
        "joint.file_name = \"value.x\"}, %t: tensor<4xf32> {joint.role = "
        "#joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients "
        "(tensor<4xf32>) attributes {joint.result_names = [\"value.relu\"]} {\n"
        "  %relu = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  joint.output %relu gradients(%t of 0) : tensor<4xf32>, "
        "tensor<4xf32>\n}\n"
        "func.func @f(%x: tensor<4xf32> {joint.role = #joint.role<input>, "
        "joint.name = \"x\"}) -> (tensor<4xf32>, " +
        type +
        ") {\n"
        "  %relu = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %tanh = aten.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %size = aten.sym_size.int(%x, 0) : (tensor<4xf32>) -> index\n"
        "  return %relu, " +
        kept + " : tensor<4xf32>, " + type +
        "\n}\n"
        "func.func @b(%k: " +
        type +
        " {joint.role = #joint.role<saved>, joint.name = \"k\"}, %t: "
        "tensor<4xf32> {joint.role = #joint.role<tangent of 0>, joint.name = "
        "\"t\"}) -> tensor<4xf32> {\n  return %t : tensor<4xf32>\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    partition.forward = module->lookupSymbol<func::FuncOp>("f");
    partition.backward = module->lookupSymbol<func::FuncOp>("b");
    stage = *module->getOps<joint::GraphOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Partition partition;
  joint::GraphOp stage;
};

std::vector<std::string> argumentsOf(joint::GraphOp graph) {
  return interpreter::nameStep(graph).arguments;
}
std::vector<std::string> resultsOf(joint::GraphOp graph) {
  return interpreter::nameStep(graph).results;
}

} // namespace

TEST_F(PhaseGraphs, WhatIsKeptHasANumber) {
  read("%tanh", "tensor<4xf32>");
  auto phases = makePhases(stage, partition);
  ASSERT_TRUE(succeeded(phases));
  ASSERT_EQ(phases->size(), 2U);
  using Names = std::vector<std::string>;
  EXPECT_EQ(argumentsOf((*phases)[0].graph), (Names{"value.x"}));
  EXPECT_EQ(resultsOf((*phases)[0].graph), (Names{"value.relu", "saved.0"}));
  EXPECT_EQ(argumentsOf((*phases)[1].graph),
            (Names{"saved.0", "tangent.value.relu"}));
  EXPECT_EQ(resultsOf((*phases)[1].graph), (Names{"grad.value.x"}));
}

TEST_F(PhaseGraphs, WhatIsSentOrReceivedKeepsItsName) {
  read("%relu", "tensor<4xf32>");
  auto sent = makePhases(stage, partition);
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(argumentsOf((*sent)[1].graph)[0], "value.relu");
  EXPECT_EQ(resultsOf((*sent)[0].graph).size(), 1U);
  read("%x", "tensor<4xf32>");
  auto received = makePhases(stage, partition);
  ASSERT_TRUE(succeeded(received));
  EXPECT_EQ(argumentsOf((*received)[1].graph)[0], "value.x");
}

TEST_F(PhaseGraphs, ASizeIsNotKept) {
  read("%size", "index");
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      said += note.str() + "\n";
    return success();
  });
  EXPECT_TRUE(failed(makePhases(stage, partition)));
  EXPECT_EQ(said, "'size' of type 'index' would be kept from one phase of 's' "
                  "for another\ngive sizes of symbols with --sym\n");
}
