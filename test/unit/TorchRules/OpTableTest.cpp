// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op table, read back from the file that it is made from: every row is
// found, sorted, and means what its letters say.
#include "cutback/TorchRules/TorchRules.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace cutback;

namespace {

uint8_t categoriesOf(const std::string &letters) {
  uint8_t categories = 0;
  for (char letter : letters)
    categories |= letter == 'V'   ? torchop::View
                  : letter == 'N' ? torchop::Random
                  : letter == 'C' ? torchop::ComputeIntensive
                  : letter == '-' ? 0
                                  : torchop::Recomputable;
  return categories;
}

TEST(OpTable, FindsEveryRowUnderBothRuleSets) {
  std::ifstream in(CUTBACK_SOURCE_DIR "/lib/TorchRules/ops.tsv");
  std::string line;
  std::getline(in, line);
  unsigned rows = 0;
  std::string previous;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string name, torch23, torch213;
    words >> name >> torch23 >> torch213;
    EXPECT_LT(previous, name) << "rows are not sorted";
    EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch23, name), categoriesOf(torch23))
        << name;
    EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch213, name),
              categoriesOf(torch213))
        << name;
    previous = name;
    ++rows;
  }
  EXPECT_EQ(rows, 375u);
}

TEST(OpTable, KnowsNothingOfOtherPackets) {
  for (const char *name : {"aten.sym_size", "aten.copy_", "aten.embedding", "",
                           "aten", "zzz", "aten.mul.Tensor", "aten.cat"})
    EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch213, name), 0) << name;
}

TEST(OpTable, RuleSetsDiffer) {
  EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch23, "aten._softmax"),
            torchop::ComputeIntensive);
  EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch213, "aten._softmax"), 0);
  EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch23, "aten.gather"), 0);
  EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch213, "aten.gather"),
            torchop::Recomputable);
  EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch23, "aten.select"),
            torchop::Recomputable);
  EXPECT_EQ(lookupTorchOp(TorchRuleSet::Torch213, "aten.select"),
            torchop::Recomputable | torchop::View);
}

} // namespace
