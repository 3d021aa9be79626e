// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Live ranges made by hand, and their sums.

#include "cutback/Report/StepTimeline.h"

#include <gtest/gtest.h>

using namespace cutback;

TEST(StepTimeline, bytesAreCountedByKindWhileTheyAreLive) {
  StepTimeline timeline;
  timeline.forwardOps = 2;
  timeline.numOps = 4;
  timeline.values = {{0, 0, 3, 100, LiveKind::Saved, 0},
                     {1, 1, 2, 10, LiveKind::Temporary, 128},
                     {2, 2, 4, 1, LiveKind::Gradient, 128},
                     {3, 1, 4, 5, LiveKind::Saved, 192}};
  auto live = timeline.liveBytes();
  ASSERT_EQ(live.size(), 4u);
  using Bytes = std::array<int64_t, kLiveKinds>;
  EXPECT_EQ(live[0], (Bytes{100, 0, 0, 0, 0}));
  EXPECT_EQ(live[1], (Bytes{105, 0, 0, 0, 10}));
  EXPECT_EQ(live[2], (Bytes{105, 0, 1, 0, 0}));
  EXPECT_EQ(live[3], (Bytes{5, 0, 1, 0, 0}));
}

TEST(StepTimeline, aStepWithoutOpsHasNoBytes) {
  EXPECT_TRUE(StepTimeline().liveBytes().empty());
}

TEST(StepTimeline, kindsHaveNames) {
  EXPECT_EQ(spell(LiveKind::Saved), "saved");
  EXPECT_EQ(spell(LiveKind::Result), "result");
  EXPECT_EQ(spell(LiveKind::Gradient), "gradient");
  EXPECT_EQ(spell(LiveKind::Recomputed), "recomputed");
  EXPECT_EQ(spell(LiveKind::Temporary), "temporary");
}
