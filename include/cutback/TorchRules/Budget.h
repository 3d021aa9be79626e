// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The activation memory budget of PyTorch's partitioner (2.13).
#ifndef CUTBACK_TORCHRULES_BUDGET_H
#define CUTBACK_TORCHRULES_BUDGET_H

#include "cutback/TorchRules/Knapsack.h"
#include "cutback/TorchRules/TorchRules.h"

#include <functional>

namespace cutback {

/// `activation_memory_budget` and `activation_memory_budget_solver`. What the
/// inputs take is 0, what PyTorch saves without a budget is 1.
struct TorchBudget {
  double fraction = 1; ///< 0 … 1
  BudgetSolver solver = BudgetSolver::Dp;
};

/// Which of PyTorch's answers a budget got.
enum class BudgetAnswer : uint8_t {
  Default,     ///< a budget of 1: the cut by all rules
  Inputs,      ///< a budget of 0: all inputs and nothing else
  Void,        ///< the cut by all rules saves no more than the inputs take
  FewerRules,  ///< without the rules about fusion the cut is within the budget
  DenyList,    ///< without the allow list it is
  NothingLeft, ///< nothing of the last cut may be recomputed: the inputs
  Knapsack     ///< what to keep of the last cut was chosen
};
/// A word for programs, and a sentence.
struct BudgetAnswerText {
  std::string_view word, sentence;
};
BudgetAnswerText textOf(BudgetAnswer answer);

/// All sizes in bytes by §4 of the rules, inputs in full.
struct BudgetDecision {
  BudgetAnswer answer = BudgetAnswer::Default;
  std::vector<FxNodeId> saved; ///< in graph order
  /// With Knapsack: what was chosen from, and what of it may be recomputed, in
  /// graph order.
  uint64_t candidates = 0;
  int64_t keptRuntime = 0; ///< of candidates that are not released
  std::vector<FxNodeId> released;
  int64_t inputBytes = 0, defaultBytes = 0, savedBytes = 0;
  /// The saved nodes are not those without a budget.
  bool hasEffect = false;
  /// (savedBytes - inputBytes) / (defaultBytes - inputBytes), which may exceed
  /// the budget; nothing where the budget is void.
  std::optional<double> ratio() const;
};

/// Solves a network; false if there is no cut, which it has reported.
using TorchCutter = std::function<bool(const TorchNetwork &network,
                                       std::vector<FxNodeId> &saved)>;
/// The runtime of a call by PyTorch's estimator `flops`, at least 1; or an
/// error.
using RuntimeEstimate = std::function<std::optional<TorchRulesError>(
    FxNodeId node, int64_t &runtime)>;

/// Why there is no decision; without an error the cutter has said it.
struct BudgetFailure {
  std::optional<TorchRulesError> error;
};

/// Decides as `choose_saved_values_set`, with up to four cuts. `network` is
/// what classifyTorchGraph made of the graph, not with an empty backward, under
/// rules of 2.13; afterwards it has the rules and arcs of the last cut.
std::optional<BudgetFailure>
decideWithinBudget(const FxGraph &graph, const TorchRulesOptions &options,
                   const TorchBudget &budget, const RuntimeEstimate &estimate,
                   const TorchCutter &cut, TorchNetwork &network,
                   BudgetDecision &decision);

} // namespace cutback

#endif // CUTBACK_TORCHRULES_BUDGET_H
