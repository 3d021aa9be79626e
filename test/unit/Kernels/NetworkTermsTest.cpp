// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Terms of the network beside what the kernels of the same plan take.

#include "cutback/Kernels/NetworkTerms.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Kernels/KernelPlan.h"
#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/RooflineProblem.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

class NetworkTerms : public ::testing::Test {
protected:
  NetworkTerms() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
    std::string error;
    EXPECT_TRUE(Device::load("h100", device, error)) << error;
  }

  void read(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    view = GraphView::build(*module->getOps<joint::GraphOp>().begin());
    sizes = *ValueSizes::compute(view, {});
    sets = *GraphSets::compute(view);
    problem = KernelProblem::build(view, sizes);
    costs = RooflineCosts::compute(view, *sets, sizes, device);
    refineByKernels(costs, problem, view, *sets, sizes, device);
  }

  uint32_t number(llvm::StringRef name) const {
    for (uint32_t v = 0; v < view.numValues(); ++v)
      if (view.name(v) == name)
        return v;
    ADD_FAILURE() << "no value " << name.str();
    return 0;
  }

  /// Time to move a value once.
  double pass(llvm::StringRef name) const {
    return static_cast<double>(sizes.bytes[number(name)]) / device.bandwidth;
  }

  struct Times {
    double network, kernels;
  };
  /// Of the plan that saves these values alone, besides arguments.
  Times times(const std::vector<std::string> &saved) {
    Plan plan;
    plan.saved.assign(view.numValues(), 0);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      plan.saved[arg] = sets->values[arg] == GraphSet::Forward;
    for (const std::string &name : saved)
      plan.saved[number(name)] = 1;
    FailureOr<Halves> halves = splitGraph(view, *sets, plan);
    EXPECT_TRUE(succeeded(halves));
    KernelPlanner planner(problem, view, sizes, device, costs.flopsPs);
    PlanPrice price = pricePlan(view, *sets, sizes, costs, *halves);
    return {static_cast<double>(price.ps),
            planner.extraPs(*halves, planner.plan(*halves))};
  }
  void expectAlike(const std::vector<std::string> &saved) {
    Times found = times(saved);
    EXPECT_NEAR(found.network, found.kernels, 0.02 * found.kernels + 10);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Device device;
  GraphView view;
  ValueSizes sizes;
  std::optional<GraphSets> sets;
  KernelProblem problem;
  RooflineCosts costs;
};

constexpr char kSquare[] = "tensor<4096x4096xf32>";

/// exp(x), and its sine, which the forward gives; the backward reads them in
/// `backward`, whose last value is %g. Reading the tangent takes nothing.
std::string ofExp(std::string backward) {
  std::string type = kSquare;
  for (size_t at = 0; (at = backward.find("$T", at)) != std::string::npos;)
    backward.replace(at, 2, type);
  return "joint.graph @g(%x: " + type +
         " {joint.role = #joint.role<input>}, %c: tensor<f32> {joint.role = "
         "#joint.role<input>}, %t: tensor<f32> {joint.role = "
         "#joint.role<tangent of 1>}) -> (" +
         type + ", tensor<f32>) gradients (" + type +
         ") {\n  %e = aten.exp(%x) : (" + type + ") -> " + type +
         "\n  %s = aten.sin(%e) : (" + type + ") -> " + type +
         "\n  %l = aten.neg(%c) : (tensor<f32>) -> tensor<f32>\n" + backward +
         "  joint.output %s, %l gradients(%g of 0) : " + type +
         ", tensor<f32>, " + type + "\n}\n";
}

TEST_F(NetworkTerms, AValueIsWrittenAndReadOnce) {
  read(ofExp("  %g = aten.mul.Tensor(%e, %t) : ($T, tensor<f32>) -> $T\n"));
  EXPECT_NEAR(double(costs.savePs[number("e")]), 2 * pass("e"), 2);
  expectAlike({"e"});
}

TEST_F(NetworkTerms, AProductThatComputesLongerThanItReadsReadsForNothing) {
  read(ofExp("  %u = aten.expand(%t, [4096, 4096]) : (tensor<f32>) -> $T\n"
             "  %g = aten.mm(%e, %u) : ($T, $T) -> $T\n"));
  EXPECT_NEAR(double(costs.savePs[number("e")]), pass("e"), 2);
  expectAlike({"e"});
  // A copy is written for it, by a launch of its own.
  EXPECT_GE(costs.recomputePs[view.definer[number("e")]],
            int64_t(pass("e") + device.launchPs));
  expectAlike({});
}

TEST_F(NetworkTerms, TwoKernelsReadAValueTwice) {
  read(ofExp("  %p = aten.mul.Tensor(%e, %t) : ($T, tensor<f32>) -> $T\n"
             "  %q = aten.mm(%p, %p) : ($T, $T) -> $T\n"
             "  %g = aten.mul.Tensor(%q, %e) : ($T, $T) -> $T\n"));
  EXPECT_NEAR(double(costs.savePs[number("e")]), 3 * pass("e"), 3);
  expectAlike({"e"});
  // Made in the first, written for the second.
  expectAlike({});
}

TEST_F(NetworkTerms, WhatTwoCopiesShareGoesThroughMemory) {
  // sin(e) is made again for a product, e for the kernel of g.
  read(ofExp("  %u = aten.expand(%t, [4096, 4096]) : (tensor<f32>) -> $T\n"
             "  %q = aten.mm(%u, %s) : ($T, $T) -> $T\n"
             "  %g = aten.mul.Tensor(%q, %e) : ($T, $T) -> $T\n"));
  expectAlike({});
  // That e is written for the copy is counted, whether it is made or saved.
  Times found = times({"e"});
  EXPECT_GE(found.network, found.kernels);
}

TEST_F(NetworkTerms, ACopyIsMadeInTheKernelThatMakesWhatItReads) {
  // sin(e) is wanted behind the kernel of p, which makes e again.
  read(ofExp("  %u = aten.expand(%t, [4096, 4096]) : (tensor<f32>) -> $T\n"
             "  %q = aten.mm(%u, %u) : ($T, $T) -> $T\n"
             "  %p = aten.mul.Tensor(%q, %e) : ($T, $T) -> $T\n"
             "  %g = aten.mm(%s, %p) : ($T, $T) -> $T\n"));
  expectAlike({});
  // If e is saved nobody makes it, and sin(e) has a kernel of its own.
  expectAlike({"e"});
  expectAlike({"s"});
}

TEST_F(NetworkTerms, TheCutCostsWhatItsPlanDoes) {
  read(ofExp("  %u = aten.expand(%t, [4096, 4096]) : (tensor<f32>) -> $T\n"
             "  %q = aten.mm(%u, %u) : ($T, $T) -> $T\n"
             "  %p = aten.mul.Tensor(%q, %e) : ($T, $T) -> $T\n"
             "  %g = aten.mm(%s, %p) : ($T, $T) -> $T\n"));
  EXPECT_FALSE(costs.copyReads.empty());
  // %x is saved whatever it costs, so e is made again or saved.
  for (int64_t ps : {int64_t(0), costs.savePs[number("e")] * 100}) {
    costs.recomputePs[view.definer[number("e")]] += ps;
    std::vector<OpPolicy> policies(view.numOps(), OpPolicy::None);
    RooflineProblem network(view, *sets, costs, policies);
    ASSERT_FALSE(network.build(0));
    MinCut cut;
    MaxFlowSolver solver;
    ASSERT_EQ(solver.solve(network.network(), cut), MinCutStatus::Solved);
    FailureOr<Halves> halves = splitGraph(view, *sets, network.plan(cut));
    ASSERT_TRUE(succeeded(halves));
    EXPECT_EQ(pricePlan(view, *sets, sizes, costs, *halves).ps, cut.value);
  }
}

TEST_F(NetworkTerms, WhatMayNotRunTwiceAndWhatIsFreeStayAsTheyAre) {
  read(R"(
joint.graph @g(%w: tensor<64x64xf32> {joint.role = #joint.role<param>},
               %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  %v = aten.t(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mm(%w, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = aten.mm(%t, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}
)");
  EXPECT_EQ(costs.savePs[number("w")], 0);
  EXPECT_EQ(costs.recomputePs[view.definer[number("v")]], 0);
  EXPECT_EQ(costs.savePs[number("v")], RooflineCosts::kNever);
}

} // namespace
