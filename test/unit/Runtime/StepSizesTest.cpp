// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which sizes tensors have, and which folder is for them.

#include "cutback/Runtime/StepSizes.h"

#include "gtest/gtest.h"

#include <map>

using namespace cutback;

namespace {

/// A step of x [s0, 2*s1] and y [s1, s0].
Artifact makeArtifact() {
  Artifact artifact;
  artifact.symbols = {{"s0", 4, 2, 16}, {"s1", 3, 1}};
  ArtifactArgument x, y, weight;
  x.name = "x";
  x.declared = {"s0", "2*s1"};
  y.name = "y";
  y.declared = {"s1", "s0"};
  weight.name = "weight";
  artifact.arguments = {x, weight, y};
  return artifact;
}

using Sizes = std::map<std::string, std::vector<int64_t>>;

/// The values as text, or what is wrong.
std::string bound(const Sizes &sizes) {
  Artifact artifact = makeArtifact();
  std::vector<int64_t> values;
  StepError error;
  auto find =
      [&](const std::string &name) -> std::optional<std::vector<int64_t>> {
    EXPECT_NE(name, "weight") << "its sizes are known";
    auto found = sizes.find(name);
    if (found == sizes.end())
      return std::nullopt;
    return found->second;
  };
  if (bindSizes(artifact, find, values, error))
    return sizesText(artifact, values);
  EXPECT_NE(error.next, "");
  return error.what;
}

TEST(StepSizesTest, SymbolsAloneAreBound) {
  EXPECT_EQ(bound({{"x", {8, 10}}, {"y", {5, 8}}}), "s0=8,s1=5");
}

TEST(StepSizesTest, WhatNoTensorTellsIsAsItWas) {
  EXPECT_EQ(bound({}), "s0=4,s1=3");
  EXPECT_EQ(bound({{"x", {8, 10}}}), "s0=8,s1=3");
  EXPECT_EQ(bound({{"x", {8}}}), "s0=4,s1=3") << "of another rank";
}

TEST(StepSizesTest, TensorsAgreeAndSizesAreInTheirRange) {
  EXPECT_EQ(bound({{"x", {8, 10}}, {"y", {5, 9}}}),
            "size 1 of tensor 'y' is 9, but s0 is 8 by 'x'");
  EXPECT_EQ(bound({{"x", {17, 10}}}),
            "size s0 is 17, outside of its range from 2 to 16");
  EXPECT_EQ(bound({{"y", {0, 4}}}),
            "size s1 is 0, outside of its range from 1");
}

TEST(StepSizesTest, TheManifestsOwnSizesNeedNoFolder) {
  Artifact artifact = makeArtifact();
  std::string folder = "no/such/folder";
  StepError error;
  EXPECT_TRUE(findSized(folder, artifact, {4, 3}, error));
  EXPECT_EQ(folder, "no/such/folder");
  EXPECT_FALSE(findSized(folder, artifact, {4, 2}, error));
  EXPECT_EQ(error.what, "'no/such/folder' has no machine code for s0=4,s1=2");
  EXPECT_EQ(sizedFolder(folder, artifact, {4, 2}),
            "no/such/folder/sizes/s0=4,s1=2");
}

} // namespace
