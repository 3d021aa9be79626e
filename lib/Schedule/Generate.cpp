// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules by name: which sizes each has, and who generates it.
//
// Conditions are PyTorch's (1F1B needs a micro-batch for every rank, rounds of
// an interleaved one have equal numbers of them, ...), so that what runs there
// runs here; a message names the condition and a size that fits. Sizes are
// limited so that lists stay within memory: 2^21 actions.
//
// A schedule for evaluation is the training schedule without backwards: what
// is left of lists that make progress makes progress.

#include "cutback/Schedule/Generate.h"

#include "Generators.h"

#include "cutback/Support/Text.h"

#include <algorithm>
#include <cctype>

namespace cutback::pipeline {

std::vector<int> rankOfStage(Mapping mapping, int ranks, int stagesPerRank) {
  std::vector<int> rank;
  for (int pass = 0; pass < stagesPerRank; ++pass)
    for (int i = 0; i < ranks; ++i) {
      bool isBack = mapping == Mapping::V && pass % 2 == 1;
      rank.push_back(isBack ? ranks - 1 - i : i);
    }
  return rank;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

using Condition = std::optional<ScheduleError> (*)(const std::string &name,
                                                   const Shape &shape);

static std::optional<ScheduleError> needsOneStage(const std::string &name,
                                                  const Shape &shape) {
  if (shape.stagesPerRank == 1)
    return std::nullopt;
  return ScheduleError{name + " has one stage per rank, not " +
                           std::to_string(shape.stagesPerRank),
                       "Interleaved1F1B and LoopedBFS have several"};
}

static std::optional<ScheduleError> needsTwoStages(const std::string &name,
                                                   const Shape &shape) {
  if (shape.stagesPerRank == 2)
    return std::nullopt;
  return ScheduleError{name + " has two stages per rank, not " +
                           std::to_string(shape.stagesPerRank),
                       "split the model into twice as many stages as ranks, or "
                       "take InterleavedZeroBubble"};
}

/// A message that `name` needs more micro-batches.
static ScheduleError tooFew(const std::string &name, const Shape &shape,
                            int least, const char *of) {
  return {name + " needs at least as many micro-batches as " + of + ": " +
              std::to_string(least) + ", not " +
              std::to_string(shape.microBatches),
          "take more micro-batches, or GPipe, which takes any number"};
}

static std::optional<ScheduleError> checkOneFOneB(const std::string &name,
                                                  const Shape &shape) {
  if (auto error = needsOneStage(name, shape))
    return error;
  if (shape.microBatches < shape.ranks)
    return tooFew(name, shape, shape.ranks, "stages");
  return std::nullopt;
}

static std::optional<ScheduleError> checkRounds(const std::string &name,
                                                const Shape &shape) {
  int rounds = roundsOf(shape);
  if (shape.microBatches % rounds == 0)
    return std::nullopt;
  return ScheduleError{
      name + " has rounds of equally many micro-batches: " +
          std::to_string(shape.microBatches) + " are not a multiple of " +
          std::to_string(rounds) + ", the rounds of " +
          std::to_string(shape.ranks) + " ranks",
      "take " + std::to_string(shape.microBatches / rounds * rounds) + " or " +
          std::to_string((shape.microBatches / rounds + 1) * rounds) +
          " micro-batches"};
}

static std::optional<ScheduleError> checkDualPipe(const std::string &name,
                                                  const Shape &shape) {
  if (auto error = needsTwoStages(name, shape))
    return error;
  if (shape.microBatches < 2 * shape.ranks)
    return tooFew(name, shape, 2 * shape.ranks, "stages");
  return std::nullopt;
}

static std::optional<ScheduleError> takesAny(const std::string &,
                                             const Shape &) {
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct Named {
  std::string_view name;
  Mapping mapping;
  int stagesPerRank; ///< usually
  Condition check;
  Row (*row)(const Shape &shape, int rank);
};
} // namespace

static constexpr Named kNamed[] = {
    {"GPipe", Mapping::Loop, 1, needsOneStage, gpipeRow},
    {"1F1B", Mapping::Loop, 1, checkOneFOneB, oneFOneBRow},
    {"LoopedBFS", Mapping::Loop, 2, takesAny, loopedBfsRow},
    {"Interleaved1F1B", Mapping::Loop, 2, checkRounds, interleavedRow},
    {"InterleavedZeroBubble", Mapping::Loop, 2, checkRounds,
     interleavedZeroBubbleRow},
    {"ZBVZeroBubble", Mapping::V, 2, needsTwoStages, zbvRow},
    {"DualPipeV", Mapping::V, 2, checkDualPipe, dualPipeVRow},
    {"V-Half", Mapping::V, 2, needsTwoStages, vHalfRow},
    {"V-Min", Mapping::V, 2, needsTwoStages, vMinRow},
};

const std::vector<std::string_view> &scheduleNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> made;
    for (const Named &named : kNamed)
      made.push_back(named.name);
    return made;
  }();
  return names;
}

static const Named *findNamed(std::string_view name) {
  auto isEqual = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const Named &named : kNamed)
    if (std::equal(name.begin(), name.end(), named.name.begin(),
                   named.name.end(), isEqual))
      return &named;
  return nullptr;
}

std::optional<std::string_view> findScheduleName(std::string_view name) {
  const Named *named = findNamed(name);
  return named ? std::optional(named->name) : std::nullopt;
}

int usualStagesPerRank(std::string_view name) {
  const Named *named = findNamed(name);
  return named ? named->stagesPerRank : 1;
}

static ScheduleError unknownName(std::string_view name) {
  std::string all;
  for (std::string_view known : scheduleNames())
    all += (all.empty() ? "" : ", ") + std::string(known);
  return {"no schedule is called '" + std::string(name) + "'",
          "schedules are " + all};
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

static constexpr int64_t kMostActions = int64_t(1) << 21;

static std::optional<ScheduleError> checkSizes(const Shape &shape) {
  if (shape.ranks < 1 || shape.stagesPerRank < 1 || shape.microBatches < 1)
    return ScheduleError{
        "a schedule has at least one rank, one stage per rank and one "
        "micro-batch, not " +
            std::to_string(shape.ranks) + ", " +
            std::to_string(shape.stagesPerRank) + " and " +
            std::to_string(shape.microBatches),
        "give numbers from 1 on"};
  if (int64_t stages = int64_t(shape.ranks) * shape.stagesPerRank;
      stages > kMostStages)
    return ScheduleError{formatCount(stages, "stage") + " are more than " +
                             formatCount(kMostStages),
                         "take fewer ranks"};
  double actions = 3.0 * shape.ranks * shape.stagesPerRank * shape.microBatches;
  if (actions <= static_cast<double>(kMostActions))
    return std::nullopt;
  return ScheduleError{"a schedule of " + formatFixed(actions, 0) +
                           " actions is larger than " +
                           formatCount(kMostActions),
                       "take fewer micro-batches or ranks"};
}

Schedule emptySchedule(const Shape &shape, Mapping mapping) {
  Schedule schedule;
  schedule.ranks = shape.ranks;
  schedule.stages = shape.ranks * shape.stagesPerRank;
  schedule.microBatches = shape.microBatches;
  schedule.rankOfStage = rankOfStage(mapping, shape.ranks, shape.stagesPerRank);
  return schedule;
}

Schedule forwardOnly(const Schedule &schedule) {
  Schedule result = schedule;
  for (Row &row : result.rows) {
    Row kept;
    for (const auto &action : row)
      if (action)
        forEachPart(*action, [&](const Action &part) {
          if (part.kind == ActionKind::Forward)
            kept.push_back(part);
        });
    row = std::move(kept);
  }
  return result;
}

std::optional<Schedule> generate(std::string_view name, const Shape &shape,
                                 ScheduleError &error) {
  const Named *named = findNamed(name);
  std::optional<ScheduleError> wrong;
  if (!named)
    wrong = unknownName(name);
  else if (wrong = checkSizes(shape); !wrong)
    wrong = named->check(std::string(named->name), shape);
  if (wrong) {
    error = *wrong;
    return std::nullopt;
  }
  Schedule schedule = emptySchedule(shape, named->mapping);
  schedule.name = named->name;
  for (int rank = 0; rank < shape.ranks; ++rank)
    schedule.rows.push_back(named->row(shape, rank));
  return shape.isForwardOnly ? forwardOnly(schedule) : schedule;
}

} // namespace cutback::pipeline
