// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PyTorch 2.13 saves within an activation memory budget, in its order:
//
//  1. budget 0: the inputs, and nothing is asked
//  2. A, the cut by all rules; taken for budget 1, and where it saves no more
//     than the inputs take
//  3. B, without the rules about fusion; taken if it is within the budget
//  4. C, with the deny list in place of the allow list; taken likewise
//  5. a knapsack chooses which of the values that C may not recompute are kept
//     (Knapsack.cpp); the others are released, and C is cut again
//
// The cut of step 5 is compared with nothing: it may be above the budget. Sizes
// are those of values, inputs in full, parameters too; sums are exact, and
// divided by 10^9 and by the range as PyTorch does it, so that comparisons come
// out alike. Up to four cuts; linear besides.
#include "cutback/TorchRules/Budget.h"

#include "RuleView.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace cutback;
using namespace cutback::torchrules;

/// In the order of the enum.
static constexpr BudgetAnswerText answerTexts[] = {
    {"default", "PyTorch's cut by all its rules, as without a budget"},
    {"inputs", "all inputs are saved and nothing else"},
    {"void", "without a budget PyTorch saves no more bytes than all inputs "
             "take, parameters among them, so it takes that"},
    {"fewer-rules",
     "PyTorch's cut without its rules about fusion is within the budget"},
    {"deny-list", "PyTorch's cut without its list of what may be recomputed is "
                  "within the budget"},
    {"nothing-left", "all inputs are saved: there is nothing to choose from"},
    {"knapsack", "a knapsack chose"}};

BudgetAnswerText cutback::textOf(BudgetAnswer answer) {
  return answerTexts[static_cast<unsigned>(answer)];
}

std::optional<double> BudgetDecision::ratio() const {
  if (defaultBytes <= inputBytes)
    return std::nullopt;
  return static_cast<double>(savedBytes - inputBytes) /
         static_cast<double>(defaultBytes - inputBytes);
}

namespace {

using Nodes = std::vector<FxNodeId>;

/// A second or so; models have thousands.
constexpr uint64_t maxStates = 4'000'000;

class BudgetSearch {
public:
  BudgetSearch(const FxGraph &graph, const TorchRulesOptions &options,
               const TorchBudget &budget, const RuntimeEstimate &estimate,
               const TorchCutter &cutter, TorchNetwork &network,
               BudgetDecision &decision)
      : view(graph, options, network.traits), graph(graph), rules(options),
        budget(budget), estimate(estimate), cutter(cutter), network(network),
        decision(decision) {}

  std::optional<BudgetFailure> run() {
    for (FxNodeId n = 0; n < graph.outputNode(); ++n)
      if (graph.nodes[n].isInput())
        inputs.push_back(n);
    decision = BudgetDecision();
    if (auto failure = cut(byDefault))
      return failure;
    decision.inputBytes = bytesOf(inputs);
    decision.defaultBytes = bytesOf(byDefault);
    if (auto failure = decide())
      return failure;
    decision.savedBytes = bytesOf(decision.saved);
    decision.hasEffect = decision.saved != byDefault;
    return std::nullopt;
  }

private:
  std::optional<BudgetFailure> decide() {
    if (budget.fraction == 0)
      return take(BudgetAnswer::Inputs, inputs);
    if (budget.fraction == 1)
      return take(BudgetAnswer::Default, byDefault);
    if (gbOf(byDefault) <= gbOf(inputs))
      return take(BudgetAnswer::Void, byDefault);
    rangeGb = gbOf(byDefault) - gbOf(inputs);
    Nodes saved;
    rules.banUsedFarApart = rules.banLongFusibleChains =
        rules.banMaterializedBackward = false;
    if (auto failure = cut(saved))
      return failure;
    if (isWithin(saved))
      return take(BudgetAnswer::FewerRules, std::move(saved));
    rules.banNotInAllowList = false;
    if (auto failure = cut(saved))
      return failure;
    if (isWithin(saved))
      return take(BudgetAnswer::DenyList, std::move(saved));
    return choose();
  }

  std::optional<BudgetFailure> take(BudgetAnswer answer, Nodes saved) {
    decision.answer = answer;
    decision.saved = std::move(saved);
    return std::nullopt;
  }

  std::optional<BudgetFailure> choose() {
    Nodes candidates, mustSave;
    listCandidates(candidates, mustSave);
    if (candidates.empty()) {
      mustSave.insert(mustSave.end(), inputs.begin(), inputs.end());
      std::sort(mustSave.begin(), mustSave.end());
      return take(BudgetAnswer::NothingLeft, std::move(mustSave));
    }
    Knapsack knapsack;
    knapsack.rangeGb = rangeGb;
    knapsack.budget = budget.fraction;
    for (FxNodeId n : candidates) {
      knapsack.items.push_back({ruleSize(view, n), 1});
      if (auto error = estimate(n, knapsack.items.back().runtime))
        return BudgetFailure{std::move(error)};
    }
    auto kept = chooseKept(knapsack, budget.solver, maxStates);
    if (!kept)
      return BudgetFailure{TorchRulesError{
          "the optimum of the memory budget's knapsack of " +
              std::to_string(candidates.size()) +
              " values is not found in reasonable time",
          noFxNode, "give --budget-solver=dp, PyTorch's default"}};
    decision.candidates = candidates.size();
    std::vector<uint8_t> dontBan(graph.size(), 0);
    for (size_t i = 0; i < candidates.size(); ++i)
      if (!(*kept)[i]) {
        dontBan[candidates[i]] = 1;
        decision.released.push_back(candidates[i]);
      } else {
        decision.keptRuntime += knapsack.items[i].runtime;
      }
    std::sort(decision.released.begin(), decision.released.end());
    Nodes saved;
    if (auto failure = cut(saved, dontBan))
      return failure;
    return take(BudgetAnswer::Knapsack, std::move(saved));
  }

  /// What the last cut banned, the largest first, and apart what is tagged so.
  void listCandidates(Nodes &candidates, Nodes &mustSave) const {
    // Values without a storage compare equal: -1 is a storage here.
    std::set<int32_t> ofInputs;
    for (FxNodeId n : inputs)
      ofInputs.insert(graph.nodes[n].storage);
    for (FxNodeId n = 0; n < graph.outputNode(); ++n) {
      const FxNode &node = graph.nodes[n];
      bool isIncluded = rules.includeNonBuiltin &&
                        node.has(fxflag::NonBuiltin | fxflag::TritonWrapper);
      if (network.banned[n] == BanReason::None ||
          network.distance[n] >= farAway ||
          (ofInputs.count(node.storage) && !isIncluded))
        continue;
      (network.policy[n] == FxPolicy::MustSave ? mustSave : candidates)
          .push_back(n);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](FxNodeId a, FxNodeId b) {
                       return ruleSize(view, a) > ruleSize(view, b);
                     });
  }

  /// The cut by `rules`, of nodes in graph order.
  std::optional<BudgetFailure> cut(Nodes &saved,
                                   const std::vector<uint8_t> &dontBan = {}) {
    if (auto error = buildTorchNetwork(graph, rules, network, dontBan))
      return BudgetFailure{std::move(error)};
    saved.clear();
    if (!cutter(network, saved))
      return BudgetFailure{};
    return std::nullopt;
  }

  int64_t bytesOf(const Nodes &nodes) const {
    int64_t bytes = 0;
    for (FxNodeId n : nodes)
      bytes += ruleSize(view, n);
    return bytes;
  }
  double gbOf(const Nodes &nodes) const {
    return static_cast<double>(bytesOf(nodes)) / 1e9;
  }
  bool isWithin(const Nodes &saved) const {
    return (gbOf(saved) - gbOf(inputs)) / rangeGb < budget.fraction;
  }

  RuleView view; ///< of traits and sizes, which no rule of a budget changes
  const FxGraph &graph;
  TorchRulesOptions rules;
  const TorchBudget &budget;
  const RuntimeEstimate &estimate;
  const TorchCutter &cutter;
  TorchNetwork &network;
  BudgetDecision &decision;
  Nodes inputs, byDefault;
  double rangeGb = 0;
};

} // namespace

std::optional<BudgetFailure> cutback::decideWithinBudget(
    const FxGraph &graph, const TorchRulesOptions &options,
    const TorchBudget &budget, const RuntimeEstimate &estimate,
    const TorchCutter &cut, TorchNetwork &network, BudgetDecision &decision) {
  return BudgetSearch(graph, options, budget, estimate, cut, network, decision)
      .run();
}
