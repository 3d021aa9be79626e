// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of a step between threads, against loops over ranks.

#include "cutback/Runtime/Pipeline/GroupCollectives.h"

#include "cutback/Runtime/Pipeline/ThreadTransport.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

using Floats = std::vector<float>;
using Kind = ArtifactCollective::Kind;

ArtifactCollective makeOne(Kind kind, const char *reduction = "") {
  ArtifactCollective one;
  one.kind = kind;
  one.group = "tp";
  one.reduction = reduction;
  one.dtype = "f32";
  return one;
}

/// What each rank has after `what`, of `count` floats each. With `inPlace` it
/// gets them where it gave its own.
std::vector<Floats> runAll(const std::vector<ArtifactCollective> &what,
                           std::vector<Floats> given, size_t count,
                           bool inPlace = false) {
  std::vector<Floats> made(given.size(), Floats(count));
  ThreadRanks::Options options;
  options.delayMicroseconds = 60;
  ThreadRanks ranks(static_cast<int>(given.size()), options);
  ranks.run([&](Transport &transport) {
    Waiter waiter(transport, std::chrono::seconds(20));
    GroupCollectives group("tp", waiter);
    size_t rank = transport.rank();
    const ArtifactCollective &own = what[what.size() == 1 ? 0 : rank];
    EXPECT_EQ(group.check(own), "");
    Floats &from = given[rank], &to = made[rank];
    size_t bytes = from.size() * sizeof(float);
    if (inPlace)
      from.resize(std::max(from.size(), count));
    auto *into = reinterpret_cast<char *>(inPlace ? from.data() : to.data());
    EXPECT_EQ(group.run(own, reinterpret_cast<const char *>(from.data()),
                        static_cast<int64_t>(bytes), into,
                        static_cast<int64_t>(count * sizeof(float))),
              "");
    if (inPlace)
      std::copy_n(from.begin(), count, to.begin());
    EXPECT_FALSE(group.hasFailed());
  });
  return made;
}

std::vector<Floats> draw(size_t ranks, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> value(0, 5);
  std::vector<Floats> all(ranks, Floats(count));
  for (Floats &one : all)
    for (float &element : one)
      element = value(random);
  return all;
}

/// The reduction of all, in the order of the ranks.
Floats reduceHere(const std::vector<Floats> &given,
                  const std::string &reduction) {
  Floats sum = given[0];
  for (size_t rank = 1; rank < given.size(); ++rank)
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = reduction == "max" ? std::max(sum[i], given[rank][i])
                                  : sum[i] + given[rank][i];
  for (float &one : sum)
    if (reduction == "avg")
      one = one / static_cast<float>(given.size());
  return sum;
}

TEST(GroupCollectivesTest, ReductionsAreThoseInTheOrderOfTheRanks) {
  uint64_t seed = 0;
  for (size_t ranks : {1, 2, 3, 4})
    for (const char *reduction : {"sum", "avg", "max"})
      for (bool inPlace : {false, true}) {
        auto given = draw(ranks, 12 * ranks, ++seed);
        Floats expected = reduceHere(given, reduction);
        for (const Floats &one : runAll({makeOne(Kind::AllReduce, reduction)},
                                        given, 12 * ranks, inPlace))
          EXPECT_EQ(one, expected) << ranks << reduction;
        auto parts = runAll({makeOne(Kind::ReduceScatter, reduction)}, given,
                            12, inPlace);
        for (size_t rank = 0; rank < ranks; ++rank)
          EXPECT_EQ(parts[rank], Floats(expected.begin() + rank * 12,
                                        expected.begin() + rank * 12 + 12));
      }
}

TEST(GroupCollectivesTest, WhatIsGatheredOrSentComesByRank) {
  for (bool inPlace : {false, true}) {
    auto given = draw(3, 4, 9);
    Floats all;
    for (const Floats &one : given)
      all.insert(all.end(), one.begin(), one.end());
    for (const Floats &one :
         runAll({makeOne(Kind::AllGather)}, given, 12, inPlace))
      EXPECT_EQ(one, all);
    ArtifactCollective fromLast = makeOne(Kind::Broadcast);
    fromLast.root = 2;
    for (const Floats &one : runAll({fromLast}, given, 4, inPlace))
      EXPECT_EQ(one, given[2]);
    auto wide = draw(3, 6, 10);
    auto made = runAll({makeOne(Kind::AllToAll)}, wide, 6, inPlace);
    for (int to : {0, 1, 2})
      for (int from : {0, 1, 2})
        for (int i : {0, 1})
          EXPECT_EQ(made[to][from * 2 + i], wide[from][to * 2 + i]);
  }
}

TEST(GroupCollectivesTest, PartsMayHaveOtherSizes) {
  // Rank r sends r + 1 floats to rank 0 and the others to rank 1.
  auto given = draw(2, 4, 11);
  std::vector<ArtifactCollective> what(2, makeOne(Kind::AllToAll));
  what[0].sends = {4, 12}, what[0].takes = {4, 8};
  what[1].sends = {8, 8}, what[1].takes = {12, 8};
  std::vector<Floats> made(2);
  ThreadRanks(2).run([&](Transport &transport) {
    Waiter waiter(transport, std::chrono::seconds(20));
    GroupCollectives group("tp", waiter);
    int rank = transport.rank();
    made[rank].resize(rank ? 5 : 3);
    EXPECT_EQ(group.run(what[rank],
                        reinterpret_cast<const char *>(given[rank].data()), 16,
                        reinterpret_cast<char *>(made[rank].data()),
                        rank ? 20 : 12),
              "");
  });
  EXPECT_EQ(made[0], (Floats{given[0][0], given[1][0], given[1][1]}));
  EXPECT_EQ(made[1], (Floats{given[0][1], given[0][2], given[0][3], given[1][2],
                             given[1][3]}));
}

TEST(GroupCollectivesTest, WhatDoesNotFitTheGroupIsSaid) {
  ThreadRanks ranks(2);
  auto transport = ranks.open(0);
  Waiter waiter(*transport, std::chrono::milliseconds(20));
  GroupCollectives group("tp", waiter);
  ArtifactCollective other = makeOne(Kind::AllReduce, "sum");
  other.group = "dp";
  EXPECT_EQ(group.check(other),
            "all_reduce is for the group 'dp', and --group is 'tp'");
  ArtifactCollective four = makeOne(Kind::AllGather);
  four.ranks = 4;
  EXPECT_EQ(group.check(four), "all_gather_into_tensor is for 4 ranks of the "
                               "group 'tp', which has 2");
  ArtifactCollective three = makeOne(Kind::AllToAll);
  three.sends = three.takes = {4, 4, 4};
  EXPECT_EQ(group.check(three), "all_to_all_single is for 3 ranks of the group "
                                "'tp', which has 2");
  ArtifactCollective root = makeOne(Kind::Broadcast);
  root.root = 2;
  EXPECT_EQ(group.check(root),
            "broadcast is from rank 2 of the group 'tp', which has 2");
  float one = 1;
  auto *bytes = reinterpret_cast<char *>(&one);
  ArtifactCollective sum = makeOne(Kind::AllReduce, "sum");
  EXPECT_EQ(group.run(sum, bytes, 4, bytes, 4), "has waited 0.02 s for rank 1");
  EXPECT_TRUE(group.hasFailed());
  ArtifactCollective self = makeOne(Kind::AllToAll);
  self.sends = {4, 0}, self.takes = {0, 4};
  EXPECT_EQ(group.run(self, bytes, 4, bytes, 4),
            "rank 0 sends itself 4 bytes in place of 0");
}

} // namespace
