// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fusing changes no bit: the kernels of a plan against the bodies of the same
// ops, one op a launch, each in an arena of its own whose dead bytes are NaN.
// On random programs and on models with all their tensors.
//
// CUTBACK_RANDOM_GRAPHS sets how many programs (150), CUTBACK_RANDOM_SEED the
// first seed (1), CUTBACK_GOLDEN a folder with more models.

#include "../Planner/RandomProgram.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Lowering/FormKernels.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/StepFiles.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

namespace {

class FusedBitsTest : public testing::Test {
protected:
  FusedBitsTest() {
    context.disableMultithreading();
    registerTrainingGraph(context);
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  /// Fails the test unless both ways give the same bits. False without kernels.
  bool compare(joint::GraphOp graph, const PartitionOptions &options,
               llvm::function_ref<std::vector<RuntimeValue>()> arguments);
  std::optional<std::vector<RuntimeValue>>
  run(joint::GraphOp graph, const PartitionResult &plan,
      const KernelPlan &kernels, const MemoryPlan &memory,
      ArrayRef<RuntimeValue> arguments, uint64_t &launches);
  bool compareModel(const std::string &folder, const char *source,
                    CostModel model);

  MLIRContext context;
  std::string about;
  uint64_t fusedLaunches = 0, singleLaunches = 0;
};

std::optional<std::vector<RuntimeValue>>
FusedBitsTest::run(joint::GraphOp graph, const PartitionResult &plan,
                   const KernelPlan &kernels, const MemoryPlan &memory,
                   ArrayRef<RuntimeValue> arguments, uint64_t &launches) {
  auto formed = formKernels(plan.partition.link, kernels, memory);
  if (failed(formed))
    return std::nullopt;
  launches += formed->launches - formed->calls;
  LaunchMemory arena(formed->link, /*poisonDead=*/true);
  InterpreterOptions options;
  options.memory = &arena;
  auto values = runPartition(formed->link, graph, arguments, options);
  return succeeded(values) ? std::optional(std::move(*values)) : std::nullopt;
}

bool isSame(const RuntimeValue &left, const RuntimeValue &right) {
  const auto *a = std::get_if<Tensor>(&left), *b = std::get_if<Tensor>(&right);
  if (!a || !b)
    return !a && !b;
  Tensor x = a->contiguous(), y = b->contiguous();
  return x.type == y.type &&
         ArrayRef<int64_t>(x.sizes) == ArrayRef<int64_t>(y.sizes) &&
         std::memcmp(x.data(), y.data(), x.numel() * itemSize(x.type)) == 0;
}

/// One op a launch, in an order that has no other launches to move over.
KernelPlan formSingles(PartitionResult &plan) {
  static constexpr KernelLimits kOneOp = [] {
    KernelLimits limits;
    limits.ops = 1;
    return limits;
  }();
  KernelRates rates{1, 0, &plan.costs->flopsPs};
  Halves &halves = plan.halves;
  auto form = [&](std::vector<uint32_t> &order,
                  ArrayRef<ArrayRef<uint32_t>> kept, ArrayRef<uint32_t> given,
                  LaunchOrder &launches) {
    SegmentOps segment{order, {}, {given}, false};
    segment.kept.assign(kept.begin(), kept.end());
    SegmentKernels formed = formKernels(*plan.kernelProblem, plan.view,
                                        *plan.sizes, segment, rates, kOneOp);
    launches = orderByLaunches(plan.view, order, formed);
    order = launches.order;
    return formed;
  };
  KernelPlan kernels;
  kernels.forward() =
      form(halves.forwardOps, {plan.view.forwardResults(), halves.savedTensors},
           {}, plan.forwardLaunches);
  kernels.backward() = form(halves.backwardOps, {plan.view.gradients()},
                            halves.savedTensors, plan.backwardLaunches);
  return kernels;
}

void setLaunches(func::FuncOp half, const LaunchOrder &launches) {
  half->setAttr(kLaunches,
                DenseI32ArrayAttr::get(half.getContext(), launches.sizes));
}

bool FusedBitsTest::compare(
    joint::GraphOp graph, const PartitionOptions &options,
    llvm::function_ref<std::vector<RuntimeValue>()> arguments) {
  PhaseSeconds seconds;
  auto prepared = preparePartition(graph, options, seconds);
  if (failed(prepared))
    return false;
  auto planned = partitionGraph(graph, options, std::move(*prepared));
  if (failed(planned) || !(*planned)->memory)
    return false;
  PartitionResult &plan = **planned;
  auto fused = run(graph, plan, *plan.kernelPlan, *plan.memory, arguments(),
                   fusedLaunches);
  EXPECT_TRUE(fused) << about;
  KernelPlan singles = formSingles(plan);
  erasePartition(plan.partition);
  plan.partition = emitHalves(plan.view, plan.halves, graph);
  setLaunches(plan.partition.forward, plan.forwardLaunches);
  setLaunches(plan.partition.backward, plan.backwardLaunches);
  MemoryPlanOptions memoryOptions;
  memoryOptions.symbols = options.symbols;
  auto memory = planMemory(plan.partition.link, graph, memoryOptions);
  EXPECT_TRUE(succeeded(memory)) << about;
  if (failed(memory) || !fused)
    return false;
  auto single = run(graph, plan, singles, *memory, arguments(), singleLaunches);
  EXPECT_TRUE(single) << about;
  if (!single)
    return false;
  EXPECT_EQ(fused->size(), single->size());
  for (size_t i = 0; i < fused->size(); ++i)
    EXPECT_TRUE(isSame((*fused)[i], (*single)[i]))
        << about << ": result " << i << " has other bits";
  return true;
}

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST_F(FusedBitsTest, OfRandomPrograms) {
  RandomProgramOptions random;
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 150), compared = 0;
  for (uint64_t seed = first; seed < first + count; ++seed)
    for (Strategy strategy : {Strategy::MinCut, Strategy::RecomputeAll}) {
      random.size = 2 + int64_t(seed % 4);
      random.percentWrite = seed % 4 ? 0 : 8;
      OwningOpRef<ModuleOp> module =
          RandomProgram(seed, random, context).build();
      ASSERT_TRUE(module);
      auto graph = *module->getOps<joint::GraphOp>().begin();
      StepNames names = nameStep(graph);
      PartitionOptions options;
      options.strategy = strategy;
      options.memory.emplace();
      options.symbols["s0"] = random.size;
      about = "seed " + std::to_string(seed);
      compared += compare(graph, options, [&] {
        auto values = randomArguments(graph, names, random.size, seed);
        return succeeded(values) ? *values : std::vector<RuntimeValue>();
      });
      ASSERT_FALSE(HasFailure()) << about;
    }
  printf("%llu plans: %llu launches of kernels, %llu of one op each\n",
         (unsigned long long)compared, (unsigned long long)fusedLaunches,
         (unsigned long long)singleLaunches);
  EXPECT_GT(compared, count);
  EXPECT_GT(singleLaunches, fusedLaunches);
}

/// A plan does not know which row, so the row has a place of its own: what it
/// was taken from is dead while it is read.
TEST_F(FusedBitsTest, ARowThatATensorNamesIsCopiedToItsPlace) {
  auto module = parseSourceString<ModuleOp>(kRowThatATensorNames, &context);
  ASSERT_TRUE(module);
  auto graph = *module->getOps<joint::GraphOp>().begin();
  StepNames names = nameStep(graph);
  PartitionOptions options;
  options.memory.emplace();
  PhaseSeconds seconds;
  auto prepared = preparePartition(graph, options, seconds);
  ASSERT_TRUE(succeeded(prepared));
  auto plan = partitionGraph(graph, options, std::move(*prepared));
  ASSERT_TRUE(succeeded(plan) && (*plan)->memory);
  auto arguments = randomArguments(graph, names, 4, 1);
  ASSERT_TRUE(succeeded(arguments));
  auto plain = runPartition((*plan)->partition.link, graph, *arguments, {});
  auto byLaunches = run(graph, **plan, *(*plan)->kernelPlan, *(*plan)->memory,
                        *arguments, fusedLaunches);
  ASSERT_TRUE(succeeded(plain) && byLaunches);
  for (auto [wanted, is] : llvm::zip_equal(*plain, *byLaunches)) {
    std::vector<double> a = std::get<Tensor>(wanted).contiguous().doubles();
    std::vector<double> b = std::get<Tensor>(is).contiguous().doubles();
    for (auto [x, y] : llvm::zip_equal(a, b))
      ASSERT_NEAR(x, y, 1e-4 * std::max(1.0, std::fabs(x)));
  }
}

bool FusedBitsTest::compareModel(const std::string &folder, const char *source,
                                 CostModel model) {
  about = folder + "/" + source;
  StepFiles files;
  if (!llvm::sys::fs::exists(about) ||
      !TensorFile::open(folder + "/expected.safetensors", files.inputs).empty())
    return false;
  auto imported = readInput(about, context);
  if (failed(imported) || !imported->graph ||
      failed(makeTrainingGraph(imported->graph)))
    return false;
  files.weights = imported->weights;
  joint::GraphOp graph = imported->graph;
  StepNames names = nameStep(graph);
  PartitionOptions options;
  options.costModel = model;
  options.memory.emplace();
  auto bind = [&] {
    auto values = bindArguments(
        graph, names, [&](StringRef name) { return files.find(name); },
        options.symbols);
    return succeeded(values) ? *values : std::vector<RuntimeValue>();
  };
  (void)bind(); // sizes of symbols
  return compare(graph, options, bind);
}

TEST_F(FusedBitsTest, OfModels) {
  std::vector<std::string> roots = {std::string(CUTBACK_SOURCE_DIR) +
                                    "/test/corpus"};
  if (const char *golden = std::getenv("CUTBACK_GOLDEN"))
    roots.push_back(std::string(golden) + "/small");
  uint64_t compared = 0;
  for (const std::string &root : roots) {
    std::error_code code;
    std::vector<std::string> folders;
    for (llvm::sys::fs::directory_iterator it(root, code), end;
         it != end && !code; it.increment(code))
      folders.push_back(it->path());
    llvm::sort(folders);
    for (const std::string &folder : folders)
      for (const char *source : {"model.pt2", "joint.pt2"})
        for (CostModel model : {CostModel::Roofline, CostModel::PyTorch})
          compared += compareModel(folder, source, model);
  }
  printf(
      "%llu plans of models: %llu launches of kernels, %llu of one op each\n",
      (unsigned long long)compared, (unsigned long long)fusedLaunches,
      (unsigned long long)singleLaunches);
  EXPECT_GT(compared, 10u);
}

} // namespace
