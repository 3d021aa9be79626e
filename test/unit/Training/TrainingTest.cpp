// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Updates whose gradients lie where others write, in strides, or under two
// names; learning rates. Against PyTorch's values: test/Tools/cutback.

#include "cutback/Training/Trainer.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Runtime/GradientNorm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class TrainingTest : public testing::Test {
protected:
  TrainingTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        kernel::KernelDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        notes += note.str() + "\n";
    });
  }

  joint::GraphOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<joint::GraphOp>().begin()
                  : joint::GraphOp();
  }

  /// A tensor with the numbers 1, 2, … times `scale`.
  static Tensor counted(ArrayRef<int64_t> sizes, double scale) {
    Tensor tensor = Tensor::zeros(DType::F32, sizes);
    for (int64_t i = 0; i < tensor.numel(); ++i)
      tensor.set(i, scale * static_cast<double>(i + 1));
    return tensor;
  }

  /// The state behind two steps of SGD with rate 0.5.
  std::map<std::string, std::vector<double>>
  train(const std::string &text, std::map<std::string, Tensor> tensors,
        bool reference) {
    joint::GraphOp graph = parse(text);
    EXPECT_TRUE(graph) << messages;
    ModelTrainerOptions options;
    options.optimizer.kind = Optimizer::Sgd;
    options.reference = reference;
    auto trainer = makeModelTrainer(
        graph,
        [&](StringRef name) -> std::optional<Tensor> {
          auto found = tensors.find(name.str());
          return found == tensors.end() ? std::nullopt
                                        : std::optional(found->second);
        },
        options);
    std::map<std::string, std::vector<double>> state;
    if (!trainer) {
      ADD_FAILURE() << messages;
      return state;
    }
    for (int64_t step : {0, 1}) {
      TrainingInputs inputs;
      inputs.learningRate = 0.5;
      inputs.number = step;
      TrainingResult result;
      EXPECT_EQ(trainer->run(inputs, result), "") << messages;
    }
    for (const auto &[name, tensor] : trainer->state())
      state[name] = tensor.doubles();
    return state;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages, notes;
};

// The gradient of each parameter is the other one: both are read before either
// is written.
const char *const kEachOther = R"(
joint.graph @g(%p: tensor<4xf32> {joint.role = #joint.role<param "p">},
               %q: tensor<4xf32> {joint.role = #joint.role<param "q">},
               %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %m = aten.mul.Tensor(%p, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = aten.sum(%m) : (tensor<4xf32>) -> tensor<f32>
  joint.output %s gradients(%q of 0, %p of 1) : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
)";

TEST_F(TrainingTest, AGradientThatIsAParameterIsReadBeforeThatIsWritten) {
  for (bool reference : {true, false}) {
    auto state =
        train(kEachOther,
              {{"param.p", counted({4}, 1)}, {"param.q", counted({4}, -2)}},
              reference);
    // (p, q) = (1, -2) k: (2, -2.5) k, then (3.25, -3.5) k.
    EXPECT_EQ(state["param.p"], (std::vector<double>{3.25, 6.5, 9.75, 13}));
    EXPECT_EQ(state["param.q"], (std::vector<double>{-3.5, -7, -10.5, -14}));
  }
}

// Gradients that are arguments, and one that is a view: their sums are those of
// two micro-batches, and of the step alone, whatever was left of the one
// before.
TEST_F(TrainingTest, GradientsOfMicroBatchesAddUp) {
  const char *text = R"(
joint.graph @g(%p: tensor<2x3xf32> {joint.role = #joint.role<param "p">},
               %q: tensor<2x3xf32> {joint.role = #joint.role<param "q">},
               %x: tensor<3x2xf32> {joint.role = #joint.role<input>},
               %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<2x3xf32>, tensor<2x3xf32>) {
  %m = aten.mul.Tensor(%p, %q) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = aten.sum(%m) : (tensor<2x3xf32>) -> tensor<f32>
  %e = aten.mul.Tensor(%x, %t) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %d = aten.t(%e) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  joint.output %s gradients(%q of 0, %d of 1) : tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>
}
)";
  for (bool reference : {true, false}) {
    joint::GraphOp graph = parse(text);
    ASSERT_TRUE(graph) << messages;
    ModelTrainerOptions options;
    options.optimizer.kind = Optimizer::Sgd;
    options.optimizer.accumulates = true;
    options.reference = reference;
    auto trainer = makeModelTrainer(
        graph,
        [](StringRef name) -> std::optional<Tensor> {
          if (name == "tangent.0")
            return std::nullopt;
          return name == "input.0" ? counted({3, 2}, 1) : counted({2, 3}, -1);
        },
        options);
    ASSERT_TRUE(trainer) << messages;
    EXPECT_TRUE(trainer->accumulates());
    EXPECT_FALSE(trainer->greatestLossScale());
    TrainingInputs inputs;
    inputs.learningRate = 1;
    for (double factor : {std::nan(""), 1.0}) {
      TrainingResult result;
      inputs.share = 0.25;
      inputs.tensors = {{"input.0", counted({3, 2}, factor)}};
      inputs.microBatch = 0;
      inputs.isLast = false;
      EXPECT_EQ(trainer->run(inputs, result), "") << messages;
      EXPECT_EQ(result.loss, 91); // without its share
      inputs.tensors = {{"input.0", counted({3, 2}, 4)}};
      inputs.microBatch = 1;
      // The first time there is no update: what it left is forgotten.
      inputs.isLast = factor == 1.0;
      EXPECT_EQ(trainer->run(inputs, result), "") << messages;
    }
    std::map<std::string, std::vector<double>> state;
    for (const auto &[name, tensor] : trainer->state())
      state[name] = tensor.doubles();
    // p - 2 q, and q - (1 + 4) / 4 of x as rows.
    EXPECT_EQ(state["param.p"], (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(state["param.q"],
              (std::vector<double>{-2.25, -5.75, -9.25, -6.5, -10, -13.5}));
  }
}

// Two parameters in a graph each, as stages of a pipeline have them, and both
// in one: norms of all, found there or given, make the same updates.
TEST_F(TrainingTest, NormsOfSeveralGraphsAreThoseOfOne) {
  auto textOf = [](ArrayRef<const char *> names) {
    std::string arguments, gradients, of, types;
    for (auto [i, name] : llvm::enumerate(names)) {
      std::string n = name, comma = i ? ", " : "";
      arguments += comma + "%" + n +
                   ": tensor<5xf32> {joint.role = " + "#joint.role<param \"" +
                   n + "\">}";
      of += comma + "%" + n + " of " + std::to_string(i);
      types += comma + "tensor<5xf32>";
    }
    return "joint.graph @g(" + arguments +
           ", %t: tensor<f32> {joint.role = #joint.role<tangent of 0>}) -> "
           "(tensor<f32>) gradients (" +
           types + ") {\n  %l = aten.sum(%" + names.front() +
           ") : (tensor<5xf32>) -> tensor<f32>\n  joint.output %l gradients(" +
           of + ") : tensor<f32>, " + types + "\n}\n";
  };
  Optimizer optimizer;
  optimizer.clipNorm = 0.125;
  optimizer.scalesLoss = optimizer.accumulates = true;
  std::map<std::string, double> numbers = {{"optimizer.lr", 0.3},
                                           {"optimizer.step", 3},
                                           {"optimizer.loss_scale", 1024}};
  auto runGraph = [&](UpdateGraph &graph,
                      std::map<std::string, Tensor> &tensors) {
    std::vector<RuntimeValue> given;
    for (BlockArgument argument : graph.graph.getBlock().getArguments()) {
      std::string name = joint::getValueName(argument).str();
      bool isGiven = name == "grad_norm" || name == "grad_max";
      if (!tensors.count(name)) {
        auto type = cast<RankedTensorType>(argument.getType());
        double number = numbers.count(name) ? numbers[name] : name.back() % 7;
        Tensor &made = tensors[name] =
            Tensor::zeros(*dtypeOf(type.getElementType()), type.getShape());
        for (int64_t e = 0; e < made.numel(); ++e)
          made.set(e, number + (made.rank() ? e / 7.0 : 0));
      }
      EXPECT_TRUE(!isGiven || numbers.count(name));
      given.push_back(tensors[name]);
    }
    EXPECT_TRUE(succeeded(makeRunnable(graph.graph)));
    auto results = interpreter::run(graph.graph, given, {});
    EXPECT_TRUE(succeeded(results)) << messages;
    std::vector<double> values;
    for (const RuntimeValue &value : *results)
      values.push_back(std::get<Tensor>(value).getDouble(0));
    return values;
  };
  std::map<std::string, Tensor> together, apart;
  joint::GraphOp graph = parse(textOf({"p", "q", "r"}));
  ASSERT_TRUE(graph) << messages;
  auto whole = buildUpdate(graph, optimizer);
  ASSERT_TRUE(succeeded(whole)) << messages;
  std::vector<double> found = runGraph(*whole, together); // greatest, norm
  std::vector<float> squares;
  double greatest = 0;
  SmallVector<SmallVector<const char *>> stages = {{"p"}, {"q", "r"}};
  for (ArrayRef<const char *> stage : stages) {
    auto norms = buildNorms(parse(textOf(stage)), optimizer);
    ASSERT_TRUE(succeeded(norms)) << messages;
    std::vector<double> values = runGraph(*norms, apart);
    ASSERT_EQ(values.size(), stage.size() + 1);
    greatest = std::max(greatest, values.back());
    squares.insert(squares.end(), values.begin(), values.end() - 1);
  }
  numbers["grad_norm"] = combineSquares(squares);
  numbers["grad_max"] = greatest;
  EXPECT_EQ(found, (std::vector<double>{greatest, numbers["grad_norm"]}));
  for (ArrayRef<const char *> stage : stages) {
    auto update = buildUpdate(parse(textOf(stage)), optimizer, Norms::Given);
    ASSERT_TRUE(succeeded(update)) << messages;
    EXPECT_TRUE(runGraph(*update, apart).empty());
  }
  EXPECT_LT(together.at("p").getDouble(4), 'p' % 7 + 4 / 7.0 - 0.01);
  for (const auto &[name, tensor] : together)
    EXPECT_EQ(tensor.doubles(), apart.at(name).doubles()) << name;
}

TEST_F(TrainingTest, AGradientMayBeAViewWithStrides) {
  const char *text = R"(
joint.graph @g(%w: tensor<2x3xf32> {joint.role = #joint.role<param "w">},
               %x: tensor<3x2xf32> {joint.role = #joint.role<input>},
               %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<2x3xf32>) {
  %s = aten.sum(%w) : (tensor<2x3xf32>) -> tensor<f32>
  %e = aten.mul.Tensor(%x, %t) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %d = aten.t(%e) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  joint.output %s gradients(%d of 0) : tensor<f32>, tensor<2x3xf32>
}
)";
  for (bool reference : {true, false}) {
    auto state = train(text,
                       {{"param.w", Tensor::zeros(DType::F32, {2, 3})},
                        {"input.0", counted({3, 2}, 1)}},
                       reference);
    EXPECT_EQ(state["param.w"], (std::vector<double>{-1, -3, -5, -2, -4, -6}));
  }
}

// Both names are one tensor: its gradient stands whole under each, and it is
// updated once.
const char *const kTiedText = R"(
joint.graph @g(%p: tensor<2xf32> {joint.role = #joint.role<param "p">},
               %q: tensor<2xf32> {joint.role = #joint.role<param "q">, joint.tied = "p"},
               %u: tensor<2xf32> {joint.role = #joint.role<param "u">},
               %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<2xf32>, tensor<2xf32>) {
  %m = aten.mul.Tensor(%p, %q) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %s = aten.sum(%m) : (tensor<2xf32>) -> tensor<f32>
  %d = aten.add.Tensor(%p, %q) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  joint.output %s gradients(%d of 0, %d of 1) : tensor<f32>, tensor<2xf32>, tensor<2xf32>
}
)";

TEST_F(TrainingTest, TwoParametersOfOneStorageAreNotUpdated) {
  std::string text = kTiedText, tied = "joint.tied";
  text.replace(text.find(tied), tied.size(), "joint.shares");
  joint::GraphOp graph = parse(text);
  ASSERT_TRUE(graph);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      if (StringRef(note.str()).starts_with("tie them"))
        error += " | " + note.str();
    return success();
  });
  EXPECT_TRUE(failed(findParameters(graph, Optimizer())));
  EXPECT_EQ(error,
            "'param.q' and 'p' are two tensors of one storage, each with "
            "a gradient of its own: an update of one would change the "
            "other | tie them (one Parameter under two names), or "
            "clone() one of them, and export the model again");
}

TEST_F(TrainingTest, ATiedParameterIsUpdatedOnceAndOneWithoutGradientNot) {
  joint::GraphOp graph = parse(kTiedText);
  ASSERT_TRUE(graph) << messages;
  Optimizer optimizer;
  auto found = findParameters(graph, optimizer);
  ASSERT_TRUE(succeeded(found)) << messages;
  const std::vector<UpdatedParameter> &parameters = *found;
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].name, "param.p");
  EXPECT_EQ(parameters[0].gradientName, "grad.p");
  EXPECT_EQ(parameters[0].states,
            (std::vector<std::string>{"optimizer.exp_avg.p",
                                      "optimizer.exp_avg_sq.p"}));
  EXPECT_EQ(parameters[0].tied, std::vector<unsigned>{1});
  for (bool reference : {true, false}) {
    auto state = train(kTiedText,
                       {{"param.p", counted({2}, 8)},
                        {"param.q", counted({2}, 8)},
                        {"param.u", counted({2}, 1)}},
                       reference);
    // p - 0.5 * 2p is 0.
    EXPECT_EQ(state["param.p"], (std::vector<double>{0, 0}));
    EXPECT_EQ(state["param.u"], (std::vector<double>{1, 2}));
    EXPECT_EQ(state.count("param.q"), 0u);
  }
}

TEST_F(TrainingTest, AStateGoesBackToTheTrainerThatItIsOf) {
  joint::GraphOp graph = parse(kEachOther);
  ASSERT_TRUE(graph) << messages;
  ModelTrainerOptions options;
  options.reference = true;
  auto find = [&](StringRef name) {
    return name.starts_with("param.") ? std::optional(counted({4}, 1))
                                      : std::nullopt;
  };
  auto trainer = makeModelTrainer(graph, find, options);
  ASSERT_TRUE(trainer) << messages;
  std::string bytes = encodeState(*trainer, {7, -3, std::nullopt});
  TensorFile file;
  ASSERT_EQ(TensorFile::read(std::shared_ptr<llvm::MemoryBuffer>(
                                 llvm::MemoryBuffer::getMemBufferCopy(bytes)),
                             "state", file),
            "");
  TrainingPoint point;
  EXPECT_EQ(restoreState(file, *trainer, point), "");
  EXPECT_EQ(point.steps, 7);
  EXPECT_EQ(point.seed, -3);
  EXPECT_EQ(encodeState(*trainer, point), bytes);
}

// loss = sum(p * x), so that the gradient of p is x times the seed.
const char *const kScaled = R"(
joint.graph @g(%p: tensor<4xf32> {joint.role = #joint.role<param "p">},
               %x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<f32> {joint.role = #joint.role<grad_seed of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>) {
  %m = aten.mul.Tensor(%p, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = aten.sum(%m) : (tensor<4xf32>) -> tensor<f32>
  %d = aten.mul.Tensor(%x, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %s gradients(%d of 0) : tensor<f32>, tensor<4xf32>
}
)";

TEST_F(TrainingTest, AScaleOfTheLossChangesNothingButWhatIsNotFinite) {
  for (bool reference : {false, true})
    for (double scale : {1.0, 1024.0, 65536.0}) {
      joint::GraphOp graph = parse(kScaled);
      ASSERT_TRUE(graph) << messages;
      ModelTrainerOptions options;
      options.optimizer.scalesLoss = true;
      options.optimizer.clipNorm = 100;
      options.reference = reference;
      auto find = [&](StringRef name) {
        return name.starts_with("tangent.") ? std::nullopt
                                            : std::optional(counted({4}, 1));
      };
      auto trainer = makeModelTrainer(graph, find, options);
      ASSERT_TRUE(trainer) << messages;
      EXPECT_EQ(trainer->greatestLossScale(), greatestScale(DType::F32));
      TrainingInputs inputs;
      inputs.learningRate = 0.5;
      inputs.lossScale = scale;
      TrainingResult result;
      EXPECT_EQ(trainer->run(inputs, result), "") << messages;
      EXPECT_EQ(result.loss, 30);
      EXPECT_FLOAT_EQ(result.gradientNorm.value_or(0), std::sqrt(30.0f));
      EXPECT_FALSE(result.isSkipped);
      std::string before = encodeState(*trainer, {});
      // What weight decay leaves of 1, and a step of Adam.
      EXPECT_NEAR(trainer->state().back().second.doubles()[0], 0.5, 1e-6);
      // 4e37 times 1,024 is no number of f32.
      inputs.tensors = {{"input.0", counted({4}, 1e37)}};
      EXPECT_EQ(trainer->run(inputs, result), "") << messages;
      EXPECT_EQ(result.isSkipped, scale > 1) << scale;
      EXPECT_EQ(encodeState(*trainer, {}) == before, scale > 1) << scale;
    }
}

TEST_F(TrainingTest, AStateHasTheScaleOfTheLoss) {
  joint::GraphOp graph = parse(kScaled);
  ASSERT_TRUE(graph) << messages;
  ModelTrainerOptions options;
  options.optimizer.scalesLoss = true;
  options.reference = true;
  auto find = [&](StringRef) { return std::optional(counted({4}, 1)); };
  auto one = [&](StringRef name) {
    return name.starts_with("tangent.") ? std::nullopt : find(name);
  };
  auto trainer = makeModelTrainer(graph, one, options);
  ASSERT_TRUE(trainer) << messages;
  auto read = [&](const std::string &bytes, TrainingPoint &point) {
    TensorFile file;
    EXPECT_EQ(TensorFile::read(std::shared_ptr<llvm::MemoryBuffer>(
                                   llvm::MemoryBuffer::getMemBufferCopy(bytes)),
                               "state", file),
              "");
    return restoreState(file, *trainer, point);
  };
  LossScale scale;
  scale.scale = 512;
  scale.good = 30;
  scale.skipped = 7;
  std::string bytes = encodeState(*trainer, {40, 0, scale});
  TrainingPoint point{0, 0, LossScale()};
  EXPECT_EQ(read(bytes, point), "");
  EXPECT_EQ(point.updates(), 33);
  EXPECT_EQ(point.scale->scale, 512);
  EXPECT_EQ(point.scale->good, 30);
  EXPECT_EQ(encodeState(*trainer, point), bytes);
  point = {0, 0, LossScale::parse("64")};
  EXPECT_EQ(read(bytes, point), "");
  EXPECT_EQ(point.scale->scale, 64);
  EXPECT_EQ(point.scale->skipped, 7);
  point = {};
  EXPECT_EQ(read(bytes, point), "is the state of another training: it has "
                                "'training.good_steps'");
  point = {0, 0, LossScale()};
  EXPECT_EQ(read(encodeState(*trainer, {}), point),
            "is the state of another training: it lacks 'training.loss_scale', "
            "'training.good_steps' or 'training.skipped_steps'");
  scale.scale = 0;
  EXPECT_EQ(read(encodeState(*trainer, {40, 0, scale}), point),
            "has a loss scale that no training has");
}

TEST_F(TrainingTest, ParametersInHalfPrecisionHaveNoScaledLoss) {
  std::string text = kScaled;
  for (size_t at; (at = text.find("xf32")) != std::string::npos;)
    text.replace(at, 4, "xf16");
  for (size_t at; (at = text.find("<f32>")) != std::string::npos;)
    text.replace(at, 5, "<f16>");
  joint::GraphOp graph = parse(text);
  ASSERT_TRUE(graph) << messages;
  EXPECT_TRUE(succeeded(buildUpdate(graph, Optimizer())));
  Optimizer optimizer;
  optimizer.scalesLoss = true;
  EXPECT_TRUE(failed(buildUpdate(graph, optimizer)));
  EXPECT_NE(messages.find("cannot scale the loss: parameter 'param.p' is f16"),
            std::string::npos)
      << messages;
  EXPECT_NE(notes.find("keep parameters in f32 and compute in f16 "
                       "(torch.autocast), or leave --scale-loss out"),
            std::string::npos);
}

TEST_F(TrainingTest, WhatCannotBeTrainedSaysWhy) {
  joint::GraphOp graph = parse(R"(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">},
               %x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>, tensor<?x1xi64>) gradients (tensor<4xf32>) {
  %n = aten.nonzero(%x) : (tensor<4xf32>) -> tensor<?x1xi64>
  %y = aten.neg(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %d = aten.mul.Tensor(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y, %n gradients(%d of 0) : tensor<4xf32>, tensor<?x1xi64>, tensor<4xf32>
}
)");
  ASSERT_TRUE(graph) << messages;
  auto find = [&](StringRef) { return std::optional(counted({4}, 1)); };
  ModelTrainerOptions options;
  options.reference = true;
  auto trainer = makeModelTrainer(graph, find, options);
  ASSERT_TRUE(trainer) << messages;
  TrainingInputs inputs;
  TrainingResult result;
  EXPECT_EQ(trainer->run(inputs, result),
            "the step has no result 'loss' of one element");
}

TEST_F(TrainingTest, ASegmentTakesWhatTheStepHas) {
  module = parseSourceString<ModuleOp>(R"(
kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<2xf32> {joint.name = "x"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @g_backward() {
  return
}
)",
                                       &context);
  ASSERT_TRUE(module) << messages;
  kernel::ArenaOp arena = *module->getOps<kernel::ArenaOp>().begin();
  llvm::StringMap<RuntimeValue> arguments;
  EXPECT_TRUE(failed(runSegments(arena, {"forward"}, arguments, {})));
  EXPECT_NE(messages.find("argument 'x' is none of the step's"),
            std::string::npos);
  arguments["x"] = counted({2}, 1);
  auto results = runSegments(arena, {"forward", "backward"}, arguments, {});
  ASSERT_TRUE(succeeded(results)) << messages;
  EXPECT_EQ(results->size(), 1u);
}

TEST(LearningRateTest, ARiseAndACosine) {
  LearningRate rate;
  rate.peak = 0.02;
  EXPECT_EQ(rate.at(100), 0.02);
  rate.kind = LearningRate::Cosine;
  rate.warmup = 20;
  rate.steps = 30;
  EXPECT_DOUBLE_EQ(rate.at(0), 0.001);
  EXPECT_DOUBLE_EQ(rate.at(1), 0.0019945218953682734);
  EXPECT_DOUBLE_EQ(rate.at(20), 0.005);
  EXPECT_NEAR(rate.at(30), 0, 1e-12);
}

} // namespace
