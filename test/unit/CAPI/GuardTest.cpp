// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What would end a process or leave as an exception is a status and two
// diagnostics, and the context knows that it is broken.

#include "Guard.h"

#include "llvm/Support/ErrorHandling.h"
#include "gtest/gtest.h"

#include <stdexcept>
#include <string>
#include <vector>

using namespace cutback::capi;

namespace {

void keep(const CutbackDiagnostic *diagnostic, void *user) {
  static_cast<std::vector<std::string> *>(user)->push_back(diagnostic->message);
}

struct Guard : testing::Test {
  std::vector<std::string> messages;
  CutbackContext *context = cutbackContextCreate(keep, &messages);

  ~Guard() override {
    // What is broken is never freed, not even for the leak checker.
    context->broken = false;
    cutbackContextDestroy(context);
  }

  void expectBroken(const std::string &message, const std::string &next) {
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0], message);
    EXPECT_EQ(messages[1], next);
    EXPECT_TRUE(context->broken);
  }

  void expectDefect(const std::string &message) {
    expectBroken(message, "this is a defect of cutback, not of your input; "
                          "please report it");
  }
};

TEST_F(Guard, handsThroughWhatTheBodyReturns) {
  EXPECT_EQ(guarded(*context, [] { return CUTBACK_NO_PLAN; }), CUTBACK_NO_PLAN);
  EXPECT_TRUE(messages.empty());
  EXPECT_FALSE(context->broken);
}

// Short, for LLVM's frame is left without its destructors: what a longer text
// had allocated would leak.
TEST_F(Guard, catchesAFatalErrorInsideLlvm) {
  EXPECT_EQ(guarded(*context,
                    []() -> CutbackStatus {
                      llvm::report_fatal_error("world ends");
                    }),
            CUTBACK_DEFECT);
  expectDefect("world ends");
}

TEST_F(Guard, catchesTheEndOfMemoryInsideLlvm) {
  EXPECT_EQ(guarded(*context,
                    []() -> CutbackStatus {
                      llvm::report_bad_alloc_error("no memory");
                    }),
            CUTBACK_WRONG_INPUT);
  expectBroken("out of memory", "this input needs more than the process may "
                                "have; make a new context");
}

TEST_F(Guard, takesAContainerBeyondAllMemoryForTheEndOfMemory) {
  EXPECT_EQ(guarded(*context,
                    []() -> CutbackStatus { throw std::length_error("size"); }),
            CUTBACK_WRONG_INPUT);
  expectBroken("out of memory", "this input needs more than the process may "
                                "have; make a new context");
}

TEST_F(Guard, catchesExceptionsOfAnyKind) {
  EXPECT_EQ(guarded(*context,
                    []() -> CutbackStatus { throw std::runtime_error("odd"); }),
            CUTBACK_DEFECT);
  expectDefect("odd");
  context->broken = false;
  messages.clear();
  EXPECT_EQ(guarded(*context, []() -> CutbackStatus { throw 7; }),
            CUTBACK_DEFECT);
  expectDefect("unknown exception");
}

TEST_F(Guard, refusesABrokenContext) {
  guarded(*context, []() -> CutbackStatus { throw 7; });
  messages.clear();
  CutbackGraph *graph = nullptr;
  EXPECT_EQ(cutbackGraphReadFile(context, "x", 0, nullptr, &graph),
            CUTBACK_DEFECT);
  EXPECT_EQ(graph, nullptr);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0],
            "an earlier defect, or the end of memory, has broken this "
            "context");
  EXPECT_EQ(messages[1], "make a new one");
  // It is left alone: what is in it may be locked.
  cutbackContextDestroy(context);
  EXPECT_TRUE(context->broken);
}

TEST_F(Guard, anotherContextWorksAfterADefect) {
  guarded(*context, []() -> CutbackStatus { throw 7; });
  std::vector<std::string> others;
  CutbackContext *other = cutbackContextCreate(keep, &others);
  CutbackGraph *graph = nullptr;
  EXPECT_EQ(cutbackGraphReadFile(
                other, CUTBACK_SOURCE_DIR "/test/corpus/mlp/joint.txt", 0,
                nullptr, &graph),
            CUTBACK_DONE);
  EXPECT_TRUE(others.empty());
  cutbackGraphDestroy(graph);
  cutbackContextDestroy(other);
}

} // namespace
