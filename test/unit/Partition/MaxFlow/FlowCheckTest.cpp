// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check has to notice every way in which a cut can be wrong. Each test
// spoils one thing of a right answer.

#include "SampleNetworks.h"
#include "TestNetworks.h"

using namespace cutback;

namespace {

/// 0 -> 2 -> 3 -> 1 with capacities 5, 5, 9 and a free arc 2 -> 1: cut 1, 3.
struct FlowCheckTest : testing::Test {
  FlowNetwork network = makeNetwork(
      5, {{0, 2, 5}, {2, 3, 5}, {3, 1, 9}, {2, 1, 0}, {0, 4, kInf}});
  MinCut cut = solve(network);

  std::string verdict() { return checkFlow(network, cut).value_or("accepted"); }
};

} // namespace

TEST_F(FlowCheckTest, acceptsARightAnswer) {
  EXPECT_EQ(cut.cutArcs, (std::vector<ArcId>{1, 3}));
  EXPECT_EQ(verdict(), "accepted");
}

TEST_F(FlowCheckTest, rejectsAFlowOfAnotherNetwork) {
  cut.flow.pop_back();
  EXPECT_EQ(verdict(), "flow of 4 arcs for a network of 5");
}

TEST_F(FlowCheckTest, rejectsSidesOfAnotherNetwork) {
  cut.onSinkSide.push_back(0);
  EXPECT_EQ(verdict(), "sides of 6 vertices for a network of 5");
}

TEST_F(FlowCheckTest, rejectsASourceOnTheSinkSide) {
  cut.onSinkSide[kSource] = 1;
  EXPECT_EQ(verdict(), "the source is on the sink side");
}

TEST_F(FlowCheckTest, rejectsASinkOnTheSourceSide) {
  cut.onSinkSide[kSink] = 0;
  EXPECT_EQ(verdict(), "the sink is on the source side");
}

TEST_F(FlowCheckTest, rejectsFlowOverCapacity) {
  cut.flow[0] = 6;
  EXPECT_EQ(verdict(), "arc 0 (0 -> 2) of capacity 5 carries 6");
}

TEST_F(FlowCheckTest, rejectsNegativeFlow) {
  cut.flow[4] = -1;
  EXPECT_EQ(verdict(), "arc 4 (0 -> 4) of capacity -1 carries -1");
}

TEST_F(FlowCheckTest, rejectsFlowThatIsNotConserved) {
  cut.flow[0] = 4;
  EXPECT_EQ(verdict(), "vertex 2 gains -1");
}

TEST_F(FlowCheckTest, rejectsAnotherValue) {
  cut.value = 6;
  EXPECT_EQ(verdict(), "the flow brings 5 to the sink, the cut claims 6");
}

TEST_F(FlowCheckTest, rejectsAMissingCutArc) {
  cut.cutArcs = {1};
  EXPECT_EQ(verdict(), "arc 3 (2 -> 1) crosses the cut and is not listed");
}

TEST_F(FlowCheckTest, rejectsACutArcThatDoesNotCross) {
  cut.cutArcs = {1, 2, 3};
  EXPECT_EQ(verdict(), "arc 2 (3 -> 1) is listed and does not cross the cut");
}

TEST_F(FlowCheckTest, rejectsCutArcsOutOfOrder) {
  cut.cutArcs = {1, 3, 0};
  EXPECT_EQ(verdict(),
            "the list of cut arcs goes on after its 2 arcs in order");
}

TEST_F(FlowCheckTest, rejectsAnInfiniteArcInTheCut) {
  cut.onSinkSide[4] = 1;
  cut.cutArcs = {1, 3, 4};
  EXPECT_EQ(verdict(), "arc 4 (0 -> 4) is infinite and crosses the cut");
}

TEST_F(FlowCheckTest, rejectsACutThatIsNotMinimum) {
  cut.onSinkSide[3] = 0;
  cut.cutArcs = {2, 3};
  EXPECT_EQ(verdict(), "the cut has capacity 9, it claims 5");
}

TEST_F(FlowCheckTest, rejectsAMinimumCutThatIsNotTheNearest) {
  // Cutting 0 -> 2 costs 5 as well.
  cut.onSinkSide[2] = 1;
  cut.cutArcs = {0};
  EXPECT_EQ(verdict(), "vertex 2 is on the sink side and does not reach the "
                       "sink: the cut is not the nearest");
}

TEST(FlowCheck, countsOnWhenPartialSumsPass64Bits) {
  // Two rounds of a huge circulation pass through vertex 3.
  FlowNetwork network = makeNetwork(4, {{0, 2, 7},
                                        {2, 1, 7},
                                        {3, 3, kInf},
                                        {2, 3, kInf},
                                        {3, 2, kInf},
                                        {2, 3, kInf},
                                        {3, 2, kInf}});
  MinCut cut = solve(network);
  for (ArcId id = 3; id < 7; ++id)
    cut.flow[id] = INT64_MAX;
  EXPECT_EQ(checkFlow(network, cut), std::nullopt);
  cut.flow[4] = cut.flow[6] = 1; // out of 3: 2^64 less than into it
  EXPECT_NE(checkFlow(network, cut), std::nullopt);
}

TEST(FlowCheck, noticesAnySingleChangeOfFlow) {
  FlowNetwork network = samples::makeJointLike(300, 11);
  ASSERT_EQ(network.finish(), std::nullopt);
  MinCut cut = solve(network);
  for (ArcId id = 0; id < network.numArcs(); ++id)
    for (int64_t change : {-1, 1}) {
      cut.flow[id] += change;
      EXPECT_NE(checkFlow(network, cut), std::nullopt) << id;
      cut.flow[id] -= change;
    }
  EXPECT_EQ(checkFlow(network, cut), std::nullopt);
}
