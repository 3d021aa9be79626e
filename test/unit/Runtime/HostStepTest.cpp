// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Libraries that cannot be loaded, and arenas that no machine has. Steps that
// run are in test/Target/CUDA.

#include "cutback/Runtime/HostStep.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

TEST(HostStepTest, ALibraryThatIsNoneIsRefused) {
  Artifact artifact;
  std::string error;
  auto bytes = std::make_shared<std::string>("no library");
  ArtifactFile file = {"libstep.so", 10, "0", bytes};
  EXPECT_EQ(HostStep::open(file, artifact, {}, error), nullptr);
  EXPECT_EQ(error.substr(0, 26), "cannot load 'libstep.so': ");
}

/// Of a device: it overrides nothing of what goes launch by launch.
class NotOneByOne : public Executor {
public:
  std::string run(const std::vector<size_t> &,
                  const std::vector<char *> &) override {
    return "";
  }
  std::string read(int64_t, int64_t, char *) override { return ""; }
};

TEST(HostStepTest, WhatRunsAllLaunchesAtOnceRunsNoneByItself) {
  NotOneByOne step;
  std::string error;
  EXPECT_EQ(step.beginLaunches(error), nullptr);
  EXPECT_EQ(error, "runs its launches on a device, not one by one");
  EXPECT_EQ(step.runLaunch(0, 0, {}), error);
}

} // namespace
