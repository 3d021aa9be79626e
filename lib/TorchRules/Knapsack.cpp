// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The knapsacks of a memory budget: keep the values whose recomputation takes
// longest, within a fraction of the bytes.
//
// Dp     As PyTorch has it, bit by bit: bytes are rounded to ten-thousandths
//        of the range, half to even; sums of runtimes are float32, so a small
//        runtime may not change a large sum, and such an item is not kept. Of
//        the table only one bit an entry is stored: whether the item changed
//        the sum.
// Greedy As PyTorch has it: by runtime a byte, stable, sums in double.
// Ilp    The optimum, in whole bytes and units. Partial choices in the order
//        of runtime a byte; of two the one with no more bytes and no less
//        runtime stays (Nemhauser and Ullmann, "Discrete dynamic programming
//        and capital allocation", Management Science 1969), and one goes that
//        cannot beat the best full choice even with fractions of the next
//        item (Dantzig's bound). Models repeat layers, so sums of bytes and of
//        runtimes are few.
#include "cutback/TorchRules/Knapsack.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

using namespace cutback;

using Kept = std::vector<uint8_t>;

/// Fractions of the range, as PyTorch rounds them.
static std::vector<double> fractionsOf(const Knapsack &knapsack) {
  std::vector<double> fractions;
  for (const KnapsackItem &item : knapsack.items)
    fractions.push_back(static_cast<double>(item.bytes) / 1e9 /
                        knapsack.rangeGb);
  return fractions;
}

static Kept chooseByTable(const Knapsack &knapsack) {
  constexpr double steps = 10000;
  auto quantize = [](double fraction) {
    // The largest table has 10,001 columns: what is wider is never kept.
    return static_cast<size_t>(
        std::min(std::nearbyint(fraction * steps), 2 * steps));
  };
  size_t columns = quantize(knapsack.budget) + 1;
  size_t count = knapsack.items.size();
  std::vector<double> fractions = fractionsOf(knapsack);
  std::vector<float> sums(columns, 0);
  std::vector<std::vector<bool>> isChanged(count);
  for (size_t i = 0; i < count; ++i) {
    auto runtime = static_cast<float>(knapsack.items[i].runtime);
    size_t width = quantize(fractions[i]);
    isChanged[i].assign(columns, false);
    for (size_t j = columns; j-- > width;) {
      float with = sums[j - width] + runtime;
      // Without a width it is always added.
      if (with > sums[j]) {
        isChanged[i][j] = true;
        sums[j] = with;
      }
    }
  }
  Kept kept(count, 0);
  size_t column = columns - 1;
  for (size_t i = count; i-- > 0;)
    if (isChanged[i][column]) {
      kept[i] = 1;
      column -= quantize(fractions[i]);
    }
  return kept;
}

static Kept chooseGreedily(const Knapsack &knapsack) {
  std::vector<double> fractions = fractionsOf(knapsack);
  std::vector<double> ratios;
  for (size_t i = 0; i < fractions.size(); ++i)
    ratios.push_back(fractions[i] > 0
                         ? static_cast<double>(knapsack.items[i].runtime) /
                               fractions[i]
                         : std::numeric_limits<double>::infinity());
  std::vector<size_t> order(fractions.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return ratios[a] > ratios[b]; });
  Kept kept(fractions.size(), 0);
  double total = 0;
  for (size_t i : order)
    if (total + fractions[i] <= knapsack.budget) {
      total += fractions[i];
      kept[i] = 1;
    }
  return kept;
}

namespace {

class ExactSearch {
public:
  ExactSearch(const Knapsack &knapsack, uint64_t maxStates)
      : items(knapsack.items), order(items.size()), maxStates(maxStates) {
    // Fractions of a byte are rounding of the budget.
    capacity = static_cast<int64_t>(
        knapsack.budget * knapsack.rangeGb * 1e9 * (1 + 1e-9) + 1e-9);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return __int128(items[a].runtime) * items[b].bytes >
             __int128(items[b].runtime) * items[a].bytes;
    });
    bytesBefore.push_back(0);
    runtimeBefore.push_back(0);
    for (size_t i : order) {
      bytesBefore.push_back(bytesBefore.back() + items[i].bytes);
      runtimeBefore.push_back(runtimeBefore.back() + items[i].runtime);
    }
  }

  std::optional<Kept> run() {
    std::vector<State> states{{0, 0, kNoStep}};
    for (size_t place = 0; place < order.size(); ++place) {
      if (!extend(states, place))
        return std::nullopt;
      drop(states, place + 1);
    }
    Kept kept(items.size(), 0);
    for (uint32_t step = best.step; step != kNoStep; step = steps[step].before)
      kept[order[steps[step].place]] = 1;
    return kept;
  }

private:
  static constexpr uint32_t kNoStep = ~0u;
  /// A partial choice; `step` is the last item that was kept.
  struct State {
    int64_t bytes, runtime;
    uint32_t step;
  };
  struct Step {
    uint32_t before, place;
  };

  /// With the item at `place` and without it, ascending in bytes and runtime.
  bool extend(std::vector<State> &states, size_t place) {
    const KnapsackItem &item = items[order[place]];
    std::vector<State> with;
    for (const State &state : states) {
      if (state.bytes + item.bytes > capacity)
        break;
      if (steps.size() >= maxStates)
        return false;
      with.push_back({state.bytes + item.bytes, state.runtime + item.runtime,
                      static_cast<uint32_t>(steps.size())});
      steps.push_back({state.step, static_cast<uint32_t>(place)});
      if (with.back().runtime > best.runtime)
        best = with.back();
    }
    std::vector<State> merged;
    merged.reserve(states.size() + with.size());
    std::merge(states.begin(), states.end(), with.begin(), with.end(),
               std::back_inserter(merged), [](const State &a, const State &b) {
                 return a.bytes != b.bytes ? a.bytes < b.bytes
                                           : a.runtime > b.runtime;
               });
    states.clear();
    for (const State &state : merged)
      if (states.empty() || state.runtime > states.back().runtime)
        states.push_back(state);
    return true;
  }

  /// Those that cannot become better than the best, by items from `place` on.
  void drop(std::vector<State> &states, size_t place) const {
    states.erase(std::remove_if(states.begin(), states.end(),
                                [&](const State &state) {
                                  return bound(state, place) <= best.runtime;
                                }),
                 states.end());
  }

  int64_t bound(const State &state, size_t place) const {
    int64_t until = bytesBefore[place] + capacity - state.bytes;
    size_t end =
        static_cast<size_t>(
            std::upper_bound(bytesBefore.begin(), bytesBefore.end(), until) -
            bytesBefore.begin()) -
        1;
    int64_t runtime = state.runtime + runtimeBefore[end] - runtimeBefore[place];
    if (end == order.size())
      return runtime;
    const KnapsackItem &next = items[order[end]]; // of more than 0 bytes
    return runtime +
           static_cast<int64_t>(__int128(next.runtime) *
                                (until - bytesBefore[end]) / next.bytes);
  }

  const std::vector<KnapsackItem> &items;
  std::vector<size_t> order; ///< most runtime a byte first
  std::vector<int64_t> bytesBefore, runtimeBefore;
  int64_t capacity = 0;
  uint64_t maxStates;
  State best{0, 0, kNoStep};
  std::vector<Step> steps;
};

} // namespace

std::optional<std::vector<uint8_t>>
cutback::chooseKept(const Knapsack &knapsack, BudgetSolver solver,
                    uint64_t maxStates) {
  switch (solver) {
  case BudgetSolver::Dp:
    return chooseByTable(knapsack);
  case BudgetSolver::Greedy:
    return chooseGreedily(knapsack);
  case BudgetSolver::Ilp:
    return ExactSearch(knapsack, maxStates).run();
  }
  return std::nullopt;
}
