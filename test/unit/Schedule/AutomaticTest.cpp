// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that are searched for, against named ones and the bound.

#include "cutback/Schedule/Automatic.h"

#include "cutback/Schedule/Check.h"
#include "cutback/Schedule/Csv.h"

#include <gtest/gtest.h>

#include <random>

using namespace cutback::pipeline;

namespace {

/// Of F, I and W in tenths of a microsecond, and bytes until I and W.
struct Weights {
  int forward, inputs, weights, untilInputs, untilWeights;
};

Costs costsFor(int stages, const Weights &of, bool isUneven) {
  Costs costs = equalCosts(stages);
  constexpr int64_t tenth = kUnitPicoseconds / 10;
  for (int i = 0; i < stages; ++i) {
    StageCosts &stage = costs.stages[i];
    int64_t more = isUneven ? 10 + i % 3 : 10;
    stage.forward = of.forward * tenth * more / 10;
    stage.inputGradients = of.inputs * tenth * more / 10;
    stage.weightGradients = of.weights * tenth * more / 10;
    stage.backward = stage.inputGradients + stage.weightGradients;
    stage.untilInputs = of.untilInputs * more;
    stage.untilWeights = of.untilWeights * more;
  }
  if (isUneven)
    for (Crossing &crossing : costs.crossings)
      crossing.bytes = crossing.gradientBytes = 30;
  costs.link.latency = isUneven ? tenth : 0;
  return costs;
}

AutomaticRequest requestFor(int ranks, int stagesPerRank, int microBatches) {
  AutomaticRequest request;
  request.shape.ranks = ranks;
  request.shape.stagesPerRank = stagesPerRank;
  request.shape.microBatches = microBatches;
  return request;
}

void expectRuns(const AutomaticSchedule &found,
                const AutomaticRequest &request) {
  auto wrong =
      checkActions(found.schedule, request.costs.crossings, ListForm::Compute);
  EXPECT_FALSE(wrong) << wrong->message;
  EXPECT_TRUE(found.schedule.addsInOrder());
  EXPECT_LE(found.simulation.peakBytes(), request.memoryLimit);
  EXPECT_LE(found.bound.makespan, found.simulation.makespan);
}

TEST(AutomaticTest, IsNeverSlowerThanANamedScheduleOfEqualMemory) {
  const Weights costs[] = {
      {10, 10, 10, 100, 100}, {10, 13, 7, 120, 196}, {10, 18, 12, 50, 10}};
  int compared = 0, faster = 0;
  for (auto [ranks, batches] : {std::pair(2, 4), {4, 3}, {4, 8}})
    for (int width : {1, 2})
      for (const Weights &weights : costs) {
        bool isUneven = &weights != costs;
        if (batches == 3 && isUneven)
          continue;
        AutomaticRequest request = requestFor(ranks, width, batches);
        request.costs = costsFor(ranks * width, weights, isUneven);
        for (std::string_view name : scheduleNames()) {
          ScheduleError error;
          auto schedule = generate(name, request.shape, error);
          if (!schedule)
            continue;
          auto named = simulate(*schedule, request.costs, error);
          ASSERT_TRUE(named);
          request.memoryLimit = named->peakBytes();
          auto found = findSchedule(request, error);
          ASSERT_TRUE(found) << name << ": " << error.message;
          EXPECT_LE(found->simulation.makespan, named->makespan) << name;
          expectRuns(*found, request);
          ++compared;
          faster += found->simulation.makespan < named->makespan;
        }
      }
  EXPECT_GT(compared, 40);
  EXPECT_GT(faster, compared / 2);
}

TEST(AutomaticTest, BetweenTheNamedOnesMemoryBuysTime) {
  // 8 ranks, two stages each, 16 micro-batches of 100 bytes a stage.
  AutomaticRequest request = requestFor(8, 2, 16);
  request.costs = costsFor(16, {10, 10, 10, 100, 100}, false);
  int64_t before = INT64_MAX;
  for (int slots : {8, 11, 14, 16}) {
    request.memoryLimit = 1000 * slots;
    ScheduleError error;
    auto found = findSchedule(request, error);
    ASSERT_TRUE(found) << error.message;
    EXPECT_LT(found->simulation.makespan, before);
    before = found->simulation.makespan;
    expectRuns(*found, request);
  }
  // With the memory of 1F1B the bubble is that of ZBV: the least there is.
  EXPECT_EQ(before, (16 * 6 + 7) * kUnitPicoseconds);
}

TEST(AutomaticTest, LittleMemoryHoldsFewerMicroBatchesInFlight) {
  struct Case {
    int stagesPerRank, slots, atMost; ///< micro-batches of a stage; units
  };
  // 1F1B has 8 and 16 slots; the bounds are 64, 128, 136 and 272.
  for (auto [width, slots, atMost] :
       {Case{1, 4, 86}, {1, 2, 165}, {2, 4, 272}, {2, 2, 656}}) {
    AutomaticRequest request = requestFor(8, width, 16);
    request.costs = costsFor(8 * width, {10, 10, 10, 100, 100}, false);
    request.memoryLimit = 1000 * slots;
    ScheduleError error;
    auto found = findSchedule(request, error);
    ASSERT_TRUE(found) << error.message;
    EXPECT_LE(found->simulation.makespan, atMost * kUnitPicoseconds);
    expectRuns(*found, request);
  }
}

TEST(AutomaticTest, ReachesTheBoundWhereMemoryIsNoLimit) {
  for (int width : {1, 2}) {
    AutomaticRequest request = requestFor(4, width, 8);
    request.costs = costsFor(4 * width, {10, 10, 10, 1, 1}, false);
    ScheduleError error;
    auto found = findSchedule(request, error);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->simulation.makespan, found->bound.makespan);
    EXPECT_EQ(found->bound.reason.substr(0, 11), "rank 3 has ");
  }
}

TEST(AutomaticTest, WithoutSplitBackwardsThereAreNone) {
  AutomaticRequest request = requestFor(4, 2, 8);
  request.costs = costsFor(8, {10, 10, 10, 100, 100}, false);
  request.splitsBackwards = false;
  request.memoryLimit = 8000;
  ScheduleError error;
  auto found = findSchedule(request, error);
  ASSERT_TRUE(found) << error.message;
  EXPECT_EQ(writeCsv(found->schedule).find_first_of("IW"), std::string::npos);
  expectRuns(*found, request);
}

TEST(AutomaticTest, EvaluationTakesForwardsAlone) {
  AutomaticRequest request = requestFor(4, 2, 5);
  request.costs = costsFor(8, {10, 10, 10, 100, 100}, false);
  request.shape.isForwardOnly = true;
  ScheduleError error;
  auto found = findSchedule(request, error);
  ASSERT_TRUE(found) << error.message;
  EXPECT_FALSE(found->schedule.hasBackward());
  EXPECT_EQ(found->simulation.peakBytes(), 0);
}

TEST(AutomaticTest, TooLittleMemoryIsAnErrorWithWhatIsNeeded) {
  AutomaticRequest request = requestFor(4, 1, 8);
  request.costs = costsFor(4, {10, 10, 10, 1024, 1024}, false);
  for (StageCosts &stage : request.costs.stages)
    stage.kept = 10240;
  request.memoryLimit = 15000;
  ScheduleError error;
  EXPECT_FALSE(findSchedule(request, error));
  EXPECT_EQ(error.message, "no schedule was found that keeps each rank within "
                           "14.6 KiB");
  EXPECT_EQ(error.note, "a rank needs at least 20.0 KiB for one micro-batch of "
                        "a stage; take a larger limit, more ranks, or smaller "
                        "micro-batches");
  // With what is said to be needed there is one.
  request.memoryLimit = 20 * 1024;
  auto found = findSchedule(request, error);
  ASSERT_TRUE(found) << error.message;
  expectRuns(*found, request);
}

TEST(AutomaticTest, TheSameRequestGivesTheSameSchedule) {
  AutomaticRequest request = requestFor(4, 2, 8);
  request.costs = costsFor(8, {10, 13, 7, 120, 196}, true);
  request.memoryLimit = 12000;
  ScheduleError error;
  auto first = findSchedule(request, error),
       second = findSchedule(request, error);
  ASSERT_TRUE(first && second) << error.message;
  EXPECT_EQ(writeCsv(first->schedule), writeCsv(second->schedule));
}

/// Costs of any kind.
Costs randomCosts(int stages, std::mt19937 &random) {
  auto draw = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  Costs costs = equalCosts(stages);
  for (StageCosts &stage : costs.stages) {
    stage.forward = draw(0, 1000);
    stage.inputGradients = draw(0, 1000);
    stage.weightGradients = draw(0, 1000);
    stage.backward = draw(0, 2000);
    stage.untilInputs = draw(0, 100);
    stage.untilWeights = draw(0, 100);
    stage.throughout = draw(0, std::min(stage.untilInputs, stage.untilWeights));
    stage.kept = draw(0, 100);
    stage.updateArena = draw(0, 100);
    for (int64_t &arena : stage.arena)
      arena = draw(0, 100);
  }
  for (int i = 0; i + 2 < stages; ++i)
    if (draw(0, 2) == 0)
      costs.crossings.push_back({i, static_cast<int>(draw(i + 2, stages - 1)),
                                 10, draw(0, 1) == 1, 10});
  costs.link.latency = draw(0, 100);
  costs.link.bytesPerSecond = draw(0, 1) ? 1e11 : 0;
  return costs;
}

TEST(BoundTest, NoScheduleIsFasterThanTheBound) {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    std::mt19937 random(seed);
    auto draw = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    Shape shape;
    std::string_view name =
        scheduleNames()[draw(0, static_cast<int>(scheduleNames().size()) - 1)];
    shape.ranks = draw(1, 4);
    shape.stagesPerRank = usualStagesPerRank(name);
    shape.microBatches = shape.ranks * draw(2, 3);
    shape.isForwardOnly = draw(0, 4) == 0;
    ScheduleError error;
    auto schedule = generate(name, shape, error);
    ASSERT_TRUE(schedule) << error.message;
    Costs costs = randomCosts(schedule->stages, random);
    auto simulation = simulate(*schedule, costs, error);
    ASSERT_TRUE(simulation);
    Problem problem = problemOf(*schedule, costs);
    EXPECT_LE(boundMakespan(problem).makespan, simulation->makespan)
        << name << " seed " << seed;
    problem.memoryLimit = simulation->peakBytes();
    Bound bound = boundMakespan(problem);
    EXPECT_LE(bound.makespan, simulation->makespan)
        << name << " seed " << seed << ": " << bound.reason;
    for (int rank = 0; rank < shape.ranks; ++rank)
      EXPECT_LE(leastBytes(problem, rank), simulation->ranks[rank].peakBytes);
  }
}

TEST(BoundTest, TheReasonIsSaid) {
  Problem problem;
  problem.ranks = 2;
  problem.microBatches = 4;
  problem.rankOfStage = {0, 1};
  problem.costs = equalCosts(2);
  for (StageCosts &stage : problem.costs.stages)
    stage.untilInputs = 10;
  EXPECT_EQ(boundMakespan(problem).makespan, 13 * kUnitPicoseconds);
  EXPECT_EQ(boundMakespan(problem).reason,
            "rank 1 has 12.00 us of work from 1.00 us on");
  // One slot: rank 0 waits for each micro-batch.
  problem.memoryLimit = 10;
  EXPECT_EQ(boundMakespan(problem).makespan, 4 * 4 * kUnitPicoseconds);
  EXPECT_EQ(boundMakespan(problem).reason,
            "rank 0 holds each micro-batch until its gradient has come back");
  // Two: it has two forwards for the time until the first gradient.
  problem.microBatches = 1;
  EXPECT_EQ(boundMakespan(problem).makespan, 5 * kUnitPicoseconds);
  problem.costs.stages[0].kept = 5;
  EXPECT_EQ(leastBytes(problem, 0), 15);
  for (StageCosts &stage : problem.costs.stages)
    stage = StageCosts{0, 0, 0, 0};
  EXPECT_EQ(boundMakespan(problem).makespan, 0);
  EXPECT_EQ(boundMakespan(problem).reason, "nothing takes any time");
}

} // namespace
