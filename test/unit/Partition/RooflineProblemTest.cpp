// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The minimum cut against all plans there are: on small random graphs with
// random prices, every set of values is tried as the saved set, its halves are
// computed and priced. The cheapest of them must cost what the cut says, and
// so must the plan that is read off the cut.

#include "SmallGraph.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/RooflineProblem.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

constexpr int64_t kNoPlan = -1;

class RooflineProblemTest : public ::testing::Test {
protected:
  RooflineProblemTest() { loadDialects(context); }

  /// Prices as the model could give them: never for what may not run twice,
  /// nothing for views.
  RooflineCosts randomCosts(const SmallGraph &graph, std::mt19937_64 &random) {
    RooflineCosts costs;
    const GraphView &view = graph.view;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      costs.recomputePs.push_back(
          !view.traits[op].recomputable || view.traits[op].ordered
              ? RooflineCosts::kNever
          : view.traits[op].view ? 0
                                 : static_cast<int64_t>(random() % 12));
    for (uint32_t value = 0; value < view.numValues(); ++value) {
      bool never = graph.sets->values[value] == GraphSet::Backward ||
                   (!view.isArg(value) && graph.sizes->storage[value] != value);
      costs.savePs.push_back(never ? RooflineCosts::kNever
                                   : static_cast<int64_t>(random() % 12));
      costs.saveBytes.push_back(never ? 0 : static_cast<int64_t>(random() % 4));
    }
    return costs;
  }

  /// Price of the halves of a plan, or kNoPlan where there are none, or an op
  /// that must be saved runs twice.
  int64_t priceOf(const SmallGraph &graph, const RooflineCosts &costs,
                  const std::vector<OpPolicy> &policies, int64_t bytePrice,
                  const Plan &plan) {
    ScopedDiagnosticHandler ignore(&context, [](Diagnostic &) {});
    FailureOr<Halves> halves = splitGraph(graph.view, *graph.sets, plan);
    if (failed(halves))
      return kNoPlan;
    for (uint32_t op : halves->recomputed)
      if (policies[op] == OpPolicy::MustSave &&
          graph.sets->ops[op] == GraphSet::Forward)
        return kNoPlan;
    int64_t price = 0;
    for (uint32_t value : halves->savedTensors)
      price += costs.savePs[value] + bytePrice * costs.saveBytes[value];
    for (uint32_t op : halves->recomputed)
      if (graph.sets->ops[op] == GraphSet::Forward)
        price += costs.recomputePs[op];
    PlanPrice total =
        pricePlan(graph.view, *graph.sets, *graph.sizes, costs, *halves);
    EXPECT_EQ(total.ps + bytePrice * total.bytes, price);
    return price;
  }

  /// The cheapest plan of all.
  int64_t bruteForce(const SmallGraph &graph, const RooflineCosts &costs,
                     const std::vector<OpPolicy> &policies, int64_t bytePrice) {
    std::vector<uint32_t> candidates;
    for (uint32_t v = graph.view.numArgs; v < graph.view.numValues(); ++v)
      if (costs.savePs[v] != RooflineCosts::kNever)
        candidates.push_back(v);
    EXPECT_LE(candidates.size(), 14u);
    int64_t best = kNoPlan;
    Plan plan;
    for (uint32_t set = 0; set < 1u << candidates.size(); ++set) {
      plan.saved.assign(graph.view.numValues(), 0);
      for (size_t i = 0; i < candidates.size(); ++i)
        plan.saved[candidates[i]] = set >> i & 1;
      int64_t price = priceOf(graph, costs, policies, bytePrice, plan);
      if (price != kNoPlan && (best == kNoPlan || price < best))
        best = price;
    }
    return best;
  }

  /// Solves and compares; true if there is a plan.
  bool compare(const SmallGraph &graph, const RooflineCosts &costs,
               const std::vector<OpPolicy> &policies, int64_t bytePrice) {
    RooflineProblem problem(graph.view, *graph.sets, costs, policies);
    EXPECT_EQ(problem.build(static_cast<double>(bytePrice)), std::nullopt);
    MaxFlowSolver solver;
    MinCut cut;
    MinCutStatus status = solver.solve(problem.network(), cut);
    int64_t best = bruteForce(graph, costs, policies, bytePrice);
    EXPECT_EQ(status == MinCutStatus::Unbounded, best == kNoPlan);
    if (status != MinCutStatus::Solved)
      return false;
    EXPECT_EQ(cut.value, best);
    EXPECT_EQ(priceOf(graph, costs, policies, bytePrice, problem.plan(cut)),
              best);
    return true;
  }

  MLIRContext context;
};

TEST_F(RooflineProblemTest, NoPlanIsCheaperThanTheCut) {
  std::mt19937_64 random(3);
  unsigned solved = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(SmallGraphText(seed).text());
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    std::vector<OpPolicy> none(graph.view.numOps(), OpPolicy::None);
    solved += compare(graph, randomCosts(graph, random), none,
                      static_cast<int64_t>(random() % 3));
    if (HasFailure())
      return;
  }
  EXPECT_EQ(solved, 3000u);
}

TEST_F(RooflineProblemTest, WhatMustBeSavedIsNotRecomputed) {
  std::mt19937_64 random(4);
  for (uint64_t seed = 10000; seed < 11000; ++seed) {
    SCOPED_TRACE(SmallGraphText(seed).text());
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    std::vector<OpPolicy> policies(graph.view.numOps(), OpPolicy::None);
    for (uint32_t op = 0; op < graph.view.numOps(); ++op)
      if (random() % 3 == 0 && !graph.view.traits[op].view)
        policies[op] = OpPolicy::MustSave;
    compare(graph, randomCosts(graph, random), policies, 0);
    if (HasFailure())
      return;
  }
}

TEST_F(RooflineProblemTest, WhatMustBeRecomputedIsNotSaved) {
  std::mt19937_64 random(5);
  for (uint64_t seed = 20000; seed < 21000; ++seed) {
    SCOPED_TRACE(SmallGraphText(seed).text());
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    const GraphView &view = graph.view;
    std::vector<OpPolicy> policies(view.numOps(), OpPolicy::None);
    for (OpPolicy &policy : policies)
      if (random() % 3 == 0)
        policy = OpPolicy::MustRecompute;
    RooflineCosts costs = randomCosts(graph, random);
    RooflineProblem problem(view, *graph.sets, costs, policies);
    ASSERT_EQ(problem.build(0), std::nullopt);
    MaxFlowSolver solver;
    MinCut cut;
    ASSERT_EQ(solver.solve(problem.network(), cut), MinCutStatus::Solved);
    Plan plan = problem.plan(cut);
    EXPECT_TRUE(succeeded(splitGraph(view, *graph.sets, plan)));
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (policies[op] == OpPolicy::MustRecompute &&
          costs.recomputePs[op] != RooflineCosts::kNever)
        for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
             ++r)
          EXPECT_FALSE(plan.saved[r]);
  }
}

TEST_F(RooflineProblemTest, EverySolverGivesThePlanOfTheNaiveOne) {
  std::mt19937_64 random(6);
  for (uint64_t seed = 30000; seed < 30500; ++seed) {
    SmallGraph graph;
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    std::vector<OpPolicy> none(graph.view.numOps(), OpPolicy::None);
    RooflineCosts costs = randomCosts(graph, random);
    RooflineProblem problem(graph.view, *graph.sets, costs, none);
    ASSERT_EQ(problem.build(1), std::nullopt);
    MinCut reference;
    MaxFlowSolver naive(MaxFlowAlgorithm::EdmondsKarp);
    ASSERT_EQ(naive.solve(problem.network(), reference), MinCutStatus::Solved);
    for (MaxFlowAlgorithm algorithm :
         {MaxFlowAlgorithm::Auto, MaxFlowAlgorithm::BoykovKolmogorov,
          MaxFlowAlgorithm::PushRelabel}) {
      MinCut cut;
      MaxFlowSolver solver(algorithm);
      ASSERT_EQ(solver.solve(problem.network(), cut), MinCutStatus::Solved);
      EXPECT_EQ(problem.plan(cut).saved, problem.plan(reference).saved);
    }
  }
}

TEST_F(RooflineProblemTest, CapacitiesThatDoNotFitAreAnError) {
  SmallGraph graph;
  ASSERT_TRUE(graph.load(context, SmallGraphText(1).text()));
  std::vector<OpPolicy> none(graph.view.numOps(), OpPolicy::None);
  RooflineCosts costs = RooflineCosts();
  costs.recomputePs.assign(graph.view.numOps(), INT64_MAX / 2);
  costs.savePs.assign(graph.view.numValues(), INT64_MAX / 2);
  costs.saveBytes.assign(graph.view.numValues(), 0);
  RooflineProblem problem(graph.view, *graph.sets, costs, none);
  FlowError error = problem.build(0);
  ASSERT_TRUE(error);
  EXPECT_EQ(*error, "the finite capacities add up to more than 2^63 - 2; scale "
                    "them down");
}

} // namespace
