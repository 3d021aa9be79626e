// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building networks: order, parallel arcs, reuse, and every error finish() and
// setCapacity() can report.

#include "TestNetworks.h"

using namespace cutback;

static std::string errorOf(const std::vector<FlowArc> &arcs) {
  FlowNetwork network(3);
  for (const FlowArc &arc : arcs)
    network.addArc(arc.from, arc.to, arc.capacity);
  FlowError error = network.finish();
  EXPECT_FALSE(network.isFinished());
  return error.value_or("no error");
}

TEST(FlowNetwork, knowsANumberAboveEveryCut) {
  FlowNetwork network =
      makeNetwork(4, {{0, 2, 1}, {3, 1, 2}, {0, 3, kInf}, {2, 1, 4}});
  EXPECT_EQ(network.effectiveInfinity(), 8);
}

TEST(FlowNetwork, startsWithSourceAndSinkAndNumbersVerticesOn) {
  FlowNetwork network;
  EXPECT_EQ(network.addVertex(), 2U);
  EXPECT_EQ(network.addVertices(3), 3U);
  EXPECT_EQ(network.addVertex(), 6U);
  EXPECT_EQ(network.addInfiniteArc(2, 6), 0U);
  EXPECT_TRUE(network.arc(0).isInfinite());
}

TEST(FlowNetwork, isEmptyAfterClear) {
  FlowNetwork network = makeNetwork(4, {{0, 2, 5}, {2, 1, 5}});
  network.clear();
  EXPECT_FALSE(network.isFinished());
  EXPECT_EQ(network.numVertices(), 2U);
  EXPECT_EQ(network.numArcs(), 0U);
  EXPECT_EQ(network.finish(), std::nullopt);
  EXPECT_EQ(network.effectiveInfinity(), 1);
}

TEST(FlowNetwork, keepsParallelArcsByDefault) {
  FlowNetwork network = makeNetwork(2, {{0, 1, 3}, {0, 1, 4}});
  EXPECT_EQ(network.numArcs(), 2U);
  EXPECT_EQ(solveByAll(network).value, 7);
}

TEST(FlowNetwork, lastCapacityWinsWhereTheFirstStood) {
  FlowNetwork network = makeNetwork(
      3, {{0, 2, 3}, {2, 1, kInf}, {0, 2, kInf}, {0, 2, 9}, {2, 1, 4}},
      ParallelArcs::LastWins);
  ASSERT_EQ(network.numArcs(), 2U);
  EXPECT_EQ(network.arc(0).to, 2U);
  EXPECT_EQ(network.arc(0).capacity, 9);
  EXPECT_EQ(network.arc(1).capacity, 4);
  EXPECT_EQ(network.effectiveInfinity(), 14);
}

TEST(FlowNetwork, aReplacedCapacityDoesNotCountTowardsOverflow) {
  FlowNetwork network = makeNetwork(2, {{0, 1, INT64_MAX - 1}, {0, 1, 9}},
                                    ParallelArcs::LastWins);
  EXPECT_EQ(network.effectiveInfinity(), 10);
}

TEST(FlowNetwork, sumsParallelArcsAndInfinityAbsorbs) {
  FlowNetwork network =
      makeNetwork(3, {{0, 2, 3}, {2, 1, 1}, {0, 2, 4}, {2, 1, kInf}, {2, 1, 6}},
                  ParallelArcs::Sum);
  ASSERT_EQ(network.numArcs(), 2U);
  EXPECT_EQ(network.arc(0).capacity, 7);
  EXPECT_TRUE(network.arc(1).isInfinite());
  EXPECT_EQ(network.effectiveInfinity(), 8);
}

TEST(FlowNetwork, rejectsEndsThatAreNoVertices) {
  EXPECT_EQ(errorOf({{0, 3, 5}}),
            "arc 0 -> 3 of capacity 5 ends outside the 3 vertices");
  EXPECT_EQ(errorOf({{9, 1, 5}}),
            "arc 9 -> 1 of capacity 5 ends outside the 3 vertices");
}

TEST(FlowNetwork, rejectsNegativeCapacities) {
  EXPECT_EQ(errorOf({{0, 1, -2}}), "arc 0 -> 1 of capacity -2 is neither "
                                   "infinite (-1) nor at least 0");
}

TEST(FlowNetwork, rejectsSumsThatLeaveNoInfinity) {
  EXPECT_EQ(errorOf({{0, 1, INT64_MAX - 1}, {0, 2, 1}}),
            "the finite capacities add up to more than 2^63 - 2; scale them "
            "down");
  FlowNetwork network = makeNetwork(2, {{0, 1, INT64_MAX - 1}, {0, 1, 0}});
  EXPECT_EQ(network.effectiveInfinity(), INT64_MAX);
  EXPECT_EQ(solveByAll(network).value, INT64_MAX - 1);
}

TEST(FlowNetwork, rejectsMoreVerticesThanIdsReach) {
  FlowNetwork network(1U << 31);
  EXPECT_EQ(network.finish(),
            "the network has 2147483648 vertices and 0 arcs; at most 2^31 - 1 "
            "and 2^30 - 1 are supported");
}

TEST(FlowNetwork, takesSoundArcsAsFinished) {
  FlowNetwork network;
  EXPECT_FALSE(network.assignSound(
      3, {{kSource, 2, 5}, {2, kSink, 7}, {kSource, 2, kInfiniteCapacity}},
      12));
  EXPECT_TRUE(network.isFinished());
  EXPECT_EQ(network.numVertices(), 3u);
  EXPECT_EQ(network.numArcs(), 3u);
  EXPECT_EQ(network.effectiveInfinity(), 13);
  EXPECT_TRUE(network.assignSound(1U << 31, {}, 0));
  EXPECT_FALSE(network.isFinished());
}

TEST(FlowNetwork, changesCapacitiesOfAFinishedNetwork) {
  FlowNetwork network = makeNetwork(3, {{0, 2, 5}, {2, 1, 7}});
  EXPECT_EQ(network.setCapacity(0, 20), std::nullopt);
  EXPECT_EQ(network.effectiveInfinity(), 28);
  EXPECT_EQ(solveByAll(network).value, 7);
  EXPECT_EQ(network.setCapacity(1, kInf), std::nullopt);
  EXPECT_EQ(network.effectiveInfinity(), 21);
  EXPECT_EQ(solveByAll(network).value, 20);
}

TEST(FlowNetwork, leavesTheNetworkAloneWhenACapacityIsRefused) {
  FlowNetwork network = makeNetwork(3, {{0, 2, 5}, {2, 1, 7}});
  EXPECT_EQ(network.setCapacity(2, 1),
            "no arc 2 in a finished network of 2 arcs");
  EXPECT_EQ(network.setCapacity(0, -7),
            "arc 0 -> 2 of capacity -7 is neither infinite (-1) nor at least "
            "0");
  EXPECT_EQ(network.setCapacity(0, INT64_MAX - 7),
            "the finite capacities add up to more than 2^63 - 2; scale them "
            "down");
  EXPECT_EQ(network.arc(0).capacity, 5);
  EXPECT_EQ(network.effectiveInfinity(), 13);
}
