// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Runtime/Arguments.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace cutback;

namespace {

template <typename T>
std::vector<T> filled(const char *dtype, ArtifactArgument::Fill fill) {
  ArtifactArgument argument;
  argument.dtype = dtype;
  argument.sizes = {3};
  argument.fill = fill;
  std::vector<T> values(3, T(7));
  fillArgument(argument, 42, reinterpret_cast<char *>(values.data()));
  return values;
}

TEST(ArgumentsTest, FillsEveryElementOfEveryType) {
  constexpr auto Ones = ArtifactArgument::Ones;
  EXPECT_EQ(filled<double>("f64", Ones), std::vector<double>(3, 1));
  EXPECT_EQ(filled<float>("f32", Ones), std::vector<float>(3, 1));
  EXPECT_EQ(filled<uint16_t>("bf16", Ones), std::vector<uint16_t>(3, 0x3F80));
  EXPECT_EQ(filled<uint16_t>("f16", Ones), std::vector<uint16_t>(3, 0x3C00));
  EXPECT_EQ(filled<int64_t>("i64", Ones), std::vector<int64_t>(3, 1));
  EXPECT_EQ(filled<uint8_t>("i1", Ones), std::vector<uint8_t>(3, 1));
  EXPECT_EQ(filled<float>("f32", ArtifactArgument::Zeros),
            std::vector<float>(3, 0));
  EXPECT_EQ(filled<int64_t>("i64", ArtifactArgument::Seed),
            std::vector<int64_t>(3, 42));
}

TEST(ArgumentsTest, NamesOfInputs) {
  EXPECT_TRUE(isInputName("input.0"));
  EXPECT_TRUE(isInputName("tangent.1"));
  EXPECT_FALSE(isInputName("param.input.weight"));
  Artifact artifact;
  artifact.arguments.emplace_back();
  artifact.arguments.back().name = "input.0";
  EXPECT_TRUE(takesArgument(artifact, "input.0"));
  EXPECT_FALSE(takesArgument(artifact, "input.1"));
}

} // namespace
