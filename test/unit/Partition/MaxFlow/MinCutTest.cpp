// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts by hand: the tie rule, what contraction merges and leaves out, and
// unbounded networks. Every case goes through every algorithm and the check.

#include "SampleNetworks.h"
#include "TestNetworks.h"
#include "cutback/Partition/MaxFlow/EdmondsKarp.h"

using namespace cutback;

using Sides = std::vector<uint8_t>;
using Arcs = std::vector<ArcId>;

TEST(MinCut, ofEqualCutsTakesTheNearestToTheSink) {
  MinCut cut = solveByAll(makeNetwork(4, {{0, 2, 5}, {2, 3, 5}, {3, 1, 5}}));
  EXPECT_EQ(cut.value, 5);
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1, 0, 0}));
  EXPECT_EQ(cut.cutArcs, (Arcs{2}));
}

TEST(MinCut, cutsTheNarrowPlace) {
  MinCut cut = solveByAll(makeNetwork(
      6, {{0, 2, 9}, {0, 3, 9}, {2, 4, 1}, {3, 4, 2}, {4, 5, 8}, {5, 1, 8}}));
  EXPECT_EQ(cut.value, 3);
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(cut.cutArcs, (Arcs{2, 3}));
}

TEST(MinCut, mergesWhatInfiniteArcsTieTogether) {
  // 2 and 3 hang on the source, 5 and 6 on the sink; 4 decides.
  FlowNetwork network = makeNetwork(7, {{0, 2, kInf},
                                        {2, 3, kInf},
                                        {3, 4, 6},
                                        {4, 5, 4},
                                        {5, 6, kInf},
                                        {6, 1, kInf},
                                        {2, 6, 10},
                                        {5, 2, kInf}});
  MinCut cut = solveByAll(network);
  EXPECT_EQ(cut.value, 14);
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(cut.cutArcs, (Arcs{3, 6}));
  EXPECT_EQ(cut.flow[0], 14);
  EXPECT_EQ(cut.flow[5], 14);
  MaxFlowSolver solver;
  EXPECT_EQ(solver.solve(network, cut), MinCutStatus::Solved);
  EXPECT_EQ(solver.stats().contractedVertices, 1U);
  EXPECT_EQ(solver.stats().contractedArcs, 0U);
}

TEST(MinCut, infiniteArcsKeepTheirEndsTogether) {
  // Cutting 2 -> 3 would do, were it not for the infinite arc 2 -> 4.
  MinCut cut = solveByAll(makeNetwork(
      5, {{0, 2, 10}, {2, 3, 1}, {2, 4, kInf}, {3, 1, 9}, {4, 1, 7}}));
  EXPECT_EQ(cut.value, 8);
  EXPECT_EQ(cut.cutArcs, (Arcs{1, 4}));
}

TEST(MinCut, infiniteCyclesNeedNoSpecialCare) {
  MinCut cut = solveByAll(makeNetwork(5, {{0, 2, 10},
                                          {2, 3, kInf},
                                          {3, 4, kInf},
                                          {4, 2, kInf},
                                          {4, 1, 6},
                                          {3, 1, 5}}));
  EXPECT_EQ(cut.value, 10);
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1, 1, 1, 1}));
}

TEST(MinCut, freeArcsThatCrossAreCut) {
  MinCut cut =
      solveByAll(makeNetwork(4, {{0, 2, kInf}, {2, 3, 0}, {3, 1, kInf}}));
  EXPECT_EQ(cut.value, 0);
  EXPECT_EQ(cut.cutArcs, (Arcs{1}));
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1, 0, 1}));
}

TEST(MinCut, parallelArcsShareTheFlow) {
  MinCut cut = solveByAll(
      makeNetwork(3, {{0, 2, 2}, {0, 2, 3}, {2, 1, 1}, {2, 1, 1}, {2, 1, 2}}));
  EXPECT_EQ(cut.value, 4);
  EXPECT_EQ(cut.cutArcs, (Arcs{2, 3, 4}));
}

TEST(MinCut, ignoresSelfLoopsAndArcsAgainstTheGrain) {
  MinCut cut = solveByAll(makeNetwork(3, {{2, 2, kInf},
                                          {2, 2, 5},
                                          {2, 0, kInf},
                                          {1, 2, kInf},
                                          {1, 0, 8},
                                          {0, 0, 1},
                                          {0, 2, 6},
                                          {2, 1, 4}}));
  EXPECT_EQ(cut.value, 4);
  EXPECT_EQ(cut.cutArcs, (Arcs{7}));
}

TEST(MinCut, unconnectedVerticesStayOnTheSourceSide) {
  MinCut cut =
      solveByAll(makeNetwork(7, {{0, 2, 3}, {4, 5, 7}, {6, 1, 2}, {3, 3, 1}}));
  EXPECT_EQ(cut.value, 0);
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1, 0, 0, 0, 0, 1}));
  EXPECT_TRUE(cut.cutArcs.empty());
}

TEST(MinCut, theSmallestNetworkHasAnEmptyCut) {
  MinCut cut = solveByAll(makeNetwork(2, {}));
  EXPECT_EQ(cut.value, 0);
  EXPECT_EQ(cut.onSinkSide, (Sides{0, 1}));
}

TEST(MinCut, aCutCanBeAsLargeAsNumbersReach) {
  int64_t half = INT64_MAX / 2 - 1;
  MinCut cut = solveByAll(makeNetwork(
      5,
      {{0, 2, half}, {0, 3, half}, {2, 4, kInf}, {3, 4, kInf}, {4, 1, kInf}}));
  EXPECT_EQ(cut.value, 2 * half);
  EXPECT_EQ(cut.cutArcs, (Arcs{0, 1}));
}

TEST(MinCut, namesTheShortestInfinitePath) {
  FlowNetwork network = makeNetwork(8, {{0, 2, kInf},
                                        {2, 3, kInf},
                                        {3, 4, kInf},
                                        {4, 1, kInf},
                                        {2, 5, 3},
                                        {0, 6, kInf},
                                        {6, 4, kInf},
                                        {6, 1, 9}});
  for (MaxFlowAlgorithm algorithm : kAllAlgorithms) {
    MaxFlowSolver solver(algorithm);
    MinCut cut;
    EXPECT_EQ(solver.solve(network, cut), MinCutStatus::Unbounded);
    EXPECT_EQ(solver.unboundedPath(), (std::vector<VertexId>{0, 6, 4, 1}));
  }
}

TEST(MinCut, theReferenceFindsUnboundedNetworksByItself) {
  FlowNetwork network = makeNetwork(3, {{0, 1, 5}, {0, 2, kInf}, {2, 1, kInf}});
  MinCut cut;
  EXPECT_FALSE(solveByEdmondsKarp(network, cut));
}

TEST(MinCut, refusesANetworkThatIsNotFinished) {
  FlowNetwork network(3);
  MaxFlowSolver solver;
  MinCut cut;
  EXPECT_EQ(solver.solve(network, cut), MinCutStatus::NotFinished);
}

TEST(MinCut, aSolverCanBeUsedAgain) {
  MaxFlowSolver solver;
  MinCut cut;
  FlowNetwork unbounded = makeNetwork(2, {{0, 1, kInf}});
  FlowNetwork large = samples::makeJointLike(500, 3);
  ASSERT_EQ(large.finish(), std::nullopt);
  FlowNetwork small = makeNetwork(3, {{0, 2, 5}, {2, 1, 7}});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(solver.solve(large, cut), MinCutStatus::Solved);
    EXPECT_EQ(checkFlow(large, cut), std::nullopt);
    EXPECT_EQ(solver.solve(unbounded, cut), MinCutStatus::Unbounded);
    EXPECT_EQ(solver.solve(small, cut), MinCutStatus::Solved);
    EXPECT_EQ(checkFlow(small, cut), std::nullopt);
    EXPECT_TRUE(solver.unboundedPath().empty());
  }
}

TEST(MinCut, algorithmsHaveNames) {
  for (MaxFlowAlgorithm algorithm : kAllAlgorithms)
    EXPECT_EQ(parseAlgorithmName(getAlgorithmName(algorithm)), algorithm);
  EXPECT_STREQ(getAlgorithmName(MaxFlowAlgorithm::Auto), "auto");
  EXPECT_STREQ(getAlgorithmName(MaxFlowAlgorithm::BoykovKolmogorov),
               "boykov-kolmogorov");
  EXPECT_STREQ(getAlgorithmName(MaxFlowAlgorithm::PushRelabel), "push-relabel");
  EXPECT_STREQ(getAlgorithmName(MaxFlowAlgorithm::BoostPushRelabel),
               "boost-push-relabel");
  EXPECT_STREQ(getAlgorithmName(MaxFlowAlgorithm::EdmondsKarp), "edmonds-karp");
  EXPECT_EQ(parseAlgorithmName("dinic"), std::nullopt);
  EXPECT_STREQ(getAlgorithmName(static_cast<MaxFlowAlgorithm>(99)), "unknown");
}
