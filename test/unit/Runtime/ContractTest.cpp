// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest that is in order by itself, and says something else than its code
// was compiled for, is refused.

#include "cutback/Runtime/Contract.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

/// y = k(x), y = k(x), twice, with operands of two sizes.
Artifact makeArtifact() {
  Artifact artifact;
  artifact.arenaBytes = 256;
  ArtifactArgument x;
  x.name = "input.0";
  x.dtype = "f32";
  x.sizes = {2, 4};
  artifact.arguments.push_back(x);
  artifact.kernels.push_back({"k", "libstep.so", false, false, {}});
  artifact.kernels.push_back({"unused", "libstep.so", false, false, {}});
  ArtifactLaunch launch;
  launch.operands = {{{ArtifactMemory::Argument, 0}, 32, false},
                     {{ArtifactMemory::Arena, 16}, 32, true}};
  ArtifactLaunch other = launch;
  other.operands[0].bytes = 24;
  artifact.segments = {{"forward", {launch, other}, {}}};
  return artifact;
}

/// What the code of makeArtifact() says of it after a change.
template <typename Change> std::string breachOf(Change change) {
  Artifact artifact = makeArtifact();
  std::string contract = contractOf(artifact);
  change(artifact, artifact.segments[0].launches);
  return findBreach(artifact, contract);
}

using Launches = std::vector<ArtifactLaunch>;

TEST(ContractTest, SaysWhatCodeTakesForGranted) {
  EXPECT_EQ(contractOf(makeArtifact()),
            "arena 256\n"
            "argument input.0 f32 2 4\n"
            "kernel k of libstep.so, grid 1 1 1, block 1 1 1, shared 0, "
            "operands 24 32w\n"
            "kernel unused of libstep.so, is not launched\n");
}

TEST(ContractTest, WhatCodeDoesNotReachMayDiffer) {
  EXPECT_EQ(breachOf([](Artifact &, Launches &) {}), "");
  EXPECT_EQ(breachOf([](Artifact &, Launches &launches) {
              launches[0].operands[0].bytes = 28;
              launches[1].operands[1].memory.at = 64;
              launches[1].place = "elsewhere";
            }),
            "");
}

TEST(ContractTest, OperandsThatAreTooSmallOrFewAreABreach) {
  EXPECT_EQ(breachOf([](Artifact &, Launches &launches) {
              launches[0].operands[1].bytes = 4;
            }),
            "has 'kernel k of libstep.so, grid 1 1 1, block 1 1 1, shared 0, "
            "operands 24 4w', and its code was compiled for 'kernel k of "
            "libstep.so, grid 1 1 1, block 1 1 1, shared 0, operands 24 32w'");
  EXPECT_NE(breachOf([](Artifact &, Launches &launches) {
              launches[0].operands.pop_back();
              launches[1].operands.pop_back();
            }),
            "");
  EXPECT_NE(breachOf([](Artifact &, Launches &launches) {
              launches[1].operands.pop_back();
            }).find("is launched in several ways"),
            std::string::npos);
}

TEST(ContractTest, OtherShapesFlagsAndMemoryAreABreach) {
  EXPECT_NE(breachOf([](Artifact &, Launches &launches) {
              for (ArtifactLaunch &launch : launches)
                launch.block[0] = 32;
            }),
            "");
  EXPECT_NE(breachOf([](Artifact &, Launches &launches) {
              for (ArtifactLaunch &launch : launches)
                launch.operands[0].isWritten = true;
            }),
            "");
  EXPECT_NE(breachOf([](Artifact &, Launches &launches) {
              launches[0].operands[0].memory = {ArtifactMemory::Arena, 32};
            }).find("operands 24 32w, 1 over 0"),
            std::string::npos);
  EXPECT_NE(breachOf([](Artifact &artifact, Launches &) {
              artifact.kernels[0].checks = true;
            }),
            "");
  EXPECT_NE(breachOf([](Artifact &artifact, Launches &) {
              std::swap(artifact.kernels[0], artifact.kernels[1]);
            }),
            "");
}

TEST(ContractTest, AnotherArenaOrArgumentIsABreach) {
  EXPECT_EQ(breachOf([](Artifact &artifact, Launches &) {
              artifact.arenaBytes = 512;
            }),
            "has 'arena 512', and its code was compiled for 'arena 256'");
  EXPECT_EQ(breachOf([](Artifact &artifact, Launches &) {
              artifact.arguments[0].sizes[1] = 1 << 20;
            }),
            "has 'argument input.0 f32 2 1048576', and its code was compiled "
            "for 'argument input.0 f32 2 4'");
  EXPECT_EQ(findBreach(makeArtifact(), ""),
            "has 'arena 256', and its code was compiled for ''");
}

} // namespace
