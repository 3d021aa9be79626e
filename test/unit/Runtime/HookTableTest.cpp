// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions at hook points: in their order, deleted by key, and what may not be
// returned. A change while a step runs takes effect at the next one.

#include "cutback/Runtime/HookTable.h"
#include "cutback/Runtime/Executor.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <csetjmp>
#include <stdexcept>

using namespace cutback;

namespace {

struct HookTableTest : testing::Test {
  HookTableTest()
      : table({{"w", HookKind::TensorPre, 4, true},
               {"w", HookKind::RetainsGrad, 1, false}}) {}

  /// A function that appends `name` to the log.
  HookFunction logs(const std::string &name) {
    HookFunction function;
    function.own = [this, name](const HookPoint &, const HookBuffer &,
                                std::string &) {
      log += name;
      return int64_t(0);
    };
    return function;
  }
  std::string run(int64_t key) {
    HookedRun run(&table);
    return step(key);
  }
  std::string step(int64_t key) {
    return table.run(key, {buffer, sizeof buffer, "f32", &sizes});
  }

  float buffer[2] = {1, 2};
  std::vector<int64_t> sizes = {2};
  HookTable table;
  std::string log;
};

TEST_F(HookTableTest, FunctionsRunInTheOrderInWhichTheyWereAdded) {
  table.add(0, logs("a"));
  table.add(0, logs("b"));
  table.add(1, logs("c"));
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(log, "ab");
  EXPECT_EQ(run(1), "");
  EXPECT_EQ(log, "abc");
}

TEST_F(HookTableTest, APointWithoutFunctionsDoesNothing) {
  EXPECT_FALSE(table.hasFunctions(4));
  EXPECT_FALSE(table.hasFunctions(99));
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(run(99), "");
}

TEST_F(HookTableTest, AKeyDeletesItsFunctionOnce) {
  uint64_t a = table.add(0, logs("a")), b = table.add(0, logs("b"));
  EXPECT_NE(a, b);
  EXPECT_NE(a, 0u);
  EXPECT_TRUE(table.remove(a));
  EXPECT_FALSE(table.remove(a));
  EXPECT_FALSE(table.remove(77));
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(log, "b");
}

TEST_F(HookTableTest, WhatIsAddedWhileAStepRunsWaitsForTheNext) {
  HookFunction adds;
  bool isFirst = true;
  adds.own = [&](const HookPoint &, const HookBuffer &, std::string &) {
    if (isFirst) {
      table.add(0, logs("new"));
      table.add(1, logs("other"));
    }
    isFirst = false;
    return int64_t(0);
  };
  table.add(0, adds);
  {
    HookedRun run(&table);
    EXPECT_EQ(step(4), "");
    EXPECT_EQ(step(4), "");
    EXPECT_EQ(step(1), "");
    EXPECT_EQ(log, "");
  }
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(run(1), "");
  EXPECT_EQ(log, "newother");
}

TEST_F(HookTableTest, WhatIsDeletedWhileAStepRunsStaysToItsEnd) {
  uint64_t a = table.add(0, logs("a"));
  {
    HookedRun run(&table);
    EXPECT_TRUE(table.remove(a));
    EXPECT_FALSE(table.remove(a));
    EXPECT_EQ(step(4), "");
    uint64_t late = table.add(0, logs("never"));
    EXPECT_TRUE(table.remove(late));
  }
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(log, "a");
  EXPECT_FALSE(table.hasFunctions(4));
}

int64_t throws(void *, int64_t, const char *, int32_t, const int64_t *,
               void *userData, void *) {
  if (userData)
    throw std::runtime_error("of mine");
  throw 42;
}

TEST_F(HookTableTest, AnExceptionStopsTheStepByName) {
  int what = 0;
  uint64_t key = table.add(0, {throws, &what});
  EXPECT_EQ(run(4), "the hook on " + describeHook(table.points()[0]) +
                        ": it throws an exception: of mine");
  table.remove(key);
  table.add(0, {throws, nullptr});
  EXPECT_EQ(run(4), "the hook on " + describeHook(table.points()[0]) +
                        ": it throws an exception");
  EXPECT_EQ(hookAtWork(), nullptr);
}

jmp_buf gBack;

int64_t jumps(void *, int64_t, const char *, int32_t, const int64_t *, void *,
              void *) {
  longjmp(gBack, 1);
}

TEST_F(HookTableTest, ARunThatAFunctionLeftIsOver) {
  uint64_t key = table.add(0, {jumps});
  if (setjmp(gBack) == 0) {
    table.beginRun();
    step(4);
  }
  EXPECT_TRUE(table.remove(key));
  table.add(0, logs("new"));
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(log, "new");
}

TEST_F(HookTableTest, AFunctionDoesNotRunTheStepThatCallsIt) {
  std::string said;
  HookFunction runs;
  runs.own = [&](const HookPoint &, const HookBuffer &, std::string &) {
    said = HookedRun(&table).error();
    return int64_t(0);
  };
  table.add(0, runs);
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(said, "a function of a hook runs the step that it is called by");
  table.add(0, logs("later"));
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(log, "later");
}

int64_t callOf(void *buffer, int64_t bytes, const char *type, int32_t rank,
               const int64_t *sizes, void *userData, void *stream) {
  auto *gradient = static_cast<float *>(buffer);
  EXPECT_EQ(bytes, 8);
  EXPECT_STREQ(type, "f32");
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(sizes[0], 2);
  EXPECT_EQ(stream, nullptr);
  gradient[1] = *static_cast<float *>(userData);
  return bytes;
}

TEST_F(HookTableTest, AFunctionGetsTheMemoryWithTypeSizesAndItsData) {
  float value = 7;
  table.add(0, {callOf, &value});
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(buffer[1], 7);
}

struct Answer {
  int64_t returned;
  const char *error;
};

class HookAnswers : public HookTableTest,
                    public testing::WithParamInterface<Answer> {};

TEST_P(HookAnswers, AreChecked) {
  HookFunction function;
  function.own = [](const HookPoint &, const HookBuffer &, std::string &) {
    return GetParam().returned;
  };
  table.add(0, function);
  EXPECT_EQ(run(4), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, HookAnswers,
    testing::Values(
        Answer{0, ""}, Answer{8, ""},
        Answer{-3, "the hook on w (tensor_pre) stops the step: it returns -3"},
        Answer{4, "the hook on w (tensor_pre) returns a gradient of 4 bytes in "
                  "place of one of 8"},
        Answer{16, "the hook on w (tensor_pre) returns a gradient of 16 bytes "
                   "in place of one of 8"}));

TEST_F(HookTableTest, WhoOnlySeesAGradientChangesNone) {
  float value = 7;
  table.add(1, {callOf, &value});
  EXPECT_EQ(run(1),
            "the hook on w (retains_grad) returns a gradient, and hooks "
            "of this kind only see it");
}

TEST_F(HookTableTest, FunctionsOfOursGetACopyOfWhatLiesOnADevice) {
  HookFunction doubles;
  doubles.own = [](const HookPoint &, const HookBuffer &own, std::string &) {
    static_cast<float *>(own.data)[0] *= 2;
    return own.bytes;
  };
  table.add(0, doubles);
  float device[2] = {3, 4};
  int copies = 0;
  auto copy = [&](char *host, bool back) -> std::string {
    ++copies;
    std::copy_n(back ? host : reinterpret_cast<char *>(device), sizeof device,
                back ? reinterpret_cast<char *>(device) : host);
    return "";
  };
  EXPECT_EQ(table.run(4, {device, 8, "f32", &sizes, &device, copy}), "");
  EXPECT_EQ(device[0], 6);
  EXPECT_EQ(copies, 2);
  auto fails = [](char *, bool) { return std::string("the device is gone"); };
  EXPECT_EQ(table.run(4, {device, 8, "f32", &sizes, &device, fails}),
            "the hook on w (tensor_pre): the device is gone");
}

} // namespace
