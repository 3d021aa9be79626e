// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The knapsacks of a memory budget against naive ones: PyTorch's table as it
// is written there, its greedy loop, all subsets. And answers that PyTorch
// itself gave.
#include "cutback/TorchRules/Knapsack.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

using namespace cutback;

namespace {

using Kept = std::vector<uint8_t>;

std::vector<double> memoryOf(const Knapsack &knapsack) {
  std::vector<double> memory;
  for (const KnapsackItem &item : knapsack.items)
    memory.push_back(static_cast<double>(item.bytes) / 1e9 / knapsack.rangeGb);
  return memory;
}

Kept naiveTable(const Knapsack &knapsack) {
  std::vector<double> memory = memoryOf(knapsack);
  size_t count = memory.size();
  auto size = static_cast<size_t>(std::nearbyint(knapsack.budget * 10000));
  std::vector<std::vector<float>> table(count + 1,
                                        std::vector<float>(size + 1, 0));
  auto width = [&](size_t i) {
    return static_cast<size_t>(std::nearbyint(memory[i] * 10000));
  };
  for (size_t i = 0; i < count; ++i) {
    auto runtime = static_cast<float>(knapsack.items[i].runtime);
    for (size_t j = 0; j <= size; ++j) {
      table[i + 1][j] = table[i][j];
      if (width(i) == 0)
        table[i + 1][j] += runtime;
      else if (j >= width(i))
        table[i + 1][j] =
            std::max(table[i][j], table[i][j - width(i)] + runtime);
    }
  }
  Kept kept(count, 0);
  size_t j = size;
  for (size_t i = count; i > 0; --i)
    if (table[i][j] != table[i - 1][j]) {
      kept[i - 1] = 1;
      j -= width(i - 1);
    }
  return kept;
}

Kept naiveGreedy(const Knapsack &knapsack) {
  std::vector<double> memory = memoryOf(knapsack);
  Kept kept(memory.size(), 0), isLookedAt(memory.size(), 0);
  double total = 0;
  for (size_t n = 0; n < memory.size(); ++n) {
    size_t best = memory.size();
    auto ratio = [&](size_t i) {
      return static_cast<double>(knapsack.items[i].runtime) / memory[i];
    };
    for (size_t i = 0; i < memory.size(); ++i)
      if (!isLookedAt[i] && (best == memory.size() || ratio(i) > ratio(best)))
        best = i;
    isLookedAt[best] = 1;
    kept[best] = total + memory[best] <= knapsack.budget;
    total += kept[best] ? memory[best] : 0;
  }
  return kept;
}

struct Sums {
  int64_t bytes = 0, runtime = 0;
};

Sums sumsOf(const Knapsack &knapsack, const Kept &kept) {
  Sums sums;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) {
      sums.bytes += knapsack.items[i].bytes;
      sums.runtime += knapsack.items[i].runtime;
    }
  return sums;
}

int64_t capacityOf(const Knapsack &knapsack) {
  return static_cast<int64_t>(
             std::llround(knapsack.rangeGb * 1e9 * knapsack.budget * 100)) /
         100;
}

int64_t bestOfAllSubsets(const Knapsack &knapsack) {
  int64_t best = 0;
  size_t count = knapsack.items.size();
  for (uint32_t set = 0; set < (1u << count); ++set) {
    Kept kept(count, 0);
    for (size_t i = 0; i < count; ++i)
      kept[i] = (set >> i) & 1;
    Sums sums = sumsOf(knapsack, kept);
    if (sums.bytes <= capacityOf(knapsack))
      best = std::max(best, sums.runtime);
  }
  return best;
}

/// Few sizes and runtimes, as layers that repeat have; `least` bytes.
Knapsack randomKnapsack(std::mt19937 &random, unsigned most, int64_t least) {
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % (to - from + 1));
  };
  Knapsack knapsack;
  std::vector<KnapsackItem> kinds;
  for (int64_t kind = pick(1, 5); kind > 0; --kind)
    kinds.push_back({pick(least, 4000), pick(0, 2) ? pick(1, 1 << 28) : 1});
  int64_t sum = 1;
  for (int64_t i = pick(1, most); i > 0; --i) {
    knapsack.items.push_back(kinds[random() % kinds.size()]);
    sum += knapsack.items.back().bytes;
  }
  knapsack.rangeGb = static_cast<double>(pick(1, 2 * sum)) / 1e9;
  knapsack.budget = static_cast<double>(pick(0, 100)) / 100;
  return knapsack;
}

TEST(KnapsackTest, randomTablesAreThoseOfPyTorch) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 150; ++i) {
    Knapsack knapsack = randomKnapsack(random, 12, 0);
    EXPECT_EQ(*chooseKept(knapsack, BudgetSolver::Dp), naiveTable(knapsack))
        << i;
  }
}

TEST(KnapsackTest, randomGreedyChoicesAreThoseOfPyTorch) {
  std::mt19937 random(2);
  for (unsigned i = 0; i < 2000; ++i) {
    Knapsack knapsack = randomKnapsack(random, 30, 1);
    EXPECT_EQ(*chooseKept(knapsack, BudgetSolver::Greedy),
              naiveGreedy(knapsack))
        << i;
  }
}

TEST(KnapsackTest, randomOptimaAreThoseOfAllSubsets) {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 500; ++i) {
    Knapsack knapsack = randomKnapsack(random, 10, 0);
    auto kept = chooseKept(knapsack, BudgetSolver::Ilp);
    ASSERT_TRUE(kept);
    Sums sums = sumsOf(knapsack, *kept);
    EXPECT_LE(sums.bytes, capacityOf(knapsack)) << i;
    EXPECT_EQ(sums.runtime, bestOfAllSubsets(knapsack)) << i;
  }
}

TEST(KnapsackTest, theOptimumOfManyEqualLayersIsQuick) {
  Knapsack knapsack;
  for (int64_t layer = 0; layer < 1000; ++layer)
    for (int64_t value = 1; value <= 8; ++value)
      knapsack.items.push_back({4096 * (9 - value), value * value * 1000003});
  knapsack.rangeGb = 1000 * 36 * 4096 / 1e9;
  knapsack.budget = 0.37;
  auto kept = chooseKept(knapsack, BudgetSolver::Ilp);
  ASSERT_TRUE(kept);
  EXPECT_GE(
      sumsOf(knapsack, *kept).runtime,
      sumsOf(knapsack, *chooseKept(knapsack, BudgetSolver::Greedy)).runtime);
}

TEST(KnapsackTest, anOptimumThatTakesTooLongIsNone) {
  Knapsack knapsack;
  std::mt19937 random(4);
  for (unsigned i = 0; i < 60; ++i) {
    auto bytes = static_cast<int64_t>(1000000 + random() % 1000000);
    knapsack.items.push_back({bytes, bytes + static_cast<int64_t>(i % 3)});
  }
  knapsack.rangeGb = 0.09;
  knapsack.budget = 0.5;
  EXPECT_FALSE(chooseKept(knapsack, BudgetSolver::Ilp, 1000));
}

/// `dp_knapsack`, `greedy_knapsack` and `ilp_knapsack` of 2.13 on these.
TEST(KnapsackTest, recordedAnswersOfPyTorch) {
  Knapsack knapsack;
  knapsack.items = {{4000, 7}, {3000, 5}, {3000, 5}, {2000, 4}, {1, 1}};
  knapsack.rangeGb = 1e4 / 1e9;
  knapsack.budget = 0.6;
  EXPECT_EQ(*chooseKept(knapsack, BudgetSolver::Dp), (Kept{1, 0, 0, 1, 0}));
  EXPECT_EQ(*chooseKept(knapsack, BudgetSolver::Greedy), (Kept{0, 1, 0, 1, 1}));
  EXPECT_EQ(*chooseKept(knapsack, BudgetSolver::Ilp), (Kept{1, 0, 0, 1, 0}));
  // Too small a runtime to change a sum of float32.
  knapsack.items = {{10, 1 << 30}, {0, 1}, {10, 1}};
  knapsack.budget = 1;
  EXPECT_EQ(*chooseKept(knapsack, BudgetSolver::Dp), (Kept{1, 0, 0}));
}

} // namespace
