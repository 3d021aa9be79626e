// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening gradients: roles, results and the order of what `of` names.

#include "cutback/Autograd/SecondDerivatives.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

class SecondDerivatives : public testing::Test {
protected:
  SecondDerivatives() {
    DialectRegistry registry;
    registry.insert<aten::AtenDialect, joint::JointDialect>();
    registerAtenVjps(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// A product whose seed stands in front of the parameter.
  joint::GraphOp parse() {
    module = parseSourceString<ModuleOp>(
        R"(joint.graph @g(%s: tensor<f32> {joint.role = #joint.role<grad_seed of 0>}, %w: tensor<f32> {joint.role = #joint.role<param "layer.w">}, %x: tensor<f32> {joint.role = #joint.role<input>}, %t: tensor<2xf32> {joint.role = #joint.role<tangent of 1>}, %y: tensor<2xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<2xf32>) gradients (tensor<f32>, tensor<f32>, tensor<2xf32>) {
          %0 = aten.mul.Tensor(%w, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          %1 = aten.mul.Tensor(%s, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          %2 = aten.mul.Tensor(%s, %w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          %3 = aten.exp(%y) : (tensor<2xf32>) -> tensor<2xf32>
          %4 = aten.mul.Tensor(%t, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          joint.output %0, %3 gradients(%1 of 1, %2 of 2, %4 of 4) : tensor<f32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<2xf32>
        })",
        &context);
    return *module->getOps<joint::GraphOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(SecondDerivatives, FirstGradientsAreThoseThatAreRead) {
  SecondDerivativeOptions options{{"loss", "grad.w", "output.1"}, {{"x", 2}}};
  EXPECT_TRUE(options.isAsked());
  EXPECT_FALSE(SecondDerivativeOptions().isAsked());
  EXPECT_EQ(options.firstGradients(), (std::vector<std::string>{"w", "x"}));
}

TEST_F(SecondDerivatives, NamedGradientsBecomeResultsInTheirOrder) {
  joint::GraphOp graph = parse();
  DifferentiateOptions next;
  SecondDerivativeOptions options{{"grad.input.1", "output.1", "grad.layer.w"},
                                  {}};
  ASSERT_TRUE(succeeded(openGradients(graph, options, next)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(next.lossOutputs, (std::vector<unsigned>{2, 1, 3}));
  EXPECT_EQ(next.firstVector, 2u);
  joint::OutputOp output = graph.getOutput();
  ASSERT_EQ(output.getNumForwardResults(), 4u);
  EXPECT_TRUE(output.getGradients().empty());
  // The seed is gone, and is the number one where it was read.
  ASSERT_EQ(graph.getNumArguments(), 4u);
  auto slope = output.getForwardResults()[3].getDefiningOp();
  EXPECT_EQ(slope->getOperand(0).getDefiningOp()->getName().getStringRef(),
            "aten.full");
  // A tangent has become an input.
  EXPECT_EQ(graph.getRole(2).getKind(), joint::RoleKind::Input);
}

TEST_F(SecondDerivatives, AGradientThatIsTheSeedItselfIsOne) {
  module = parseSourceString<ModuleOp>(
      R"(joint.graph @g(%w: tensor<f32> {joint.role = #joint.role<param "w">}, %s: tensor<f32> {joint.role = #joint.role<grad_seed of 0>}) -> (tensor<f32>) gradients (tensor<f32>) {
        joint.output %w gradients(%s of 0) : tensor<f32>, tensor<f32>
      })",
      &context);
  auto graph = *module->getOps<joint::GraphOp>().begin();
  DifferentiateOptions next;
  ASSERT_TRUE(succeeded(openGradients(graph, {{"grad.w"}, {}}, next)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(graph.getOutput()
                .getForwardResults()[1]
                .getDefiningOp()
                ->getName()
                .getStringRef(),
            "aten.full");
}

TEST_F(SecondDerivatives, APenaltyIsPartOfTheLoss) {
  joint::GraphOp graph = parse();
  DifferentiateOptions next;
  ASSERT_TRUE(succeeded(openGradients(graph, {{}, {{"input.0", 3}}}, next)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(next.lossOutputs, std::vector<unsigned>{0});
  EXPECT_EQ(graph.getOutput().getNumForwardResults(), 2u);
  Operation *sum = graph.getOutput().getForwardResults()[0].getDefiningOp();
  EXPECT_EQ(sum->getName().getStringRef(), "aten.add.Tensor");
}
