// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each answer that an activation budget can get, on graphs of a few nodes. That
// decisions are PyTorch's on real graphs is tested with the golden data
// (GoldenTest).
#include "cutback/TorchRules/Budget.h"

#include "TestGraphs.h"

using namespace cutback;
using namespace cutback::fxtext;

namespace {

/// Products whose operands and results the backward reads; `x` is small.
const std::string chain =
    "placeholder x tensor 100 s=x:100 role=primal\n"
    "placeholder t tensor 1000 s=t:1000 role=tangent\n"
    "call a tensor 1000 s=a:1000 aten.mm.default %x %x\n"
    "call b tensor 1200 s=b:1200 aten.mm.default %a %x\n"
    "call r tensor 1200 s=r:1200 aten.native_layer_norm.default %b\n"
    "call y tensor 1000 s=y:1000 aten.mm.default %r %x\n"
    "call g1 tensor 1000 aten.mm.default %t %r\n"
    "call g2 tensor 1000 aten.mm.default %g1 %b\n"
    "call g3 tensor 1000 aten.mm.default %g2 %a\n"
    "call g tensor 100 aten.mm.default %g3 %x\n"
    "output 1 y g\n";

struct Asked {
  FxGraph graph;
  BudgetDecision decision;
  std::optional<BudgetFailure> failure;
  std::string saved() const { return names(graph, decision.saved); }
};

Asked ask(const std::string &text, double fraction,
          BudgetSolver solver = BudgetSolver::Dp,
          const std::map<std::string, int64_t> &runtimes = {}) {
  Asked asked{parse(text), {}, {}};
  TorchNetwork network = classifyTorchGraph(asked.graph, torch213());
  auto estimate = [&](FxNodeId node,
                      int64_t &runtime) -> std::optional<TorchRulesError> {
    auto it = runtimes.find(std::string(asked.graph.name(node)));
    if (it != runtimes.end() && it->second < 0)
      return TorchRulesError{"not known", node, ""};
    runtime = it == runtimes.end() ? 1 : it->second;
    return std::nullopt;
  };
  auto cut = [](const TorchNetwork &solved, std::vector<FxNodeId> &saved) {
    saved = savedNodesOfCut(solved.arcs, minimumCut(solved).sinkSide);
    return true;
  };
  asked.failure =
      decideWithinBudget(asked.graph, torch213(), {fraction, solver}, estimate,
                         cut, network, asked.decision);
  return asked;
}

TEST(Budget, OfOneIsTheDefault) {
  Asked asked = ask(chain, 1);
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::Default);
  EXPECT_EQ(asked.saved(), "x a b r");
  EXPECT_FALSE(asked.decision.hasEffect);
  EXPECT_EQ(asked.decision.inputBytes, 100);
  EXPECT_EQ(asked.decision.defaultBytes, 3500);
  EXPECT_EQ(asked.decision.ratio(), 1.0);
}

TEST(Budget, OfZeroIsTheInputs) {
  Asked asked = ask(chain, 0);
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::Inputs);
  EXPECT_EQ(asked.saved(), "x");
  EXPECT_TRUE(asked.decision.hasEffect);
  EXPECT_EQ(asked.decision.ratio(), 0.0);
}

TEST(Budget, IsVoidWhereInputsAreLarger) {
  std::string text = chain;
  text.replace(text.find("100 s=x:100"), 11, "9000 s=x:9000");
  text.replace(text.find("call g tensor"), std::string::npos,
               "output 1 y g3\n");
  Asked asked = ask(text, 0.5);
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::Void);
  EXPECT_FALSE(asked.decision.hasEffect);
  EXPECT_FALSE(asked.decision.ratio());
}

TEST(Budget, TakesTheCutWithoutTheAllowListWhereThatIsEnough) {
  // The norm is in neither list, so only the allow list keeps it.
  Asked asked = ask(chain, 0.9);
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::DenyList);
  EXPECT_EQ(asked.saved(), "x a b");
}

TEST(Budget, TakesTheCutWithoutFusionRulesWhereThatIsEnough) {
  Asked asked = ask("placeholder x tensor 100 s=x:100 role=primal\n"
                    "placeholder t tensor 1000 s=t:1000 role=tangent\n"
                    "call e tensor 1000 s=e:1000 aten.exp.default %x\n"
                    "call y tensor 1000 s=y:1000 aten.mm.default %e %x\n"
                    "call g tensor 1000 aten.mm.default %t %e\n"
                    "output 1 y g\n",
                    0.5);
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::FewerRules);
  EXPECT_EQ(asked.saved(), "x");
}

TEST(Budget, AKnapsackKeepsWhatTakesLongest) {
  Asked asked = ask(chain, 0.4, BudgetSolver::Dp, {{"a", 5}, {"b", 7}});
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::Knapsack);
  EXPECT_EQ(asked.decision.candidates, 2u);
  EXPECT_EQ(names(asked.graph, asked.decision.released), "a");
  EXPECT_EQ(asked.saved(), "x b");
  asked = ask(chain, 0.4, BudgetSolver::Ilp, {{"a", 8}, {"b", 7}});
  EXPECT_EQ(names(asked.graph, asked.decision.released), "b");
  // By runtime a byte.
  asked = ask(chain, 0.4, BudgetSolver::Greedy, {{"a", 6}, {"b", 7}});
  EXPECT_EQ(names(asked.graph, asked.decision.released), "b");
}

TEST(Budget, WhatIsTaggedIsNotReleased) {
  std::string text = chain;
  text.insert(text.find("aten.mm.default %x %x"), "tag=MUST_SAVE:0 ");
  Asked asked = ask(text, 0.01);
  EXPECT_EQ(asked.decision.candidates, 1u);
  EXPECT_EQ(names(asked.graph, asked.decision.released), "b");
  text.insert(text.find("aten.mm.default %a %x"), "tag=MUST_SAVE:0 ");
  asked = ask(text, 0.01);
  EXPECT_EQ(asked.decision.answer, BudgetAnswer::NothingLeft);
  EXPECT_EQ(asked.saved(), "x a b");
}

TEST(Budget, ASizeAmongInputsLeavesNoCallsWithSeveralResults) {
  std::string text = chain;
  text.replace(text.find("call a tensor"),
               text.find("call b") - text.find("call a tensor"),
               "call p tuple 1000 aten._scaled_dot_product_flash_attention."
               "default %x %x\n"
               "getitem a tensor 1000 s=a:1000 operator.getitem %p i:0\n");
  EXPECT_EQ(ask(text, 0.1).decision.candidates, 2u);
  EXPECT_EQ(ask("placeholder n symint 0 role=primal\n" + text, 0.1)
                .decision.candidates,
            1u);
}

TEST(Budget, AnOptimumThatTakesTooLongIsAnError) {
  std::string text = "placeholder x tensor 100 s=x:100 role=primal\n"
                     "placeholder t tensor 1000 s=t:1000 role=tangent\n",
              reads, last = "x";
  std::map<std::string, int64_t> runtimes;
  for (unsigned i = 0; i < 64; ++i) {
    std::string name = "a" + std::to_string(i);
    std::string size = std::to_string(1000003 + i * i * 7919 % 999983);
    text += "call " + name + " tensor " + size + " s=" + name + ":" + size +
            " aten.mm.default %" + last + " %x\n";
    reads += " %" + name;
    runtimes[name] = std::stoll(size) + i % 3;
    last = name;
  }
  text += "call g tensor 100 aten.mm.default %t" + reads + "\noutput 1 " +
          last + " g\n";
  Asked asked = ask(text, 0.5, BudgetSolver::Ilp, runtimes);
  ASSERT_TRUE(asked.failure && asked.failure->error);
  EXPECT_EQ(asked.failure->error->message,
            "the optimum of the memory budget's knapsack of 64 values is not "
            "found in reasonable time");
  EXPECT_EQ(asked.failure->error->note,
            "give --budget-solver=dp, PyTorch's default");
}

TEST(Budget, ARuntimeThatIsNotKnownIsAnError) {
  Asked asked = ask(chain, 0.4, BudgetSolver::Dp, {{"a", -1}});
  ASSERT_TRUE(asked.failure && asked.failure->error);
  EXPECT_EQ(asked.failure->error->message, "not known");
}

} // namespace
