// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Report/DeviceFit.h"

#include <gtest/gtest.h>

using namespace cutback;

namespace {

constexpr int64_t kGiB = int64_t(1) << 30;

DeviceFit exampleFit() {
  DeviceFit fit;
  fit.device = "h100";
  fit.memoryBytes = 80 * kGiB;
  fit.residentBytes = 30 * kGiB;
  fit.floorBytes = 10 * kGiB;
  fit.peakBytes = 20 * kGiB;
  return fit;
}

} // namespace

TEST(DeviceFit, saysWhatAStepThatFitsNeeds) {
  DeviceFit fit = exampleFit();
  EXPECT_TRUE(fit.fits());
  EXPECT_EQ(fitText(fit, fit.peakBytes),
            "fits on h100 (80.0 GiB): needs 50.0 GiB: parameters and inputs "
            "30.0 GiB, the step 20.0 GiB; without the optimizer's state (give "
            "--optimizer)");
  fit.hasOptimizer = true;
  fit.stateBytes = 25 * kGiB;
  EXPECT_EQ(fitText(fit, fit.peakBytes),
            "fits on h100 (80.0 GiB): needs 75.0 GiB: parameters and inputs "
            "30.0 GiB, the optimizer's state 25.0 GiB, the step 20.0 GiB");
  fit.stateBytes = 31 * kGiB;
  EXPECT_FALSE(fit.fits());
  fit.stateBytes = 51 * kGiB;
  EXPECT_NE(fitText(fit, fit.peakBytes)
                .find("parameters, inputs and the optimizer's state alone"),
            std::string::npos);
}

TEST(DeviceFit, saysNothingOfAMemoryThatIsNotKnown) {
  DeviceFit fit = exampleFit();
  fit.memoryBytes = 0;
  EXPECT_TRUE(fit.fits());
  EXPECT_EQ(fitText(fit, fit.peakBytes), "");
}

TEST(DeviceFit, theAdviceGoesFromWhatNoPlanChangesToOtherPlans) {
  DeviceFit fit = exampleFit();
  fit.peakBytes = 60 * kGiB;
  EXPECT_FALSE(fit.fits());
  auto text = [&](int64_t least) { return fitText(fit, least); };
  EXPECT_NE(text(60 * kGiB).find("does not fit on h100 (80.0 GiB): needs 90.0 "
                                 "GiB: parameters and inputs 30.0 GiB, the "
                                 "step 60.0 GiB; try --minimize=peak"),
            std::string::npos)
      << text(60 * kGiB);
  EXPECT_NE(text(50 * kGiB).find("another strategy of the table fits"),
            std::string::npos);
  EXPECT_NE(text(50 * kGiB + 1).find("try --minimize=peak"), std::string::npos);
  fit.isLeastPeak = true;
  EXPECT_NE(text(60 * kGiB).find("the least peak that was found"),
            std::string::npos);
  fit.floorBytes = 55 * kGiB;
  EXPECT_NE(text(60 * kGiB).find("gradients alone do not fit, whatever is"),
            std::string::npos);
  fit.residentBytes = 81 * kGiB;
  EXPECT_NE(text(INT64_MAX).find("parameters and inputs alone do not fit"),
            std::string::npos);
}

TEST(DeviceFit, gradientsAreThePeakWithinAHundredth) {
  DeviceFit fit = exampleFit();
  EXPECT_FALSE(fit.isAtFloor());
  fit.peakBytes = fit.floorBytes + fit.floorBytes / 100;
  EXPECT_TRUE(fit.isAtFloor());
  fit.floorBytes = fit.peakBytes = 0;
  EXPECT_FALSE(fit.isAtFloor());
}
