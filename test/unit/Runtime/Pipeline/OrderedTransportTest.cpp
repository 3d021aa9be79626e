// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks over a wire without tags, on which each rank has one message after the
// other and both ends wait for each other: all schedules have the bits of ranks
// over tags, twice in a row, and an error of the wire ends all ranks.

#include "cutback/Runtime/Pipeline/OrderedTransport.h"

#include "SyntheticStages.h"

#include "cutback/Runtime/Pipeline/ThreadTransport.h"
#include "cutback/Schedule/Generate.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

/// Of all ranks: what each has begun, in its order.
struct Line {
  struct Begun {
    Wire::Ticket ticket = 0;
    int other = 0;
    bool isSend = false;
    std::vector<Wire::Message> messages;
  };
  explicit Line(int ranks) : queues(ranks), connected(ranks) {}

  /// Messages that are first at both ends.
  void match() {
    for (size_t rank = 0; rank < queues.size(); ++rank) {
      if (queues[rank].empty() || !queues[rank].front().isSend)
        continue;
      const Begun &from = queues[rank].front();
      std::deque<Begun> &others = queues[from.other];
      if (others.empty() || others.front().isSend ||
          others.front().other != static_cast<int>(rank))
        continue;
      const Begun &to = others.front();
      if (from.messages.size() != to.messages.size())
        problem = "groups of two sizes";
      for (size_t i = 0; i < from.messages.size() && problem.empty(); ++i)
        if (from.messages[i].count != to.messages[i].count)
          problem = "messages of two sizes";
        else
          std::memcpy(to.messages[i].bytes, from.messages[i].bytes,
                      from.messages[i].count);
      queues[rank].pop_front();
      others.pop_front();
      ++matched;
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<Begun>> queues;
  /// By rank: to and from whom.
  std::vector<std::set<std::pair<int, bool>>> connected;
  Wire::Ticket last = 0;
  int matched = 0;
  std::string problem;
};

class LineWire : public Wire {
public:
  LineWire(Line &line, int rank) : line(line), rank(rank) {}

  std::string name() const override { return "a line"; }
  /// Waits for the other ends, as NCCL does.
  std::string connect(const std::vector<Direction> &directions) override {
    std::unique_lock<std::mutex> lock(line.mutex);
    for (const Direction &one : directions)
      line.connected[rank].insert({one.other, one.isSend});
    line.changed.notify_all();
    auto isThere = [&] {
      return std::all_of(
          directions.begin(), directions.end(), [&](const Direction &one) {
            return line.connected[one.other].count({rank, !one.isSend});
          });
    };
    return line.changed.wait_for(lock, std::chrono::seconds(10), isThere)
               ? ""
               : "the other end is not there";
  }
  Ticket begin(int other, bool isSend, const std::vector<Message> &messages,
               std::string &) override {
    std::lock_guard<std::mutex> lock(line.mutex);
    if (!line.connected[rank].count({other, isSend}))
      line.problem = "a message before its ends are connected";
    line.queues[rank].push_back({++line.last, other, isSend, messages});
    return line.last;
  }
  bool isDone(Ticket ticket, std::string &error) override {
    std::lock_guard<std::mutex> lock(line.mutex);
    line.match();
    error = line.problem;
    for (const Line::Begun &begun : line.queues[rank])
      if (begun.ticket == ticket)
        return false;
    return error.empty();
  }
  void abort() override {
    std::lock_guard<std::mutex> lock(line.mutex);
    line.queues[rank].clear();
  }

private:
  Line &line;
  int rank;
};

/// Results of two steps by name, and errors.
struct Outcome {
  std::map<std::string, std::string> made;
  std::vector<std::string> errors;
};

Outcome runRanks(SyntheticStages &stages, const Schedule &schedule,
                 Line *line) {
  Outcome outcome;
  outcome.errors.resize(schedule.ranks);
  FindTensor inputs = stages.inputs(schedule.microBatches);
  std::mutex mutex;
  ThreadRanks ranks(schedule.ranks);
  ranks.run([&](Transport &base) {
    int number = base.rank();
    std::unique_ptr<OrderedTransport> ordered;
    if (line)
      ordered = std::make_unique<OrderedTransport>(
          base, std::make_unique<LineWire>(*line, number));
    Transport &transport = ordered ? *ordered : base;
    Peers peers(transport, std::chrono::seconds(20), schedule);
    Rank rank(stages.pipeline, schedule, peers, {});
    StepError why;
    std::string error;
    if (!rank.open(stages.open(), stages.weights(), why))
      error = why.what;
    for (int step = 0; step < 2 && error.empty(); ++step)
      error = rank.step(inputs);
    bool isOwn = rank.isOwnError();
    if (error.empty())
      error = peers.finish();
    if (!error.empty())
      (void)peers.stop(error, isOwn);
    std::lock_guard<std::mutex> lock(mutex);
    outcome.errors[number] = error;
    for (const RankTensor &tensor : rank.results())
      outcome.made[tensor.name].assign(tensor.bytes, bytesOf(tensor));
    for (const std::string &loss : rank.losses())
      outcome.made["loss"] += loss;
  });
  return outcome;
}

Schedule scheduleOf(std::string_view name, int ranks, int microBatches,
                    bool isForwardOnly = false) {
  Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = usualStagesPerRank(name);
  shape.microBatches = microBatches;
  shape.isForwardOnly = isForwardOnly;
  ScheduleError error;
  return *generate(name, shape, error);
}

TEST(OrderedTransportTest, AllSchedulesHaveTheBitsOfRanksOverTags) {
  uint64_t seed = 0;
  EXPECT_EQ(scheduleNames().size(), 9u);
  for (std::string_view name : scheduleNames())
    for (auto [ranks, microBatches, isForwardOnly] :
         {std::tuple(2, 4, false), {4, 8, false}, {3, 6, true}}) {
      Schedule schedule = scheduleOf(name, ranks, microBatches, isForwardOnly);
      // Values skip stages by chance.
      SyntheticStages stages(schedule.stages, ++seed);
      Outcome expected = runRanks(stages, schedule, nullptr);
      Line line(ranks);
      Outcome outcome = runRanks(stages, schedule, &line);
      for (const auto *errors : {&expected.errors, &outcome.errors})
        EXPECT_EQ(*errors, std::vector<std::string>(ranks)) << name;
      EXPECT_EQ(outcome.made, expected.made) << name;
      EXPECT_GT(line.matched, 0);
      for (const auto &queue : line.queues)
        EXPECT_TRUE(queue.empty()) << name;
    }
}

/// A phase with other results, which is not run.
class WithResults : public PhaseRunner {
public:
  WithResults(const PhaseRunner &phase, std::vector<ArtifactTensor> results) {
    taken = phase.arguments();
    made = std::move(results);
  }
  int64_t arenaBytes() const override { return 0; }
  std::string run(const std::vector<char *> &,
                  const std::vector<char *> &) override {
    return "is not run";
  }
  std::string read(size_t, char *) override { return "is not run"; }
};

TEST(OrderedTransportTest, AGradientOfTheWeightPhaseIsRefused) {
  Schedule schedule = scheduleOf("InterleavedZeroBubble", 2, 4);
  SyntheticStages stages(schedule.stages, 1);
  OpenPhase open = stages.open();
  // What the input phase makes for other stages, the weight phase makes.
  OpenPhase moved = [&](int stage, PipelineStage::PhaseKind kind,
                        StepError &error) -> std::unique_ptr<PhaseRunner> {
    auto phase = open(stage, kind, error);
    auto input = open(stage, PipelineStage::Input, error);
    std::vector<ArtifactTensor> results = phase->results(), kept;
    auto isOfOthers = [](const ArtifactTensor &one) {
      return one.name.rfind("grad.value.", 0) == 0;
    };
    if (kind == PipelineStage::Weight)
      std::copy_if(input->results().begin(), input->results().end(),
                   std::back_inserter(results), isOfOthers);
    std::copy_if(results.begin(), results.end(), std::back_inserter(kept),
                 [&](const ArtifactTensor &one) {
                   return kind != PipelineStage::Input || !isOfOthers(one);
                 });
    return std::make_unique<WithResults>(*phase, kept);
  };
  ThreadRanks ranks(2);
  auto base = ranks.open(1);
  Line line(2);
  OrderedTransport transport(*base, std::make_unique<LineWire>(line, 1));
  Peers peers(transport, std::chrono::seconds(1), schedule);
  Rank rank(stages.pipeline, schedule, peers, {});
  StepError error;
  EXPECT_FALSE(rank.open(moved, stages.weights(), error));
  EXPECT_EQ(error.what.find("the weight phase of stage 1 makes 'grad.value."),
            0u)
      << error.what;
  EXPECT_NE(error.what.find("', which is sent before it runs"),
            std::string::npos);
}

TEST(OrderedTransportTest, AnErrorOfTheWireEndsAllRanks) {
  Schedule schedule = scheduleOf("1F1B", 2, 4);
  SyntheticStages stages(2, 1);
  Line line(2);
  line.problem = "a cable is out";
  Outcome outcome = runRanks(stages, schedule, &line);
  EXPECT_EQ(outcome.errors[1], "a cable is out");
  EXPECT_FALSE(outcome.errors[0].empty());
}

TEST(OrderedTransportTest, WhatIsOfNoGroupGoesOverTags) {
  ThreadRanks ranks(2);
  auto base = ranks.open(0), other = ranks.open(1);
  Line line(2);
  line.connected[1].insert({0, false});
  OrderedTransport transport(*base, std::make_unique<LineWire>(line, 0));
  EXPECT_EQ(transport.name(), "a line beside threads");
  transport.setOrder({{1, true, {20, 21}}});
  char bytes[4] = "abc", got[4] = "";
  auto first = transport.send(1, 21, bytes, 4);
  auto second = transport.send(1, 22, bytes, 4);
  std::string error;
  // Of its group one is not given yet.
  EXPECT_FALSE(transport.isDone(first, error));
  EXPECT_TRUE(line.queues[0].empty());
  EXPECT_TRUE(transport.isDone(second, error));
  EXPECT_TRUE(other->isDone(other->receive(0, 22, got, 4), error));
  EXPECT_STREQ(got, "abc");
  transport.send(1, 20, bytes, 4);
  EXPECT_EQ(line.queues[0].size(), 1u);
}

} // namespace
