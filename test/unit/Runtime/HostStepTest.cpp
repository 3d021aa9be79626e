// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Libraries that cannot be loaded, and arenas that no machine has. Steps that
// run are in test/Target/CUDA.

#include "cutback/Runtime/HostStep.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

TEST(HostStepTest, ALibraryThatIsNoneIsRefused) {
  HostStep step;
  EXPECT_NE(HostStep::open("/nowhere/libstep.so", step).find("cannot load '"),
            std::string::npos);
  // There, and without kernels.
  EXPECT_EQ(HostStep::open("libc.so.6", step), "'libc.so.6' has no kernels");
}

TEST(HostStepTest, TooLargeAnArenaIsSaid) {
  Artifact artifact;
  artifact.arenaBytes = int64_t(1) << 60;
  HostStep step;
  EXPECT_EQ(step.run(artifact, {}, {}),
            "needs 1152921504606846976 bytes for its arena, and this machine "
            "has them not");
}

} // namespace
