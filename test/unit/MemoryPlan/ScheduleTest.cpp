// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders against the best of all orders on small random programs, and what
// must hold on larger ones.

#include "RandomSchedule.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

TEST(ScheduleTest, SmallProgramsReachTheLeastPeakOfAllOrders) {
  std::mt19937_64 random(1);
  unsigned higher = 0, proved = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    ScheduleProblem problem = randomProblem(random, 1 + round % 7, 3);
    ASSERT_EQ(problem.check(), "");
    Schedule schedule = improveSchedule(problem);
    ASSERT_TRUE(isTopological(problem, schedule.order));
    ASSERT_EQ(schedule.peakAfter, schedulePeak(problem, schedule.order));
    int64_t least = leastPeak(problem);
    ASSERT_GE(schedule.peakAfter, least) << "round " << round;
    if (schedule.isLeast)
      ASSERT_EQ(schedule.peakAfter, least) << "round " << round;
    proved += schedule.isLeast;
    higher += schedule.peakAfter > least;
  }
  EXPECT_LE(higher, 5u);
  EXPECT_GT(proved, 600u);
}

TEST(ScheduleTest, ThePeakIsNeverAboveThatOfTheGivenOrder) {
  std::mt19937_64 random(2);
  unsigned lower = 0;
  for (unsigned round = 0; round < 150; ++round) {
    ScheduleProblem problem =
        randomProblem(random, 2 + random() % 120, 1 + random() % 20);
    Schedule schedule = improveSchedule(problem, 200'000);
    ASSERT_TRUE(isTopological(problem, schedule.order)) << "round " << round;
    ASSERT_LE(schedule.peakAfter, schedule.peakBefore);
    lower += schedule.peakAfter < schedule.peakBefore;
    ASSERT_EQ(improveSchedule(problem, 200'000).order, schedule.order);
  }
  EXPECT_GT(lower, 50u);
}

/// Only the stretch around the peak is cut where there is more of it.
TEST(ScheduleTest, ALongProgramIsCutInStretches) {
  std::mt19937_64 random(5);
  ScheduleProblem problem = randomProblem(random, 6000, 40);
  Schedule schedule = improveSchedule(problem, 3'000'000);
  ASSERT_TRUE(isTopological(problem, schedule.order));
  EXPECT_LT(schedule.peakAfter, schedule.peakBefore);
  EXPECT_FALSE(schedule.isLeast);
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
  EXPECT_TRUE(schedule.isLeast);
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

TEST(ScheduleTest, AProblemSaysWhatIsWrongWithIt) {
  std::mt19937_64 random(3);
  const ScheduleProblem right = randomProblem(random, 5, 2);
  auto wrong = [&](auto change) {
    ScheduleProblem problem = right;
    change(problem);
    return problem.check();
  };
  auto addTo = [](Rows &rows, uint32_t number) {
    rows.add(number);
    rows.begin.back() = rows.list.size();
  };
  EXPECT_EQ(right.check(), "");
  EXPECT_EQ(wrong([](auto &p) { p.isKept.pop_back(); }),
            "has other numbers of storages");
  EXPECT_EQ(wrong([](auto &p) { p.makes.endRow(); }),
            "has other numbers of ops");
  EXPECT_EQ(wrong([](auto &p) { p.depends.endRow(); }),
            "has other numbers of ops");
  EXPECT_EQ(wrong([&](auto &p) { addTo(p.reads, 7); }),
            "names a storage that there is not");
  // The last op makes storage 4, and the one before it 3.
  EXPECT_EQ(wrong([&](auto &p) { addTo(p.reads, 4); }),
            "reads a storage that nobody has made");
  EXPECT_EQ(wrong([&](auto &p) { addTo(p.makes, 3); }),
            "makes a storage twice");
  EXPECT_EQ(wrong([&](auto &p) { addTo(p.replaces, 4); }),
            "replaces a storage that it does not read");
  EXPECT_EQ(wrong([&](auto &p) { addTo(p.depends, 4); }),
            "depends on an op that comes later");
}

} // namespace
