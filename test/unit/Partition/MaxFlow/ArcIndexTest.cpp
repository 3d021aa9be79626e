// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arcs of a vertex, in arc order, also when an index is built again for
// another network.

#include "cutback/Partition/MaxFlow/ArcIndex.h"
#include "TestNetworks.h"

using namespace cutback;

static std::vector<ArcId> ids(ArcIndex::ArcIds range) {
  return {range.begin(), range.end()};
}

TEST(ArcIndex, listsArcsOfAVertexInArcOrder) {
  ArcIndex index(
      makeNetwork(4, {{0, 2, 1}, {3, 1, 2}, {0, 3, kInf}, {2, 1, 4}}));
  EXPECT_EQ(ids(index.outArcs(0)), (std::vector<ArcId>{0, 2}));
  EXPECT_EQ(ids(index.inArcs(1)), (std::vector<ArcId>{1, 3}));
  EXPECT_EQ(index.outArcs(1).size(), 0U);
  EXPECT_EQ(index.inArcs(0).size(), 0U);
}

TEST(ArcIndex, forgetsAnEarlierNetwork) {
  ArcIndex index(makeNetwork(4, {{0, 2, 1}, {0, 3, 2}, {2, 1, 4}}));
  index.build(makeNetwork(3, {{2, 1, 4}, {0, 2, 1}}));
  EXPECT_EQ(ids(index.outArcs(0)), (std::vector<ArcId>{1}));
  EXPECT_EQ(ids(index.outArcs(2)), (std::vector<ArcId>{0}));
  EXPECT_EQ(ids(index.inArcs(2)), (std::vector<ArcId>{1}));
}
