// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists that are ready to run: against PyTorch's, with skip connections, on
// ranks that wait at every message.

#include "cutback/Schedule/Lower.h"

#include "cutback/Schedule/Check.h"

#include "RecordedOrders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace cutback::pipeline;

namespace {

Schedule make(std::string_view name, int ranks, int stagesPerRank,
              int microBatches) {
  Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = stagesPerRank;
  shape.microBatches = microBatches;
  ScheduleError error;
  auto schedule = generate(name, shape, error);
  EXPECT_TRUE(schedule) << error.message;
  return schedule.value_or(Schedule());
}

Schedule lowered(const Schedule &schedule,
                 const std::vector<Crossing> &crossings,
                 const LowerOptions &options) {
  ScheduleError error;
  auto result = lower(schedule, crossings, options, error);
  EXPECT_TRUE(result) << error.message << "\n" << error.note;
  return result.value_or(Schedule());
}

void expectRuns(const Schedule &schedule,
                const std::vector<Crossing> &crossings, Transfers transfers) {
  auto error =
      checkActions(schedule, crossings, ListForm::WithTransfers, transfers);
  EXPECT_FALSE(error) << schedule.name << ": " << error->message << "\n"
                      << error->note;
}

TEST(LowerTest, HasTheListsOfPyTorch) {
  int compared = 0;
  for (const RecordedOrder &order : readRecordedOrders()) {
    if (order.form == "compute")
      continue;
    Schedule schedule =
        make(order.name, order.shape.ranks, order.shape.stagesPerRank,
             order.shape.microBatches);
    LowerOptions options;
    options.gatheredStages = 3;
    options.defersReceives = order.form == "deferred";
    std::string lists =
        listsOf(lowered(schedule, chainOf(schedule.stages), options));
    if (!order.lists.empty())
      EXPECT_EQ(lists, order.lists) << order.title();
    EXPECT_EQ(crcOf(lists), order.crc) << order.title();
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

TEST(LowerTest, NeighboursAreMergedAndGradientsReducedOnce) {
  LowerOptions options;
  options.mergesBackwards = true;
  Schedule schedule =
      lowered(make("ZBVZeroBubble", 2, 2, 3), chainOf(4), options);
  std::string lists = listsOf(schedule);
  EXPECT_NE(lists.find("3B0"), std::string::npos) << lists;
  EXPECT_NE(lists.find("2W2,2REDUCE_GRAD"), std::string::npos) << lists;
  EXPECT_EQ(lists.find("3REDUCE_GRAD"), lists.rfind("3REDUCE_GRAD"));
  expectRuns(schedule, chainOf(4), Transfers::Blocking);
  options.reducesGradients = false;
  lists = listsOf(lowered(make("GPipe", 2, 1, 1), chainOf(2), options));
  EXPECT_EQ(lists, "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
}

TEST(LowerTest, WhatStaysOnARankIsHandedOver) {
  std::string lists =
      listsOf(lowered(make("V-Half", 1, 2, 2), chainOf(2), LowerOptions()));
  EXPECT_EQ(lists.find("SEND"), std::string::npos);
  EXPECT_EQ(lists.find("RECV"), std::string::npos);
}

TEST(LowerTest, ASkipConnectionNamesTheOtherStage) {
  std::vector<Crossing> crossings = chainOf(3);
  crossings.push_back({0, 2, 0, true, 0});
  Schedule schedule =
      lowered(make("GPipe", 3, 1, 1), crossings, LowerOptions());
  EXPECT_EQ(listsOf(schedule),
            "0F0,0SEND_F0,0SEND_F0>2,0RECV_B0<2,0RECV_B0,0B0,0REDUCE_GRAD\n"
            "1RECV_F0,1F0,1SEND_F0,1RECV_B0,1B0,1SEND_B0,1REDUCE_GRAD\n"
            "2RECV_F0<0,2RECV_F0,2F0,2B0,2SEND_B0,2SEND_B0>0,2REDUCE_GRAD\n");
  expectRuns(schedule, crossings, Transfers::Blocking);
}

TEST(LowerTest, RandomSkipConnectionsRunOnRanksThatWaitForEachOther) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    auto draw = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    std::string_view name =
        scheduleNames()[draw(0, static_cast<int>(scheduleNames().size()) - 1)];
    int p = draw(1, 5), v = usualStagesPerRank(name);
    Schedule schedule = make(name, p, v, p * draw(2, 3));
    if (draw(0, 4) == 0)
      schedule = forwardOnly(schedule);
    std::vector<Crossing> crossings = chainOf(schedule.stages);
    for (int i = 0; i + 2 < schedule.stages; ++i)
      if (draw(0, 1))
        crossings.push_back(
            {i, draw(i + 2, schedule.stages - 1), 0, draw(0, 2) > 0, 0});
    LowerOptions options;
    options.mergesBackwards = draw(0, 1);
    options.gatheredStages = draw(0, 3);
    Schedule early = lowered(schedule, crossings, options);
    expectRuns(early, crossings, Transfers::Blocking);
    expectRuns(early, crossings, Transfers::Posted);
    options.defersReceives = true;
    expectRuns(lowered(schedule, crossings, options), crossings,
               Transfers::Posted);
    if (!options.mergesBackwards)
      EXPECT_EQ(listsOf(computeOnly(early)), listsOf(schedule));
  }
}

TEST(LowerTest, AnOverlapThatNeedsItsOwnPartIsRefused) {
  Schedule schedule = make("GPipe", 2, 1, 1);
  Action both;
  both.kind = ActionKind::Overlap;
  both.parts = {*schedule.rows[0][0], *schedule.rows[0][1]};
  schedule.rows[0] = {both};
  ScheduleError error;
  EXPECT_FALSE(lower(schedule, chainOf(2), LowerOptions(), error));
  EXPECT_EQ(error.message, "rank 0, step 0: (0F0;0B0)OVERLAP_F_B needs what is "
                           "sent after it");
  EXPECT_EQ(error.note.substr(0, 33), "take its parts out of the overlap");
}

} // namespace
