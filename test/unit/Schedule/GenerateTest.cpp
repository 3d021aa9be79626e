// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists against those that PyTorch has, and the conditions of each schedule.

#include "cutback/Schedule/Generate.h"

#include "RecordedOrders.h"

#include <gtest/gtest.h>

#include <set>

using namespace cutback::pipeline;

namespace {

Shape shapeOf(int ranks, int stagesPerRank, int microBatches) {
  Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = stagesPerRank;
  shape.microBatches = microBatches;
  return shape;
}

TEST(GenerateTest, HasTheOrderOfPyTorch) {
  int compared = 0;
  std::set<std::string> names;
  for (const RecordedOrder &order : readRecordedOrders()) {
    if (order.form != "compute")
      continue;
    ScheduleError error;
    auto schedule = generate(order.name, order.shape, error);
    ASSERT_TRUE(schedule) << order.title() << ": " << error.message;
    std::string lists = listsOf(*schedule);
    if (!order.lists.empty())
      EXPECT_EQ(lists, order.lists) << order.title();
    EXPECT_EQ(crcOf(lists), order.crc) << order.title();
    names.insert(order.name);
    ++compared;
  }
  EXPECT_EQ(names.size(), 7u);
  EXPECT_GT(compared, 80);
}

TEST(GenerateTest, NamesHaveAnyCase) {
  EXPECT_EQ(findScheduleName("zbvzerobubble"), "ZBVZeroBubble");
  EXPECT_EQ(findScheduleName("v-half"), "V-Half");
  EXPECT_EQ(findScheduleName("1f1"), std::nullopt);
  EXPECT_EQ(scheduleNames().size(), 9u);
  EXPECT_EQ(usualStagesPerRank("gpipe"), 1);
  EXPECT_EQ(usualStagesPerRank("DUALPIPEV"), 2);
}

TEST(GenerateTest, StagesAreOnRanksInALoopOrInAV) {
  EXPECT_EQ(rankOfStage(Mapping::Loop, 3, 2),
            (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(rankOfStage(Mapping::V, 3, 3),
            (std::vector<int>{0, 1, 2, 2, 1, 0, 0, 1, 2}));
}

struct Refused {
  const char *name;
  Shape shape;
  const char *message, *note;
};

TEST(GenerateTest, ConditionsAreNamed) {
  const Refused cases[] = {
      {"fastest", shapeOf(2, 1, 2), "no schedule is called 'fastest'",
       "schedules are GPipe, 1F1B, LoopedBFS, Interleaved1F1B, "
       "InterleavedZeroBubble, ZBVZeroBubble, DualPipeV, V-Half, V-Min"},
      {"gpipe", shapeOf(2, 2, 2), "GPipe has one stage per rank, not 2",
       "Interleaved1F1B and LoopedBFS have several"},
      {"1F1B", shapeOf(4, 1, 3),
       "1F1B needs at least as many micro-batches as stages: 4, not 3",
       "take more micro-batches, or GPipe, which takes any number"},
      {"Interleaved1F1B", shapeOf(4, 2, 9),
       "Interleaved1F1B has rounds of equally many micro-batches: 9 are not a "
       "multiple of 2, the rounds of 4 ranks",
       "take 8 or 10 micro-batches"},
      {"InterleavedZeroBubble", shapeOf(2, 1, 7),
       "InterleavedZeroBubble has rounds of equally many micro-batches: 7 are "
       "not a multiple of 3, the rounds of 2 ranks",
       "take 6 or 9 micro-batches"},
      {"V-Half", shapeOf(4, 1, 8), "V-Half has two stages per rank, not 1",
       "split the model into twice as many stages as ranks, or take "
       "InterleavedZeroBubble"},
      {"DualPipeV", shapeOf(4, 2, 7),
       "DualPipeV needs at least as many micro-batches as stages: 8, not 7",
       "take more micro-batches, or GPipe, which takes any number"},
      {"GPipe", shapeOf(2, 1, 0),
       "a schedule has at least one rank, one stage per rank and one "
       "micro-batch, not 2, 1 and 0",
       "give numbers from 1 on"},
      {"GPipe", shapeOf(1000, 1, 100000),
       "a schedule of 300,000,000 actions is larger than 2,097,152",
       "take fewer micro-batches or ranks"},
      {"LoopedBFS", shapeOf(10000, 2, 1), "20,000 stages are more than 16,384",
       "take fewer ranks"},
  };
  for (const Refused &refused : cases) {
    ScheduleError error;
    EXPECT_FALSE(generate(refused.name, refused.shape, error));
    EXPECT_EQ(error.message, refused.message);
    EXPECT_EQ(error.note, refused.note);
  }
}

TEST(GenerateTest, AllButLoopedBfsAddGradientsInOrder) {
  for (std::string_view name : scheduleNames())
    for (auto [ranks, batches] : {std::pair(1, 4), {2, 4}, {4, 8}, {8, 24}}) {
      ScheduleError error;
      auto schedule = generate(
          name, shapeOf(ranks, usualStagesPerRank(name), batches), error);
      ASSERT_TRUE(schedule) << error.message;
      EXPECT_EQ(schedule->addsInOrder(), name != "LoopedBFS") << name;
    }
}

TEST(GenerateTest, EvaluationHasForwardsAlone) {
  Shape shape = shapeOf(4, 2, 8);
  for (std::string_view name : scheduleNames()) {
    shape.stagesPerRank = usualStagesPerRank(name);
    ScheduleError error;
    shape.isForwardOnly = false;
    auto training = generate(name, shape, error);
    shape.isForwardOnly = true;
    auto evaluation = generate(name, shape, error);
    ASSERT_TRUE(training && evaluation) << name;
    EXPECT_TRUE(training->hasBackward());
    EXPECT_FALSE(evaluation->hasBackward());
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(evaluation->rows[rank].size(), 8u * shape.stagesPerRank);
  }
}

} // namespace
