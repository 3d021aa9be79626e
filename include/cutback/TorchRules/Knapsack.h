// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a memory budget keeps: the 0/1 knapsacks of PyTorch's partitioner.
#ifndef CUTBACK_TORCHRULES_KNAPSACK_H
#define CUTBACK_TORCHRULES_KNAPSACK_H

#include <cstdint>
#include <optional>
#include <vector>

namespace cutback {

/// `torch._functorch.config.activation_memory_budget_solver`.
enum class BudgetSolver : uint8_t {
  /// A table over ten-thousandths of the range, runtimes in float32.
  Dp,
  /// The most runtime a byte first, while it fits.
  Greedy,
  /// The optimum. PyTorch asks HiGHS for it, which stops within 1e-4 of the
  /// optimum and may take another of several optima.
  Ilp
};

/// A value that is kept for its bytes, or computed again in `runtime` units.
struct KnapsackItem {
  int64_t bytes = 0;
  int64_t runtime = 0; ///< > 0
};

struct Knapsack {
  std::vector<KnapsackItem> items;
  /// What the budget is a fraction of, in 10^9 bytes; > 0.
  double rangeGb = 0;
  double budget = 0; ///< 0 … 1
};

/// By item: 1 if it is kept. Nothing if Ilp does not find the optimum among
/// `maxStates` partial choices. Dp takes time items x 10^4 x budget and an
/// eighth of it in bytes; Greedy sorts; Ilp is exponential at worst, and near
/// linear where few sizes and runtimes are distinct.
///
/// An item of 0 bytes is kept by Greedy, where PyTorch divides by zero.
std::optional<std::vector<uint8_t>> chooseKept(const Knapsack &knapsack,
                                               BudgetSolver solver,
                                               uint64_t maxStates = 20'000'000);

} // namespace cutback

#endif // CUTBACK_TORCHRULES_KNAPSACK_H
