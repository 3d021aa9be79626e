// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders against the best of all orders on small random programs, and what
// must hold on larger ones.

#include "cutback/MemoryPlan/Schedule.h"

#include "gtest/gtest.h"

#include <random>

using namespace cutback;

namespace {

/// Op i makes storage i and reads some of the earlier ones; `given` storages
/// behind those are live at the start.
ScheduleProblem randomProblem(std::mt19937_64 &random, uint32_t numOps,
                              uint32_t given) {
  ScheduleProblem problem;
  uint32_t count = numOps + given;
  for (uint32_t storage = 0; storage < count; ++storage) {
    problem.bytes.push_back(64 * (1 + random() % 8));
    problem.isGiven.push_back(storage >= numOps);
    problem.isKept.push_back(random() % 5 == 0);
  }
  for (uint32_t op = 0; op < numOps; ++op) {
    std::vector<uint8_t> isRead(count, 0);
    for (unsigned i = 0; i < random() % 3; ++i)
      isRead[op && random() % 3 ? random() % op : numOps + random() % given] =
          1;
    for (uint32_t storage = 0; storage < count; ++storage) {
      if (!isRead[storage])
        continue;
      problem.reads.add(storage);
      if (storage < op)
        problem.depends.add(storage);
      if (!problem.isKept[storage] &&
          problem.bytes[storage] == problem.bytes[op])
        problem.replaces.add(storage);
    }
    problem.makes.add(op);
    problem.depends.endRow();
    problem.reads.endRow();
    problem.makes.endRow();
    problem.replaces.endRow();
  }
  return problem;
}

TEST(ScheduleTest, SmallProgramsReachTheLeastPeakOfAllOrders) {
  std::mt19937_64 random(1);
  unsigned higher = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    ScheduleProblem problem = randomProblem(random, 1 + round % 7, 3);
    Schedule schedule = improveSchedule(problem);
    ASSERT_TRUE(isTopological(problem, schedule.order));
    ASSERT_EQ(schedule.peakAfter, schedulePeak(problem, schedule.order));
    int64_t least = leastPeak(problem);
    ASSERT_GE(schedule.peakAfter, least) << "round " << round;
    higher += schedule.peakAfter > least;
  }
  EXPECT_LE(higher, 5u);
}

TEST(ScheduleTest, ThePeakIsNeverAboveThatOfTheGivenOrder) {
  std::mt19937_64 random(2);
  unsigned lower = 0;
  for (unsigned round = 0; round < 300; ++round) {
    ScheduleProblem problem =
        randomProblem(random, 2 + random() % 120, 1 + random() % 20);
    Schedule schedule = improveSchedule(problem, 200'000);
    ASSERT_TRUE(isTopological(problem, schedule.order)) << "round " << round;
    ASSERT_LE(schedule.peakAfter, schedule.peakBefore);
    lower += schedule.peakAfter < schedule.peakBefore;
    ASSERT_EQ(improveSchedule(problem, 200'000).order, schedule.order);
  }
  EXPECT_GT(lower, 100u);
}

/// A large result waits while another op runs: it is made behind it.
TEST(ScheduleTest, AnOpThatThePeakDoesNotNeedMovesBehindIt) {
  ScheduleProblem problem;
  problem.bytes = {100, 100, 25, 100}; // given, large, mask, out
  problem.isGiven = {1, 0, 0, 0};
  problem.isKept = {0, 0, 0, 1};
  // The mask is the last reader of what is given; out takes large's place.
  problem.depends = {{0, 0, 0, 2}, {0, 1}};
  problem.reads = {{0, 0, 1, 3}, {0, 1, 2}};
  problem.makes = {{0, 1, 2, 3}, {1, 2, 3}};
  problem.replaces = {{0, 0, 0, 1}, {1}};
  Schedule schedule = improveSchedule(problem);
  EXPECT_EQ(schedule.order, (std::vector<uint32_t>{1, 0, 2}));
  EXPECT_EQ(schedule.peakBefore, 225);
  EXPECT_EQ(schedule.peakAfter, 125);
}

TEST(ScheduleTest, AnOrderThatIsNoneIsSeen) {
  std::mt19937_64 random(3);
  ScheduleProblem problem = randomProblem(random, 4, 1);
  EXPECT_FALSE(isTopological(problem, {0, 1, 2}));
  EXPECT_FALSE(isTopological(problem, {0, 1, 2, 2}));
  EXPECT_FALSE(isTopological(problem, {0, 1, 2, 7}));
  problem.depends.list = {3};
  problem.depends.begin = {0, 1, 1, 1, 1};
  EXPECT_FALSE(isTopological(problem, {0, 1, 2, 3}));
  EXPECT_TRUE(isTopological(problem, {1, 2, 3, 0}));
}

} // namespace
