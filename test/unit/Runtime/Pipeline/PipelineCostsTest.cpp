// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of a pipeline for micro-batches of two sizes are bounds of both.

#include "cutback/Runtime/Pipeline/PipelineCosts.h"

#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::pipeline;

namespace {

PipelineStage stageThatKeeps(int64_t forward, int64_t input, int64_t throughout,
                             int64_t arena, int64_t ps) {
  PipelineStage stage;
  stage.name = "stage0";
  for (auto kind : {PipelineStage::Forward, PipelineStage::Backward,
                    PipelineStage::Input, PipelineStage::Weight})
    stage.phases[kind] = {"stage0/" + std::string(nameOf(kind)), "", ps, arena};
  stage.forwardSavedBytes = forward;
  stage.inputSavedBytes = input;
  stage.throughoutSavedBytes = throughout;
  return stage;
}

TEST(PipelineCostsTest, OfTwoSizesTheLargerIsCounted) {
  Pipeline pipeline;
  pipeline.stages = {stageThatKeeps(80, 60, 40, 512, 700)};
  StageCosts alone = costsOf(pipeline).stages[0];
  pipeline.smaller = {stageThatKeeps(60, 45, 30, 256, 600)};
  StageCosts both = costsOf(pipeline).stages[0];
  EXPECT_EQ(both.untilInputs, alone.untilInputs);
  EXPECT_EQ(both.untilWeights, alone.untilWeights);
  EXPECT_EQ(both.throughout, alone.throughout);
  EXPECT_EQ(both.arena, alone.arena);
  EXPECT_EQ(both.forward, 700);
}

TEST(PipelineCostsTest, ASmallerMicroBatchWithAnotherPlanIsWithinTheBounds) {
  Pipeline pipeline;
  pipeline.stages = {stageThatKeeps(80, 60, 40, 512, 700)};
  pipeline.smaller = {stageThatKeeps(70, 75, 10, 640, 600)};
  StageCosts both = costsOf(pipeline).stages[0];
  for (const PipelineStage &size : {pipeline.stages[0], pipeline.smaller[0]}) {
    EXPECT_GE(both.untilInputs, size.forwardSavedBytes);
    EXPECT_GE(both.untilWeights, size.inputSavedBytes);
    // While the input phase runs, both are there, what is in both once.
    EXPECT_GE(both.untilInputs + both.untilWeights - both.throughout,
              size.forwardSavedBytes + size.inputSavedBytes -
                  size.throughoutSavedBytes);
    for (int64_t arena : both.arena)
      EXPECT_GE(arena, size.phases[PipelineStage::Forward].arenaBytes);
  }
  EXPECT_LE(both.throughout, std::min(both.untilInputs, both.untilWeights));
}

TEST(PipelineCostsTest, ASmallerMicroBatchThatTakesLongerIsWithinTheBounds) {
  Pipeline pipeline;
  pipeline.stages = {stageThatKeeps(80, 60, 40, 512, 700)};
  pipeline.smaller = {stageThatKeeps(70, 75, 10, 640, 600)};
  pipeline.smaller[0].phases[PipelineStage::Weight].picoseconds = 900;
  StageCosts both = costsOf(pipeline).stages[0];
  EXPECT_EQ(both.forward, 700);
  EXPECT_EQ(both.inputGradients, 700);
  EXPECT_EQ(both.weightGradients, 900);
  // Without a phase for both, the smaller one's take 1500, the other's 1400.
  for (PipelineStage *stage : {&pipeline.stages[0], &pipeline.smaller[0]})
    stage->phases[PipelineStage::Backward] = {};
  EXPECT_EQ(costsOf(pipeline).stages[0].backward, 1500);
}

} // namespace
