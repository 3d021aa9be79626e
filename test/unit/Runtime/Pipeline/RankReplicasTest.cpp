// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replicas of synthetic stages, ranks as threads, against a loop over replicas
// that adds their gradients in order: to the bit, over two steps, so that
// buffers of the second one begin as those of the first replica.

#include "SyntheticStages.h"

#include "cutback/Runtime/Pipeline/GroupTransport.h"
#include "cutback/Runtime/Pipeline/ThreadTransport.h"
#include "cutback/Schedule/Generate.h"

#include "gtest/gtest.h"

#include <cstring>
#include <mutex>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

constexpr int64_t kSize = SyntheticStages::kSize;

struct Case {
  std::string_view schedule;
  int replicas, ranks, microBatches;
  bool isForwardOnly = false;
};

Schedule scheduleOf(const Case &one) {
  Shape shape;
  shape.ranks = one.ranks;
  shape.stagesPerRank = usualStagesPerRank(one.schedule);
  shape.microBatches = one.microBatches;
  shape.isForwardOnly = one.isForwardOnly;
  ScheduleError error;
  auto made = generate(one.schedule, shape, error);
  EXPECT_TRUE(made) << one.schedule << ": " << error.message;
  return made.value_or(Schedule());
}

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

/// The part of a batch that a replica takes.
FindTensor shareOf(const FindTensor &batch, int replica, int microBatches) {
  return [=](const std::string &name) -> std::optional<GivenTensor> {
    auto found = batch(name);
    if (!found)
      return found;
    found->sizes[0] = SyntheticStages::kRows * microBatches;
    found->bytes += replica * microBatches * kSize * sizeof(float);
    return found;
  };
}

/// What one rank has after all steps.
struct OfRank {
  std::string error, end;
  NamedFloats results, losses;
};

NamedFloats &addResults(NamedFloats &made, const Rank &rank) {
  for (const RankTensor &tensor : rank.results()) {
    Floats &one = made[tensor.name];
    one.resize(bytesOf(tensor) / sizeof(float));
    std::memcpy(one.data(), tensor.bytes, bytesOf(tensor));
  }
  return made;
}

std::vector<OfRank> runReplicas(SyntheticStages &stages, const Case &one,
                                ThreadRanks::Options options, int steps,
                                double timeout = 20) {
  Schedule schedule = scheduleOf(one);
  RankGrid grid;
  grid.replicas = one.replicas;
  grid.rows = one.ranks;
  Schedule all = schedule;
  all.rows.clear();
  for (int rank = 0; rank < grid.size(); ++rank)
    all.rows.push_back(schedule.rows[grid.rowOf(rank)]);
  FindTensor batch = stages.inputs(one.replicas * one.microBatches);
  std::vector<OfRank> ranks(grid.size());
  ThreadRanks(grid.size(), options).run([&](Transport &transport) {
    int number = transport.rank();
    OfRank &own = ranks[number];
    GroupTransport group(transport, GroupTransport::Pipeline,
                         grid.pipelineOf(number));
    GroupTransport beside(transport, GroupTransport::Replicas,
                          grid.replicasOf(number));
    Peers peers(transport, group, std::chrono::duration<double>(timeout), all);
    std::unique_ptr<Waiter> waiter = peers.over(beside);
    RankOptions rankOptions;
    rankOptions.replicas = waiter.get();
    Rank rank(stages.pipeline, schedule, peers, rankOptions);
    StepError why;
    FindTensor inputs =
        shareOf(batch, grid.replicaOf(number), one.microBatches);
    bool isOpen = rank.open(stages.open(), stages.weights(), why) &&
                  rank.checkInputs(inputs, why);
    own.error = why.what;
    for (int step = 0; step < steps && isOpen && own.error.empty(); ++step)
      own.error = rank.step(inputs);
    bool isOwn = !isOpen || rank.isOwnError();
    if (own.error.empty())
      own.error = peers.finish();
    if (!own.error.empty()) {
      own.end = peers.stop(own.error, isOwn).text;
      return;
    }
    own.error = rank.gatherOutputs();
    addResults(own.results, rank);
    for (size_t k = 0; k < rank.losses().size(); ++k) {
      Floats &loss = own.losses["loss." + std::to_string(k)];
      loss.resize(rank.losses()[k].size() / sizeof(float));
      std::memcpy(loss.data(), rank.losses()[k].data(),
                  loss.size() * sizeof(float));
    }
  });
  return ranks;
}

void expectEqualBits(const NamedFloats &made, const NamedFloats &expected,
                     const std::string &where) {
  for (const auto &[name, value] : made) {
    auto found = expected.find(name);
    ASSERT_NE(found, expected.end()) << where << " " << name;
    ASSERT_EQ(found->second.size(), value.size()) << where << " " << name;
    EXPECT_EQ(std::memcmp(found->second.data(), value.data(),
                          value.size() * sizeof(float)),
              0)
        << where << " " << name;
  }
}

/// Two steps of replicas against two of a loop.
void expectBitsOfALoop(const Case &one, uint64_t seed) {
  Schedule schedule = scheduleOf(one);
  SyntheticStages stages(schedule.stages, seed);
  ThreadRanks::Options options;
  options.isSynchronous = seed % 2;
  options.delayMicroseconds = seed % 3 * 60;
  options.seed = seed;
  auto ranks = runReplicas(stages, one, options, /*steps=*/2);
  SyntheticStages again = stages;
  again.inputs(one.replicas * one.microBatches);
  auto run = [&] {
    return again.runReplicas(one.replicas, one.microBatches, orderOf(schedule),
                             !one.isForwardOnly);
  };
  again.takeBuffers(run());
  NamedFloats expected = run();
  NamedFloats first; // of the first replica: all there is
  for (size_t number = 0; number < ranks.size(); ++number) {
    OfRank &own = ranks[number];
    std::string where =
        std::string(one.schedule) + " rank " + std::to_string(number);
    EXPECT_EQ(own.error, "") << where;
    expectEqualBits(own.losses, expected, where);
    bool isFirst = number < size_t(one.ranks);
    if (!isFirst) // its own part
      own.results.erase("output.0");
    expectEqualBits(own.results, expected, where);
    if (isFirst) {
      first.insert(own.results.begin(), own.results.end());
      first.insert(own.losses.begin(), own.losses.end());
    }
  }
  EXPECT_EQ(first.size(), expected.size()) << one.schedule;
}

TEST(RankReplicasTest, EachScheduleHasTheBitsOfALoopOverReplicas) {
  uint64_t seed = 0;
  for (std::string_view name : scheduleNames())
    for (int replicas : {1, 2, 3})
      expectBitsOfALoop({name, replicas, 2, 4}, ++seed);
}

TEST(RankReplicasTest, EvaluationHasTheLossesAndBuffersOfAll) {
  expectBitsOfALoop({"Interleaved1F1B", 3, 2, 4, /*isForwardOnly=*/true}, 7);
}

TEST(RankReplicasTest, AnErrorOfOneReplicaEndsAll) {
  SyntheticStages stages(2, 4);
  std::mutex mutex;
  int runs = 0;
  stages.before = [&](int stage, PipelineStage::PhaseKind) -> std::string {
    std::lock_guard<std::mutex> lock(mutex);
    return stage == 1 && ++runs == 5 ? "wrong index 7" : "";
  };
  auto ranks = runReplicas(stages, {"1F1B", 2, 2, 4}, {}, 1, 5);
  int own = ranks[1].error.find("wrong index 7") != std::string::npos ? 1 : 3;
  for (int rank : {0, 1, 2, 3})
    EXPECT_NE(ranks[rank].error, "") << rank;
  std::string text;
  for (const OfRank &one : ranks)
    text += one.end;
  EXPECT_EQ(text.find("rank " + std::to_string(own) + " stage 1, "), 0u)
      << text;
  for (int rank : {0, 1, 2, 3})
    EXPECT_NE(text.find("\n  rank " + std::to_string(rank) + "  "),
              std::string::npos)
        << text;
}

} // namespace
