// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cut against all orders of small random programs.

#include "cutback/MemoryPlan/ScheduleBound.h"

#include "RandomSchedule.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>

using namespace cutback;

namespace {

bool contains(Rows::Row row, uint32_t number) {
  return std::find(row.begin(), row.end(), number) != row.end();
}

/// Bytes while the op at `place` runs, from the definition.
int64_t bytesDuring(const ScheduleProblem &problem,
                    const std::vector<uint32_t> &order, uint32_t place) {
  uint32_t now = order[place];
  int64_t bytes = 0, replaced = 0;
  for (uint32_t storage = 0; storage < problem.bytes.size(); ++storage) {
    bool isMade = problem.isGiven[storage] != 0, isReadNow = false;
    bool isReadLater = problem.isKept[storage] != 0;
    for (uint32_t at = 0; at < order.size(); ++at) {
      isMade |= at < place && contains(problem.makes[order[at]], storage);
      bool isRead = contains(problem.reads[order[at]], storage);
      isReadNow |= at == place && isRead;
      isReadLater |= at > place && isRead;
    }
    if (contains(problem.makes[now], storage) ||
        (isMade && (isReadNow || isReadLater)))
      bytes += problem.bytes[storage];
    if (!isReadLater && contains(problem.replaces[now], storage))
      replaced = problem.bytes[storage];
  }
  return bytes - replaced;
}

TEST(ScheduleBoundTest, TheCutIsTheLeastOfAllOrders) {
  std::mt19937_64 random(4);
  std::vector<uint8_t> before;
  for (unsigned round = 0; round < 600; ++round) {
    ScheduleProblem problem = randomProblem(random, 1 + round % 6, 3);
    std::vector<uint32_t> order(problem.numOps());
    std::iota(order.begin(), order.end(), 0);
    std::vector<int64_t> least(problem.numOps(), INT64_MAX);
    do {
      if (isTopological(problem, order))
        for (uint32_t at = 0; at < order.size(); ++at)
          least[order[at]] =
              std::min(least[order[at]], bytesDuring(problem, order, at));
    } while (std::next_permutation(order.begin(), order.end()));
    ScheduleBound bound(problem);
    for (uint32_t op = 0; op < problem.numOps(); ++op) {
      ASSERT_EQ(bound.leastBytes(op, before), least[op])
          << "round " << round << ", op " << op;
      // An order that shows it.
      std::vector<uint32_t> shown;
      for (uint32_t other = 0; other < problem.numOps(); ++other)
        if (other != op && before[other])
          shown.push_back(other);
      auto place = static_cast<uint32_t>(shown.size());
      shown.push_back(op);
      for (uint32_t other = 0; other < problem.numOps(); ++other)
        if (other != op && !before[other])
          shown.push_back(other);
      ASSERT_TRUE(isTopological(problem, shown)) << "round " << round;
      ASSERT_EQ(bytesDuring(problem, shown, place), least[op]);
    }
  }
}

TEST(ScheduleBoundTest, SizesThatDoNotAddUpGiveTheTrivialBound) {
  ScheduleProblem problem;
  int64_t huge = INT64_MAX / 2;
  problem.bytes = {huge, huge, huge, 8};
  problem.isGiven = {1, 1, 1, 0};
  problem.isKept = {0, 0, 0, 1};
  problem.depends = {{0, 0, 1}, {0}};
  problem.reads = {{0, 0, 3}, {0, 1, 2}};
  problem.makes = {{0, 1, 1}, {3}};
  problem.replaces = {{0, 0, 0}, {}};
  std::vector<uint8_t> before;
  EXPECT_EQ(ScheduleBound(problem).leastBytes(0, before), 0);
}

} // namespace
