// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which inputs take tokens, and what is held out. Command lines and trainings:
// test/Tools/cutback/train-inputs.test.

#include "cutback/Runtime/TrainInputs.h"

#include "cutback/Support/ExitCode.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

/// `cutback train --tokens=/dev/null --token-inputs=...` of a step with an
/// input of floats and two of integers, one of which has an open size.
std::string refusalOf(const std::string &named, int code,
                      const std::string &inFile = "") {
  std::vector<StepInput> inputs(3);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].name = "input." + std::to_string(i);
    inputs[i].dtype = i ? "i64" : "f32";
    inputs[i].sizes = {2, 4};
    inputs[i].isSized = i != 2;
  }
  TrainInputOptions options;
  options.tokens = "/nonexistent/tokens";
  options.tokenInputs = named;
  std::optional<TokenBatches> batches;
  StepError error;
  auto isInFile = [&](const std::string &name) { return name == inFile; };
  EXPECT_EQ(openTokens(options, false, inputs, isInFile, batches, error), code);
  return error.what;
}

TEST(TrainInputsTest, TheInputsOfTokensAreNamedOrTheOnlyOne) {
  EXPECT_EQ(refusalOf("", WrongInput), "the step has 2 inputs that may take "
                                       "tokens: input.1, input.2");
  std::string unread = "cannot read '/nonexistent/tokens': No such file or "
                       "directory";
  EXPECT_EQ(refusalOf("", WrongInput, "input.2"), unread);
  EXPECT_EQ(refusalOf("input.1+3", WrongInput), unread);
  EXPECT_EQ(refusalOf("input.1+x", WrongUsage),
            "--token-inputs takes NAME or NAME+N with commas, as "
            "input.0,input.1+1");
  EXPECT_EQ(refusalOf("input.0", WrongInput),
            "--token-inputs: 'input.0' is an input of f32");
  EXPECT_EQ(refusalOf("input.1,input.7", WrongInput),
            "--token-inputs: 'input.7' is no input of the step");
  EXPECT_EQ(refusalOf("input.1", WrongInput, "input.1"),
            "'input.1' is to take tokens, and the file of tensors has it too");
  EXPECT_EQ(refusalOf("input.2", WrongInput),
            "the size of 'input.2' is open, and tokens have none of their own");
}

TEST(TrainInputsTest, WhatIsHeldOutHasTheSameInputs) {
  StepError error;
  EXPECT_EQ(checkHeld({"input.0"}, {"input.0"}, 1, error), Done);
  EXPECT_EQ(checkHeld({"input.0"}, {"input.0"}, 0, error), WrongInput);
  EXPECT_EQ(error.what, "no batch is held out");
  EXPECT_EQ(checkHeld({"input.0", "input.1"}, {"input.1"}, 3, error),
            WrongInput);
  EXPECT_EQ(error.what, "what is held out has input.1, and the training takes "
                        "input.0, input.1");
  EXPECT_EQ(checkBatchCount("--accumulate", 4, 4, error), Done);
  EXPECT_EQ(checkBatchCount("--accumulate", 1, 0, error), Done);
  EXPECT_EQ(checkBatchCount("--accumulate", 4, 3, error), WrongInput);
}

TEST(TrainInputsTest, AnEvaluationIsAfterEachNthStepAndTheLast) {
  TrainInputOptions options;
  EXPECT_FALSE(options.isDue(5, 5));
  options.evalEvery = 2;
  EXPECT_TRUE(options.isDue(2, 5));
  EXPECT_FALSE(options.isDue(3, 5));
  EXPECT_TRUE(options.isDue(5, 5));
}

} // namespace
