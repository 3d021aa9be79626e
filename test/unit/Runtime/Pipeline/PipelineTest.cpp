// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest with each kind of member goes through its text and back; damaged
// ones are refused for what is wrong with them.

#include "cutback/Runtime/Pipeline/Pipeline.h"

#include "gtest/gtest.h"

#include <functional>
#include <limits>

using namespace cutback;

namespace {

template <typename T>
T named(const char *name, std::vector<int64_t> sizes = {2, 3}) {
  T one;
  one.name = name;
  one.dtype = "f32";
  one.sizes = std::move(sizes);
  return one;
}

PipelineSend sent(const char *name, std::vector<int64_t> to) {
  auto send = named<PipelineSend>(name);
  send.to = std::move(to);
  send.hasGradient = true;
  return send;
}

PipelineReceive received(const char *name, int64_t from) {
  auto receive = named<PipelineReceive>(name);
  receive.from = from;
  receive.hasGradient = true;
  return receive;
}

/// Three stages; value.0 skips one, a parameter is in two.
Pipeline example() {
  Pipeline pipeline;
  pipeline.model = "mo\"del";
  pipeline.target = "cpu";
  pipeline.stages.resize(3);
  for (int i = 0; i < 3; ++i) {
    PipelineStage &stage = pipeline.stages[i];
    stage.name = "stage" + std::to_string(i);
    stage.phases[PipelineStage::Forward] = {stage.name + "/forward", "12ab", 70,
                                            640};
    stage.phases[PipelineStage::Backward].folder = stage.name + "/backward";
  }
  auto &[first, middle, last] =
      reinterpret_cast<PipelineStage(&)[3]>(*pipeline.stages.data());
  first.sends = {sent("value.0", {1, 2})};
  middle.receives = {received("value.0", 0)};
  middle.sends = {sent("value.1", {2})};
  last.receives = {received("value.0", 0), received("value.1", 1)};
  first.inputs = {named<PipelineInput>("input.0")};
  last.inputs = {named<PipelineInput>("input.0"),
                 named<PipelineInput>("input.1", {})};
  last.inputs[1].splitDim = -1;
  last.inputs[1].isWeighted = true;
  auto tied = named<PipelineParameter>("param.w");
  tied.gradient = "grad.w";
  tied.replicatedIn = {0, 2};
  first.parameters = {tied};
  last.parameters = {tied};
  pipeline.undecayed = {"param.w"};
  middle.buffers = {named<PipelineBuffer>("buffer.n")};
  middle.buffers[0].isWritten = true;
  last.outputs = {named<PipelineOutput>("output.0"),
                  named<PipelineOutput>("output.1", {})};
  last.outputs[0].dim = 1;
  last.outputs[1].merge = PipelineOutput::Mean;
  last.weights = "34cd";
  last.forwardSaves = {"saved.0", "saved.1"};
  last.forwardSavedBytes = 48;
  last.inputSaves = {"saved.1"};
  last.inputSavedBytes = 24;
  pipeline.lossStage = 2;
  pipeline.loss = "loss";
  return pipeline;
}

TEST(PipelineTest, GoesThroughItsText) {
  Pipeline pipeline = example(), again;
  ASSERT_EQ(pipeline.verify(), "");
  std::string text = writePipeline(pipeline);
  ASSERT_EQ(readPipeline(text, again), "");
  EXPECT_EQ(writePipeline(again), text);
  EXPECT_EQ(again.model, "mo\"del");
  EXPECT_EQ(again.lossStage, 2);
  EXPECT_EQ(again.undecayed, std::vector<std::string>{"param.w"});
  EXPECT_EQ(again.checksum.size(), 16u);
  const PipelineStage &last = again.stages[2];
  EXPECT_EQ(last.receives[1].from, 1);
  EXPECT_TRUE(last.receives[1].hasGradient);
  EXPECT_EQ(again.stages[0].sends[0].to, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(last.inputs[1].splitDim, -1);
  EXPECT_TRUE(last.inputs[1].isWeighted);
  EXPECT_FALSE(last.inputs[0].isWeighted);
  EXPECT_EQ(last.parameters[0].gradient, "grad.w");
  EXPECT_EQ(last.parameters[0].replicatedIn, (std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(again.stages[1].buffers[0].isWritten);
  EXPECT_EQ(last.outputs[0].dim, 1);
  EXPECT_EQ(last.outputs[1].merge, PipelineOutput::Mean);
  EXPECT_EQ(last.phases[PipelineStage::Forward].checksum, "12ab");
  EXPECT_EQ(last.phases[PipelineStage::Forward].arenaBytes, 640);
  EXPECT_FALSE(last.phases[PipelineStage::Weight]);
  EXPECT_EQ(last.weights, "34cd");
  EXPECT_EQ(again.stages[0].weights, "");
  EXPECT_EQ(last.forwardSaves.size(), 2u);
  EXPECT_EQ(last.inputSavedBytes, 24);
}

/// What verify() says of the example after `change`, and readPipeline() too.
std::string problemOf(const std::function<void(Pipeline &)> &change) {
  Pipeline pipeline = example(), again;
  change(pipeline);
  std::string problem = pipeline.verify();
  EXPECT_EQ(readPipeline(writePipeline(pipeline), again), problem);
  return problem;
}

TEST(PipelineTest, RefusesStagesThatAreWrong) {
  using P = Pipeline;
  EXPECT_EQ(problemOf([](P &p) {
              p.stages.clear();
              p.lossStage = -1;
              p.loss = "";
            }),
            "has no stages");
  EXPECT_EQ(problemOf([](P &p) { p.stages[1].phases[0].folder = ""; }),
            "has no forward of stage 1");
  EXPECT_EQ(problemOf([](P &p) { p.stages[1].phases[0].folder = "../x"; }),
            "has a phase in '../x', which is not in it");
  EXPECT_EQ(problemOf([](P &p) { p.stages[1].phases[0].arenaBytes = -1; }),
            "has a phase 'forward' of stage 1 with an arena or a time below 0");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].inputSavedBytes = -1; }),
            "keeps less than nothing of stage 2");
  int64_t most = std::numeric_limits<int64_t>::max();
  const char *above = "has a phase 'forward' of stage 1 with an arena above "
                      "2^50 bytes or a time above 11 days";
  EXPECT_EQ(problemOf([=](P &p) { p.stages[1].phases[0].arenaBytes = most; }),
            above);
  EXPECT_EQ(problemOf([=](P &p) { p.stages[1].phases[0].picoseconds = most; }),
            above);
  EXPECT_EQ(problemOf([=](P &p) { p.stages[2].forwardSavedBytes = most; }),
            "keeps more than 2^50 bytes of stage 2");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].inputs[0].name = "value.1"; }),
            "has 'value.1' of stage 2 twice");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].inputs[1].dtype = "f5"; }),
            "has 'input.1' of stage 2 of unknown size");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].inputs[0].splitDim = 2; }),
            "splits 'input.0' along dimension 2, which it has not");
  EXPECT_EQ(problemOf([](P &p) { p.lossStage = 3; }), "has a loss of no stage");
}

TEST(PipelineTest, RefusesValuesThatDoNotCross) {
  using P = Pipeline;
  EXPECT_EQ(problemOf([](P &p) {
              p.stages[0].sends.push_back(sent("value.1", {1}));
            }),
            "has two makers of 'value.1'");
  EXPECT_EQ(problemOf([](P &p) { p.stages[1].sends[0].to = {1}; }),
            "sends 'value.1' of stage 1 to no later stage");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].receives[1].sizes = {3, 2}; }),
            "sends 'value.1' of stage 1 to stage 2, which does not receive it "
            "as it is");
  EXPECT_EQ(problemOf([](P &p) { p.stages[1].sends[0].hasGradient = false; }),
            "has a gradient of 'value.1' at one end alone");
  EXPECT_EQ(problemOf([](P &p) {
              p.stages[1].sends[0].dtype = "i64";
              p.stages[2].receives[1].dtype = "i64";
            }),
            "has a gradient of 'value.1', which is i64");
  EXPECT_EQ(problemOf([](P &p) {
              p.stages[2].receives.push_back(received("value.9", 1));
            }),
            "receives 'value.9' of stage 2 from a stage that does not send it");
  EXPECT_EQ(
      problemOf([](P &p) { p.stages[0].sends[0].to = {1}; }),
      "receives 'value.0' of stage 2, and stage 0 does not send it there");
}

TEST(PipelineTest, RefusesWhatStagesShareInTwoWays) {
  using P = Pipeline;
  EXPECT_EQ(
      problemOf([](P &p) { p.stages[2].parameters[0].replicatedIn = {}; }),
      "has 'param.w' in stages 0 and 2, which is not the same there");
  EXPECT_EQ(problemOf([](P &p) {
              p.stages[0].parameters[0].replicatedIn = {};
              p.stages[2].parameters[0].replicatedIn = {};
            }),
            "has 'param.w' in stages 0 and 2, which do not say so");
  EXPECT_EQ(
      problemOf([](P &p) { p.stages[0].parameters[0].replicatedIn = {1, 2}; }),
      "has 'param.w' of stage 0 in a list of stages that it is not in");
  EXPECT_EQ(problemOf([](P &p) {
              for (int i : {0, 2})
                p.stages[i].parameters[0].dtype = "i64";
            }),
            "has a gradient of 'param.w', which is i64");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].buffers = p.stages[1].buffers; }),
            "has 'buffer.n' in stages 1 and 2, and one writes it");
  EXPECT_EQ(problemOf([](P &p) {
              p.stages[1].buffers[0].isWritten = false;
              p.stages[2].buffers = p.stages[1].buffers;
              p.stages[2].buffers[0].dtype = "f64";
            }),
            "has 'buffer.n' in two sizes or types");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].inputs[0].splitDim = 1; }),
            "has 'input.0' in two sizes, types or dimensions");
  EXPECT_EQ(problemOf([](P &p) { p.stages[1].outputs = p.stages[2].outputs; }),
            "makes 'output.0' in two stages");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].inputs[1].dtype = "i64"; }),
            "weighs 'input.1', which is i64");
  EXPECT_EQ(problemOf([](P &p) {
              p.stages[2].outputs[1].dtype = "i64";
              p.stages[2].outputs[1].merge = PipelineOutput::Sum;
            }),
            "");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].outputs[1].dtype = "i64"; }),
            "adds 'output.1', which is i64");
  EXPECT_EQ(problemOf([](P &p) { p.stages[2].outputs[0].dim = 2; }),
            "joins 'output.0' along dimension 2, which it has not");
}

/// The example for micro-batches of two rows or one.
Pipeline exampleOfTwoSizes() {
  Pipeline pipeline = example();
  pipeline.stages[2].outputs[0].dim = 0;
  pipeline.smaller = pipeline.stages;
  for (PipelineStage &stage : pipeline.smaller) {
    for (PipelineReceive &one : stage.receives)
      one.sizes[0] = 1;
    for (PipelineSend &one : stage.sends)
      one.sizes[0] = 1;
    stage.phases[PipelineStage::Forward] = {stage.name + "/smaller/forward",
                                            "56ef", 60, 320};
    stage.phases[PipelineStage::Backward].folder =
        stage.name + "/smaller/backward";
  }
  for (int i : {0, 2})
    pipeline.smaller[i].inputs[0].sizes[0] = 1;
  pipeline.smaller[2].outputs[0].sizes[0] = 1;
  pipeline.smaller[2].forwardSavedBytes = 24;
  return pipeline;
}

TEST(PipelineTest, TwoSizesOfAMicroBatchGoThroughTheText) {
  Pipeline pipeline = exampleOfTwoSizes(), again;
  ASSERT_EQ(pipeline.verify(), "");
  std::string text = writePipeline(pipeline);
  ASSERT_EQ(readPipeline(text, again), "");
  EXPECT_EQ(writePipeline(again), text);
  ASSERT_EQ(again.smaller.size(), 3u);
  const PipelineStage &last = again.smaller[2];
  EXPECT_EQ(last.receives[1].sizes, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(last.receives[1].from, 1);
  EXPECT_EQ(last.inputs[0].sizes, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(last.inputs[1].sizes, (std::vector<int64_t>{}));
  EXPECT_EQ(last.outputs[0].sizes, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(last.parameters[0].gradient, "grad.w");
  EXPECT_EQ(last.phases[PipelineStage::Forward].folder,
            "stage2/smaller/forward");
  EXPECT_EQ(last.phases[PipelineStage::Forward].arenaBytes, 320);
  EXPECT_EQ(last.forwardSavedBytes, 24);
  EXPECT_EQ(again.stages[2].forwardSavedBytes, 48);
  std::string other = text;
  size_t at = other.find("\"name\": \"value.0\"", other.find("\"smaller\""));
  other[at + 15] = '7';
  EXPECT_EQ(readPipeline(signManifest(other), again),
            "under 'smaller' has 'value.7' of stage0, which has none of this "
            "name");
  other = text;
  at = other.find("\"forward_saves\"", other.find("\"smaller\""));
  other[at + 1] = 'g';
  EXPECT_EQ(readPipeline(signManifest(other), again),
            "under 'smaller' has a member 'gorward_saves' that it cannot have");
}

TEST(PipelineTest, RefusesTwoSizesOfTwoPrograms) {
  auto problemOf = [](const std::function<void(PipelineStage &)> &change,
                      int stage = 2) {
    Pipeline pipeline = exampleOfTwoSizes();
    change(pipeline.smaller[stage]);
    return pipeline.verify();
  };
  auto other = [](const char *what) {
    return std::string("has other ") + what +
           " of stage 2 for smaller micro-batches";
  };
  using S = PipelineStage;
  EXPECT_EQ(problemOf([](S &s) { s.receives[0].hasGradient = false; }),
            other("receives"));
  EXPECT_EQ(problemOf([](S &s) { s.sends.push_back(sent("value.2", {3})); }),
            other("sends"));
  EXPECT_EQ(problemOf([](S &s) { s.inputs[0].sizes[1] = 2; }), other("inputs"));
  EXPECT_EQ(problemOf([](S &s) { s.inputs[0].sizes[0] = 3; }), other("inputs"));
  EXPECT_EQ(problemOf([](S &s) { s.parameters[0].gradient = ""; }),
            other("parameters"));
  EXPECT_EQ(problemOf([](S &s) {
              s.buffers.push_back(named<PipelineBuffer>("buffer.x"));
            }),
            other("buffers"));
  EXPECT_EQ(problemOf([](S &s) { s.outputs[0].sizes = {2, 2}; }),
            other("outputs"));
  EXPECT_EQ(problemOf([](S &s) { s.phases[S::Backward] = {}; }),
            other("phases"));
  // Stages for smaller ones are looked at as the others are.
  EXPECT_EQ(problemOf([](S &s) { s.phases[S::Forward].folder = "../x"; }),
            "under 'smaller' has a phase in '../x', which is not in it");
  EXPECT_EQ(problemOf([](S &s) { s.receives[1].sizes = {1, 2}; }),
            "under 'smaller' sends 'value.1' of stage 1 to stage 2, which does "
            "not receive it as it is");
  Pipeline some = exampleOfTwoSizes();
  some.smaller.pop_back();
  EXPECT_EQ(some.verify(),
            "has two sizes of a micro-batch in some stages alone");
}

TEST(PipelineTest, RefusesTextsThatNobodyWrote) {
  Pipeline pipeline;
  std::string text = writePipeline(example());
  EXPECT_EQ(readPipeline("{}", pipeline), "is no manifest of a pipeline");
  EXPECT_EQ(readPipeline("{", pipeline).substr(0, 10), "is no JSON");
  std::string other = text;
  other.replace(other.find(": 1,"), 4, ": 7,");
  EXPECT_EQ(readPipeline(other, pipeline),
            "has version 7, this runtime takes 1");
  // Each flipped bit is refused, whatever it says now.
  for (size_t at = 0; at < text.size(); at += 7) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 7));
    EXPECT_NE(readPipeline(damaged, pipeline), "") << at;
  }
  for (const char *word : {"\"merge\": \"mean\"", "\"phase\": \"forward\""}) {
    std::string edited = text;
    edited.replace(edited.find(word) + 10, 1, "x");
    EXPECT_NE(readPipeline(signManifest(edited), pipeline).find("there is not"),
              std::string::npos);
  }
}

TEST(PipelineTest, AFolderWithoutOneIsNamed) {
  Pipeline pipeline;
  StepError error;
  EXPECT_FALSE(readPipelineFolder("/nowhere", pipeline, error));
  EXPECT_EQ(error.what,
            "'/nowhere/pipeline.json' cannot be read: No such file or "
            "directory");
  EXPECT_NE(error.next.find("cutback split"), std::string::npos);
}

} // namespace
