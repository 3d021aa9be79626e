// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search over levels of recomputation, one a stage. Ranks of a schedule have
// different numbers of micro-batches in flight (the first one of 1F1B the most,
// the last one 1), so what fits for one is needless for another.
//
// Each candidate is simulated, a few thousand actions: a search of a hundred
// takes milliseconds, where a plan takes tens of them.

#include "cutback/Pipelining/FitStages.h"

#include "cutback/Support/Text.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

class Fitter {
public:
  Fitter(const StageLevels &stages, const Schedule &schedule, int64_t limit)
      : stages(stages), schedule(schedule), limit(limit) {}

  std::optional<FittedStages> run(std::string &error);
  std::optional<FittedStages> runAlike();

private:
  using Levels = std::vector<unsigned>;
  std::optional<Simulation> simulateAt(const Levels &levels);
  bool raise(Levels &levels, const Simulation &now);
  bool isOver(const RankResult &rank) const { return rank.peakBytes > limit; }
  bool fits(const Simulation &simulation) const {
    return simulation.peakBytes() <= limit;
  }
  void giveBack(FittedStages &fitted);

  const StageLevels &stages;
  const Schedule &schedule;
  int64_t limit;
  int64_t leastPeak = INT64_MAX;
};

} // namespace

/// Nothing where a stage has no plan at its level.
std::optional<Simulation> Fitter::simulateAt(const Levels &levels) {
  Costs costs;
  costs.crossings = stages.crossings;
  costs.link = stages.link;
  for (unsigned stage = 0; stage < stages.stages; ++stage) {
    const pipeline::StageCosts *own = stages.costsOf(stage, levels[stage]);
    if (!own)
      return std::nullopt;
    costs.stages.push_back(*own);
  }
  ScheduleError error;
  std::optional<Simulation> simulation = simulate(schedule, costs, error);
  if (simulation)
    leastPeak = std::min(leastPeak, simulation->peakBytes());
  return simulation;
}

/// Of the ranks over the limit, the one that is furthest over: its stage whose
/// next level frees the most.
bool Fitter::raise(Levels &levels, const Simulation &now) {
  std::vector<size_t> over;
  for (size_t rank = 0; rank < now.ranks.size(); ++rank)
    if (isOver(now.ranks[rank]))
      over.push_back(rank);
  std::stable_sort(over.begin(), over.end(), [&](size_t a, size_t b) {
    return now.ranks[a].peakBytes > now.ranks[b].peakBytes;
  });
  for (size_t rank : over) {
    std::optional<Levels> best;
    int64_t least = INT64_MAX;
    for (unsigned stage = 0; stage < stages.stages; ++stage) {
      if (schedule.rankOfStage[stage] != static_cast<int>(rank) ||
          levels[stage] + 1 >= stages.levels)
        continue;
      Levels next = levels;
      ++next[stage];
      std::optional<Simulation> then = simulateAt(next);
      if (then && then->ranks[rank].peakBytes < least) {
        least = then->ranks[rank].peakBytes;
        best = next;
      }
    }
    if (best) {
      levels = *best;
      return true;
    }
  }
  return false;
}

void Fitter::giveBack(FittedStages &fitted) {
  for (unsigned stage = 0; stage < stages.stages; ++stage)
    while (fitted.levels[stage] > 0) {
      Levels next = fitted.levels;
      --next[stage];
      std::optional<Simulation> then = simulateAt(next);
      if (!then || !fits(*then) || then->makespan > fitted.simulation.makespan)
        break;
      fitted = {next, std::move(*then)};
    }
}

std::optional<FittedStages> Fitter::runAlike() {
  std::optional<FittedStages> best;
  for (unsigned level = 0; level < stages.levels; ++level) {
    Levels all(stages.stages, level);
    std::optional<Simulation> then = simulateAt(all);
    if (then && fits(*then) &&
        (!best || then->makespan < best->simulation.makespan))
      best = FittedStages{all, std::move(*then)};
  }
  return best;
}

std::optional<FittedStages> Fitter::run(std::string &error) {
  std::optional<FittedStages> best;
  Levels levels(stages.stages, 0);
  std::optional<Simulation> now = simulateAt(levels);
  while (now && !fits(*now) && raise(levels, *now))
    now = simulateAt(levels);
  if (now && fits(*now)) {
    best = FittedStages{levels, std::move(*now)};
    giveBack(*best);
  }
  std::optional<FittedStages> alike = runAlike();
  if (alike &&
      (!best || alike->simulation.makespan < best->simulation.makespan)) {
    best = std::move(alike);
    giveBack(*best);
  }
  if (!best)
    error = "a rank of " + schedule.name + " needs more than " +
            formatBytes(limit) +
            (leastPeak == INT64_MAX ? ""
                                    : ": the least peak that was found is " +
                                          formatBytes(leastPeak));
  return best;
}

std::optional<FittedStages> cutback::fitStages(const StageLevels &stages,
                                               const Schedule &schedule,
                                               int64_t limit,
                                               std::string &error) {
  return Fitter(stages, schedule, limit).run(error);
}

std::optional<FittedStages> cutback::fitAlike(const StageLevels &stages,
                                              const Schedule &schedule,
                                              int64_t limit) {
  return Fitter(stages, schedule, limit).runAlike();
}
