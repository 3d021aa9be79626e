// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the ops of an update stand in the graph of a step, why they may not be
// there, and that halves in another order are refused.

#include "cutback/Training/InsideUpdate.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Training/Trainer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

// The gradient of %w is there before %w is read for that of %x.
constexpr const char *kLayer = R"(
joint.graph @g(%w: tensor<3x4xf32> {joint.role = #joint.role<param "w">},
               %b: tensor<3xf32> {joint.role = #joint.role<param "b">},
               %x: tensor<2x4xf32> {joint.role = #joint.role<input>},
               %t: tensor<2x3xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<2x3xf32>)
    gradients (tensor<3x4xf32>, tensor<3xf32>, tensor<2x4xf32>) {
  %wt = aten.t(%w) : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %y = aten.addmm(%b, %x, %wt) : (tensor<3xf32>, tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %db = aten.sum.dim_IntList(%t, [0]) : (tensor<2x3xf32>) -> tensor<3xf32>
  %tt = aten.t(%t) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %dw = aten.mm(%tt, %x) : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %back = aten.t(%wt) : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %dx = aten.mm(%t, %back) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  joint.output %y gradients(%dw of 0, %db of 1, %dx of 2) : tensor<2x3xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<2x4xf32>
}
)";

class InsideUpdateTest : public testing::Test {
protected:
  InsideUpdateTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        kernel::KernelDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
    optimizer.kind = Optimizer::Sgd;
  }

  joint::GraphOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages;
    return *module->getOps<joint::GraphOp>().begin();
  }

  std::string why(joint::GraphOp graph) {
    auto parameters = findParameters(graph, optimizer);
    EXPECT_TRUE(succeeded(parameters)) << messages;
    return whyUpdateAfter(graph, optimizer, *parameters);
  }

  LogicalResult insert(joint::GraphOp graph) {
    auto parameters = findParameters(graph, optimizer);
    return failed(parameters) ? failure()
                              : insertUpdate(graph, optimizer, *parameters);
  }

  /// In the block of `graph`, the place of the first op that is called `name`.
  static int64_t placeOf(Block &block, StringRef name) {
    for (auto [i, op] : llvm::enumerate(block))
      for (OpResult result : op.getResults())
        if (joint::getValueName(result) == name)
          return static_cast<int64_t>(i);
    return -1;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Optimizer optimizer;
  std::string messages;
};

TEST_F(InsideUpdateTest, AParameterIsWrittenAfterTheLastOpThatReadsIt) {
  joint::GraphOp graph = parse(kLayer);
  ASSERT_EQ(why(graph), "");
  ASSERT_TRUE(succeeded(insert(graph))) << messages;
  Block &block = graph.getBlock();
  EXPECT_TRUE(joint::hasInsideUpdate(graph));
  int64_t written = placeOf(block, "update_w.new");
  EXPECT_GT(written, placeOf(block, "dx"));
  // %b was read in the forward alone.
  int64_t other = placeOf(block, "update_b.new");
  EXPECT_GT(other, placeOf(block, "db"));
  EXPECT_LT(other, placeOf(block, "dw"));
  // What is not updated has its gradient.
  EXPECT_EQ(graph.getOutput().getGradientOf(), ArrayRef<int32_t>{2});
  EXPECT_EQ(nameStep(graph).arguments.back(), kLearningRate);
}

TEST_F(InsideUpdateTest, StatesAreArgumentsUnderTheirNamesInFiles) {
  optimizer.kind = Optimizer::AdamW;
  joint::GraphOp graph = parse(kLayer);
  ASSERT_TRUE(succeeded(insert(graph))) << messages;
  std::vector<std::string> names = nameStep(graph).arguments;
  names.erase(names.begin(), names.begin() + 4);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "optimizer.exp_avg.w", "optimizer.exp_avg_sq.w",
                       "optimizer.exp_avg.b", "optimizer.exp_avg_sq.b",
                       "optimizer.lr", "optimizer.step"}));
}

TEST_F(InsideUpdateTest, WhatNeedsAllGradientsComesAfterThem) {
  joint::GraphOp graph = parse(kLayer);
  optimizer.clipNorm = 1;
  EXPECT_EQ(why(graph), "--clip-norm needs the norm of all gradients");
  optimizer.clipNorm = 0;
  optimizer.scalesLoss = true;
  EXPECT_EQ(why(graph),
            "--scale-loss looks at all gradients, whether they are finite");
  optimizer.scalesLoss = false;
  optimizer.accumulates = true;
  EXPECT_EQ(why(graph), "gradients of several micro-batches are added up");
}

TEST_F(InsideUpdateTest, AResultThatShowsAParameterIsOfBeforeTheUpdate) {
  joint::GraphOp graph = parse(R"(
joint.graph @g(%p: tensor<4xf32> {joint.role = #joint.role<param "p">},
               %q: tensor<4xf32> {joint.role = #joint.role<param "q">},
               %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %m = aten.mul.Tensor(%p, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = aten.sum(%m) : (tensor<4xf32>) -> tensor<f32>
  joint.output %s gradients(%q of 0, %p of 1) : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
)");
  EXPECT_EQ(why(graph), "result 'q' shows argument 'q', which the step writes");
}

TEST_F(InsideUpdateTest, WhatTheStepWritesItselfIsUpdatedAfterIt) {
  joint::GraphOp graph = parse(R"(
joint.graph @g(%p: tensor<4xf32> {joint.role = #joint.role<param "p">},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.exp(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %d = aten.mul.Tensor(%y, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %new = joint.write %p, %y : tensor<4xf32>, tensor<4xf32>
  joint.output %y gradients(%d of 0) : tensor<4xf32>, tensor<4xf32>
}
)");
  EXPECT_EQ(why(graph), "the step itself writes 'param.p'");
}

// Read under both names, after the gradient under the first is there.
TEST_F(InsideUpdateTest, TiedParametersAreReadUnderOneName) {
  joint::GraphOp graph = parse(R"(
joint.graph @g(%p: tensor<4xf32> {joint.role = #joint.role<param "p">},
               %q: tensor<4xf32> {joint.role = #joint.role<param "q">, joint.tied = "p"},
               %x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %y = aten.mul.Tensor(%p, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = aten.mul.Tensor(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = aten.mul.Tensor(%q, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%d of 0, %d of 1, %dx of 2) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
)");
  ASSERT_EQ(why(graph), "");
  ASSERT_TRUE(succeeded(insert(graph))) << messages;
  EXPECT_TRUE(graph.getBlock().getArgument(1).use_empty());
  EXPECT_GT(placeOf(graph.getBlock(), "update_p.new"),
            placeOf(graph.getBlock(), "dx"));
  EXPECT_EQ(graph.getOutput().getGradientOf(), ArrayRef<int32_t>{2});
}

/// Moves an op that reads `name` after the write of it. (A view that was taken
/// before is a copy then, and is no other value.)
static bool readLate(func::FuncOp backward, StringRef name) {
  Block &block = backward.getBody().front();
  joint::WriteOp write;
  for (auto one : block.getOps<joint::WriteOp>())
    if (joint::getValueName(one.getDestination()) == name)
      write = one;
  if (!write)
    return false;
  for (Operation *reader : write.getDestination().getUsers())
    if (reader != write && llvm::none_of(reader->getUsers(), [&](auto *user) {
          return user == write || user->isBeforeInBlock(write);
        })) {
      reader->moveAfter(write);
      return true;
    }
  return false;
}

TEST_F(InsideUpdateTest, HalvesThatReadWhatWasUpdatedAreRefused) {
  joint::GraphOp graph = parse(R"(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">},
               %x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %y = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dw = aten.mul.Tensor(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = aten.mul.Tensor(%w, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%dw of 0, %dx of 1) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
)");
  ASSERT_TRUE(succeeded(insert(graph))) << messages;
  PartitionOptions options;
  auto plan = planStep(graph, options);
  ASSERT_TRUE(succeeded(plan)) << messages;
  auto backward = (*plan)->partition.backward;
  auto signature = deriveSignature(graph, (*plan)->partition.forward, backward);
  ASSERT_TRUE(succeeded(signature)) << messages;
  EXPECT_TRUE(succeeded(
      verifyHalves(graph, (*plan)->partition.forward, backward, *signature)))
      << messages;
  ASSERT_TRUE(readLate(backward, "w"));
  messages.clear();
  EXPECT_TRUE(failed(
      verifyHalves(graph, (*plan)->partition.forward, backward, *signature)));
  EXPECT_NE(messages.find("is not what the joint graph computes"),
            std::string::npos)
      << messages;
}

TEST_F(InsideUpdateTest, StepsHaveTheBitsOfAnUpdateAfterThem) {
  for (Optimizer::Kind kind : {Optimizer::Sgd, Optimizer::AdamW})
    for (bool reference : {true, false}) {
      std::vector<std::vector<double>> states[2];
      for (Optimizer::Place place : {Optimizer::Inside, Optimizer::After}) {
        joint::GraphOp graph = parse(kLayer);
        ModelTrainerOptions options;
        options.optimizer.kind = kind;
        options.optimizer.momentum = kind == Optimizer::Sgd ? 0.9 : 0;
        options.optimizer.weightDecay = 0.01;
        options.optimizer.place = place;
        options.reference = reference;
        auto trainer = makeModelTrainer(
            graph,
            [&](StringRef name) -> std::optional<Tensor> {
              std::vector<int64_t> sizes = {2, 4};
              if (name == "param.w")
                sizes = {3, 4};
              else if (name == "param.b")
                sizes = {3};
              else if (name == "tangent.0")
                sizes = {2, 3};
              Tensor tensor = Tensor::zeros(DType::F32, sizes);
              for (int64_t i = 0; i < tensor.numel(); ++i)
                tensor.set(i, static_cast<double>((i * 7) % 5) / 3 - 0.5);
              return tensor;
            },
            options);
        ASSERT_TRUE(trainer) << messages;
        EXPECT_EQ(trainer->whyUpdateAfter(), "");
        for (int64_t step = 0; step < 5; ++step) {
          TrainingInputs inputs;
          inputs.learningRate = 0.1;
          inputs.number = step;
          TrainingResult result;
          // Without a loss the run says so, after the whole step.
          (void)trainer->run(inputs, result);
        }
        for (const auto &[name, tensor] : trainer->state())
          states[place == Optimizer::After].push_back(tensor.doubles());
      }
      EXPECT_EQ(states[0], states[1]);
      EXPECT_GE(states[0].size(), 4u);
    }
}

} // namespace
