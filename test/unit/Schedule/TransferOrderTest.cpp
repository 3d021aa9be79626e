// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of transfers, on ranks that begin theirs one after the other: for all
// schedules, with skip connections, durations and turns by chance, all ranks
// come to an end.

#include "cutback/Schedule/TransferOrder.h"

#include "cutback/Schedule/Generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

using namespace cutback::pipeline;

namespace {

/// Rows of durations, and what crosses between them.
struct Instance {
  std::vector<std::vector<int64_t>> durations;
  std::vector<Transfer> transfers;
};

/// A schedule whose stages have edges to the next one, and others by chance:
/// values forth, gradients back.
Instance makeInstance(const Schedule &schedule, std::mt19937 &random) {
  Instance made;
  using Key = std::tuple<int, bool, int>; ///< stage, forward, micro-batch
  std::map<Key, int> places;
  for (const Row &row : schedule.rows) {
    std::vector<int64_t> &durations = made.durations.emplace_back();
    for (const auto &action : row)
      if (action)
        forEachPart(*action, [&](const Action &part) {
          if (part.kind != ActionKind::WeightGradients)
            places[{part.stage, part.kind == ActionKind::Forward,
                    part.microBatch}] = static_cast<int>(durations.size());
          durations.push_back(static_cast<int64_t>(random() % 5));
        });
  }
  for (int from = 0; from < schedule.stages; ++from)
    for (int to = from + 1; to < schedule.stages; ++to) {
      int fromRank = schedule.rankOfStage[from];
      int toRank = schedule.rankOfStage[to];
      if (fromRank == toRank || (to > from + 1 && random() % 4))
        continue;
      for (int k = 0; k < schedule.microBatches; ++k) {
        made.transfers.push_back(
            {fromRank, toRank, places[{from, true, k}], places[{to, true, k}]});
        if (schedule.hasBackward())
          made.transfers.push_back({toRank, fromRank, places[{to, false, k}],
                                    places[{from, false, k}]});
      }
    }
  return made;
}

/// Ranks that take turns by chance. Whether all come to an end.
class Machine {
public:
  Machine(const Instance &instance, const std::vector<int> &order)
      : instance(instance), begun(instance.durations.size()),
        over(instance.durations.size()), isOver(instance.transfers.size()),
        queues(instance.durations.size()) {
    for (int number : order) {
      queues[instance.transfers[number].from].push_back(number);
      queues[instance.transfers[number].to].push_back(number);
    }
  }

  bool run(std::mt19937 &random) {
    std::vector<int> ranks(queues.size());
    for (size_t i = 0; i < ranks.size(); ++i)
      ranks[i] = static_cast<int>(i);
    for (bool goesOn = true; goesOn;) {
      std::shuffle(ranks.begin(), ranks.end(), random);
      goesOn = std::any_of(ranks.begin(), ranks.end(),
                           [this](int rank) { return step(rank); });
    }
    for (size_t rank = 0; rank < queues.size(); ++rank)
      if (over[rank] < instance.durations[rank].size())
        return false;
    return true;
  }

private:
  bool isGiven(int rank, int number) const {
    const Transfer &transfer = instance.transfers[number];
    auto made = static_cast<size_t>(transfer.made);
    auto used = static_cast<size_t>(transfer.used);
    return rank == transfer.from ? over[rank] > made : begun[rank] + 1 > used;
  }
  bool isFirst(int rank, int number) const {
    return !queues[rank].empty() && queues[rank].front() == number;
  }
  /// A rank goes on by one piece, if it can.
  bool step(int rank) {
    if (!queues[rank].empty()) {
      int number = queues[rank].front();
      const Transfer &transfer = instance.transfers[number];
      int from = transfer.from, to = transfer.to;
      if (isFirst(from, number) && isFirst(to, number) &&
          isGiven(from, number) && isGiven(to, number)) {
        queues[from].erase(queues[from].begin());
        queues[to].erase(queues[to].begin());
        return isOver[number] = true;
      }
    }
    if (over[rank] == instance.durations[rank].size())
      return false;
    if (begun[rank] == over[rank]) {
      ++begun[rank];
      return true;
    }
    for (size_t i = 0; i < isOver.size(); ++i)
      if (instance.transfers[i].to == rank && !isOver[i] &&
          instance.transfers[i].used == static_cast<int>(over[rank]))
        return false;
    ++over[rank];
    return true;
  }

  const Instance &instance;
  std::vector<size_t> begun, over; ///< by rank: so many of its actions
  std::vector<bool> isOver;        ///< by transfer
  std::vector<std::vector<int>> queues;
};

Schedule draw(std::string_view name, std::mt19937 &random) {
  Shape shape;
  shape.ranks = 1 + static_cast<int>(random() % 4);
  shape.stagesPerRank = usualStagesPerRank(name);
  shape.microBatches = shape.ranks * (2 + static_cast<int>(random() % 3));
  shape.isForwardOnly = random() % 8 == 0;
  ScheduleError error;
  auto made = generate(name, shape, error);
  EXPECT_TRUE(made) << name << ": " << error.message;
  return made.value_or(Schedule());
}

TEST(TransferOrderTest, RandomRanksOfAllSchedulesComeToAnEnd) {
  EXPECT_EQ(scheduleNames().size(), 9u);
  for (std::string_view name : scheduleNames())
    for (unsigned turn = 0; turn < 12; ++turn) {
      std::mt19937 random(turn);
      Instance instance = makeInstance(draw(name, random), random);
      auto order = orderTransfers(instance.durations, instance.transfers);
      ASSERT_TRUE(order) << name;
      EXPECT_EQ(*order,
                *orderTransfers(instance.durations, instance.transfers));
      std::vector<int> all = *order;
      std::sort(all.begin(), all.end());
      ASSERT_EQ(all.size(), instance.transfers.size());
      for (size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], static_cast<int>(i));
      EXPECT_TRUE(Machine(instance, *order).run(random)) << name << " " << turn;
    }
}

/// An order by which each rank sends first what it makes first.
TEST(TransferOrderTest, AnOrderOfAnotherKindStops) {
  int stopped = 0;
  for (std::string_view name : scheduleNames())
    for (unsigned turn = 0; turn < 10; ++turn) {
      std::mt19937 random(turn);
      Instance instance = makeInstance(draw(name, random), random);
      std::vector<int> order(instance.transfers.size());
      for (size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int>(i);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return instance.transfers[a].made < instance.transfers[b].made;
      });
      stopped += !Machine(instance, order).run(random);
    }
  EXPECT_GT(stopped, 20);
}

TEST(TransferOrderTest, WhatCanBeginFirstIsFirst) {
  // Rank 0 makes at 5, rank 1 at 1, for actions at the end of rank 2.
  std::vector<std::vector<int64_t>> durations = {{5}, {1}, {1, 1}};
  EXPECT_EQ(*orderTransfers(durations, {{0, 2, 0, 0}, {1, 2, 0, 1}}),
            (std::vector<int>{1, 0}));
  // The receive of the second begins with the action before its last.
  durations = {{5}, {1}, {1, 1, 1}};
  EXPECT_EQ(*orderTransfers(durations, {{0, 2, 0, 0}, {1, 2, 0, 2}}),
            (std::vector<int>{0, 1}));
}

TEST(TransferOrderTest, DurationsWhoseSumIsNoTimeAreCutOff) {
  // Two of the longest are longer than one and nothing, whatever they are.
  int64_t longest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(*orderTransfers({{longest, longest}, {longest, 0}, {1, 1}},
                            {{0, 2, 1, 0}, {1, 2, 1, 1}}),
            (std::vector<int>{1, 0}));
}

TEST(TransferOrderTest, ActionsThatWaitForEachOtherHaveNone) {
  EXPECT_FALSE(orderTransfers({{1, 1}, {1, 1}}, {{0, 1, 1, 0}, {1, 0, 1, 0}}));
}

} // namespace
