// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts of sequences against all cuts.

#include "cutback/Pipelining/BalanceStages.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <functional>
#include <map>
#include <random>

using namespace cutback;

namespace {

struct AllCuts {
  const StageCosts &costs;
  const StageRequest &request;

  /// Hands over each cut: its begins.
  void forEach(const std::function<void(const std::vector<unsigned> &)> &run) {
    std::vector<unsigned> begins;
    extend(begins, run);
  }
  int64_t largest(const std::vector<unsigned> &begins) const {
    int64_t most = 0;
    for (size_t stage = 0; stage <= begins.size(); ++stage)
      most = std::max(most, sum(costs.ps, begins, stage));
    return most;
  }
  bool isWithinMemory(const std::vector<unsigned> &begins) const {
    for (size_t stage = 0; request.memoryLimit && stage <= begins.size();
         ++stage)
      if (sum(costs.memory, begins, stage) > *request.memoryLimit)
        return false;
    return true;
  }
  int64_t widest(const std::vector<unsigned> &begins) const {
    int64_t most = 0;
    for (unsigned begin : begins)
      most = std::max(most, costs.bytes[begin]);
    return most;
  }
  int64_t squares(const std::vector<unsigned> &begins) const {
    int64_t all = 0;
    for (size_t stage = 0; stage <= begins.size(); ++stage)
      all += sum(costs.ps, begins, stage) * sum(costs.ps, begins, stage);
    return all;
  }
  int64_t bytes(const std::vector<unsigned> &begins) const {
    int64_t all = 0;
    for (unsigned begin : begins)
      all += costs.bytes[begin];
    return all;
  }

private:
  void extend(std::vector<unsigned> &begins,
              const std::function<void(const std::vector<unsigned> &)> &run) {
    if (begins.size() + 1 == request.stages)
      return run(begins);
    for (unsigned b = begins.empty() ? 1 : begins.back() + 1;
         b < costs.numOps(); ++b) {
      if (costs.bytes[b] == StageCosts::kNever)
        continue;
      begins.push_back(b);
      extend(begins, run);
      begins.pop_back();
    }
  }
  int64_t sum(const std::vector<int64_t> &values,
              const std::vector<unsigned> &begins, size_t stage) const {
    size_t from = stage ? begins[stage - 1] : 0;
    size_t to = stage < begins.size() ? begins[stage] : costs.numOps();
    int64_t all = 0;
    for (size_t i = from; i < to; ++i)
      all += values[i];
    return all;
  }
};

/// The definition at balanceStages(), by trying all.
std::optional<StageCut> balanceNaively(const StageCosts &costs,
                                       const StageRequest &request) {
  AllCuts all{costs, request};
  std::map<int64_t, int64_t> timeOf; // by width
  for (size_t b = 0; b < costs.numOps(); ++b) {
    int64_t limit = costs.bytes[b];
    if (limit == StageCosts::kNever)
      continue;
    std::optional<int64_t> time;
    all.forEach([&](const std::vector<unsigned> &begins) {
      if (all.widest(begins) <= limit && all.isWithinMemory(begins))
        time =
            std::min(time.value_or(all.largest(begins)), all.largest(begins));
    });
    if (!time)
      continue;
    timeOf[limit] = *time;
  }
  auto costOf = [&](std::pair<int64_t, int64_t> one) {
    return std::max(static_cast<double>(one.second),
                    static_cast<double>(one.first) * request.bytePs);
  };
  if (timeOf.empty())
    return std::nullopt;
  double least = costOf(*timeOf.begin());
  for (auto one : timeOf)
    least = std::min(least, costOf(one));
  auto chosen = timeOf.begin();
  while (costOf(*chosen) > least * (1 + request.slack))
    ++chosen;
  auto [width, most] = *chosen;
  std::optional<StageCut> best;
  all.forEach([&](const std::vector<unsigned> &begins) {
    if (all.widest(begins) <= width && all.largest(begins) <= most &&
        all.isWithinMemory(begins) &&
        (!best || std::pair(all.bytes(begins), all.squares(begins)) <
                      std::pair(best->bytes, all.squares(best->begins))))
      best = StageCut{begins, all.largest(begins), all.bytes(begins)};
  });
  return best;
}

StageCosts randomCosts(std::mt19937 &random) {
  auto pick = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  StageCosts costs;
  auto count = static_cast<size_t>(2 + pick(9));
  for (size_t i = 0; i < count; ++i) {
    costs.ps.push_back(pick(9));
    costs.memory.push_back(pick(5));
    costs.bytes.push_back(pick(4) == 0 ? StageCosts::kNever : pick(6));
  }
  costs.bytes[0] = 0;
  return costs;
}

} // namespace

TEST(BalanceStages, FindsTheBestOfAllCuts) {
  std::mt19937 random(7);
  unsigned found = 0;
  for (int round = 0; round < 2000; ++round) {
    StageCosts costs = randomCosts(random);
    ASSERT_EQ(costs.check(), "");
    StageRequest request;
    request.stages = 1 + static_cast<unsigned>(random() % 4);
    request.bytePs = static_cast<double>(random() % 8);
    if (random() % 3 == 0)
      request.memoryLimit = static_cast<int64_t>(5 + random() % 15);
    std::optional<StageCut> cut = balanceStages(costs, request);
    std::optional<StageCut> naive = costs.numOps() < request.stages
                                        ? std::nullopt
                                        : balanceNaively(costs, request);
    ASSERT_EQ(cut.has_value(), naive.has_value()) << "round " << round;
    if (!cut)
      continue;
    ++found;
    AllCuts all{costs, request};
    EXPECT_EQ(cut->begins.size() + 1, request.stages);
    EXPECT_EQ(cut->largestPs, all.largest(cut->begins));
    EXPECT_EQ(cut->bytes, all.bytes(cut->begins));
    EXPECT_EQ(cut->bytes, naive->bytes) << "round " << round;
    EXPECT_EQ(all.squares(cut->begins), all.squares(naive->begins));
    EXPECT_TRUE(all.isWithinMemory(cut->begins));
  }
  EXPECT_GT(found, 1000U);
}

TEST(BalanceStages, CutsWhereLittleCrossesUnlessAWiderCutIsFaster) {
  StageCosts costs;
  costs.ps = {10, 10, 10, 10};
  costs.bytes = {0, 1, 9, 1};
  StageRequest request;
  request.stages = 2;
  request.bytePs = 1; // 9 bytes take less time than a stage
  EXPECT_EQ(balanceStages(costs, request)->begins, std::vector<unsigned>{2});
  request.bytePs = 4; // more than the slower stage of a narrow cut
  EXPECT_EQ(balanceStages(costs, request)->begins, std::vector<unsigned>{1});
  request.bytePs = 1;
  request.slack = 0.5;
  EXPECT_EQ(balanceStages(costs, request)->begins, std::vector<unsigned>{1});
}

TEST(BalanceStages, BalancesRanksThatHaveTwoStages) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    StageCosts costs = randomCosts(random);
    StageRequest request;
    request.stages = 4;
    auto plain = balanceStages(costs, request);
    request.rankOf = {0, 1, 1, 0};
    auto even = balanceStages(costs, request);
    ASSERT_EQ(plain.has_value(), even.has_value());
    if (!plain)
      continue;
    auto slowest = [&](const std::vector<unsigned> &begins) {
      std::vector<unsigned> ends = begins;
      ends.push_back(static_cast<unsigned>(costs.numOps()));
      int64_t ranks[2] = {0, 0};
      unsigned op = 0;
      for (size_t stage = 0; stage < ends.size(); ++stage)
        for (; op < ends[stage]; ++op)
          ranks[request.rankOf[stage]] += costs.ps[op];
      return std::max(ranks[0], ranks[1]);
    };
    ASSERT_EQ(even->begins.size(), 3U);
    EXPECT_LE(slowest(even->begins), slowest(plain->begins));
    EXPECT_EQ(even->bytes, (AllCuts{costs, request}.bytes(even->begins)));
    EXPECT_EQ(even->largestPs, (AllCuts{costs, request}.largest(even->begins)));
  }
  // The last stage is heavy: the first one of its rank gets little.
  StageCosts costs;
  costs.ps = {1, 1, 1, 1, 1, 1, 1, 1, 6};
  costs.bytes.assign(9, 1);
  StageRequest request;
  request.stages = 4;
  request.rankOf = {0, 1, 1, 0};
  EXPECT_EQ(balanceStages(costs, request)->begins.front(), 1U);
  EXPECT_EQ(balanceStages(costs, request)->begins.back(), 8U);
}

TEST(BalanceStages, SaysWhatIsWrongWithCosts) {
  StageCosts costs;
  costs.ps = {1, 2};
  EXPECT_EQ(costs.check(),
            "has as many boundaries as ops, the first of them not used");
  costs.bytes = {0, 1};
  costs.memory = {1};
  EXPECT_EQ(costs.check(), "has the memory of each op, or of none");
  costs.memory = {1, -1};
  EXPECT_EQ(costs.check(), "has a time or a memory below 0");
}
