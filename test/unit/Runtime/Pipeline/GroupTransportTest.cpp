// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where ranks are, and messages between some of them.

#include "cutback/Runtime/Pipeline/GroupTransport.h"

#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Runtime/Pipeline/ThreadTransport.h"

#include "gtest/gtest.h"

using namespace cutback::pipeline;

namespace {

TEST(GroupTransportTest, EachRankHasAPlaceAndKnowsWhoIsBesideIt) {
  RankGrid grid;
  grid.replicas = 3;
  grid.rows = 4;
  grid.width = 2;
  ASSERT_EQ(grid.size(), 24);
  for (int rank = 0; rank < grid.size(); ++rank) {
    EXPECT_EQ(grid.rankAt(grid.replicaOf(rank), grid.rowOf(rank),
                          grid.memberOf(rank)),
              rank);
    EXPECT_EQ(grid.pipelineOf(rank)[grid.rowOf(rank)], rank);
    EXPECT_EQ(grid.replicasOf(rank)[grid.replicaOf(rank)], rank);
    EXPECT_EQ(grid.membersOf(rank)[grid.memberOf(rank)], rank);
  }
  EXPECT_EQ(grid.pipelineOf(11), (std::vector<int>{9, 11, 13, 15}));
  EXPECT_EQ(grid.replicasOf(11), (std::vector<int>{3, 11, 19}));
  EXPECT_EQ(grid.membersOf(11), (std::vector<int>{10, 11}));
}

TEST(GroupTransportTest, CollectivesOfGroupsAndOfAllAreKeptApart) {
  RankGrid grid;
  grid.replicas = 2;
  grid.rows = 2;
  ThreadRanks::Options options;
  options.delayMicroseconds = 100;
  ThreadRanks ranks(4, options);
  ranks.run([&](Transport &all) {
    GroupTransport row(all, GroupTransport::Pipeline,
                       grid.pipelineOf(all.rank()));
    GroupTransport column(all, GroupTransport::Replicas,
                          grid.replicasOf(all.rank()));
    EXPECT_EQ(row.size(), 2);
    EXPECT_EQ(row.numberOf(row.rank()), all.rank());
    EXPECT_EQ(column.numberOf(1 - column.rank()), (all.rank() + 2) % 4);
    Waiter ofAll(all, std::chrono::seconds(20));
    Waiter ofRow(row, std::chrono::seconds(20));
    Waiter ofColumn(column, std::chrono::seconds(20));
    for (int i = 0; i < 10; ++i) {
      float values[3] = {float(all.rank()), float(all.rank()),
                         float(all.rank())};
      auto add = [](Waiter &waiter, float &value) {
        EXPECT_EQ(allReduce(waiter, Reduction::Sum, "f32",
                            reinterpret_cast<char *>(&value), sizeof value),
                  "");
      };
      add(ofRow, values[0]);
      add(ofAll, values[1]);
      add(ofColumn, values[2]);
      EXPECT_EQ(values[0], all.rank() < 2 ? 1 : 5);
      EXPECT_EQ(values[1], 6);
      EXPECT_EQ(values[2], all.rank() % 2 ? 4 : 2);
    }
  });
}

TEST(GroupTransportTest, AMessageNamesARankByItsNumberAmongAll) {
  ThreadRanks ranks(4);
  auto all = ranks.open(2);
  GroupTransport group(*all, GroupTransport::Pipeline, {2, 3});
  Waiter waiter(group, std::chrono::milliseconds(20));
  EXPECT_EQ(barrier(waiter), "has waited 0.02 s for rank 3");
  ranks.leave(3);
  char byte = 0;
  EXPECT_EQ(waiter.wait(group.receive(1, Transport::kFirstTag, &byte, 1), "it"),
            "rank 3 is gone");
}

/// Remembers the order that it is given.
class OrderedRank : public Transport {
public:
  explicit OrderedRank(int rank) {
    own = rank;
    all = 4;
  }
  int localRank() const override { return 7; }
  std::string name() const override { return "ordered"; }
  int64_t largestTag() const override { return 100; }
  Ticket send(int, int64_t, const char *, int64_t) override { return 1; }
  Ticket receive(int, int64_t, char *, int64_t) override { return 1; }
  bool isDone(Ticket, std::string &) override { return true; }
  bool isOrdered() const override { return true; }
  void setOrder(const std::vector<MessageGroup> &given) override {
    order = given;
  }
  void abort(int) override {}

  std::vector<MessageGroup> order;
};

TEST(GroupTransportTest, AnOrderIsThatOfTheRanksAmongAll) {
  OrderedRank all(3);
  GroupTransport group(all, GroupTransport::Pipeline, {1, 3});
  EXPECT_TRUE(group.isOrdered());
  EXPECT_EQ(group.rank(), 1);
  EXPECT_EQ(group.localRank(), 7);
  group.setOrder({{0, true, {64, 65}}, {0, false, {70}}});
  ASSERT_EQ(all.order.size(), 2u);
  EXPECT_EQ(all.order[0].other, 1);
  EXPECT_TRUE(all.order[0].isSend);
  EXPECT_EQ(all.order[0].tags, (std::vector<int64_t>{64, 65}));
  EXPECT_EQ(all.order[1].other, 1);
}

} // namespace
