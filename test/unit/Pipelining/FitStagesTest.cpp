// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levels of recomputation by stage: what fits, and against one level for all.

#include "cutback/Pipelining/FitStages.h"
#include "cutback/Schedule/Generate.h"

#include "gtest/gtest.h"

#include <random>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

/// Stages whose higher levels keep less and take longer.
struct RandomLevels {
  std::vector<std::vector<pipeline::StageCosts>> costs; ///< by stage and level

  RandomLevels(std::mt19937 &random, unsigned stages, unsigned levels) {
    for (unsigned stage = 0; stage < stages; ++stage) {
      auto &own = costs.emplace_back();
      int64_t kept = 40 + random() % 60, time = 10 + random() % 10;
      for (unsigned level = 0; level < levels; ++level) {
        pipeline::StageCosts &one = own.emplace_back();
        one.forward = 10;
        one.backward = 2 * time;
        one.inputGradients = one.weightGradients = time;
        one.untilInputs = kept;
        one.kept = 7;
        kept -= std::min<int64_t>(kept, random() % 40);
        time += 1 + random() % 6;
      }
    }
  }
};

Schedule make(const char *name, int ranks, int microBatches) {
  Shape shape;
  shape.ranks = ranks;
  shape.microBatches = microBatches;
  ScheduleError error;
  auto made = generate(name, shape, error);
  EXPECT_TRUE(made) << error.message;
  return *made;
}

Simulation simulateAt(const RandomLevels &random,
                      const std::vector<unsigned> &levels,
                      const Schedule &schedule) {
  Costs costs;
  costs.crossings = chainOf(static_cast<int>(levels.size()));
  for (size_t stage = 0; stage < levels.size(); ++stage)
    costs.stages.push_back(random.costs[stage][levels[stage]]);
  ScheduleError error;
  auto simulation = simulate(schedule, costs, error);
  EXPECT_TRUE(simulation) << error.message;
  return *simulation;
}

} // namespace

TEST(FitStages, FitsAndIsNeverSlowerThanOneLevelForAll) {
  std::mt19937 random(3);
  constexpr unsigned kStages = 4, kLevels = 5;
  Schedule schedule = make("1F1B", kStages, 8);
  unsigned found = 0, faster = 0;
  for (int round = 0; round < 200; ++round) {
    RandomLevels given(random, kStages, kLevels);
    int64_t limit = 60 + random() % 250;
    auto costsOf = [&](unsigned stage, unsigned level) {
      return &given.costs[stage][level];
    };
    StageLevels levels;
    levels.stages = kStages;
    levels.levels = kLevels;
    levels.costsOf = costsOf;
    levels.crossings = chainOf(kStages);
    std::string error;
    auto fitted = fitStages(levels, schedule, limit, error);
    std::optional<int64_t> uniform;
    for (unsigned level = 0; level < kLevels; ++level) {
      Simulation all =
          simulateAt(given, std::vector<unsigned>(kStages, level), schedule);
      if (all.peakBytes() <= limit)
        uniform = std::min(uniform.value_or(all.makespan), all.makespan);
    }
    auto alike = fitAlike(levels, schedule, limit);
    ASSERT_EQ(alike.has_value(), uniform.has_value()) << "round " << round;
    if (alike) {
      EXPECT_EQ(alike->simulation.makespan, *uniform) << "round " << round;
      EXPECT_EQ(alike->levels,
                std::vector<unsigned>(kStages, alike->levels[0]));
    }
    if (!fitted) {
      EXPECT_FALSE(uniform) << "round " << round;
      EXPECT_NE(error.find("the least peak that was found"), std::string::npos);
      continue;
    }
    ++found;
    Simulation now = simulateAt(given, fitted->levels, schedule);
    EXPECT_LE(now.peakBytes(), limit);
    EXPECT_EQ(now.makespan, fitted->simulation.makespan);
    if (uniform) {
      EXPECT_LE(now.makespan, *uniform) << "round " << round;
      faster += now.makespan < *uniform;
    }
  }
  EXPECT_GT(found, 100U);
  EXPECT_GT(faster, 20U);
}

TEST(FitStages, AStageWithoutAPlanAtALevelIsPassedOver) {
  std::mt19937 random(5);
  RandomLevels given(random, 2, 3);
  auto costsOf = [&](unsigned stage,
                     unsigned level) -> const pipeline::StageCosts * {
    return stage == 0 && level > 0 ? nullptr : &given.costs[stage][level];
  };
  StageLevels levels;
  levels.stages = 2;
  levels.levels = 3;
  levels.costsOf = costsOf;
  levels.crossings = chainOf(2);
  std::string error;
  auto fitted = fitStages(levels, make("GPipe", 2, 2), 1000, error);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->levels, (std::vector<unsigned>{0, 0}));
  EXPECT_FALSE(fitStages(levels, make("GPipe", 2, 2), 1, error));
}
