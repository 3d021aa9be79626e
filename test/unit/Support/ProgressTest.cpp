// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/Progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace cutback;

TEST(Progress, speaksAfterASecondOnly) {
  testing::internal::CaptureStderr();
  {
    Progress progress("cutback report", /*wanted=*/true);
    progress.step("reading");
    progress.step("planning");
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    progress.step("verifying");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cutback report: planning\ncutback report: verifying\n");
}

TEST(Progress, aShortCommandSaysNothing) {
  testing::internal::CaptureStderr();
  {
    Progress progress("cutback report", /*wanted=*/true);
    progress.step("reading");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
