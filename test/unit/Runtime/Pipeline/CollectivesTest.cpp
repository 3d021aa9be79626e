// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of random sizes against loops over the ranks in their order.

#include "cutback/Runtime/Pipeline/Collectives.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/Pipeline/ThreadTransport.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

ThreadRanks::Options lateMessages(uint64_t seed) {
  ThreadRanks::Options options;
  options.isSynchronous = seed % 2;
  options.delayMicroseconds = 100;
  options.seed = seed;
  return options;
}

/// What each rank has: small random floats.
std::vector<std::string> randomTensors(const char *type, int ranks,
                                       int64_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> value(0, 5);
  std::vector<std::string> all(ranks, std::string(bytes, '\0'));
  for (std::string &one : all) {
    Elements elements(one.data(), bytes, type);
    for (int64_t i = 0; i < elements.count(); ++i)
      elements.set(i, value(random));
  }
  return all;
}

TEST(CollectivesTest, ASumIsThatInTheOrderOfTheRanks) {
  uint64_t seed = 0;
  for (const char *type : {"f64", "f32", "bf16", "f16"})
    for (int size : {1, 2, 3, 5})
      for (int64_t count : {0, 1, 4, 37}) {
        int64_t item = type[0] == 'f' && type[1] == '6'   ? 8
                       : type[0] == 'f' && type[1] == '3' ? 4
                                                          : 2;
        auto given = randomTensors(type, size, count * item, ++seed);
        std::string expected = given[0];
        Elements sums(expected.data(), count * item, type);
        for (int rank = 1; rank < size; ++rank) {
          Elements more(given[rank].data(), count * item, type);
          for (int64_t i = 0; i < count; ++i)
            sums.set(i, sums[i] + more[i]);
        }
        auto made = given;
        ThreadRanks(size, lateMessages(seed)).run([&](Transport &transport) {
          Waiter waiter(transport, std::chrono::seconds(20));
          EXPECT_EQ(allReduce(waiter, Reduction::Sum, type,
                              made[transport.rank()].data(), count * item),
                    "");
        });
        for (const std::string &one : made)
          EXPECT_EQ(one, expected) << type << " " << size << " " << count;
      }
}

TEST(CollectivesTest, TheLargestAndWhetherAny) {
  auto given = randomTensors("f32", 4, 40, 3);
  std::vector<std::string> flags(4, std::string(3, '\0'));
  flags[1][1] = 1;
  flags[2][0] = 2;
  std::string largest = given[0];
  Elements expected(largest.data(), 40, "f32");
  for (std::string &one : given) {
    Elements elements(one.data(), 40, "f32");
    for (int64_t i = 0; i < 10; ++i)
      expected.set(i, std::max(expected[i], elements[i]));
  }
  ThreadRanks(4, lateMessages(1)).run([&](Transport &transport) {
    Waiter waiter(transport, std::chrono::seconds(20));
    int rank = transport.rank();
    EXPECT_EQ(allReduce(waiter, Reduction::Max, "f32", given[rank].data(), 40),
              "");
    EXPECT_EQ(allReduce(waiter, Reduction::Or, "ui8", flags[rank].data(), 3),
              "");
    EXPECT_EQ(given[rank], largest);
    EXPECT_EQ(flags[rank], std::string("\2\1\0", 3));
  });
}

TEST(CollectivesTest, TextsComeByRankAndBytesGoToAll) {
  for (int size : {1, 2, 5})
    ThreadRanks(size, lateMessages(size)).run([&](Transport &transport) {
      Waiter waiter(transport, std::chrono::seconds(20));
      int rank = transport.rank(), root = size / 2;
      std::vector<std::string> all;
      EXPECT_EQ(gather(waiter, root, std::string(rank, 'x'), all), "");
      ASSERT_EQ(all.size(), rank == root ? size_t(size) : 0u);
      for (int i = 0; rank == root && i < size; ++i)
        EXPECT_EQ(all[i], std::string(i, 'x'));
      int number = rank == root ? 42 : 0;
      EXPECT_EQ(broadcast(waiter, root, reinterpret_cast<char *>(&number),
                          sizeof number),
                "");
      EXPECT_EQ(number, 42);
      EXPECT_EQ(barrier(waiter), "");
      std::vector<int64_t> squares(size);
      int64_t own = rank * rank;
      EXPECT_EQ(allGather(waiter, reinterpret_cast<char *>(&own), sizeof own,
                          reinterpret_cast<char *>(squares.data())),
                "");
      for (int i = 0; i < size; ++i)
        EXPECT_EQ(squares[i], i * i);
    });
}

TEST(CollectivesTest, ARankThatDoesNotComeIsNamed) {
  ThreadRanks ranks(2);
  auto first = ranks.open(0);
  Waiter waiter(*first, std::chrono::milliseconds(20));
  EXPECT_EQ(barrier(waiter), "has waited 0.02 s for rank 1");
}

} // namespace
