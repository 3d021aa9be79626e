// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strategies without a solver on random graphs, and the words of policies.

#include "SmallGraph.h"

#include "cutback/Partition/Strategies.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class StrategiesTest : public ::testing::Test {
protected:
  StrategiesTest() {
    loadDialects(context);
    context.printOpOnDiagnostic(false);
  }

  /// Collects policies; on failure gives the messages, joined by " | ".
  std::string collect(const GraphView &view,
                      const llvm::StringMap<std::string> &byName,
                      std::vector<OpPolicy> &policies) {
    std::string messages;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        messages += " | " + note.str();
    });
    FailureOr<std::vector<OpPolicy>> collected = collectPolicies(view, byName);
    EXPECT_EQ(failed(collected), !messages.empty());
    if (succeeded(collected))
      policies = *collected;
    return messages;
  }

  MLIRContext context;
};

TEST_F(StrategiesTest, NoneButRecomputeAllRunsAnOpOfTheForwardTwice) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    const GraphView &view = graph.view;
    const GraphSets &sets = *graph.sets;
    FailureOr<Halves> precompute =
        splitGraph(view, sets, planPrecompute(view, sets));
    ASSERT_TRUE(succeeded(precompute));
    EXPECT_TRUE(precompute->recomputed.empty());
    FailureOr<Halves> byDefault =
        splitGraph(view, sets, planEager(view, sets, *graph.sizes));
    ASSERT_TRUE(succeeded(byDefault));
    EXPECT_TRUE(byDefault->recomputed.empty());
    EXPECT_EQ(byDefault->forwardOps.size(), sets.numForward);
    FailureOr<Halves> recompute =
        splitGraph(view, sets, planRecomputeAll(view, sets));
    ASSERT_TRUE(succeeded(recompute));
    for (uint32_t value : recompute->savedTensors)
      EXPECT_TRUE(view.isArg(value) ||
                  !view.traits[view.definer[value]].recomputable);
  }
}

const char *const kTagged = R"mlir(
joint.graph @g(%x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %sin = aten.sin(%x) {joint.policy = #joint.policy<prefer_recompute>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a, %b = joint.opaque "my.op"(%sin) {tuple, joint.policy = #joint.policy<prefer_save>} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %v = aten.t(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = aten.t(%x) {joint.policy = #joint.policy<must_save>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = aten.mul.Tensor(%t, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %a gradients(%g of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

/// Two checkpoint regions behind one another; what is before, between and
/// behind them; a size, and what may not run twice.
const char *const kRegions = R"mlir(
joint.graph @g(%x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %y: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %before = aten.exp(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %unread = aten.exp(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = aten.add.Tensor(%before, %unread) {joint.policy = #joint.policy<must_recompute, region = 1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %once = joint.opaque "my.op"(%a) {effects, joint.policy = #joint.policy<must_recompute, region = 1>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %kept = aten.sin(%once) {joint.policy = #joint.policy<must_save, region = 1>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %rather = aten.cos(%kept) {joint.policy = #joint.policy<prefer_save, region = 1>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %edge = aten.mul.Tensor(%rather, %y) {joint.policy = #joint.policy<prefer_recompute, region = 1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = aten.sin(%edge) {joint.policy = #joint.policy<must_recompute, region = 2>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %after = aten.exp(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = aten.mul.Tensor(%t, %after) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = aten.mul.Tensor(%g1, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g3 = aten.mul.Tensor(%g2, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %after gradients(%g3 of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

TEST_F(StrategiesTest, EagerRunsRegionsAgainFromWhatEntersThem) {
  SmallGraph graph;
  ASSERT_TRUE(graph.load(context, kRegions));
  std::vector<OpPolicy> policies;
  EXPECT_EQ(collect(graph.view, {}, policies), "");
  auto saved = [&](ArrayRef<OpPolicy> given) {
    Plan plan = planEager(graph.view, *graph.sets, *graph.sizes, given);
    std::string names;
    for (uint32_t value = 0; value < graph.view.numValues(); ++value)
      if (plan.saved[value])
        names += graph.view.name(value) + " ";
    return names;
  };
  // What is read from outside of a region, at its edge to the next, by a tag,
  // and what may not run twice; %after is read by the backward.
  EXPECT_EQ(saved(policies), "y before unread once kept edge after ");
  // Without tags: what the backward reads.
  EXPECT_EQ(saved({}), "a b after ");
  std::fill(policies.begin(), policies.end(), OpPolicy::PreferSave);
  EXPECT_EQ(saved(policies), "a b after ");
}

TEST_F(StrategiesTest, TheCommandLineOverridesTags) {
  using Policies = std::vector<OpPolicy>;
  SmallGraph graph;
  OwningOpRef<ModuleOp> module = parse(context, kTagged);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  Policies policies;
  EXPECT_EQ(collect(view, {}, policies), "");
  EXPECT_EQ(policies,
            (Policies{OpPolicy::MustRecompute, OpPolicy::PreferSave,
                      OpPolicy::None, OpPolicy::None, OpPolicy::None}));
  llvm::StringMap<std::string> byName;
  byName["sin"] = "must-save";
  byName["b#1"] = "must-recompute";
  EXPECT_EQ(collect(view, byName, policies), "");
  EXPECT_EQ(policies[0], OpPolicy::MustSave);
  EXPECT_EQ(policies[1], OpPolicy::MustRecompute);
  // A view hands the wish on to what it looks at, unless that contradicts.
  byName.clear();
  byName["v"] = "must-save";
  EXPECT_EQ(collect(view, byName, policies), "");
  EXPECT_EQ(policies[1], OpPolicy::MustSave);
  EXPECT_EQ(policies[2], OpPolicy::None);
  byName["a"] = "must-recompute";
  EXPECT_EQ(collect(view, byName, policies), "");
  EXPECT_EQ(policies[1], OpPolicy::MustRecompute);
  EXPECT_EQ(policies[2], OpPolicy::MustSave);
}

TEST_F(StrategiesTest, UnknownWordsAndNamesAreErrors) {
  OwningOpRef<ModuleOp> module = parse(context, kTagged);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  std::vector<OpPolicy> policies;
  llvm::StringMap<std::string> byName;
  byName["sin"] = "keep";
  EXPECT_EQ(collect(view, byName, policies),
            "'joint.graph' op unknown policy 'keep' for 'sin' | policies are "
            "must-save, prefer-save, must-recompute and prefer-recompute");
  byName.clear();
  byName["sine"] = "must-save";
  EXPECT_EQ(collect(view, byName, policies),
            "'joint.graph' op has no computed value 'sine' for a policy | "
            "names near it are sin");
  byName.clear();
  byName["x"] = "must-save";
  EXPECT_EQ(collect(view, byName, policies),
            "'joint.graph' op has no computed value 'x' for a policy | it is "
            "an argument, which is there whatever a policy says");
  byName.clear();
  byName["entirely_else"] = "must-save";
  EXPECT_EQ(collect(view, byName, policies),
            "'joint.graph' op has no computed value 'entirely_else' for a "
            "policy | no name is near it; `cutback import` prints them all");
}

const char *const kLiteral = R"mlir(
joint.graph @g(%x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %two = arith.constant {joint.policy = #joint.policy<must_save>} dense<2.0> : tensor<4x4xf32>
  %y = arith.mulf %x, %two : tensor<4x4xf32>
  %g = arith.mulf %t, %two : tensor<4x4xf32>
  joint.output %y gradients(%g of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

TEST_F(StrategiesTest, LiteralsCannotBeAskedToBeSaved) {
  SmallGraph graph;
  ASSERT_TRUE(graph.load(context, kLiteral));
  std::vector<OpPolicy> policies;
  EXPECT_EQ(collect(graph.view, {}, policies), "");
  EXPECT_EQ(policies,
            std::vector<OpPolicy>(graph.view.numOps(), OpPolicy::None));
}

} // namespace
