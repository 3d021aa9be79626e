// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Kernels/IndexMaps.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

using Loops = llvm::SmallVector<MapLoop, 6>;

IndexMaps::Id intern(IndexMaps &maps, Loops loops, int64_t elements,
                     int64_t offset = 0) {
  return maps.intern(loops, offset, elements);
}

TEST(IndexMaps, NeighboursThatWalkAsOneAreOne) {
  IndexMaps maps;
  EXPECT_EQ(intern(maps, {{24, 1}}, 24), IndexMaps::kIdentity);
  EXPECT_EQ(intern(maps, {{2, 12}, {3, 4}, {4, 1}}, 24), IndexMaps::kIdentity);
  EXPECT_EQ(intern(maps, {{1, 7}, {24, 1}, {1, 0}}, 24), IndexMaps::kIdentity);
  IndexMaps::Id transposed = intern(maps, {{4, 1}, {6, 4}}, 24);
  EXPECT_NE(transposed, IndexMaps::kIdentity);
  EXPECT_EQ(transposed, intern(maps, {{2, 2}, {2, 1}, {6, 4}}, 24));
  EXPECT_TRUE(maps.map(transposed).coversAll);
  EXPECT_EQ(maps.map(transposed).broadcast, IndexMaps::kNoPattern);
}

TEST(IndexMaps, PartsDoNotCover) {
  IndexMaps maps;
  IndexMaps::Id half = intern(maps, {{3, 4}, {2, 1}}, 12);
  EXPECT_FALSE(maps.map(half).coversAll);
  EXPECT_NE(half, intern(maps, {{3, 4}, {2, 1}}, 12, 2));
  EXPECT_FALSE(maps.map(intern(maps, {{12, 1}}, 24)).coversAll);
  // Two loops over the same elements.
  EXPECT_FALSE(maps.map(intern(maps, {{4, 3}, {4, 3}}, 16)).coversAll);
}

TEST(IndexMaps, ABroadcastAndItsReductionHaveOnePattern) {
  IndexMaps maps;
  llvm::SmallVector<LoopPattern::Loop, 6> rows{
      {2, false}, {3, false}, {5, true}};
  uint32_t pattern = maps.internPattern(rows);
  IndexMaps::Id map = intern(maps, {{6, 1}, {5, 0}}, 6);
  EXPECT_EQ(maps.map(map).broadcast, pattern);
  EXPECT_EQ(maps.broadcastOf(pattern), map);
  EXPECT_EQ(maps.map(map).repeats, 5);
  EXPECT_TRUE(maps.pattern(pattern).isRows());
  EXPECT_EQ(maps.pattern(pattern).kept, 6);
  // A broadcast that was seen before its reduction.
  IndexMaps::Id column = intern(maps, {{7, 0}, {5, 1}}, 5);
  llvm::SmallVector<LoopPattern::Loop, 6> columns{{7, true}, {5, false}};
  EXPECT_EQ(maps.internPattern(columns), maps.map(column).broadcast);
  EXPECT_FALSE(maps.pattern(maps.map(column).broadcast).isRows());
}

TEST(IndexMaps, NothingReducedIsNoPattern) {
  IndexMaps maps;
  llvm::SmallVector<LoopPattern::Loop, 6> loops{{4, false}, {1, true}};
  EXPECT_EQ(maps.internPattern(loops), IndexMaps::kNoPattern);
}

TEST(IndexMaps, PartsOfAConcatenationAreDistinct) {
  IndexMaps maps;
  EXPECT_NE(maps.internPart(3, 0), maps.internPart(3, 1));
  EXPECT_TRUE(maps.map(maps.internPart(4, 0)).coversAll);
}

} // namespace
