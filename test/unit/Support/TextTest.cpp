// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/Text.h"

#include <gtest/gtest.h>

#include <limits>

using namespace cutback;

TEST(Text, countsHaveSeparators) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1000), "1,000");
  EXPECT_EQ(formatCount(-1234567), "-1,234,567");
  EXPECT_EQ(formatCount(std::numeric_limits<int64_t>::min()),
            "-9,223,372,036,854,775,808");
}

TEST(Text, nounsAgreeWithTheirCount) {
  EXPECT_EQ(formatCount(1, "value"), "1 value");
  EXPECT_EQ(formatCount(0, "value"), "0 values");
  EXPECT_EQ(formatCount(2587, "op"), "2,587 ops");
}

TEST(Text, bytesTakeTheUnitThatFits) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1,023 B");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(252 << 20), "252.0 MiB");
  EXPECT_EQ(formatBytes(int64_t(8192) << 20), "8,192.0 MiB");
  EXPECT_EQ(formatBytes(int64_t(131) << 30), "131.0 GiB");
}

TEST(Text, elementsHaveAnIndex) {
  const int64_t sizes[] = {4, 2, 6};
  EXPECT_EQ(formatIndex(sizes, 3, 0), "[0, 0, 0]");
  EXPECT_EQ(formatIndex(sizes, 3, 47), "[3, 1, 5]");
  EXPECT_EQ(formatIndex(sizes, 0, 0), "[]");
}

TEST(Text, aColumnOfBytesHasOneUnit) {
  ByteUnit unit = byteUnitFor(int64_t(3) << 20);
  EXPECT_STREQ(unit.name, "MiB");
  EXPECT_EQ(unit.format(1 << 19), "0.5");
}

TEST(Text, durationsTakeTheUnitThatFits) {
  EXPECT_EQ(formatPicoseconds(850), "850 ps");
  EXPECT_EQ(formatPicoseconds(1200), "1.20 ns");
  EXPECT_EQ(formatPicoseconds(3.4e6), "3.40 us");
  EXPECT_EQ(formatPicoseconds(1.02e9), "1.02 ms");
  EXPECT_EQ(formatPicoseconds(2e12), "2.00 s");
}

TEST(Text, aTableIsCutToFitColumnByColumn) {
  TextTable table({TextTable::Left, TextTable::Right, TextTable::Left});
  table.add({"blocks.0–1", "1,000", "expensive"});
  table.add({"c", "2", "y"});
  table.fit(28, {{2, 4}, {0, 4}});
  EXPECT_EQ(table.str(0), "blocks.0–1  1,000  expensive\n"
                          "c               2  y\n");
  table.fit(20, {{2, 6}, {0, 6}, {2, 3}, {0, 2}});
  EXPECT_EQ(table.str(0), "block…  1,000  expe…\n"
                          "c           2  y\n");
}

TEST(Text, textIsWrappedBehindItsTitle) {
  EXPECT_EQ(wrapText("peak", "1 MiB", 8), "peak    1 MiB\n");
  EXPECT_EQ(wrapText("a longer title", "x", 8), "a longer title x\n");
  EXPECT_EQ(wrapText("", "x y", 2), "  x y\n");
  std::string word(39, 'w');
  EXPECT_EQ(wrapText("a", word + " " + word.substr(1) + " b", 2),
            "a " + word + " " + word.substr(1) + "\n  b\n");
  EXPECT_EQ(wrapText("a", word + " " + word.substr(4) + " 12 MiB", 2),
            "a " + word + " " + word.substr(4) + "\n  12 MiB\n")
      << "a unit stays with its number";
  std::string endless(100, 'w');
  EXPECT_EQ(wrapText("a", "b " + endless, 2), "a b\n  " + endless + "\n");
  EXPECT_EQ(wrapLine("plan: " + word + " " + word),
            "plan: " + word + "\n      " + word + "\n");
}

TEST(Text, aByteOrderMarkIsNoText) {
  EXPECT_EQ(withoutByteOrderMark("\xEF\xBB\xBFx"), "x");
  EXPECT_EQ(withoutByteOrderMark("\xEF\xBBx"), "\xEF\xBBx");
  EXPECT_EQ(withoutByteOrderMark(""), "");
}

TEST(Text, aTableAlignsAndDropsSpacesAtTheEnd) {
  TextTable table({TextTable::Left, TextTable::Right, TextTable::Left});
  table.add({"a", "1"});
  table.add({"blocks.0–1", "1,000", "x"});
  table.add({"c", "2", "y", "z"});
  EXPECT_EQ(table.str(), "  a               1\n"
                         "  blocks.0–1  1,000  x\n"
                         "  c               2  y  z\n");
}

TEST(Text, shorteningCountsCodePoints) {
  EXPECT_EQ(shorten("blocks", 6), "blocks");
  EXPECT_EQ(shorten("blocks", 4), "blo…");
  EXPECT_EQ(shorten("0–11x", 4), "0–1…");
}

TEST(Text, editDistanceKnowsSwaps) {
  EXPECT_EQ(editDistance("addmm", "addmm", 3), 0u);
  EXPECT_EQ(editDistance("addmm", "admdm", 3), 1u);
  EXPECT_EQ(editDistance("mul_1", "mul_12", 3), 1u);
  EXPECT_EQ(editDistance("mul", "add", 2), 3u) << "over the limit";
  EXPECT_EQ(editDistance("a", "abcdef", 2), 3u);
}

TEST(Text, nearestNamesAreSortedByDistance) {
  std::vector<std::string_view> all = {"mul_1", "addmm_3", "addmm_31",
                                       "addmm_13"};
  std::vector<std::string> near = nearestNames("addm_3", all, 2);
  ASSERT_EQ(near.size(), 2u);
  EXPECT_EQ(near[0], "addmm_3");
  EXPECT_EQ(near[1], "addmm_31");
  EXPECT_TRUE(nearestNames("quite_different", all, 2).empty());
  EXPECT_EQ(nearestNames("addm", all, 1).size(), 1u) << "a prefix is near";
}
