// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bubbles and memory of the named schedules, in closed form; random costs
// against the naive simulation.

#include "cutback/Schedule/Simulate.h"

#include "cutback/Schedule/Generate.h"

#include <gtest/gtest.h>

#include <chrono>
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

Simulation run(const Schedule &schedule, const Costs &costs) {
  ScheduleError error;
  auto result = simulate(schedule, costs, error);
  EXPECT_TRUE(result) << error.message << "\n" << error.note;
  return result.value_or(Simulation());
}

Simulation run(const Schedule &schedule) {
  return run(schedule, equalCosts(schedule.stages));
}

/// In forwards of one stage.
int64_t bubbleOf(std::string_view name, int p, int v, int m) {
  Simulation result = run(make(name, p, v, m));
  EXPECT_EQ(result.largestBubble() % kUnitPicoseconds, 0);
  return result.largestBubble() / kUnitPicoseconds;
}

TEST(SimulateTest, BubblesAreThoseOfTheTable) {
  for (auto [p, m] :
       {std::pair(4, 8), {4, 16}, {4, 32}, {8, 16}, {8, 32}, {8, 8}}) {
    int hops = p - 1;
    EXPECT_EQ(bubbleOf("GPipe", p, 1, m), 3 * hops);
    EXPECT_EQ(bubbleOf("1F1B", p, 1, m), 3 * hops);
    EXPECT_EQ(bubbleOf("InterleavedZeroBubble", p, 1, m), hops);
    EXPECT_EQ(bubbleOf("Interleaved1F1B", p, 2, m), 3 * hops);
    EXPECT_EQ(bubbleOf("Interleaved1F1B", p, 4, m), 3 * hops);
    EXPECT_EQ(bubbleOf("LoopedBFS", p, 2, m), 3 * hops);
    EXPECT_EQ(bubbleOf("InterleavedZeroBubble", p, 2, m), hops);
    if (m < 2 * p)
      continue;
    EXPECT_EQ(bubbleOf("ZBVZeroBubble", p, 2, m), hops);
    EXPECT_EQ(bubbleOf("DualPipeV", p, 2, m), hops);
  }
}

TEST(SimulateTest, FewerMicroBatchesThanRanks) {
  EXPECT_EQ(bubbleOf("GPipe", 4, 1, 3), 9);
  EXPECT_EQ(bubbleOf("InterleavedZeroBubble", 4, 1, 3), 4);
  EXPECT_EQ(bubbleOf("InterleavedZeroBubble", 4, 2, 3), 5);
  EXPECT_EQ(bubbleOf("ZBVZeroBubble", 4, 2, 3), 8);
  EXPECT_EQ(bubbleOf("Interleaved1F1B", 4, 2, 3), 12);
  EXPECT_EQ(bubbleOf("LoopedBFS", 4, 2, 3), 12);
}

/// Micro-batches in flight of the whole rank, by rank.
std::vector<double> flightsOf(std::string_view name, int p, int v, int m) {
  std::vector<double> all;
  for (const RankResult &rank : run(make(name, p, v, m)).ranks)
    all.push_back(rank.inFlightOfRank());
  return all;
}

double mostFlights(std::string_view name, int p, int v, int m) {
  std::vector<double> all = flightsOf(name, p, v, m);
  return *std::max_element(all.begin(), all.end());
}

TEST(SimulateTest, MicroBatchesInFlightAreThoseOfTheTable) {
  for (auto [p, m] : {std::pair(4, 8), {4, 16}, {4, 32}, {8, 16}, {8, 32}}) {
    EXPECT_EQ(mostFlights("GPipe", p, 1, m), m);
    EXPECT_EQ(flightsOf("1F1B", p, 1, m).front(), p);
    EXPECT_EQ(flightsOf("1F1B", p, 1, m).back(), 1);
    for (int v : {2, 4})
      EXPECT_DOUBLE_EQ(mostFlights("Interleaved1F1B", p, v, m),
                       p + (p - 1.0) / v);
    EXPECT_EQ(mostFlights("LoopedBFS", p, 2, m), m);
    EXPECT_EQ(flightsOf("InterleavedZeroBubble", p, 1, m),
              std::vector<double>(p, p));
    EXPECT_EQ(flightsOf("ZBVZeroBubble", p, 2, m), std::vector<double>(p, p));
    EXPECT_EQ(mostFlights("DualPipeV", p, 2, m), p + 0.5);
    EXPECT_EQ(mostFlights("V-Half", p, 2, m), (p + 2) / 2);
    EXPECT_EQ(mostFlights("V-Min", p, 2, m), (p + 4) / 3);
  }
}

TEST(SimulateTest, VBlocksHaveHalfAndAThirdOfTheMemory) {
  for (auto [p, m] : {std::pair(4, 8), {4, 16}, {8, 16}, {8, 32}, {16, 64}}) {
    // In forwards of one stage, two of which are a rank's.
    double half = bubbleOf("V-Half", p, 2, m), min = bubbleOf("V-Min", p, 2, m);
    EXPECT_GE(half, 2 * 1.8 * (p - 1) - 1) << p << " " << m;
    EXPECT_LE(half, 2 * 2.0 * (p - 1)) << p << " " << m;
    EXPECT_GE(min, 2 * 1.8 * (p - 1) - 1) << p << " " << m;
    EXPECT_LE(min, 2 * 2.1 * (p - 1)) << p << " " << m;
  }
}

TEST(SimulateTest, EvaluationKeepsNothing) {
  Schedule schedule = forwardOnly(make("1F1B", 4, 1, 8));
  Costs costs = equalCosts(4);
  for (StageCosts &stage : costs.stages)
    stage.untilInputs = 1000;
  Simulation result = run(schedule, costs);
  EXPECT_EQ(result.makespan, (8 + 3) * kUnitPicoseconds);
  EXPECT_EQ(result.peakBytes(), 0);
  EXPECT_EQ(result.inFlightOfRank(), 1);
}

TEST(SimulateTest, SlotsUntilInputsAndUntilWeightsAreApart) {
  // 1F1B on one rank: one micro-batch at a time.
  Costs costs = equalCosts(1);
  costs.stages[0].untilInputs = 100;
  costs.stages[0].untilWeights = 70;
  costs.stages[0].arena = {5, 6, 7, 8};
  costs.stages[0].kept = 1000;
  Simulation full = run(make("1F1B", 1, 1, 3), costs);
  EXPECT_EQ(full.ranks[0].peakBytes, 1000 + 6 + 100);
  // Split, both are held while I runs; no weights are late on rank 0.
  Simulation split = run(make("InterleavedZeroBubble", 1, 1, 3), costs);
  EXPECT_EQ(split.ranks[0].peakBytes, 1000 + 8 + 170);
  EXPECT_EQ(split.ranks[0].memory.back().bytes, 1008);
  // What both are the same is held once.
  costs.stages[0].throughout = 30;
  split = run(make("InterleavedZeroBubble", 1, 1, 3), costs);
  EXPECT_EQ(split.ranks[0].peakBytes, 1000 + 8 + 140);
}

TEST(SimulateTest, AnActionThatTakesNoTimeHoldsItsMemory) {
  Costs costs = equalCosts(1);
  costs.stages[0].untilInputs = 100;
  costs.stages[0].untilWeights = 70;
  costs.stages[0].inputGradients = 0;
  Simulation result = run(make("InterleavedZeroBubble", 1, 1, 1), costs);
  EXPECT_EQ(result.peakBytes(), 170);
}

TEST(SimulateTest, LinksTakeOneMessageAtATime) {
  Schedule schedule = forwardOnly(make("GPipe", 2, 1, 3));
  Costs costs = equalCosts(2);
  costs.crossings[0].bytes = 2000;
  costs.link.latency = 5 * kUnitPicoseconds;
  costs.link.bytesPerSecond = 1e9; // 2 us a message, a forward takes 1
  Simulation result = run(schedule, costs);
  EXPECT_EQ(result.ranks[1].actions[0].start, (1 + 2 + 5) * kUnitPicoseconds);
  EXPECT_EQ(result.ranks[1].actions[2].start,
            (1 + 3 * 2 + 5) * kUnitPicoseconds);
  // Two wait for the link while a third is made.
  EXPECT_EQ(result.ranks[0].peakBytes, 2 * 2000);
}

TEST(SimulateTest, ListsThatWaitForEachOtherAreRefused) {
  Schedule schedule = make("GPipe", 2, 1, 2);
  std::swap(schedule.rows[1][1], schedule.rows[1][2]); // 1F0 1B0 1F1 1B1
  Schedule stuck = schedule;
  std::swap(stuck.rows[0][1], stuck.rows[0][2]); // 0F0 0B0 0F1 0B1
  std::swap(stuck.rows[1][0], stuck.rows[1][2]); // 1F1 1B0 1F0 1B1
  ScheduleError error;
  EXPECT_TRUE(simulate(schedule, equalCosts(2), error));
  EXPECT_FALSE(simulate(stuck, equalCosts(2), error));
  EXPECT_EQ(error.message, "rank 0, step 1: 0B0 waits forever: the lists make "
                           "no progress");
  EXPECT_EQ(error.note, "what it waits for comes later in a list that waits "
                        "for it\n"
                        "  step    0    1      2    3\n"
                        "  rank 0  0F0  >0B0<  0F1  0B1\n"
                        "  rank 1  1F1  1B0    1F0  1B1\n");
}

TEST(SimulateTest, TimesOfWeeksAreRefused) {
  Costs costs = equalCosts(1);
  costs.stages[0].forward = int64_t(1) << 62;
  ScheduleError error;
  EXPECT_FALSE(simulate(make("GPipe", 1, 1, 2), costs, error));
  EXPECT_EQ(error.message, "the actions last for more than 53 days");
}

/// Costs in which hardly any two times are equal.
Costs randomCosts(int stages, std::mt19937 &random) {
  auto draw = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  Costs costs = equalCosts(stages);
  for (StageCosts &stage : costs.stages) {
    stage.forward = draw(1, 1000000);
    stage.inputGradients = draw(1, 1000000);
    stage.weightGradients = draw(1, 1000000);
    stage.backward = draw(1, 2000000);
    stage.untilInputs = draw(0, 1000);
    stage.untilWeights = draw(0, 1000);
    stage.throughout = draw(0, std::min(stage.untilInputs, stage.untilWeights));
    for (int64_t &arena : stage.arena)
      arena = draw(0, 1000);
    stage.kept = draw(0, 1000);
    stage.updateArena = draw(0, 1000);
  }
  for (int i = 0; i + 2 < stages; ++i)
    if (draw(0, 3) == 0) {
      Crossing skip;
      skip.from = i;
      skip.to = static_cast<int>(draw(i + 2, stages - 1));
      skip.hasGradient = draw(0, 1) == 1;
      costs.crossings.push_back(skip);
    }
  for (Crossing &crossing : costs.crossings) {
    crossing.bytes = draw(0, 1000);
    crossing.gradientBytes = draw(0, 1000);
  }
  costs.link.latency = draw(0, 100000);
  costs.link.bytesPerSecond = draw(0, 1) ? 1e9 : 0;
  return costs;
}

TEST(SimulateTest, RandomCostsGiveWhatTheNaiveSimulationGives) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    auto draw = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    std::string_view name =
        scheduleNames()[draw(0, static_cast<int>(scheduleNames().size()) - 1)];
    int p = draw(1, 4), v = usualStagesPerRank(name);
    Schedule schedule = make(name, p, v, p * draw(2, 3));
    if (draw(0, 5) == 0)
      schedule = forwardOnly(schedule);
    Costs costs = randomCosts(schedule.stages, random);
    Simulation fast = run(schedule, costs);
    Simulation naive = simulateNaively(schedule, costs);
    ASSERT_EQ(fast.makespan, naive.makespan) << name << " seed " << seed;
    for (int rank = 0; rank < p; ++rank) {
      const RankResult &a = fast.ranks[rank], &b = naive.ranks[rank];
      EXPECT_EQ(a.busy, b.busy) << name << " seed " << seed;
      EXPECT_EQ(a.bubble, b.bubble) << name << " seed " << seed;
      EXPECT_EQ(a.peakBytes, b.peakBytes) << name << " seed " << seed;
      EXPECT_EQ(a.inFlight, b.inFlight) << name << " seed " << seed;
      ASSERT_EQ(a.actions.size(), b.actions.size());
      for (size_t i = 0; i < a.actions.size(); ++i) {
        EXPECT_EQ(a.actions[i].start, b.actions[i].start);
        EXPECT_EQ(a.actions[i].end, b.actions[i].end);
      }
    }
  }
}

TEST(SimulateTest, ALargePipelineTakesLessThanTwoSeconds) {
  Schedule schedule = make("ZBVZeroBubble", 64, 2, 512);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run(schedule).largestBubble(), 63 * kUnitPicoseconds);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_LT(time.count(), 2);
}

} // namespace
