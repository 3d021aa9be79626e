// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward then backward = joint graph, to the bit: random graphs, all
// strategies and cost models, inside the interpreter. The certificate runs on
// every partition (partitionGraph fails if it refuses). A plan that is refused
// for a stated reason (a value that would be read after a write) must stay
// rare.
//
// The same with checkpoint regions of any shape: nested intervals of the
// forward, with policies, some to run whole (200 graphs); and with those and
// hooks on any gradients, some of which change them: each runs once, in its
// order, on the bits that it sees in the joint graph (200 graphs).
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (300), CUTBACK_RANDOM_SEED the
// first seed (1). A failure prints its seed.

#include "RandomProgram.h"
#include "RandomRegions.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Setting {
  const char *name;
  Strategy strategy;
  CostModel costModel;
  double bytePrice;
  std::optional<TorchBudget> budget = std::nullopt;
};
constexpr Setting kSettings[] = {
    {"min-cut roofline", Strategy::MinCut, CostModel::Roofline, 0},
    {"min-cut roofline, dear bytes", Strategy::MinCut, CostModel::Roofline,
     1e9},
    {"min-cut pytorch", Strategy::MinCut, CostModel::PyTorch, 0},
    {"pytorch, budget 0", Strategy::MinCut, CostModel::PyTorch, 0,
     TorchBudget{0}},
    {"pytorch, budget 0.3", Strategy::MinCut, CostModel::PyTorch, 0,
     TorchBudget{0.3, BudgetSolver::Ilp}},
    {"eager", Strategy::Eager, CostModel::Roofline, 0},
    {"precompute", Strategy::Precompute, CostModel::Roofline, 0},
    {"recompute-all", Strategy::RecomputeAll, CostModel::Roofline, 0},
};

/// All results and written arguments of one run, and what hooks saw.
struct Outcome {
  std::vector<RuntimeValue> results;
  std::vector<RuntimeValue> written;
  HookRecord hooks;
};

std::vector<RuntimeValue> writtenOf(const StepNames &names,
                                    ArrayRef<RuntimeValue> arguments) {
  std::vector<RuntimeValue> list;
  for (const auto &[name, argument] : names.written)
    list.push_back(arguments[argument]);
  return list;
}

class RandomProgramTest : public testing::Test {
protected:
  RandomProgramTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }
  std::vector<RuntimeValue> arguments(joint::GraphOp graph,
                                      const StepNames &names) {
    auto values = randomArguments(graph, names, options.size, seed);
    EXPECT_TRUE(succeeded(values));
    return succeeded(values) ? *values : std::vector<RuntimeValue>();
  }
  std::optional<Outcome> runJoint(joint::GraphOp graph);
  /// Nothing if the plan was refused with an error.
  std::optional<Outcome> runHalves(ModuleOp original, const Setting &setting);
  void compare(const Outcome &expected, const Outcome &actual,
               const StepNames &names, const char *setting);
  /// With `seed`; if `hasRegions`, some of the forward is in regions, and if
  /// `hasHooks`, some gradients have hooks.
  void checkOne(bool hasRegions, bool hasHooks);
  void checkMany(uint64_t count, bool hasRegions, bool hasHooks = false);

  MLIRContext context;
  RandomProgramOptions options;
  uint64_t seed = 0;
  uint64_t partitions = 0, refused = 0, hooks = 0;
  std::string lastError;
};

std::optional<Outcome> RandomProgramTest::runJoint(joint::GraphOp graph) {
  StepNames names = nameStep(graph);
  std::vector<RuntimeValue> values = arguments(graph, names);
  Outcome outcome;
  InterpreterOptions running;
  running.hook = outcome.hooks.hook();
  auto results = run(graph, values, running);
  if (failed(results))
    return std::nullopt;
  outcome.results = std::move(*results);
  outcome.written = writtenOf(names, values);
  return outcome;
}

std::optional<Outcome> RandomProgramTest::runHalves(ModuleOp original,
                                                    const Setting &setting) {
  OwningOpRef<ModuleOp> module(original.clone());
  auto graph = *module->getOps<joint::GraphOp>().begin();
  StepNames names = nameStep(graph);
  PartitionOptions partition;
  partition.strategy = setting.strategy;
  partition.costModel = setting.costModel;
  if (setting.bytePrice != 0)
    partition.bytePrice = setting.bytePrice;
  partition.activationBudget = setting.budget;
  partition.figures = partition.decompose = false; // other ops round otherwise
  PhaseSeconds seconds;
  if (failed(preparePartition(graph, partition, seconds)))
    return std::nullopt;
  auto result = partitionGraph(graph, partition);
  if (failed(result))
    return std::nullopt;
  EXPECT_TRUE((*result)->verified);
  std::vector<RuntimeValue> values = arguments(graph, names);
  Outcome outcome;
  InterpreterOptions running;
  running.hook = outcome.hooks.hook();
  auto results =
      runPartition((*result)->partition.link, graph, values, running);
  if (failed(results)) {
    ADD_FAILURE() << "the halves do not run: " << lastError;
    return std::nullopt;
  }
  outcome.results = std::move(*results);
  outcome.written = writtenOf(names, values);
  return outcome;
}

void RandomProgramTest::compare(const Outcome &expected, const Outcome &actual,
                                const StepNames &names, const char *setting) {
  ASSERT_EQ(expected.results.size(), actual.results.size());
  for (auto [i, name] : llvm::enumerate(names.results))
    EXPECT_TRUE(equalBits(expected.results[i], actual.results[i]))
        << "seed " << seed << ", " << setting << ": " << name;
  for (auto [i, entry] : llvm::enumerate(names.written))
    EXPECT_TRUE(equalBits(expected.written[i], actual.written[i]))
        << "seed " << seed << ", " << setting << ": " << entry.first;
  ASSERT_EQ(expected.hooks.keys, actual.hooks.keys)
      << "seed " << seed << ", " << setting;
  for (auto [i, key] : llvm::enumerate(expected.hooks.keys))
    EXPECT_TRUE(equalBits(expected.hooks.seen[i], actual.hooks.seen[i]))
        << "seed " << seed << ", " << setting << ": hook " << key;
}

void RandomProgramTest::checkOne(bool hasRegions, bool hasHooks) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  options.size = 2 + int64_t(seed % 4);
  OwningOpRef<ModuleOp> module = RandomProgram(seed, options, context).build();
  ASSERT_TRUE(module) << "seed " << seed << ": " << lastError;
  ASSERT_TRUE(succeeded(verify(*module))) << "seed " << seed << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  StepNames names = nameStep(graph);
  if (hasHooks)
    hooks += addRandomHooks(graph, seed);
  ASSERT_TRUE(succeeded(verify(*module))) << "seed " << seed << lastError;
  std::optional<Outcome> expected = runJoint(graph);
  ASSERT_TRUE(expected) << "seed " << seed << ": " << lastError;
  if (hasRegions)
    addRandomRegions(graph, seed);
  for (const Setting &setting : kSettings) {
    ++partitions;
    lastError.clear();
    std::optional<Outcome> actual = runHalves(*module, setting);
    if (!actual) {
      EXPECT_NE(lastError, "") << "seed " << seed << ", " << setting.name;
      ++refused;
      if (std::getenv("CUTBACK_VERBOSE"))
        printf("seed %llu, %s: refused: %s\n", (unsigned long long)seed,
               setting.name, lastError.c_str());
      continue;
    }
    compare(*expected, *actual, names, setting.name);
  }
}

void RandomProgramTest::checkMany(uint64_t count, bool hasRegions,
                                  bool hasHooks) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  count = numberFrom("CUTBACK_RANDOM_GRAPHS", count);
  for (seed = first; seed < first + count; ++seed) {
    checkOne(hasRegions, hasHooks);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  printf("seeds %llu to %llu: %llu partitions, %llu refused with a reason\n",
         (unsigned long long)first, (unsigned long long)(first + count - 1),
         (unsigned long long)partitions, (unsigned long long)refused);
  EXPECT_LT(refused, partitions / 20 + 1) << lastError;
  if (hasHooks) {
    printf("%llu hooks\n", (unsigned long long)hooks);
    EXPECT_GT(hooks, count);
  }
}

TEST_F(RandomProgramTest, ForwardThenBackwardIsTheJointGraphToTheBit) {
  checkMany(300, /*hasRegions=*/false);
}

TEST_F(RandomProgramTest, RegionsOfAnyShapeChangeNoBit) {
  checkMany(200, /*hasRegions=*/true);
}

TEST_F(RandomProgramTest, HooksRunOnceInOrderWhateverIsRecomputed) {
  checkMany(200, /*hasRegions=*/true, /*hasHooks=*/true);
}

} // namespace
