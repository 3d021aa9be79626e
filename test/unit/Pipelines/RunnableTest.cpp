// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joint graphs with ops that the interpreter has no kernel for: they are
// decomposed before they run, whole and in halves, under each cost model. In
// front of our own plans, never in front of PyTorch's decision.

#include "cutback/Pipelines/Runnable.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Pipelines/ReferenceStep.h"
#include "cutback/Pipelines/TrainingGraph.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

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

TEST_F(RunnableTest, OnlyWhatHasNoKernelIsDecomposedAndOnlyForOurPlans) {
  PhaseSeconds seconds;
  PartitionOptions options;
  options.decompose = true;
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
  graph = parse();
  ASSERT_TRUE(succeeded(preparePartition(graph, options, seconds)));
  EXPECT_EQ(count(graph, "aten.histc"), 1u);
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
    for (const auto &[name, tensor] : result->tensors)
      if (tensor.numel() == 1)
        EXPECT_EQ(tensor.getDouble(0), 0.75) << name;
  }
}

} // namespace
