// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of --hook, and what the functions that are built in do.

#include "cutback/Runtime/HookOption.h"

#include "cutback/Runtime/Elements.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace cutback;

namespace {

HookOption read(std::string_view text) {
  HookOption option;
  std::string error;
  EXPECT_TRUE(readHookOption(text, option, error)) << error;
  return option;
}

TEST(HookOption, ANameAloneIsAPointBehindTheTensor) {
  HookOption option = read("fc1.weight");
  EXPECT_EQ(option.kind, HookKind::TensorPre);
  EXPECT_EQ(option.name, "fc1.weight");
  EXPECT_EQ(option.function, HookOption::None);
}

TEST(HookOption, AKindComesFirst) {
  EXPECT_EQ(read("post-accumulate:w").kind, HookKind::PostAccumulate);
  EXPECT_EQ(read("node_pre:w:log-norm").kind, HookKind::NodePre);
  EXPECT_EQ(read("retains-grad:*.bias").name, "*.bias");
}

TEST(HookOption, FunctionsAreOursOrOfALibrary) {
  EXPECT_EQ(read("w:log-norm").function, HookOption::LogNorm);
  EXPECT_EQ(read("w:check-finite").function, HookOption::CheckFinite);
  EXPECT_EQ(read("w:clip-norm=0.5").limit, 0.5);
  HookOption option = read("w:/a:b/hooks.so:halve");
  EXPECT_EQ(option.function, HookOption::Library);
  EXPECT_EQ(option.library, "/a:b/hooks.so");
  EXPECT_EQ(option.symbol, "halve");
}

TEST(HookOption, OtherTextsAreErrors) {
  for (const char *text :
       {"", ":", "w:", ":log-norm", "node-pre", "node-pre:", "w:log", "w::f",
        "w:lib.so:", "w:clip-norm=", "w:clip-norm=x", "w:clip-norm=0",
        "w:clip-norm=-1", "w:clip-norm=inf"}) {
    HookOption option;
    std::string error;
    EXPECT_FALSE(readHookOption(text, option, error)) << text;
    EXPECT_NE(error.find("not '" + std::string(text) + "'"), std::string::npos);
  }
}

struct BuiltInHooks : testing::Test {
  BuiltInHooks()
      : table({{"a.w", HookKind::TensorPre, 0, true},
               {"b.w", HookKind::TensorPre, 1, true},
               {"b.w", HookKind::RetainsGrad, 2, false}}) {}

  std::string add(std::string_view text) {
    return addHooks({read(text)}, table,
                    [this](const std::string &line) { log += line + "\n"; });
  }
  std::string run(int64_t key, void *data, int64_t bytes, const char *type) {
    return table.run(key, {data, bytes, type, &sizes});
  }

  std::vector<int64_t> sizes = {2};
  HookTable table;
  std::string log;
};

TEST_F(BuiltInHooks, LogNormSaysTheNorm) {
  float gradient[] = {3, -4};
  EXPECT_EQ(add("a.w:log-norm"), "");
  EXPECT_EQ(run(0, gradient, 8, "f32"), "");
  EXPECT_EQ(log, "hook a.w (tensor_pre): norm 5 of 2xf32\n");
}

TEST_F(BuiltInHooks, ClipNormIsPyTorchs) {
  EXPECT_EQ(add("a.w:clip-norm=1"), "");
  float small[] = {0.3F, 0.4F}, large[] = {3, -4};
  EXPECT_EQ(run(0, small, 8, "f32"), "");
  EXPECT_EQ(small[0], 0.3F);
  EXPECT_EQ(run(0, large, 8, "f32"), "");
  EXPECT_EQ(large[0], static_cast<float>(3 * (1 / (5 + 1e-6))));
  uint16_t half[2];
  Elements elements(half, 4, "bf16");
  elements.set(0, 3);
  elements.set(1, -4);
  EXPECT_EQ(run(0, half, 4, "bf16"), "");
  EXPECT_NEAR(elements[0], 0.6, 0.002);
}

TEST_F(BuiltInHooks, CheckFiniteNamesTheElement) {
  float gradient[] = {3, NAN};
  EXPECT_EQ(add("b.w:check-finite"), "");
  EXPECT_EQ(run(1, gradient, 8, "f32"),
            "the hook on b.w (tensor_pre): element 1 of 2xf32 is nan");
}

TEST_F(BuiltInHooks, OtherTypesAreRefused) {
  int64_t numbers[] = {1, 2};
  EXPECT_EQ(add("a.w:log-norm"), "");
  EXPECT_EQ(run(0, numbers, 16, "i64"),
            "the hook on a.w (tensor_pre): elements of type i64 are not known "
            "to functions that are built in");
}

TEST_F(BuiltInHooks, APatternFitsNames) {
  EXPECT_EQ(add("*.w:log-norm"), "");
  EXPECT_EQ(add("?.w:log-norm"), "");
  float gradient[] = {3, -4};
  EXPECT_EQ(run(0, gradient, 8, "f32") + run(1, gradient, 8, "f32") +
                run(2, gradient, 8, "f32"),
            "");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4);
}

TEST_F(BuiltInHooks, APointThatIsNotThereIsAnErrorWithTheNearest) {
  EXPECT_EQ(add("b.v:log-norm"),
            "the step has no point for hook b.v (tensor_pre); it has b.w "
            "(tensor_pre), a.w (tensor_pre)");
  EXPECT_EQ(add("node-post:x"),
            "the step has no point for hook x (node_post); it has a.w "
            "(tensor_pre), b.w (tensor_pre), b.w (retains_grad)");
}

} // namespace
