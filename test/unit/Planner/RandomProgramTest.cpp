// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward then backward = joint graph, to the bit: random graphs, all
// strategies and cost models, inside the interpreter. The certificate runs on
// every partition (partitionGraph fails if it refuses). A plan that is refused
// for a stated reason (a value that would be read after a write) must stay
// rare.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (300), CUTBACK_RANDOM_SEED the
// first seed (1). A failure prints its seed.

#include "RandomProgram.h"

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
};
constexpr Setting kSettings[] = {
    {"min-cut roofline", Strategy::MinCut, CostModel::Roofline, 0},
    {"min-cut roofline, dear bytes", Strategy::MinCut, CostModel::Roofline,
     1e9},
    {"min-cut pytorch", Strategy::MinCut, CostModel::PyTorch, 0},
    {"eager", Strategy::Eager, CostModel::Roofline, 0},
    {"precompute", Strategy::Precompute, CostModel::Roofline, 0},
    {"recompute-all", Strategy::RecomputeAll, CostModel::Roofline, 0},
};

/// All results and written arguments of one run.
struct Outcome {
  std::vector<RuntimeValue> results;
  std::vector<RuntimeValue> written;
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
  void checkOne();

  MLIRContext context;
  RandomProgramOptions options;
  uint64_t seed = 0;
  uint64_t partitions = 0, refused = 0;
  std::string lastError;
};

std::optional<Outcome> RandomProgramTest::runJoint(joint::GraphOp graph) {
  StepNames names = nameStep(graph);
  std::vector<RuntimeValue> values = arguments(graph, names);
  auto results = run(graph, values);
  if (failed(results))
    return std::nullopt;
  return Outcome{*results, writtenOf(names, values)};
}

std::optional<Outcome> RandomProgramTest::runHalves(ModuleOp original,
                                                    const Setting &setting) {
  OwningOpRef<ModuleOp> module(original.clone());
  auto graph = *module->getOps<joint::GraphOp>().begin();
  StepNames names = nameStep(graph);
  PartitionOptions partition;
  partition.strategy = setting.strategy;
  partition.costModel = setting.costModel;
  partition.bytePricePs = setting.bytePrice;
  partition.figures = partition.decompose = false; // other ops round otherwise
  PhaseSeconds seconds;
  if (failed(preparePartition(graph, partition, seconds)))
    return std::nullopt;
  auto result = partitionGraph(graph, partition);
  if (failed(result))
    return std::nullopt;
  EXPECT_TRUE((*result)->verified);
  std::vector<RuntimeValue> values = arguments(graph, names);
  auto results = runPartition((*result)->partition.link, graph, values);
  if (failed(results)) {
    ADD_FAILURE() << "the halves do not run: " << lastError;
    return std::nullopt;
  }
  return Outcome{*results, writtenOf(names, values)};
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
}

void RandomProgramTest::checkOne() {
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
  std::optional<Outcome> expected = runJoint(graph);
  ASSERT_TRUE(expected) << "seed " << seed << ": " << lastError;
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

TEST_F(RandomProgramTest, ForwardThenBackwardIsTheJointGraphToTheBit) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 300);
  for (seed = first; seed < first + count; ++seed) {
    checkOne();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  printf("seeds %llu to %llu: %llu partitions, %llu refused with a reason\n",
         (unsigned long long)first, (unsigned long long)(first + count - 1),
         (unsigned long long)partitions, (unsigned long long)refused);
  EXPECT_LT(refused, partitions / 20 + 1) << lastError;
}

} // namespace
