// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves of random plans: what they hold follows from the saved set alone, and
// what is emitted from them is proved by the certificate.

#include "SmallGraph.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/Halves.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class SplitGraphTest : public ::testing::Test {
protected:
  SplitGraphTest() { loadDialects(context); }

  static Plan randomPlan(const GraphView &view, std::mt19937_64 &random) {
    Plan plan;
    for (uint32_t value = 0; value < view.numValues(); ++value)
      plan.saved.push_back(random() % 3 == 0);
    return plan;
  }

  /// Every operand of a half is there when it is read, and every op is read
  /// by somebody or has an effect.
  static void checkHalf(const GraphView &view, const std::vector<uint32_t> &ops,
                        std::set<uint32_t> given,
                        const std::vector<uint32_t> &results) {
    std::set<uint32_t> read(results.begin(), results.end());
    for (uint32_t op : ops) {
      for (uint32_t value : view.operands(op)) {
        EXPECT_TRUE(given.count(value)) << view.name(value);
        read.insert(value);
      }
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        given.insert(r);
    }
    for (uint32_t value : results)
      EXPECT_TRUE(given.count(value)) << view.name(value);
    for (uint32_t op : ops) {
      bool needed = view.traits[op].ordered;
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        needed |= read.count(r) > 0;
      EXPECT_TRUE(needed) << op;
    }
  }

  static void check(const GraphView &view, const Plan &plan,
                    const Halves &halves) {
    std::vector<uint32_t> results = view.forwardResults().vec();
    std::set<uint32_t> handed(halves.backwardArgs.begin(),
                              halves.backwardArgs.end());
    for (const auto *list : {&halves.savedSizes, &halves.savedTensors})
      for (uint32_t value : *list) {
        EXPECT_TRUE(view.isArg(value) || plan.saved[value]);
        EXPECT_TRUE(handed.insert(value).second);
        results.push_back(value);
      }
    checkHalf(view, halves.forwardOps,
              {halves.forwardArgs.begin(), halves.forwardArgs.end()}, results);
    checkHalf(view, halves.backwardOps, handed, view.gradients().vec());
    EXPECT_EQ(halves.forwardArgs.size() + halves.backwardArgs.size(),
              view.numArgs);
    std::set<uint32_t> forward(halves.forwardOps.begin(),
                               halves.forwardOps.end());
    std::vector<uint32_t> both;
    for (uint32_t op : halves.backwardOps)
      if (forward.count(op))
        both.push_back(op);
    EXPECT_EQ(halves.recomputed, both);
    for (uint32_t op : both)
      EXPECT_TRUE(view.traits[op].recomputable);
  }

  MLIRContext context;
};

TEST_F(SplitGraphTest, HalvesFollowFromTheSavedSet) {
  std::mt19937_64 random(7);
  unsigned split = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    Plan plan = randomPlan(graph.view, random);
    ScopedDiagnosticHandler ignore(&context, [](Diagnostic &) {});
    FailureOr<Halves> halves = splitGraph(graph.view, *graph.sets, plan);
    if (failed(halves))
      continue;
    ++split;
    check(graph.view, plan, *halves);
    if (HasFailure()) {
      ADD_FAILURE() << SmallGraphText(seed).text();
      return;
    }
  }
  EXPECT_GT(split, 1000u);
}

TEST_F(SplitGraphTest, WhatIsSavedAsAWholeAlwaysSplits) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    Plan plan;
    plan.saved.assign(graph.view.numValues(), 1);
    FailureOr<Halves> halves = splitGraph(graph.view, *graph.sets, plan);
    ASSERT_TRUE(succeeded(halves));
    EXPECT_TRUE(halves->recomputed.empty());
  }
}

TEST_F(SplitGraphTest, WhatIsEmittedIsProved) {
  std::mt19937_64 random(8);
  for (uint64_t seed = 5000; seed < 5400; ++seed) {
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    Plan plan = randomPlan(graph.view, random);
    FailureOr<Halves> halves = failure();
    {
      ScopedDiagnosticHandler ignore(&context, [](Diagnostic &) {});
      halves = splitGraph(graph.view, *graph.sets, plan);
    }
    if (failed(halves))
      continue;
    Partition partition = emitHalves(graph.view, *halves);
    EXPECT_TRUE(succeeded(mlir::verify(*graph.module)));
    EXPECT_TRUE(
        succeeded(verifyHalves(graphOf(*graph.module), partition.forward,
                               partition.backward, partition.link)))
        << print(*graph.module);
    if (HasFailure())
      return;
  }
}

TEST_F(SplitGraphTest, LiteralsAreMadeAgainWhateverThePlanSays) {
  SmallGraph graph;
  ASSERT_TRUE(graph.load(context, R"mlir(
joint.graph @g(%x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %y = arith.mulf %x, %two : tensor<4x4xf32>
  %g0 = arith.mulf %t, %two : tensor<4x4xf32>
  %g = arith.mulf %g0, %y : tensor<4x4xf32>
  joint.output %y gradients(%g of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir"));
  Plan plan;
  plan.saved.assign(graph.view.numValues(), 1);
  FailureOr<Halves> halves = splitGraph(graph.view, *graph.sets, plan);
  ASSERT_TRUE(succeeded(halves));
  ASSERT_EQ(halves->savedTensors.size(), 1u);
  EXPECT_EQ(graph.view.name(halves->savedTensors[0]), "y") << "y";
  EXPECT_EQ(halves->recomputed, std::vector<uint32_t>{0});
}

} // namespace
