// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joint graphs with composite ops: they are decomposed before they run, whole
// and in halves, under each cost model. In front of our own plans, and behind
// PyTorch's decision.

#include "cutback/Planner/Runnable.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Loss `sum(histc(w) * w[:2])`; the gradient reads `cholesky_solve`, too.
constexpr const char *kGraph = R"mlir(
joint.graph @step(
    %w: tensor<3x3xf64> {joint.role = #joint.role<param "w">},
    %t: tensor<f64> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f64>) gradients (tensor<3x3xf64>) {
  %histc = aten.histc(%w, 3, 0, 6) : (tensor<3x3xf64>) -> tensor<3xf64>
  %mul = aten.mul.Tensor(%w, %histc) : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3x3xf64>
  %sum = aten.sum(%mul) : (tensor<3x3xf64>) -> tensor<f64>
  %grad = aten.mul.Tensor(%histc, %t) : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  %wide = aten.expand(%grad, [3, 3]) : (tensor<3xf64>) -> tensor<3x3xf64>
  %tril = aten.tril(%w) : (tensor<3x3xf64>) -> tensor<3x3xf64>
  %solve = aten.cholesky_solve(%wide, %tril) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  joint.output %sum gradients(%solve of 0) : tensor<f64>, tensor<3x3xf64>
}
)mlir";

class RunnableTest : public testing::Test {
protected:
  RunnableTest() {
    registerTrainingGraph(context);
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  }

  joint::GraphOp parse() {
    module = parseSourceString<ModuleOp>(kGraph, &context);
    EXPECT_TRUE(module);
    return *module ? *module->getOps<joint::GraphOp>().begin()
                   : joint::GraphOp();
  }

  std::vector<NamedTensor> run(const ReferenceOptions &options) {
    Tensor w = Tensor::zeros(DType::F64, {3, 3});
    w.assign(ArrayRef<double>{2, 0, 0, 1, 3, 0, 5, 1, 4});
    auto result = runReferenceStep(
        parse(),
        [&](StringRef name) -> std::optional<Tensor> {
          return name == "param.w" ? std::optional(w) : std::nullopt;
        },
        options);
    EXPECT_TRUE(succeeded(result));
    if (failed(result))
      return {};
    EXPECT_TRUE(options.whole || result->memoryProblem.empty());
    return result->tensors;
  }

  unsigned count(Operation *root, StringRef name) {
    unsigned found = 0;
    root->walk(
        [&](Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(RunnableTest, EveryPlanOfAGraphWithCompositeOpsRuns) {
  ReferenceOptions whole;
  whole.whole = true;
  std::vector<NamedTensor> expected = run(whole);
  ASSERT_EQ(expected.size(), 2u);
  // 5 of the nine numbers are below 2, 2 more below 4, 2 above; the columns of
  // w add up to 8, 4 and 4.
  EXPECT_EQ(expected[0].second.getDouble(0), 8 * 5 + 4 * 2 + 4 * 2);
  for (CostModel model : {CostModel::Roofline, CostModel::PyTorch}) {
    ReferenceOptions options;
    options.partition.costModel = model;
    options.checkMemory = true;
    std::vector<NamedTensor> results = run(options);
    ASSERT_EQ(results.size(), 2u);
    for (auto [ours, other] : llvm::zip_equal(results, expected))
      EXPECT_EQ(ours.second.doubles(), other.second.doubles()) << ours.first;
  }
}

TEST_F(RunnableTest, OnlyWhatIsNoCoreOpIsDecomposedAndOnlyInFrontOfOurCuts) {
  PhaseSeconds seconds;
  PartitionOptions options;
  joint::GraphOp graph = parse();
  ASSERT_TRUE(succeeded(preparePartition(graph, options, seconds)));
  EXPECT_EQ(count(graph, "aten.histc"), 0u);
  EXPECT_EQ(count(graph, "aten.cholesky_solve"), 0u);
  EXPECT_EQ(count(graph, "aten.tril"), 1u);
  options.costModel = CostModel::PyTorch;
  graph = parse();
  ASSERT_TRUE(succeeded(preparePartition(graph, options, seconds)));
  EXPECT_EQ(count(graph, "aten.histc"), 1u);
  options = PartitionOptions();
  options.decompose = false;
  graph = parse();
  ASSERT_TRUE(succeeded(preparePartition(graph, options, seconds)));
  EXPECT_EQ(count(graph, "aten.histc"), 1u);
}

// A norm and its gradient as wholes.
constexpr const char *kNorm = R"mlir(
joint.graph @step(
    %x: tensor<3x4xf32> {joint.role = #joint.role<input>},
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">},
    %b: tensor<4xf32> {joint.role = #joint.role<param "b">},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %norm, %mean, %rstd = aten.native_layer_norm(%x, [4], %w, %b, 1.0e-05) : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
  %softmax = aten._softmax(%norm, 1, false) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %mul = aten.mul.Tensor(%softmax, %x) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %sum = aten.sum(%mul) : (tensor<3x4xf32>) -> tensor<f32>
  %wide = aten.expand(%t, [3, 4]) : (tensor<f32>) -> tensor<3x4xf32>
  %dmul = aten.mul.Tensor(%wide, %x) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %dsoft = aten._softmax_backward_data(%dmul, %softmax, 1, f32) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %dx, %dw, %db = aten.native_layer_norm_backward(%dsoft, %x, [4], %mean, %rstd, %w, %b, [true, true, true]) : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  joint.output %sum gradients(%dw of 1, %db of 2) : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
)mlir";

class NormTest : public RunnableTest {
protected:
  joint::GraphOp parseNorm() {
    module = parseSourceString<ModuleOp>(kNorm, &context);
    EXPECT_TRUE(module);
    return *module->getOps<joint::GraphOp>().begin();
  }

  std::unique_ptr<PartitionResult> plan(PartitionOptions options) {
    PhaseSeconds seconds;
    joint::GraphOp graph = parseNorm();
    auto prepared = preparePartition(graph, options, seconds);
    EXPECT_TRUE(succeeded(prepared));
    auto result = partitionGraph(graph, options, std::move(*prepared));
    EXPECT_TRUE(succeeded(result) && (*result)->verified);
    return std::move(*result);
  }

  std::optional<ReferenceResult> runNorm(const ReferenceOptions &options) {
    auto tensor = [](std::vector<int64_t> sizes, double factor) {
      Tensor made = Tensor::zeros(DType::F32, sizes);
      for (int64_t i = 0; i < made.numel(); ++i)
        made.set(i, factor * double((i * 7) % 11) - 1);
      return made;
    };
    auto result = runReferenceStep(
        parseNorm(),
        [&](StringRef name) -> std::optional<Tensor> {
          return name == "input.0"   ? std::optional(tensor({3, 4}, 0.5))
                 : name == "param.w" ? std::optional(tensor({4}, 0.3))
                 : name == "param.b" ? std::optional(tensor({4}, 0.7))
                                     : std::nullopt;
        },
        options);
    EXPECT_TRUE(succeeded(result));
    return succeeded(result) ? std::optional(std::move(*result)) : std::nullopt;
  }
};

TEST_F(NormTest, WhatPyTorchSavesIsSavedInCoreOps) {
  PartitionOptions options;
  options.costModel = CostModel::PyTorch;
  for (Rules rules : {Rules::Torch2_13, Rules::Torch2_3})
    for (Strategy strategy : {Strategy::MinCut, Strategy::Eager}) {
      options.rules = rules;
      options.strategy = strategy;
      options.decompose = false;
      auto given = plan(options);
      options.decompose = true;
      options.memory.emplace();
      auto core = plan(options);
      ASSERT_TRUE(core->given && !given->given);
      EXPECT_EQ(count(core->view.graph, "aten.native_layer_norm"), 0u);
      EXPECT_EQ(count(core->view.graph, "aten._softmax_backward_data"), 0u);
      EXPECT_EQ(core->saved.size(), given->saved.size());
      for (auto [ours, decided] : llvm::zip(core->saved, given->saved)) {
        EXPECT_EQ(ours.name, decided.name);
        EXPECT_EQ(ours.bytes, decided.bytes);
        EXPECT_EQ(ours.reason, decided.reason) << ours.name;
      }
      EXPECT_EQ(core->cutValue, given->cutValue);
      EXPECT_EQ(core->banned.size(), given->banned.size());
      EXPECT_GT(core->ops, given->ops);
      // Again from the graph that was decided on, which has not changed.
      EXPECT_EQ(count(*module, "aten.native_layer_norm"), 1u);
    }
}

TEST_F(NormTest, KernelsOfEveryDecisionComputeWhatTheGraphComputes) {
  ReferenceOptions options;
  options.whole = true;
  auto expected = runNorm(options);
  ASSERT_TRUE(expected);
  options.whole = false;
  options.kernels = options.checkKernels = true;
  for (CostModel model : {CostModel::PyTorch, CostModel::Roofline})
    for (Strategy strategy :
         {Strategy::MinCut, Strategy::Eager, Strategy::RecomputeAll}) {
      options.partition.costModel = model;
      options.partition.strategy = strategy;
      auto result = runNorm(options);
      ASSERT_TRUE(result && result->kernels);
      EXPECT_EQ(result->kernels->calls, 0u);
      ASSERT_EQ(result->tensors.size(), expected->tensors.size());
      for (auto [ours, other] :
           llvm::zip_equal(result->tensors, expected->tensors))
        for (int64_t i = 0; i < other.second.numel(); ++i)
          EXPECT_NEAR(ours.second.getDouble(i), other.second.getDouble(i), 1e-5)
              << ours.first;
    }
}

// %old is read behind writes of both halves: by the loss, by a gradient.
// %late is made in the forward, and the backward writes under it.
constexpr const char *kOldViews = R"mlir(
joint.graph @step(
    %x: tensor<2x3xf32> {joint.role = #joint.role<input>},
    %b: tensor<3x2xf32> {joint.role = #joint.role<buffer "b">},
    %c: tensor<3x2xf32> {joint.role = #joint.role<buffer "c">},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>, tensor<2x3xf32>) gradients (tensor<2x3xf32>) {
  %old = aten.t(%b) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %late = aten.t(%c) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %passing = aten.view(%b, [6]) : (tensor<3x2xf32>) -> tensor<6xf32>
  %exp = aten.exp(%passing) : (tensor<6xf32>) -> tensor<6xf32>
  %new = aten.view(%exp, [3, 2]) : (tensor<6xf32>) -> tensor<3x2xf32>
  %written = joint.write %b, %new : tensor<3x2xf32>, tensor<3x2xf32>
  %sin = aten.sin(%old) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %mul = aten.mul.Tensor(%x, %sin) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %mul2 = aten.mul.Tensor(%mul, %late) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = aten.sum(%mul2) : (tensor<2x3xf32>) -> tensor<f32>
  %twice = aten.mul.Tensor(%c, %t) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %after = joint.write %c, %twice {side = #joint.side<backward>} : tensor<3x2xf32>, tensor<3x2xf32>
  %cos = aten.cos(%old) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d1 = aten.mul.Tensor(%late, %cos) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d2 = aten.mul.Tensor(%d1, %t) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  joint.output %sum, %old gradients(%d2 of 0) : tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>
}
)mlir";

TEST_F(RunnableTest, AnOldViewIsACopyInEveryPlan) {
  auto runOld = [&](const ReferenceOptions &options) {
    module = parseSourceString<ModuleOp>(kOldViews, &context);
    EXPECT_TRUE(module);
    Tensor values = Tensor::zeros(DType::F32, {2, 3});
    values.assign(ArrayRef<double>{0.5, 1, -2, 3, 0.25, -1});
    Tensor buffer = Tensor::zeros(DType::F32, {3, 2});
    buffer.assign(ArrayRef<double>{1, 2, 3, 4, 5, 6});
    auto result = runReferenceStep(
        *module->getOps<joint::GraphOp>().begin(),
        [&](StringRef name) -> std::optional<Tensor> {
          return name.starts_with("buffer.")
                     ? std::optional(buffer)
                     : (name == "input.0" ? std::optional(values)
                                          : std::nullopt);
        },
        options);
    EXPECT_TRUE(succeeded(result));
    std::map<std::string, std::vector<double>> tensors;
    if (succeeded(result))
      for (const auto &[name, tensor] : result->tensors)
        tensors[name] = tensor.doubles();
    return tensors;
  };
  ReferenceOptions options;
  options.whole = true;
  auto expected = runOld(options);
  ASSERT_EQ(expected.size(), 5u); // with both buffers
  EXPECT_EQ(expected["output.1"], (std::vector<double>{1, 3, 5, 2, 4, 6}));
  options.whole = false;
  for (bool kernels : {false, true})
    for (CostModel model : {CostModel::Roofline, CostModel::PyTorch})
      for (Strategy strategy : {Strategy::MinCut, Strategy::Eager,
                                Strategy::Precompute, Strategy::RecomputeAll}) {
        options.kernels = options.checkKernels = kernels;
        options.checkMemory = !kernels;
        options.partition.costModel = model;
        options.partition.strategy = strategy;
        auto is = runOld(options);
        ASSERT_EQ(is.size(), expected.size());
        for (const auto &[name, values] : expected)
          for (auto [a, b] : llvm::zip_equal(values, is[name]))
            EXPECT_NEAR(a, b, 1e-5) << name << " kernels " << kernels
                                    << " strategy " << int(strategy);
      }
}

// As PyTorch traces `linalg.solve` under torch.compile.
constexpr const char *kEffects = R"mlir(
joint.graph @step(
    %token: tensor<0xf32> {joint.role = #joint.role<input>},
    %w: tensor<2x2xf64> {joint.role = #joint.role<param "w">},
    %t: tensor<f64> {joint.role = #joint.role<tangent of 1>})
    -> (tensor<0xf32>, tensor<f64>) gradients (tensor<2x2xf64>) {
  %inverse, %info = aten.linalg_inv_ex(%w) : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  %next = joint.opaque "higher_order.with_effects"(%token, "aten._linalg_check_errors.default", %info, "linalg.inv", is_matrix = true) {effects, tuple} : (tensor<0xf32>, tensor<i32>) -> tensor<0xf32>
  %sum = aten.sum(%inverse) : (tensor<2x2xf64>) -> tensor<f64>
  %grad = aten.mul.Tensor(%inverse, %t) : (tensor<2x2xf64>, tensor<f64>) -> tensor<2x2xf64>
  joint.output %next, %sum gradients(%grad of 1) : tensor<0xf32>, tensor<f64>, tensor<2x2xf64>
}
)mlir";

TEST_F(RunnableTest, AnOpWithEffectsRunsAsItself) {
  for (bool whole : {true, false}) {
    module = parseSourceString<ModuleOp>(kEffects, &context);
    ASSERT_TRUE(module);
    ReferenceOptions options;
    options.whole = whole;
    Tensor w = Tensor::zeros(DType::F64, {2, 2});
    w.assign(ArrayRef<double>{2, 0, 0, 4});
    auto result = runReferenceStep(
        *module->getOps<joint::GraphOp>().begin(),
        [&](StringRef name) -> std::optional<Tensor> {
          return name == "param.w" ? std::optional(w) : std::nullopt;
        },
        options);
    ASSERT_TRUE(succeeded(result));
    for (const auto &[name, tensor] : result->tensors) {
      if (tensor.numel() == 1)
        EXPECT_EQ(tensor.getDouble(0), 0.75) << name;
      if (name == "grad.w")
        EXPECT_EQ(tensor.getDouble(3), 0.25);
    }
  }
}

} // namespace
