// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Planner/Reasons.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

#include <vector>

using namespace cutback;

TEST(Reasons, labelsFitIntoTables) {
  std::vector<llvm::StringRef> all = {reasons::kSize,         reasons::kPolicy,
                                      reasons::kRandom,       reasons::kOnce,
                                      reasons::kExpensive,    reasons::kCheaper,
                                      reasons::kTorchCheaper, reasons::kResult};
  for (unsigned i = 0; i <= joint::getMaxEnumValForRoleKind(); ++i)
    all.push_back(reasonOfArgument(joint::RoleKind(i)));
  for (unsigned i = 0; i <= unsigned(BanReason::LongFusibleChain); ++i)
    all.push_back(reasonOfBan(BanReason(i)));
  for (llvm::StringRef reason : all) {
    EXPECT_FALSE(reason.empty());
    EXPECT_LE(labelOfReason(reason).size(), 24u) << reason.str();
  }
}

TEST(Reasons, aPhrasePutsTheMeaningInBrackets) {
  EXPECT_EQ(labelOfReason(reasons::kRandom), "random");
  EXPECT_EQ(phraseOfReason(reasons::kRandom),
            "random (a second run gives other numbers)");
  EXPECT_EQ(phraseOfReason(reasons::kExpensive), "expensive to recompute");
}

TEST(Reasons, everyBanHasOneOfItsOwn) {
  EXPECT_EQ(reasonOfBan(BanReason::MustSave), reasons::kPolicy);
  EXPECT_EQ(reasonOfBan(BanReason::None), reasons::kTorchCheaper);
  llvm::StringSet<> seen;
  for (unsigned i = 0; i <= unsigned(BanReason::LongFusibleChain); ++i)
    EXPECT_TRUE(seen.insert(reasonOfBan(BanReason(i))).second);
}
