// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Report/Folding.h"

#include <gtest/gtest.h>

using namespace cutback;

TEST(Folding, pathsAreSplitBehindTheirFirstNumber) {
  NumberedPath path = splitNumberedPath("blocks.3.attn.0.qkv");
  EXPECT_EQ(path.head, "blocks");
  EXPECT_EQ(path.index, "3");
  EXPECT_EQ(path.rest, ".attn.0.qkv");
  EXPECT_EQ(splitNumberedPath("ln_f").head, "ln_f");
  EXPECT_EQ(splitNumberedPath("models.py:117").index, "");
  EXPECT_EQ(splitNumberedPath("0.weight").head, "0.weight")
      << "a number needs a name before it";
}

TEST(Folding, rangesAreCompressed) {
  EXPECT_EQ(formatRanges({0, 1, 2, 5}), "0–2,5");
  EXPECT_EQ(formatRanges({3}), "3");
  EXPECT_EQ(formatRanges({}), "");
}

TEST(Folding, equalBlocksBecomeOneGroup) {
  std::vector<FoldItem> items = {{"wte", "add", "cheap", 5}};
  for (const char *block : {"blocks.0", "blocks.1", "blocks.2"}) {
    std::string name = block;
    items.push_back({name + ".attn.qkv", "addmm", "expensive", 100});
    items.push_back({name + ".attn.qkv", "addmm", "expensive", 100});
    items.push_back({name + ".ln", "mul", "cheap", 10});
  }
  std::vector<FoldedGroup> groups = foldByModule(items);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "wte");
  EXPECT_EQ(groups[0].times, 1u);
  EXPECT_EQ(groups[1].label, "blocks.0–2");
  EXPECT_EQ(groups[1].times, 3u);
  EXPECT_EQ(groups[1].values, 3u);
  EXPECT_EQ(groups[1].bytes, 630);
  EXPECT_EQ(groups[1].reason, "expensive") << "it holds for most bytes";
  ASSERT_EQ(groups[1].parts.size(), 2u);
  EXPECT_EQ(groups[1].parts[0].label, ".attn.qkv");
  EXPECT_EQ(groups[1].parts[0].values, 2u);
  EXPECT_EQ(groups[1].parts[0].bytes, 600);
  EXPECT_EQ(groups[1].parts[0].kinds[0].second, 2u);
  EXPECT_EQ(groups[1].members.size(), 9u);
}

TEST(Folding, blocksOfAnotherStructureStandApart) {
  std::vector<FoldItem> items = {{"blocks.0", "mul", "", 1},
                                 {"blocks.1", "mul", "", 2},
                                 {"blocks.2", "addmm", "", 4},
                                 {"blocks.3", "mul", "", 8}};
  std::vector<FoldedGroup> groups = foldByModule(items);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "blocks.0–1,3") << "sizes may differ";
  EXPECT_EQ(groups[0].bytes, 11);
  EXPECT_EQ(groups[1].label, "blocks.2");
}
