// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a batch goes into micro-batches, against one row after the other.

#include "cutback/Runtime/Pipeline/BatchSplit.h"

#include "gtest/gtest.h"

#include <vector>

using namespace cutback;

namespace {

/// Row after row to the parts in turn: torch.tensor_split has as many in each.
std::vector<int64_t> dealRows(int64_t batch, int64_t parts) {
  std::vector<int64_t> rows(parts, 0);
  for (int64_t row = 0; row < batch; ++row)
    ++rows[row % parts];
  return rows;
}

TEST(BatchSplitTest, TheFirstPartsHaveARowMore) {
  for (int64_t batch = 1; batch < 40; ++batch)
    for (int64_t parts = 1; parts <= batch; ++parts) {
      auto split = splitBatch(batch, parts);
      ASSERT_TRUE(split);
      std::vector<int64_t> rows = dealRows(batch, parts);
      for (int64_t part = 0; part < parts; ++part)
        EXPECT_EQ(split->rows - (part >= split->larger), rows[part])
            << batch << " in " << parts;
      EXPECT_EQ(split->larger == parts, batch % parts == 0);
    }
}

TEST(BatchSplitTest, PartsHaveARowAtLeast) {
  EXPECT_FALSE(splitBatch(3, 4));
  EXPECT_FALSE(splitBatch(0, 1));
  EXPECT_FALSE(splitBatch(3, 0));
}

TEST(BatchSplitTest, ElementsTellHowManyPartsAreLarger) {
  // Of each row three elements, say; larger parts have two rows, others one.
  for (int64_t parts = 1; parts < 6; ++parts)
    for (int64_t total = -3; total < 40; ++total) {
      std::optional<int64_t> found;
      for (int64_t count = 0; count <= parts; ++count)
        if (6 * count + 3 * (parts - count) == total)
          found = count;
      EXPECT_EQ(countLarger(total, parts, 6, 3), found)
          << total << " in " << parts;
    }
  EXPECT_EQ(countLarger(12, 4, 3, 3), 4);
  EXPECT_FALSE(countLarger(13, 4, 3, 3));
  EXPECT_FALSE(countLarger(12, 0, 3, 2));
  EXPECT_FALSE(countLarger(INT64_MAX, 2, 3, 2));
  EXPECT_FALSE(countLarger(5, INT64_MAX, INT64_MAX, INT64_MAX - 1));
}

TEST(BatchSplitTest, PlacesAreSumsOfWhatIsBefore) {
  int64_t before = 0;
  for (int64_t part = 0; part < 6; ++part) {
    EXPECT_EQ(elementsBefore(part, 2, 8, 6), before);
    before += part < 2 ? 8 : 6;
  }
}

TEST(BatchSplitTest, PartsDifferAlongOneDimension) {
  EXPECT_TRUE(areParts(1, {6, 4}, {6, 3}));
  EXPECT_TRUE(areParts(1, {6, 4}, {6, 4}));
  EXPECT_TRUE(areParts(-1, {}, {}));
  EXPECT_FALSE(areParts(0, {6, 4}, {6, 3}));
  EXPECT_FALSE(areParts(-1, {6, 4}, {6, 3}));
  EXPECT_FALSE(areParts(1, {6, 3}, {6, 4}));
  EXPECT_FALSE(areParts(0, {6, 4}, {6}));
}

} // namespace
