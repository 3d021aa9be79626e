// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which device a number means, of drivers that say how many there are.

#include "cutback/Runtime/Cuda/Driver.h"

#include "gtest/gtest.h"

using namespace cutback::cuda;

namespace {

/// Device k has the handle 10 + k.
Driver driverOf(Status (*count)(int *count)) {
  Driver driver;
  driver.cuDeviceGetCount.function = count;
  driver.cuDeviceGet.function = [](int *device, int ordinal) {
    *device = 10 + ordinal;
    return 0;
  };
  driver.cuGetErrorName.function = [](Status, const char **) { return 1; };
  driver.cuGetErrorString.function = [](Status, const char **) { return 1; };
  return driver;
}

TEST(DriverTest, NumbersBeginAgainWithTheFirstDevice) {
  Driver driver = driverOf([](int *count) {
    *count = 3;
    return 0;
  });
  std::string error;
  EXPECT_EQ(driver.deviceOf(0, error), 10);
  EXPECT_EQ(driver.deviceOf(2, error), 12);
  EXPECT_EQ(driver.deviceOf(7, error), 11);
  EXPECT_EQ(error, "");
}

TEST(DriverTest, NoDeviceIsAnError) {
  std::string error;
  EXPECT_EQ(driverOf([](int *count) {
              *count = 0;
              return 0;
            }).deviceOf(1, error),
            -1);
  EXPECT_EQ(error, "the CUDA driver knows no device");
  error.clear();
  EXPECT_EQ(driverOf([](int *) { return 3; }).deviceOf(1, error), -1);
  EXPECT_EQ(error, "cuDeviceGetCount: failed (an error without a name, 3)");
}

TEST(DriverTest, PartsOfAnAllocationBeginAtMultiples) {
  EXPECT_EQ(roundUp(0), 0);
  EXPECT_EQ(roundUp(1), kAlignment);
  EXPECT_EQ(roundUp(kAlignment), kAlignment);
  EXPECT_EQ(roundUp(kAlignment + 1), 2 * kAlignment);
}

} // namespace
