// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of a step's tensors, and arguments from named tensors.

#include "cutback/Interpreter/Step.h"
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
    %w: tensor<4xf32> {joint.role = #joint.role<param "fc.weight">},
    %m: tensor<4xf32> {joint.role = #joint.role<buffer "mean">},
    %s: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
    %x: tensor<?x4xf32> {joint.role = #joint.role<input>,
                         joint.dims = ["s0", "4"]},
    %y: tensor<?xf32> {joint.role = #joint.role<input>,
                       joint.dims = ["2*s0"]},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>, tensor<?x4xf32>) gradients (tensor<4xf32>)
    attributes {symbols = {s0 = #joint.symbol<hint = 3, min = 2, max = 8>}} {
  %loss = aten.sum(%x) : (tensor<?x4xf32>) -> tensor<f32>
  %z = aten.mul.Tensor(%x, %w) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %n = joint.write %m, %w : tensor<4xf32>, tensor<4xf32>
  %g = aten.mul.Tensor(%w, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss, %z gradients(%g of 0) : tensor<f32>, tensor<?x4xf32>, tensor<4xf32>
}
)mlir";

class StepTest : public testing::Test {
protected:
  StepTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
    module = parseSourceString<ModuleOp>(kGraph, &context);
  }
  joint::GraphOp graph() { return *module->getOps<joint::GraphOp>().begin(); }
  /// Binds with `sizes` of x and y; the error and its notes are in `message`.
  FailureOr<std::vector<RuntimeValue>> bind(std::vector<int64_t> x,
                                            std::vector<int64_t> y) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        message += "; " + note.str();
      return success();
    });
    names = nameStep(graph());
    return bindArguments(
        graph(), names,
        [&](StringRef name) -> std::optional<Tensor> {
          if (name == missing || name == "tangent.0")
            return std::nullopt;
          if (name == "input.0")
            return Tensor::zeros(DType::F32, x);
          if (name == "input.1")
            return Tensor::zeros(DType::F32, y);
          return weight;
        },
        symbols);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  StepNames names;
  llvm::StringMap<int64_t> symbols;
  Tensor weight = Tensor::zeros(DType::F32, {4});
  std::string missing, message;
};

TEST_F(StepTest, NamesComeFromRoles) {
  ASSERT_TRUE(module);
  StepNames names = nameStep(graph());
  EXPECT_EQ(names.arguments,
            (std::vector<std::string>{"param.fc.weight", "buffer.mean", "",
                                      "input.0", "input.1", "tangent.0"}));
  EXPECT_EQ(names.results,
            (std::vector<std::string>{"loss", "output.1", "grad.fc.weight"}));
  ASSERT_EQ(names.written.size(), 1u);
  EXPECT_EQ(names.written[0],
            (std::pair<std::string, unsigned>("buffer.mean", 1)));
}

TEST_F(StepTest, SizesBindSymbolsAndTheSeedIsOne) {
  auto values = bind({5, 4}, {10});
  ASSERT_TRUE(succeeded(values)) << message;
  EXPECT_EQ(symbols["s0"], 5);
  EXPECT_EQ(std::get<int64_t>((*values)[2]), 5);
  EXPECT_EQ(std::get<Tensor>((*values)[5]).getDouble(0), 1);
}

TEST_F(StepTest, AWrittenArgumentIsACopy) {
  auto values = bind({5, 4}, {10});
  ASSERT_TRUE(succeeded(values));
  EXPECT_NE(std::get<Tensor>((*values)[1]).storage, weight.storage);
  EXPECT_EQ(std::get<Tensor>((*values)[0]).storage, weight.storage);
}

TEST_F(StepTest, WhatDoesNotFitIsAnError) {
  EXPECT_TRUE(failed(bind({5, 3}, {10})));
  EXPECT_EQ(message, "tensor 'input.0' is f32[5, 3], the graph takes f32[?, 4];"
                     " a symbolic size is '?'; all others must agree");
  symbols.clear();
  EXPECT_TRUE(failed(bind({5, 4}, {11})));
  EXPECT_EQ(message, "size 0 of tensor 'input.1' is 11, the graph takes 2*s0 "
                     "= 10; give tensors whose sizes agree");
  symbols.clear();
  EXPECT_TRUE(failed(bind({9, 4}, {18})));
  EXPECT_EQ(message, "symbol s0 is 9, outside of its range from 2 to 8; the "
                     "graph was exported for that range; give inputs inside, "
                     "or export it again");
  symbols["s0"] = 4;
  EXPECT_TRUE(failed(bind({5, 4}, {10})));
  EXPECT_EQ(message, "size 0 of tensor 'input.0' is 5, but symbol s0 is 4 by "
                     "another tensor; give tensors whose sizes agree");
  symbols.clear();
  missing = "param.fc.weight";
  EXPECT_TRUE(failed(bind({5, 4}, {10})));
  EXPECT_EQ(message,
            "no tensor 'param.fc.weight' for argument 'w'; give it in the file "
            "of --inputs, or its weights with --weights");
}

TEST_F(StepTest, ASizeThatNobodyGivesIsAnError) {
  graph().removeArgAttr(3,
                        StringAttr::get(&context, joint::JointDialect::kDims));
  graph().removeArgAttr(4,
                        StringAttr::get(&context, joint::JointDialect::kDims));
  EXPECT_TRUE(failed(bind({5, 4}, {10})));
  EXPECT_EQ(message, "the size of argument 's' is not known; give the value of "
                     "its symbol with --sym");
}

TEST_F(StepTest, ResultsGetTheirNames) {
  std::vector<RuntimeValue> arguments(6), results(3);
  arguments[1] = weight;
  results[0] = Tensor::zeros(DType::F32, {});
  results[2] = weight;
  auto list = collectResults(nameStep(graph()), arguments, results);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].first, "loss");
  EXPECT_EQ(list[1].first, "grad.fc.weight");
  EXPECT_EQ(list[2].first, "buffer.mean");
}

} // namespace
