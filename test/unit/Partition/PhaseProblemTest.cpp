// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem of small graphs: a solution of it, as phases, is that solution
// again; and no other phases cost less than its bound, whatever is handed over.

#include "SmallGraph.h"

#include "cutback/Partition/CutCheck.h"
#include "cutback/Partition/PhaseProblem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class PhaseProblemTest : public ::testing::Test {
protected:
  PhaseProblemTest() {
    loadDialects(context);
    context.loadDialect<func::FuncDialect>();
    std::string error;
    EXPECT_TRUE(Device::load("cpu", device, error));
  }
  bool load(uint64_t seed) {
    if (!graph.load(context, SmallGraphText(seed).text()))
      return false;
    kinds = PhaseKinds::compute(graph.view, *graph.sets);
    costs = PhaseCosts::compute(
        graph.view, *graph.sets, *graph.sizes, device,
        RooflineCosts::compute(graph.view, *graph.sets, *graph.sizes, device));
    policies.assign(graph.view.numOps(), OpPolicy::None);
    return true;
  }
  PhaseProblem problem(const PhasePrices &prices) const {
    return {graph.view, *graph.sets, kinds, costs, policies, prices};
  }

  MLIRContext context;
  Device device;
  SmallGraph graph;
  PhaseKinds kinds;
  PhaseCosts costs;
  std::vector<OpPolicy> policies;
};

constexpr PhasePrices kPrices[] = {
    {1, 0, 0}, {0, 1, 1}, {2, 1e3, 10}, {1, 10, 1e3}, {0.5, 1e12, 1e12}};

TEST_F(PhaseProblemTest, ASolutionIsItsPhasesAndNoPhasesAreBelowTheBound) {
  unsigned compared = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    ASSERT_TRUE(load(seed));
    std::mt19937_64 random(seed);
    for (const PhasePrices &prices : kPrices) {
      PhaseProblem made = problem(prices);
      ASSERT_EQ(made.problem().check(), "") << "seed " << seed;
      ThreeWayCut cut;
      ASSERT_EQ(solveThreeWay(made.problem(), cut), "") << "seed " << seed;
      Phases phases =
          splitPhases(graph.view, *graph.sets, kinds, made.plan(cut.solution));
      ThreeWayCrossings crossings;
      ASSERT_EQ(evaluate(made.problem(), made.solutionOf(phases), crossings),
                "")
          << "seed " << seed;
      EXPECT_EQ(crossings.cost, cut.solution.cost) << "seed " << seed;
      PhasePlan plan;
      for (uint32_t value = 0; value < graph.view.numValues(); ++value) {
        plan.toInput.push_back(random() % 2);
        plan.toWeight.push_back(random() % 2);
      }
      phases = splitPhases(graph.view, *graph.sets, kinds, plan);
      // Views that are handed over are none in the problem.
      if (!evaluate(made.problem(), made.solutionOf(phases), crossings).empty())
        continue;
      EXPECT_GE(crossings.cost, cut.bound.value) << "seed " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 500u);
}

TEST_F(PhaseProblemTest, PoliciesAreDemands) {
  unsigned saved = 0, recomputed = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    ASSERT_TRUE(load(seed));
    policies.assign(graph.view.numOps(),
                    seed % 2 ? OpPolicy::MustSave : OpPolicy::MustRecompute);
    PhaseProblem made = problem({1, 10, 10});
    ThreeWayCut cut;
    ASSERT_EQ(solveThreeWay(made.problem(), cut), "") << "seed " << seed;
    Phases phases =
        splitPhases(graph.view, *graph.sets, kinds, made.plan(cut.solution));
    for (uint32_t op = 0; op < graph.view.numOps(); ++op) {
      const OpTraits &traits = graph.view.traits[op];
      if (traits.view || kinds.ops[op] != PhaseKind::Forward)
        continue;
      if (seed % 2) {
        EXPECT_FALSE(phases.againInInput[op]) << "seed " << seed;
        EXPECT_FALSE(phases.againInWeight[op]) << "seed " << seed;
        ++saved;
      }
    }
    for (uint32_t value : phases.toInput)
      if (uint32_t op = graph.view.definer[value];
          seed % 2 == 0 && op != GraphView::kNone) {
        EXPECT_TRUE(kinds.pinned[op] || kinds.notInWeight[op])
            << "seed " << seed;
        ++recomputed;
      }
  }
  EXPECT_GT(saved, 50u);
  EXPECT_GT(recomputed, 5u);
}

TEST_F(PhaseProblemTest, ABoundThatIsNotProvedIsAnError) {
  ASSERT_TRUE(load(3));
  PhaseProblem made = problem({1, 10, 10});
  ThreeWayCut cut;
  ASSERT_EQ(solveThreeWay(made.problem(), cut), "");
  joint::GraphOp of = graphOf(*graph.module);
  EXPECT_TRUE(succeeded(verifyBound(of, made.problem(), cut.bound)));
  ++cut.bound.value;
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      text += " | " + note.str();
  });
  EXPECT_TRUE(failed(verifyBound(of, made.problem(), cut.bound)));
  EXPECT_NE(text.find("the bound of its three phases is not proved: it "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("this is a defect of the program; the phases are right "
                      "(verify off leaves the proof out)"),
            std::string::npos)
      << text;
}

} // namespace
