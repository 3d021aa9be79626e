// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of calls of a driver that says what it is told to, with messages.

#include "cutback/Runtime/Cuda/CheckedCalls.h"

#include "gtest/gtest.h"

#include <vector>

using namespace cutback::cuda;

namespace {

/// What was called, in its order.
std::vector<std::string> called;

/// A driver whose calls give the number that they are given as attribute, byte
/// or flags; it knows 2 by name and text.
Driver makeDriver() {
  called.clear();
  Driver driver;
  driver.cuGetErrorName.function = [](Status status, const char **name) {
    *name = "CUDA_ERROR_OUT_OF_MEMORY";
    return status == 2 ? 0 : 1;
  };
  driver.cuGetErrorString.function = [](Status status, const char **text) {
    *text = "out of memory";
    return status == 2 ? 0 : 1;
  };
  driver.cuInit.function = [](unsigned status) {
    called.push_back("cuInit");
    return Status(status);
  };
  driver.cuDeviceGetAttribute.function = [](int *value, int status, int) {
    called.push_back("cuDeviceGetAttribute");
    *value = 80;
    return status;
  };
  driver.cuMemsetD8Async.function = [](Address, unsigned char status, size_t,
                                       Handle) {
    called.push_back("cuMemsetD8Async");
    return Status(status);
  };
  return driver;
}

using Names = std::vector<std::string>;

TEST(CheckedCallsTest, AllAreMadeWhileNoneFails) {
  Driver driver = makeDriver();
  std::string error;
  CheckedCalls calls(driver, error);
  int value = 0;
  EXPECT_TRUE(calls.run(driver.cuInit, 0));
  EXPECT_TRUE(calls.run(driver.cuDeviceGetAttribute, &value, 0, 7));
  EXPECT_TRUE(calls.runAnyway(driver.cuMemsetD8Async, 256, 0, 8, nullptr));
  EXPECT_EQ(error, "");
  EXPECT_EQ(value, 80);
  EXPECT_EQ(called,
            (Names{"cuInit", "cuDeviceGetAttribute", "cuMemsetD8Async"}));
}

TEST(CheckedCallsTest, TheFirstThatFailsIsTheLast) {
  Driver driver = makeDriver();
  std::string error;
  CheckedCalls calls(driver, error);
  EXPECT_FALSE(calls.run(driver.cuMemsetD8Async, 256, 2, 8, nullptr));
  EXPECT_FALSE(calls.run(driver.cuInit, 0));
  EXPECT_EQ(error, "cuMemsetD8Async: out of memory "
                   "(CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(called, Names{"cuMemsetD8Async"});
}

TEST(CheckedCallsTest, WhatWasBegunEndsAndTheFirstErrorIsKept) {
  Driver driver = makeDriver();
  std::string error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuInit, 700);
  EXPECT_FALSE(calls.runAnyway(driver.cuMemsetD8Async, 256, 2, 8, nullptr));
  EXPECT_EQ(error, "cuInit: failed (an error without a name, 700)");
  EXPECT_EQ(called, (Names{"cuInit", "cuMemsetD8Async"}));
}

TEST(CheckedCallsTest, AnErrorBeforeIsKept) {
  Driver driver = makeDriver();
  std::string error = "no machine code";
  EXPECT_FALSE(CheckedCalls(driver, error).run(driver.cuInit, 2));
  EXPECT_EQ(error, "no machine code");
  EXPECT_EQ(called, Names{});
}

} // namespace
