// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with a null pointer where a string is needed say so, and what to give.

#include "Options.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace {

using Messages = std::vector<std::string>;

void keep(const CutbackDiagnostic *diagnostic, void *user) {
  static_cast<Messages *>(user)->push_back(diagnostic->message);
}

struct Options : testing::Test {
  Messages messages;
  CutbackContext *context = cutbackContextCreate(keep, &messages);
  CutbackGraph *graph = nullptr;
  CutbackPlan *plan = nullptr;

  ~Options() override {
    cutbackPlanDestroy(plan);
    cutbackGraphDestroy(graph);
    cutbackContextDestroy(context);
  }

  void readGraph() {
    ASSERT_EQ(cutbackGraphReadFile(
                  context, CUTBACK_SOURCE_DIR "/test/corpus/mlp/joint.txt", 0,
                  nullptr, &graph),
              CUTBACK_DONE);
  }
};

TEST_F(Options, aPathIsNeeded) {
  EXPECT_EQ(cutbackGraphReadFile(context, nullptr, 0, nullptr, &graph),
            CUTBACK_WRONG_USAGE);
  EXPECT_EQ(messages, (Messages{"path is a null pointer", "give a file"}));
}

TEST_F(Options, dataIsNeeded) {
  EXPECT_EQ(
      cutbackGraphReadMemory(context, nullptr, 9, "x", 0, nullptr, &graph),
      CUTBACK_WRONG_USAGE);
  EXPECT_EQ(messages, (Messages{"data is a null pointer", "give a graph"}));
}

TEST_F(Options, gradientsThatAreAskedForAreRead) {
  const char *path = CUTBACK_SOURCE_DIR "/test/Autograd/Inputs/second/mlp.pt2";
  const char *wrong[] = {"--grad-penalty=10"};
  EXPECT_EQ(cutbackGraphReadFile(context, path, 1, wrong, &graph),
            CUTBACK_WRONG_USAGE);
  EXPECT_EQ(messages,
            (Messages{"a penalty is given as NAME=X (input.0=10), not '10'",
                      "these are the options of `cutback report`"}));
  const char *options[] = {"--of=grad.first.weight", "--grad-of=last.weight"};
  EXPECT_EQ(cutbackGraphReadFile(context, path, 2, options, &graph),
            CUTBACK_DONE);
}

TEST_F(Options, everyOptionIsAString) {
  readGraph();
  const char *options[] = {"--strategy=eager", nullptr};
  EXPECT_EQ(cutbackPlanCreate(graph, 2, options, &plan), CUTBACK_WRONG_USAGE);
  EXPECT_EQ(messages, (Messages{"option 1 is a null pointer",
                                "give as many strings as numOptions says"}));
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(cutbackPlanCreate(graph, 1, nullptr, &plan), CUTBACK_WRONG_USAGE);
  EXPECT_EQ(cutbackPlanCreate(graph, 1, options, &plan), CUTBACK_DONE);
}

TEST_F(Options, aFolderIsNeeded) {
  readGraph();
  ASSERT_EQ(cutbackPlanCreate(graph, 0, nullptr, &plan), CUTBACK_DONE);
  EXPECT_EQ(cutbackPlanWrite(plan, nullptr), CUTBACK_WRONG_USAGE);
  EXPECT_EQ(messages, (Messages{"folder is a null pointer", "give a folder"}));
}

} // namespace
