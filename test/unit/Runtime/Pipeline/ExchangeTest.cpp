// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edges of a pipeline, hand-overs on one rank, messages between two.

#include "cutback/Runtime/Pipeline/Exchange.h"

#include "SyntheticStages.h"

#include "cutback/Runtime/Pipeline/ThreadTransport.h"
#include "cutback/Schedule/Generate.h"

#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::pipeline;

namespace {

Schedule twoRanks(int stagesPerRank) {
  Shape shape;
  shape.ranks = 2;
  shape.stagesPerRank = stagesPerRank;
  shape.microBatches = 2;
  ScheduleError error;
  return *generate("LoopedBFS", shape, error);
}

constexpr auto kSoon = std::chrono::milliseconds(40);

TEST(ExchangeTest, AValueHasAnEdgeForEachUser) {
  SyntheticStages stages(4, 11);
  for (const Edge &edge : edgesOf(stages.pipeline)) {
    const PipelineSend &send =
        stages.pipeline.stages[edge.from].sends[edge.send];
    EXPECT_EQ(send.name, edge.name);
    EXPECT_EQ(stages.pipeline.stages[edge.to].receives[edge.receive].name,
              edge.name);
    EXPECT_EQ(edge.bytes, SyntheticStages::kSize * 4);
  }
}

TEST(ExchangeTest, ABlockIsHandedOverOnOneRank) {
  SyntheticStages stages(4, 11);
  Schedule schedule = twoRanks(2);
  schedule.rankOfStage = {0, 0, 0, 0};
  ThreadRanks ranks(2);
  auto transport = ranks.open(0);
  Peers peers(*transport, kSoon, schedule);
  BlockCount count;
  Exchange exchange(stages.pipeline, schedule, peers, count);
  EXPECT_EQ(exchange.check(), "");
  std::string error;
  EXPECT_EQ(exchange.take(0, 1, Exchange::Value, error), nullptr);
  EXPECT_EQ(error, "'" + exchange.edges()[0].name +
                       "' of micro-batch 1 is taken before it is made");
  BlockRef block = Block::make(24, count);
  exchange.give(0, 1, Exchange::Value, block);
  EXPECT_EQ(exchange.take(0, 1, Exchange::Value, error), block);
  block = nullptr;
  EXPECT_EQ(count.now, 0);
  EXPECT_EQ(count.peak, 24);
}

TEST(ExchangeTest, AWaitNamesValueMicroBatchAndRank) {
  SyntheticStages stages(2, 11);
  Schedule schedule = twoRanks(1);
  ThreadRanks::Options options;
  options.isSynchronous = true;
  ThreadRanks ranks(2, options);
  auto transport = ranks.open(0);
  Peers peers(*transport, kSoon, schedule);
  BlockCount count;
  Exchange exchange(stages.pipeline, schedule, peers, count);
  std::string error;
  EXPECT_EQ(exchange.take(0, 1, Exchange::Gradient, error), nullptr);
  EXPECT_EQ(error, "has waited 0.03 s for 'grad." + exchange.edges()[0].name +
                       "' of micro-batch 1 from rank 1");
  exchange.give(0, 0, Exchange::Value, Block::make(24, count));
  EXPECT_EQ(exchange.poll(), "");
  EXPECT_EQ(exchange.finish(),
            "has waited 0.03 s for another rank to take what it is sent");
  EXPECT_EQ(peers.finish(), "has waited 0.03 s for the end of rank 1");
}

} // namespace
