// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads, over synthetic stages: all schedules give the bits of one
// loop over micro-batches and stages, with messages late by chance and sends
// that wait for their receives.

#include "SyntheticStages.h"

#include "cutback/Runtime/Pipeline/ThreadTransport.h"
#include "cutback/Schedule/Generate.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

Schedule scheduleOf(std::string_view name, int ranks, int microBatches,
                    bool isForwardOnly = false) {
  Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = usualStagesPerRank(name);
  shape.microBatches = microBatches;
  shape.isForwardOnly = isForwardOnly;
  ScheduleError error;
  auto made = generate(name, shape, error);
  EXPECT_TRUE(made) << name << ": " << error.message;
  return made.value_or(Schedule());
}

/// The order in which a schedule ends micro-batches of each stage.
std::vector<std::vector<int>> orderOf(const Schedule &schedule) {
  std::vector<std::vector<int>> order(schedule.stages);
  for (const Row &row : schedule.rows)
    for (const auto &action : row)
      if (action)
        forEachPart(*action, [&](const Action &part) {
          if (makesWeightGradients(part.kind))
            order[part.stage].push_back(part.microBatch);
        });
  return order;
}

/// What all ranks have after a step, or the errors of those that failed.
struct Outcome {
  NamedFloats made;
  std::vector<std::string> errors, ends;
  std::vector<int64_t> slotBytes;
  std::vector<MeasuredStep> steps;
};

Outcome runRanks(SyntheticStages &stages, const Schedule &schedule,
                 ThreadRanks::Options options, double timeout = 20,
                 int silentRank = -1, const StepNumbers &numbers = {}) {
  Outcome outcome;
  outcome.errors.resize(schedule.ranks);
  outcome.ends.resize(schedule.ranks);
  outcome.slotBytes.resize(schedule.ranks);
  outcome.steps.resize(schedule.ranks);
  FindTensor inputs = stages.inputs(schedule.microBatches);
  std::mutex mutex;
  ThreadRanks ranks(schedule.ranks, options);
  ranks.run([&](Transport &transport) {
    int number = transport.rank();
    if (number == silentRank)
      return ranks.leave(number);
    Peers peers(transport, std::chrono::duration<double>(timeout), schedule);
    RankOptions rankOptions;
    rankOptions.firstSmaller = stages.larger;
    rankOptions.openSmaller = stages.open(/*isSmaller=*/true);
    rankOptions.mayEvaluate = !numbers.extents.empty();
    Rank rank(stages.pipeline, schedule, peers, rankOptions);
    rank.setNumbers(numbers);
    StepError why;
    bool isOpen = rank.open(stages.open(), stages.weights(), why) &&
                  rank.checkInputs(inputs, why);
    std::string error = isOpen ? rank.step(inputs) : why.what;
    bool isOwn = !isOpen || rank.isOwnError();
    if (error.empty())
      error = peers.finish();
    std::string end = error.empty() ? "" : peers.stop(error, isOwn).text;
    std::lock_guard<std::mutex> lock(mutex);
    outcome.errors[number] = error;
    outcome.ends[number] = end;
    outcome.slotBytes[number] = rank.peakSlotBytes();
    outcome.steps[number] = rank.actions();
    for (const RankTensor &tensor : rank.results()) {
      Floats &one = outcome.made[tensor.name];
      one.resize(bytesOf(tensor) / 4);
      std::memcpy(one.data(), tensor.bytes, bytesOf(tensor));
    }
    for (size_t k = 0; k < rank.losses().size(); ++k) {
      Floats &one = outcome.made["loss." + std::to_string(k)];
      one.resize(rank.losses()[k].size() / 4);
      if (!one.empty())
        std::memcpy(one.data(), rank.losses()[k].data(), one.size() * 4);
    }
  });
  return outcome;
}

void expectEqualBits(const NamedFloats &made, const NamedFloats &expected) {
  ASSERT_EQ(made.size(), expected.size());
  for (const auto &[name, value] : expected) {
    auto found = made.find(name);
    ASSERT_NE(found, made.end()) << name;
    ASSERT_EQ(found->second.size(), value.size()) << name;
    EXPECT_EQ(std::memcmp(found->second.data(), value.data(),
                          value.size() * sizeof(float)),
              0)
        << name;
  }
}

ThreadRanks::Options lateMessages(uint64_t seed) {
  ThreadRanks::Options options;
  options.isSynchronous = seed % 2;
  options.delayMicroseconds = seed % 3 * 60;
  options.seed = seed;
  return options;
}

TEST(RankTest, EachScheduleHasTheBitsOfOneLoop) {
  uint64_t seed = 0;
  for (std::string_view name : scheduleNames())
    for (auto [ranks, microBatches] : {std::pair(2, 4), {4, 8}}) {
      Schedule schedule = scheduleOf(name, ranks, microBatches);
      SyntheticStages stages(schedule.stages, ++seed);
      ASSERT_EQ(stages.pipeline.verify(), "");
      Outcome outcome = runRanks(stages, schedule, lateMessages(seed));
      for (const std::string &error : outcome.errors)
        EXPECT_EQ(error, "") << name;
      expectEqualBits(outcome.made,
                      stages.runHere(microBatches, orderOf(schedule)));
      // Each rank ran its row as it is.
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<Action> row;
        for (const auto &action : schedule.rows[rank])
          if (action)
            forEachPart(*action,
                        [&](const Action &part) { row.push_back(part); });
        std::vector<Action> actions;
        for (const MeasuredAction &one : outcome.steps[rank])
          actions.push_back(one.action);
        EXPECT_EQ(actions, row) << name;
      }
    }
}

/// How many messages of other ranks an action takes.
size_t messagesOf(const std::vector<Edge> &edges, const Schedule &schedule,
                  const Action &action) {
  size_t count = 0;
  for (const Edge &edge : edges) {
    if (schedule.rankOfStage[edge.from] == schedule.rankOfStage[edge.to])
      continue;
    count += action.kind == ActionKind::Forward
                 ? edge.to == action.stage
                 : action.kind != ActionKind::WeightGradients &&
                       edge.hasGradient && edge.from == action.stage;
  }
  return count;
}

TEST(RankTest, WaitsAreBeforeActionsOneForEachMessage) {
  Schedule schedule = scheduleOf("ZBVZeroBubble", 3, 6);
  SyntheticStages stages(schedule.stages, 3);
  Outcome outcome = runRanks(stages, schedule, lateMessages(2));
  std::vector<Edge> edges = edgesOf(stages.pipeline);
  size_t all = 0;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    double time = 0;
    for (const MeasuredAction &one : outcome.steps[rank]) {
      for (const MeasuredWait &wait : one.waits) {
        EXPECT_LE(time, wait.begin);
        EXPECT_LE(wait.begin, wait.end);
        time = wait.end;
        std::string batch =
            "' of micro-batch " + std::to_string(one.action.microBatch);
        EXPECT_NE(wait.what.find(batch + " from rank "), std::string::npos)
            << wait.what;
      }
      EXPECT_LE(time, one.begin);
      EXPECT_LE(one.begin, one.end);
      time = one.end;
      EXPECT_EQ(one.waits.size(), messagesOf(edges, schedule, one.action))
          << format(one.action);
      all += one.waits.size();
    }
  }
  EXPECT_GT(all, 40U);
}

TEST(RankTest, RandomPipelinesEndFiftyTimes) {
  for (uint64_t seed = 100; seed < 150; ++seed) {
    std::string_view name = scheduleNames()[seed % scheduleNames().size()];
    Schedule schedule = scheduleOf(name, 3, 6);
    SyntheticStages stages(schedule.stages, seed);
    Outcome outcome = runRanks(stages, schedule, lateMessages(seed));
    for (const std::string &error : outcome.errors)
      EXPECT_EQ(error, "") << name << " " << seed;
    expectEqualBits(outcome.made, stages.runHere(6, orderOf(schedule)));
  }
}

TEST(RankTest, TheLastMicroBatchesMayHaveARowLess) {
  uint64_t seed = 200;
  for (std::string_view name : scheduleNames())
    for (int64_t larger : {0, 1, 3}) {
      Schedule schedule = scheduleOf(name, 2, 4);
      SyntheticStages stages(schedule.stages, ++seed);
      stages.addSmaller(larger);
      ASSERT_EQ(stages.pipeline.verify(), "");
      Outcome outcome = runRanks(stages, schedule, lateMessages(seed));
      for (const std::string &error : outcome.errors)
        EXPECT_EQ(error, "") << name << " " << larger;
      expectEqualBits(outcome.made, stages.runHere(4, orderOf(schedule)));
      EXPECT_EQ(outcome.made["output.0"].size(),
                SyntheticStages::kColumns * (4 + static_cast<size_t>(larger)));
    }
}

TEST(RankTest, AnotherBatchThanOfBothSizesIsRefused) {
  Schedule schedule = scheduleOf("GPipe", 1, 3);
  SyntheticStages stages(1, 3);
  stages.addSmaller(2);
  ThreadRanks ranks(1, {});
  ranks.run([&](Transport &transport) {
    Peers peers(transport, std::chrono::duration<double>(20), schedule);
    auto refusal = [&](int64_t firstSmaller) {
      RankOptions options;
      options.firstSmaller = firstSmaller;
      options.openSmaller = stages.open(/*isSmaller=*/true);
      Rank rank(stages.pipeline, schedule, peers, options);
      StepError why;
      EXPECT_TRUE(rank.open(stages.open(), stages.weights(), why));
      EXPECT_FALSE(rank.checkInputs(stages.inputs(3), why));
      return why;
    };
    EXPECT_EQ(refusal(3).what, "tensor 'input.0' is f32[5, 3], and 3 "
                               "micro-batches of f32[2, 3] are f32[6, 3]");
    EXPECT_EQ(refusal(1).what,
              "tensor 'input.0' is f32[5, 3], and 1 micro-batch of f32[2, 3] "
              "and 2 of f32[1, 3] are f32[4, 3]");
    EXPECT_EQ(refusal(0).what, "tensor 'input.0' is f32[5, 3], and 3 "
                               "micro-batches of f32[1, 3] are f32[3, 3]");
    EXPECT_EQ(refusal(0).next,
              "all inputs have the rows of one batch, in micro-batches of 2 or "
              "1 along dimension 0, 3 to 6 in all: give others, or split the "
              "model for other ones (--batch)");
  });
}

TEST(RankTest, EvaluationRunsForwardsAlone) {
  Schedule schedule = scheduleOf("Interleaved1F1B", 2, 4, true);
  SyntheticStages stages(schedule.stages, 5);
  Outcome outcome = runRanks(stages, schedule, lateMessages(1));
  EXPECT_EQ(outcome.errors, std::vector<std::string>(2));
  expectEqualBits(outcome.made, stages.runHere(4, orderOf(schedule), false));
  EXPECT_EQ(outcome.made.count("grad.w"), 0u);
}

TEST(RankTest, MicroBatchesThatAreLeftOutAreNowhere) {
  uint64_t seed = 20;
  for (std::string_view name : scheduleNames()) {
    Schedule schedule = scheduleOf(name, 2, 4);
    SyntheticStages stages(schedule.stages, ++seed);
    StepNumbers numbers;
    numbers.extents = {Extent::All, Extent::All, Extent::None, Extent::None};
    numbers.shares = {0.5, 0.5, 0, 0};
    Outcome outcome =
        runRanks(stages, schedule, lateMessages(seed), 20, -1, numbers);
    EXPECT_EQ(outcome.errors, std::vector<std::string>(2)) << name;
    std::vector<std::vector<int>> order = orderOf(schedule);
    for (std::vector<int> &of : order)
      of.erase(
          std::remove_if(of.begin(), of.end(), [](int k) { return k > 1; }),
          of.end());
    NamedFloats expected = stages.runHere(2, order);
    EXPECT_TRUE(outcome.made["loss.3"].empty());
    for (const char *absent : {"loss.2", "loss.3", "output.0"}) {
      outcome.made.erase(absent);
      expected.erase(absent);
    }
    expectEqualBits(outcome.made, expected);
  }
}

TEST(RankTest, AnEvaluationInATrainingsScheduleChangesNothing) {
  for (const char *name : {"1F1B", "ZBVZeroBubble", "LoopedBFS"}) {
    Schedule schedule = scheduleOf(name, 2, 4);
    SyntheticStages stages(schedule.stages, 7);
    StepNumbers numbers;
    numbers.extents = {Extent::Forward, Extent::Forward, Extent::Forward,
                       Extent::None};
    numbers.keepsBuffers = true;
    Outcome outcome =
        runRanks(stages, schedule, lateMessages(4), 20, -1, numbers);
    EXPECT_EQ(outcome.errors, std::vector<std::string>(2)) << name;
    NamedFloats first = stages.runHere(1, {}, /*hasBackward=*/false);
    EXPECT_EQ(outcome.made["loss.0"], first["loss.0"]);
    EXPECT_EQ(outcome.made["loss.2"].size(), 1u);
    EXPECT_TRUE(outcome.made["loss.3"].empty());
    for (const auto &[made, value] : outcome.made) {
      EXPECT_NE(made.rfind("grad.", 0), 0u) << made;
      if (auto given = stages.weights()(made))
        EXPECT_EQ(std::memcmp(given->bytes, value.data(), bytesOf(*given)), 0)
            << made;
    }
  }
}

TEST(RankTest, GradientsAreThoseOfTheMeanLoss) {
  Schedule schedule = scheduleOf("InterleavedZeroBubble", 2, 4);
  SyntheticStages stages(schedule.stages, 9, /*hasBuffers=*/false);
  Outcome outcome = runRanks(stages, schedule, lateMessages(2));
  for (const PipelineStage &stage : stages.pipeline.stages) {
    const PipelineParameter &parameter = stage.parameters[0];
    for (int i = 0; i < SyntheticStages::kColumns; ++i) {
      double step = 1e-6;
      double slope = (stages.lossWith(4, parameter.name, i, step) -
                      stages.lossWith(4, parameter.name, i, -step)) /
                     (2 * step);
      EXPECT_NEAR(outcome.made[parameter.gradient][i], slope,
                  1e-4 * (1 + std::fabs(slope)))
          << parameter.name << " " << i;
    }
  }
}

TEST(RankTest, SlotsAreThoseOfMicroBatchesInFlight) {
  // The first rank of GPipe keeps all micro-batches, that of 1F1B p of them.
  auto peakOf = [](std::string_view name) {
    Schedule schedule = scheduleOf(name, 2, 16);
    SyntheticStages stages(schedule.stages, 1, false);
    Outcome outcome = runRanks(stages, schedule, {});
    EXPECT_EQ(outcome.errors, std::vector<std::string>(2));
    return outcome.slotBytes[0];
  };
  EXPECT_GT(peakOf("GPipe"), 3 * peakOf("1F1B"));
}

TEST(RankTest, BatchesOfAnotherSizeAreRefusedWithNumbers) {
  Schedule schedule = scheduleOf("GPipe", 2, 4);
  SyntheticStages stages(2, 1);
  ThreadRanks ranks(2);
  auto transport = ranks.open(0);
  Peers peers(*transport, std::chrono::seconds(1), schedule);
  Rank rank(stages.pipeline, schedule, peers, {});
  StepError error;
  ASSERT_TRUE(rank.open(stages.open(), stages.weights(), error));
  EXPECT_FALSE(rank.checkInputs(stages.inputs(3), error));
  EXPECT_EQ(error.what, "tensor 'input.0' is f32[6, 3], and 4 micro-batches of "
                        "f32[2, 3] are f32[8, 3]");
  FindTensor nothing = [](const std::string &) { return std::nullopt; };
  EXPECT_FALSE(rank.checkInputs(nothing, error));
  EXPECT_EQ(error.what, "there is no tensor 'input.0', which stage 0 takes");
}

TEST(RankTest, AnErrorOfARankEndsAllAndIsNamed) {
  Schedule schedule = scheduleOf("1F1B", 3, 4);
  SyntheticStages stages(3, 4);
  int runs = 0;
  stages.before = [&](int stage, PipelineStage::PhaseKind) -> std::string {
    return stage == 1 && ++runs == 3 ? "wrong index 7" : "";
  };
  Outcome outcome = runRanks(stages, schedule, {}, 5);
  EXPECT_EQ(outcome.errors[1],
            "stage 1, backward of micro-batch 0: wrong index 7");
  EXPECT_EQ(outcome.ends[0].find("rank 1 stage 1, backward of micro-batch 0: "
                                 "wrong index 7\n"),
            0u)
      << outcome.ends[0];
  EXPECT_NE(outcome.ends[0].find(">1B0<"), std::string::npos)
      << outcome.ends[0];
  EXPECT_EQ(outcome.ends[1], "");
}

TEST(RankTest, ARankThatIsGoneIsNamed) {
  Schedule schedule = scheduleOf("1F1B", 3, 4);
  SyntheticStages stages(3, 4);
  Outcome outcome = runRanks(stages, schedule, {}, 2, /*silentRank=*/2);
  EXPECT_EQ(outcome.errors[1], "rank 2 is gone");
  EXPECT_EQ(outcome.ends[0].find("rank 2 does not answer\n"), 0u)
      << outcome.ends[0];
  EXPECT_NE(outcome.ends[0].find("rank 2: no answer; last heard of before its "
                                 "first action"),
            std::string::npos)
      << outcome.ends[0];
}

TEST(RankTest, ARankThatHangsIsNamedInTime) {
  Schedule schedule = scheduleOf("1F1B", 2, 4);
  SyntheticStages stages(2, 4);
  auto start = std::chrono::steady_clock::now();
  std::atomic<int> runs = 0;
  stages.before = [&](int stage, PipelineStage::PhaseKind) -> std::string {
    if (stage == 1 && ++runs == 4)
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return "";
  };
  Outcome outcome = runRanks(stages, schedule, {}, 1);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 4);
  EXPECT_EQ(outcome.errors[0].find("has waited 0.75 s for 'grad.value.0_"), 0u)
      << outcome.errors[0];
  EXPECT_EQ(outcome.ends[0].find("rank 1 does not answer\n"), 0u);
  EXPECT_NE(outcome.ends[0].find(">1F1<"), std::string::npos)
      << outcome.ends[0];
}

} // namespace
