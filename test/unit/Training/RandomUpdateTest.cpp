// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An update inside of the backward gives the bits of one after it: random
// programs, all strategies and cost models, with checkpoint regions, hooks, and
// writes of the program's own. What decides is whether a parameter is written
// after the last op that reads what it was, recomputed ones among them: a
// program reads its parameters anywhere, through views, in both halves. Kernels
// in an arena, which prove themselves when they are formed, train two steps.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (60, 40, 25), CUTBACK_RANDOM_SEED
// the first seed (1).

#include "../Planner/RandomProgram.h"
#include "../Planner/RandomRegions.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Training/InsideUpdate.h"
#include "cutback/Training/Trainer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Tensors by their names in files.
using Named = std::map<std::string, RuntimeValue>;

class RandomUpdateTest : public testing::Test {
protected:
  RandomUpdateTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        kernel::KernelDialect, func::FuncDialect>();
    optimizer.kind = Optimizer::Sgd;
    optimizer.momentum = 0.9;
    optimizer.weightDecay = 0.125;
  }

  /// What an argument of the optimizer is before the step.
  static RuntimeValue initial(StringRef name, RankedTensorType type) {
    if (name == kLearningRate) {
      Tensor rate = Tensor::zeros(DType::F64, {});
      rate.set(0, 0.5);
      return rate;
    }
    Tensor state = Tensor::zeros(DType::F32, type.getShape());
    for (int64_t i = 0; i < state.numel(); ++i)
      state.set(i, static_cast<double>(i % 7) - 3);
    return state;
  }

  /// The arguments of the program; they do not depend on what was inserted.
  std::vector<RuntimeValue> valuesOf(joint::GraphOp program) {
    auto values =
        randomArguments(program, nameStep(program), options.size, seed);
    EXPECT_TRUE(succeeded(values));
    return succeeded(values) ? *values : std::vector<RuntimeValue>();
  }

  /// Parameters and states after the program and then its update.
  Named updateAfter(joint::GraphOp program,
                    ArrayRef<UpdatedParameter> parameters) {
    Named after;
    std::vector<RuntimeValue> values = valuesOf(program);
    HookRecord hooks;
    InterpreterOptions running;
    running.hook = hooks.hook();
    auto results = run(program, values, running);
    FailureOr<UpdateGraph> update = buildUpdate(program, optimizer);
    EXPECT_TRUE(succeeded(results) && succeeded(update)) << lastError;
    if (failed(results) || failed(update))
      return after;
    std::vector<RuntimeValue> given;
    for (const UpdatedParameter &parameter : parameters) {
      after[parameter.name] = values[parameter.argument];
      given.push_back(values[parameter.argument]);
      given.push_back((*results)[program.getOutput().getNumForwardResults() +
                                 parameter.gradient]);
      for (const std::string &state : parameter.states)
        given.push_back(after[state] = initial(state, parameter.type));
    }
    given.push_back(initial(kLearningRate, {}));
    EXPECT_TRUE(succeeded(run(update->graph, given))) << lastError;
    return after;
  }

  /// The same by the halves of a plan; empty if it was refused.
  Named updateInside(ModuleOp original, ArrayRef<RuntimeValue> program,
                     Strategy strategy, CostModel costModel) {
    OwningOpRef<ModuleOp> module(original.clone());
    auto graph = *module->getOps<joint::GraphOp>().begin();
    StepNames names = nameStep(graph);
    PartitionOptions partition;
    partition.strategy = strategy;
    partition.costModel = costModel;
    partition.figures = partition.decompose =
        false; // other ops round otherwise
    partition.memory.emplace();
    partition.memory->symbols["s0"] = options.size;
    partition.symbols["s0"] = options.size;
    PhaseSeconds seconds;
    if (failed(preparePartition(graph, partition, seconds)))
      return {};
    auto result = partitionGraph(graph, partition);
    if (failed(result))
      return {};
    EXPECT_TRUE((*result)->verified);
    std::vector<RuntimeValue> values(program);
    for (size_t i = 0; i < values.size(); ++i)
      if (auto *tensor = std::get_if<Tensor>(&values[i]))
        *tensor = copyOf(*tensor);
    for (size_t i = values.size(); i < names.arguments.size(); ++i)
      values.push_back(
          initial(names.arguments[i],
                  dyn_cast<RankedTensorType>(graph.getArgumentTypes()[i])));
    HookRecord hooks;
    InterpreterOptions running;
    running.hook = hooks.hook();
    Named after;
    auto results =
        runPartition((*result)->partition.link, graph, values, running);
    EXPECT_TRUE(succeeded(results)) << lastError;
    for (size_t i = 0; i < names.arguments.size(); ++i)
      if (!names.arguments[i].empty())
        after[names.arguments[i]] = values[i];
    return after;
  }

  void checkOne(bool hasRegions, bool hasHooks) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      lastError = diagnostic.str();
      return success();
    });
    options.size = 2 + int64_t(seed % 4);
    OwningOpRef<ModuleOp> module =
        RandomProgram(seed, options, context).build();
    ASSERT_TRUE(module) << lastError;
    auto graph = *module->getOps<joint::GraphOp>().begin();
    if (hasHooks)
      addRandomHooks(graph, seed);
    auto parameters = findParameters(graph, optimizer);
    ASSERT_TRUE(succeeded(parameters)) << lastError;
    if (!whyUpdateAfter(graph, optimizer, *parameters).empty())
      return;
    ++updated;
    std::vector<RuntimeValue> values = valuesOf(graph);
    Named expected = updateAfter(graph, *parameters);
    ASSERT_TRUE(succeeded(insertUpdate(graph, optimizer, *parameters)));
    ASSERT_TRUE(succeeded(verify(*module))) << lastError;
    if (hasRegions)
      addRandomRegions(graph, seed);
    for (CostModel costModel : {CostModel::Roofline, CostModel::PyTorch})
      for (Strategy strategy : {Strategy::MinCut, Strategy::Eager,
                                Strategy::Precompute, Strategy::RecomputeAll}) {
        ++partitions;
        Named actual = updateInside(*module, values, strategy, costModel);
        refused += actual.empty();
        for (const auto &[name, value] : expected)
          if (!actual.empty())
            EXPECT_TRUE(equalBits(value, actual[name]))
                << "seed " << seed << ", strategy " << int(strategy) << ": "
                << name;
      }
  }

  void checkMany(uint64_t count, bool hasRegions, bool hasHooks) {
    uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
    count = numberFrom("CUTBACK_RANDOM_GRAPHS", count);
    for (seed = first; seed < first + count; ++seed) {
      checkOne(hasRegions, hasHooks);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    printf("%llu programs with an update, %llu partitions, %llu refused\n",
           (unsigned long long)updated, (unsigned long long)partitions,
           (unsigned long long)refused);
    EXPECT_GT(updated, count / 4);
    EXPECT_LT(refused, partitions / 20 + 1) << lastError;
  }

  std::map<std::string, std::vector<double>>
  trainKernels(ModuleOp original, Optimizer::Place place, const Named &tensors);

  MLIRContext context;
  RandomProgramOptions options;
  Optimizer optimizer;
  uint64_t seed = 0, updated = 0, partitions = 0, refused = 0;
  std::string lastError;
};

/// The state after two steps of kernels in an arena.
std::map<std::string, std::vector<double>>
RandomUpdateTest::trainKernels(ModuleOp original, Optimizer::Place place,
                               const Named &tensors) {
  OwningOpRef<ModuleOp> module(original.clone());
  ModelTrainerOptions training;
  training.optimizer = optimizer;
  training.optimizer.place = place;
  training.hook = nullptr;
  auto trainer = makeModelTrainer(
      *module->getOps<joint::GraphOp>().begin(),
      [&](StringRef name) -> std::optional<Tensor> {
        auto found = tensors.find(name.str());
        const auto *tensor = found == tensors.end()
                                 ? nullptr
                                 : std::get_if<Tensor>(&found->second);
        return tensor ? std::optional(copyOf(*tensor)) : std::nullopt;
      },
      training);
  std::map<std::string, std::vector<double>> state;
  if (!trainer)
    return state;
  EXPECT_EQ(trainer->whyUpdateAfter(), "");
  for (int64_t step : {0, 1}) {
    TrainingInputs inputs;
    inputs.learningRate = 0.25;
    inputs.number = step;
    TrainingResult result;
    // A program whose first result is no loss says so, after the whole step.
    std::string error = trainer->run(inputs, result);
    EXPECT_NE(error, "the step does not run") << lastError;
  }
  for (const auto &[name, tensor] : trainer->state())
    state[name] = tensor.doubles();
  return state;
}

TEST_F(RandomUpdateTest, KernelsInAnArenaDoTheSame) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 25);
  for (seed = first; seed < first + count; ++seed) {
    options.size = 2 + int64_t(seed % 4);
    OwningOpRef<ModuleOp> module =
        RandomProgram(seed, options, context).build();
    ASSERT_TRUE(module) << lastError;
    auto graph = *module->getOps<joint::GraphOp>().begin();
    auto parameters = findParameters(graph, optimizer);
    ASSERT_TRUE(succeeded(parameters)) << lastError;
    if (!whyUpdateAfter(graph, optimizer, *parameters).empty())
      continue;
    StepNames names = nameStep(graph);
    std::vector<RuntimeValue> values = valuesOf(graph);
    Named tensors;
    for (size_t i = 0; i < values.size(); ++i)
      tensors[names.arguments[i]] = values[i];
    auto inside = trainKernels(*module, Optimizer::Inside, tensors);
    auto after = trainKernels(*module, Optimizer::After, tensors);
    updated += !inside.empty() && !after.empty();
    // NaN is not equal to itself.
    if (!inside.empty() && !after.empty())
      for (const auto &[name, numbers] : after)
        EXPECT_EQ(std::memcmp(numbers.data(), inside[name].data(),
                              numbers.size() * sizeof(double)),
                  0)
            << "seed " << seed << ": " << name;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  printf("%llu trained\n", (unsigned long long)updated);
  EXPECT_GT(updated, count / 4) << lastError;
}

TEST_F(RandomUpdateTest, AnUpdateInTheBackwardChangesNoBit) {
  checkMany(60, /*hasRegions=*/false, /*hasHooks=*/false);
}

TEST_F(RandomUpdateTest, WhateverRegionsRunAgainAndHooksChange) {
  checkMany(40, /*hasRegions=*/true, /*hasHooks=*/true);
}

} // namespace
