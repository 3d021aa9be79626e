// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts against the best of all orders on small random instances, the check
// against a comparison of all pairs, and large instances that must be valid.

#include "cutback/MemoryPlan/ArenaLayout.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace cutback;

namespace {

using Intervals = std::vector<ArenaInterval>;

Intervals randomIntervals(std::mt19937_64 &random, uint32_t count,
                          uint32_t steps, int64_t most) {
  Intervals intervals;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t begin = random() % steps;
    uint32_t end = begin + 1 + random() % (random() % 4 ? 4 : steps);
    int64_t bytes = static_cast<int64_t>(random() % most);
    if (random() % 2)
      bytes = bytes / 64 * 64;
    intervals.push_back({begin, end, bytes, -1});
  }
  return intervals;
}

/// Live together and on the same bytes, by looking at all pairs.
bool hasOverlap(const Intervals &intervals, const ArenaLayout &layout) {
  for (size_t a = 0; a < intervals.size(); ++a)
    for (size_t b = a + 1; b < intervals.size(); ++b)
      if (intervals[a].begin < intervals[b].end &&
          intervals[b].begin < intervals[a].end &&
          layout.offsets[a] < layout.offsets[b] + intervals[b].bytes &&
          layout.offsets[b] < layout.offsets[a] + intervals[a].bytes)
        return true;
  return false;
}

TEST(ArenaLayoutTest, NothingNeedsNothing) {
  ArenaLayout layout = layoutArena({});
  EXPECT_EQ(layout.bytes, 0);
  EXPECT_EQ(layout.ratio(), 1.0);
  EXPECT_FALSE(verifyArena({}, layout, 64));
}

TEST(ArenaLayoutTest, BuffersThatNeverMeetShareAPlace) {
  Intervals intervals = {{0, 2, 100, -1}, {2, 4, 128, -1}, {4, 5, 1, -1}};
  ArenaLayout layout = layoutArena(intervals);
  EXPECT_EQ(layout.bytes, 128);
  EXPECT_EQ(layout.lowerBound, 128);
  EXPECT_EQ(layout.offsets, (std::vector<int64_t>{0, 0, 0}));
}

TEST(ArenaLayoutTest, SizesAreRoundedUpToTheAlignment) {
  Intervals intervals = {{0, 1, 1, -1}, {0, 1, 1, -1}};
  EXPECT_EQ(layoutArena(intervals, {64}).bytes, 128);
  EXPECT_EQ(layoutArena(intervals, {256}).bytes, 512);
}

TEST(ArenaLayoutTest, AnEmptyBufferTakesNoPlace) {
  Intervals intervals = {{0, 9, 0, -1}, {0, 9, 64, -1}, {0, 9, 0, -1}};
  ArenaLayout layout = layoutArena(intervals);
  EXPECT_EQ(layout.bytes, 64);
  EXPECT_FALSE(verifyArena(intervals, layout, 64));
}

TEST(ArenaLayoutTest, AFixedBufferStaysWhereItIs) {
  Intervals intervals = {{0, 4, 64, 128}, {0, 4, 128, -1}, {2, 6, 64, -1}};
  ASSERT_FALSE(checkArena(intervals, 64));
  ArenaLayout layout = layoutArena(intervals);
  EXPECT_EQ(layout.offsets[0], 128);
  EXPECT_EQ(layout.bytes, 256);
  EXPECT_FALSE(verifyArena(intervals, layout, 64));
}

TEST(ArenaLayoutTest, TheSearchGoesAroundFixedPlacesAndEmptyBuffers) {
  std::mt19937_64 random(11);
  ArenaOptions options;
  options.work = 30'000;
  uint64_t searched = 0;
  for (unsigned round = 0; round < 400; ++round) {
    Intervals intervals = randomIntervals(random, 4 + random() % 60, 30, 2000);
    intervals[0].fixedOffset = 64 * static_cast<int64_t>(random() % 8);
    intervals[2].fixedOffset = intervals[0].fixedOffset + 2048 +
                               64 * static_cast<int64_t>(random() % 8);
    intervals[1].bytes = intervals.back().bytes = 0;
    ASSERT_FALSE(checkArena(intervals, options.alignment));
    ArenaLayout layout = layoutArena(intervals, options);
    ASSERT_FALSE(verifyArena(intervals, layout, options.alignment))
        << "round " << round;
    EXPECT_FALSE(hasOverlap(intervals, layout)) << "round " << round;
    searched += layout.iterations > 0;
  }
  EXPECT_GT(searched, 30u);
}

TEST(ArenaLayoutTest, TheSearchGoesBelowTheFirstGreedyOrder) {
  unsigned improved = 0, same = 0;
  std::mt19937_64 random(7);
  for (unsigned round = 0; round < 500; ++round) {
    Intervals intervals = randomIntervals(random, 24, 20, 1024);
    ArenaOptions greedy;
    greedy.work = 1;
    int64_t first = layoutArena(intervals, greedy).bytes;
    ArenaOptions patient;
    patient.work = 300'000;
    ArenaLayout layout = layoutArena(intervals, patient);
    EXPECT_LE(layout.bytes, first);
    ++(layout.bytes < first ? improved : same);
  }
  EXPECT_GT(improved, 100u);
}

TEST(ArenaLayoutTest, SmallLayoutsAreAsSmallAsTheBestOfAllOrders) {
  std::mt19937_64 random(1);
  ArenaOptions options;
  options.work = 100'000;
  unsigned larger = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    uint32_t count = 1 + round % 7;
    Intervals intervals = randomIntervals(random, count, 6, 700);
    ArenaLayout layout = layoutArena(intervals, options);
    ASSERT_FALSE(verifyArena(intervals, layout, options.alignment));
    ArenaLayout best = layoutArenaExhaustively(intervals, options.alignment);
    ASSERT_FALSE(verifyArena(intervals, best, options.alignment));
    ASSERT_GE(best.bytes, best.lowerBound);
    ASSERT_GE(layout.bytes, best.bytes) << "round " << round;
    larger += layout.bytes > best.bytes;
  }
  EXPECT_EQ(larger, 0u);
}

TEST(ArenaLayoutTest, EightIntervalsWithLongerLivesToo) {
  std::mt19937_64 random(2);
  ArenaOptions options;
  options.work = 200'000;
  for (unsigned round = 0; round < 40; ++round) {
    Intervals intervals = randomIntervals(random, 8, 12, 2000);
    ArenaLayout best = layoutArenaExhaustively(intervals, options.alignment);
    EXPECT_EQ(layoutArena(intervals, options).bytes, best.bytes)
        << "round " << round;
  }
}

TEST(ArenaLayoutTest, LayoutsOfAnySizeAreValidAndRepeatable) {
  std::mt19937_64 random(3);
  ArenaOptions options;
  options.work = 200'000;
  for (unsigned round = 0; round < 300; ++round) {
    uint32_t count = 1 + random() % 120;
    Intervals intervals =
        randomIntervals(random, count, 1 + random() % 200, 100'000);
    options.alignment = round % 2 ? 64 : 256;
    ASSERT_FALSE(checkArena(intervals, options.alignment));
    ArenaLayout layout = layoutArena(intervals, options);
    ASSERT_FALSE(verifyArena(intervals, layout, options.alignment));
    ASSERT_FALSE(hasOverlap(intervals, layout));
    ASSERT_GE(layout.bytes, layout.lowerBound);
    ASSERT_EQ(layoutArena(intervals, options).offsets, layout.offsets);
  }
}

TEST(ArenaLayoutTest, TooManyPairsForAListAreSweptOverTime) {
  std::mt19937_64 random(4);
  Intervals intervals;
  for (uint32_t i = 0; i < 10'000; ++i)
    intervals.push_back({i % 100, 10'000 + i, int64_t(random() % 1000), -1});
  intervals[17].fixedOffset = 640;
  ASSERT_FALSE(checkArena(intervals, 64));
  ArenaLayout layout = layoutArena(intervals);
  EXPECT_EQ(layout.iterations, 0u);
  EXPECT_FALSE(verifyArena(intervals, layout, 64));
  EXPECT_EQ(layout.offsets[17], 640);
  EXPECT_LT(layout.ratio(), 1.01);
}

TEST(ArenaLayoutTest, TheCheckFindsWhatAllPairsFind) {
  std::mt19937_64 random(5);
  unsigned valid = 0;
  for (unsigned round = 0; round < 5000; ++round) {
    Intervals intervals = randomIntervals(random, 2 + random() % 6, 8, 300);
    ArenaLayout layout;
    layout.bytes = 1 << 20;
    for (size_t i = 0; i < intervals.size(); ++i)
      layout.offsets.push_back(static_cast<int64_t>(random() % 12) * 64);
    // Zero bytes are nowhere; all pairs must not see them either.
    for (ArenaInterval &interval : intervals)
      interval.bytes += interval.bytes == 0;
    std::optional<ArenaFault> fault = verifyArena(intervals, layout, 64);
    ASSERT_EQ(fault.has_value(), hasOverlap(intervals, layout));
    valid += !fault;
  }
  EXPECT_GT(valid, 500u);
}

TEST(ArenaLayoutTest, EveryFaultOfALayoutIsFound) {
  Intervals intervals = {{0, 4, 64, -1}, {1, 3, 64, 64}, {4, 5, 64, -1}};
  ArenaLayout good = layoutArena(intervals);
  ASSERT_FALSE(verifyArena(intervals, good, 64));
  auto faultOf = [&](auto change) {
    ArenaLayout layout = good;
    change(layout);
    std::optional<ArenaFault> fault = verifyArena(intervals, layout, 64);
    return fault ? int(fault->kind) : -1;
  };
  using Layout = ArenaLayout &;
  EXPECT_EQ(faultOf([](Layout l) { l.offsets.pop_back(); }),
            ArenaFault::WrongCount);
  EXPECT_EQ(faultOf([](Layout l) { l.offsets[0] = 32; }),
            ArenaFault::Misaligned);
  EXPECT_EQ(faultOf([](Layout l) { l.offsets[0] = -64; }),
            ArenaFault::OutsideArena);
  EXPECT_EQ(faultOf([](Layout l) { l.bytes -= 1; }), ArenaFault::OutsideArena);
  EXPECT_EQ(faultOf([](Layout l) { l.offsets[1] = 0; }),
            ArenaFault::NotAtFixed);
  EXPECT_EQ(faultOf([](Layout l) { l.offsets[0] = 64; }), ArenaFault::Overlap);
}

TEST(ArenaLayoutTest, WhatIsNoInstanceIsSaid) {
  auto faultOf = [](Intervals intervals) {
    std::optional<ArenaFault> fault = checkArena(intervals, 64);
    return fault ? int(fault->kind) : -1;
  };
  EXPECT_EQ(faultOf({{3, 3, 1, -1}}), ArenaFault::EmptyLifetime);
  EXPECT_EQ(faultOf({{0, 1, -1, -1}}), ArenaFault::NegativeBytes);
  EXPECT_EQ(faultOf({{0, 1, 1, 32}}), ArenaFault::FixedMisaligned);
  EXPECT_EQ(faultOf({{0, 2, 65, 0}, {1, 3, 1, 64}}), ArenaFault::FixedOverlap);
  EXPECT_EQ(faultOf({{0, 1, INT64_MAX, -1}}), ArenaFault::TooLarge);
  EXPECT_EQ(faultOf({{0, 1, INT64_MAX / 6, -1}, {0, 1, INT64_MAX / 6, -1}}),
            ArenaFault::TooLarge);
  EXPECT_EQ(faultOf({{0, 2, 64, 0}, {1, 3, 1, 64}}), -1);
}

} // namespace
