// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random steps by the bodies of their kernels, in an arena that is a NaN where
// nothing was written: each kernel against the ops that it stands for, results
// against those of the halves, the inlined launches against the certificate.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (200), CUTBACK_RANDOM_SEED the
// first seed (1). Each CUTBACK_NATIVE_EVERYth (20) runs as machine code too; 0:
// none.

#include "../Planner/RandomProgram.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Lowering/FormKernels.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
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

std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  return text;
}

class RandomKernelsTest : public testing::Test {
protected:
  RandomKernelsTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  OwningOpRef<ModuleOp> makeProgram();
  void checkOne(Strategy strategy);
  void refuseEdits(ModuleOp formed);
  void checkNative(const KernelModule &formed, joint::GraphOp graph,
                   ArrayRef<RuntimeValue> arguments,
                   ArrayRef<RuntimeValue> expected, const StepNames &names);
  void checkRuns(joint::PartitionOp link, const KernelModule &formed,
                 joint::GraphOp graph, const StepNames &names);
  void compare(ArrayRef<RuntimeValue> expected, ArrayRef<RuntimeValue> actual,
               const StepNames &names);

  MLIRContext context;
  RandomProgramOptions options;
  uint64_t seed = 0, kernels = 0, launches = 0, refused = 0, natives = 0;
  uint64_t ownBuffers = 0, nested = 0;     ///< tensors; launches
  uint64_t hooks = 0;                      ///< that ran
  uint64_t movedReads = 0, movedDraws = 0; ///< that the verifier refused
  uint64_t apart = 0;                      ///< graphs that make rounding large
  std::string lastError, lastApart;
};

/// The first op inside of `op` that `isMeant`.
Operation *findInside(Operation *op,
                      llvm::function_ref<bool(Operation *)> isMeant) {
  Operation *found = nullptr;
  op->walk([&](Operation *inner) {
    if (!found && isMeant(inner))
      found = inner;
  });
  return found;
}

void RandomKernelsTest::refuseEdits(ModuleOp formed) {
  auto refuse = [&](ModuleOp edited, StringRef message, uint64_t &count) {
    lastError.clear();
    EXPECT_TRUE(failed(verify(edited))) << "seed " << seed;
    count += StringRef(lastError).contains(message);
    // Else another op does not come before its readers any more.
    EXPECT_TRUE(StringRef(lastError).contains(message) ||
                StringRef(lastError).contains("dominate"))
        << "seed " << seed << ": " << lastError;
  };
  auto functions = formed.getOps<func::FuncOp>();
  for (size_t half = 0; half < 2; ++half) {
    size_t numOps =
        (*std::next(functions.begin(), half)).front().getOperations().size();
    auto copyOf = [&](OwningOpRef<ModuleOp> &copy) {
      copy = cast<ModuleOp>(formed->clone());
      SmallVector<Operation *> ops;
      for (Operation &op :
           (*std::next(copy->getOps<func::FuncOp>().begin(), half)).front())
        ops.push_back(&op);
      return ops;
    };
    auto isDraw = [](Operation *op) {
      return op->hasAttr(kernel::kDrawNumber);
    };
    size_t lastDraw = 0;
    for (size_t i = 0; i + 1 < numOps; ++i) {
      OwningOpRef<ModuleOp> copy;
      SmallVector<Operation *> ops = copyOf(copy);
      if (findInside(ops[i], isDraw)) {
        if (lastDraw) {
          ops[i]->moveBefore(ops[lastDraw - 1]);
          refuse(*copy, "behind draw", movedDraws);
        }
        lastDraw = i + 1;
        continue;
      }
      Operation *write = findInside(
          ops[i], [](Operation *op) { return isa<joint::WriteOp>(op); });
      Value argument = write ? write->getOperand(0) : Value();
      // A launch that reads the argument in front of the write, again behind
      // it.
      for (size_t k = 0; write && k < i; ++k)
        if (findInside(ops[k], [&](Operation *op) {
              return !isa<kernel::LaunchOp, joint::WriteOp>(op) &&
                     getViewedOperand(op, 0) < 0 &&
                     llvm::is_contained(op->getOperands(), argument);
            })) {
          OpBuilder builder(&context);
          builder.setInsertionPointAfter(ops[i]);
          builder.clone(*ops[k]);
          refuse(*copy, "behind a write, as it was in front of it", movedReads);
          break;
        }
    }
  }
}

void RandomKernelsTest::compare(ArrayRef<RuntimeValue> expected,
                                ArrayRef<RuntimeValue> actual,
                                const StepNames &names) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto *a = std::get_if<Tensor>(&expected[i]);
    const auto *b = std::get_if<Tensor>(&actual[i]);
    ASSERT_EQ(a != nullptr, b != nullptr);
    if (!a)
      continue;
    ASSERT_EQ(ArrayRef<int64_t>(a->sizes), ArrayRef<int64_t>(b->sizes));
    std::vector<double> x = a->doubles(), y = b->doubles();
    double scale = 1;
    for (double value : x)
      if (std::isfinite(value))
        scale = std::max(scale, std::fabs(value));
    for (size_t e = 0; e < x.size(); ++e) {
      if (x[e] == y[e] || (std::isnan(x[e]) && std::isnan(y[e])) ||
          std::fabs(x[e] - y[e]) <= 1e-2 * scale)
        continue;
      // The norm of what is constant but for rounding, say.
      ++apart;
      lastApart = "seed " + std::to_string(seed) + ": " + names.results[i];
      return;
    }
  }
}

/// The same by machine code, in one to three parts; every other one cut for
/// threads of a device, every fifth with a test of each access, every fourth
/// with results that pass caches.
void RandomKernelsTest::checkNative(const KernelModule &formed,
                                    joint::GraphOp graph,
                                    ArrayRef<RuntimeValue> arguments,
                                    ArrayRef<RuntimeValue> expected,
                                    const StepNames &names) {
  auto native = compileNativeKernelsInParts(
      *formed.module, 1 + seed % 3,
      {seed % 2 ? LoopsFor::Thread : LoopsFor::Processor,
       seed % 5 ? AccessTests::OfData : AccessTests::OfAll,
       seed % 4 ? kStreamedBytes : 0});
  ASSERT_TRUE(succeeded(native)) << "seed " << seed << ": " << lastError;
  LaunchMemory memory(formed.link);
  InterpreterOptions run;
  run.memory = &memory;
  run.checkKernels = true;
  run.kernels = native->get();
  HookRecord seen;
  run.hook = seen.hook();
  auto actual = runPartition(formed.link, graph, arguments, run);
  ASSERT_TRUE(succeeded(actual)) << "seed " << seed << ": " << lastError;
  compare(expected, *actual, names);
  ++natives;
}

/// Launches against the halves that they were formed of.
void RandomKernelsTest::checkRuns(joint::PartitionOp link,
                                  const KernelModule &formed,
                                  joint::GraphOp graph,
                                  const StepNames &names) {
  auto arguments = [&] {
    auto values = randomArguments(graph, names, options.size, seed);
    return succeeded(values) ? *values : std::vector<RuntimeValue>();
  };
  HookRecord wanted, seen;
  InterpreterOptions plain;
  plain.hook = wanted.hook();
  auto expected = runPartition(link, graph, arguments(), plain);
  ASSERT_TRUE(succeeded(expected)) << "seed " << seed << ": " << lastError;
  LaunchMemory memory(formed.link);
  InterpreterOptions run;
  run.memory = &memory;
  run.checkKernels = true;
  run.hook = seen.hook();
  auto actual = runPartition(formed.link, graph, arguments(), run);
  if (failed(actual) && std::getenv("CUTBACK_VERBOSE"))
    printf("%s\n", textOf(*formed.module).c_str());
  ASSERT_TRUE(succeeded(actual)) << "seed " << seed << ": " << lastError;
  compare(*expected, *actual, names);
  ASSERT_EQ(wanted.keys, seen.keys) << "seed " << seed;
  hooks += seen.keys.size();
  static const uint64_t every = numberFrom("CUTBACK_NATIVE_EVERY", 20);
  if (every > 0 && seed % every == 0)
    checkNative(formed, graph, arguments(), *expected, names);
}

/// The program of `seed`: some have writes, sizes that depend on data, graphs
/// of calls, or hooks.
OwningOpRef<ModuleOp> RandomKernelsTest::makeProgram() {
  options.size = 2 + int64_t(seed % 4);
  options.percentWrite = seed % 4 ? 0 : 8;
  options.percentUnknown = seed % 5 == 1 ? 8 : 0;
  options.percentNested = seed % 5 == 2 ? 8 : 0;
  OwningOpRef<ModuleOp> module = RandomProgram(seed, options, context).build();
  if (module && seed % 3 == 0)
    addRandomHooks(*module->getOps<joint::GraphOp>().begin(), seed);
  return module;
}

void RandomKernelsTest::checkOne(Strategy strategy) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = makeProgram();
  ASSERT_TRUE(module) << "seed " << seed << ": " << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  StepNames names = nameStep(graph);
  PartitionOptions partition;
  partition.strategy = strategy;
  partition.memory.emplace();
  partition.symbols["s0"] = options.size;
  PhaseSeconds seconds;
  ASSERT_TRUE(succeeded(preparePartition(graph, partition, seconds)));
  auto result = partitionGraph(graph, partition);
  if (failed(result) || !(*result)->kernelPlan) {
    ++refused;
    return;
  }
  lastError.clear();
  joint::PartitionOp link = (*result)->partition.link;
  if (!(*result)->memory) {
    // Data decide sizes.
    auto program = StepView::ofPartition(link, graph, partition.symbols,
                                         UnknownSizes::LieOutside);
    ASSERT_TRUE(succeeded(program)) << "seed " << seed << ": " << lastError;
    auto memory = planMemory(std::move(*program));
    ASSERT_TRUE(succeeded(memory)) << "seed " << seed << ": " << lastError;
    (*result)->memory = std::move(*memory);
  }
  auto formed = formKernels(link, *(*result)->kernelPlan, *(*result)->memory);
  ASSERT_TRUE(succeeded(formed)) << "seed " << seed << ": " << lastError;
  if (seed == 1) {
    // Halves that are no longer what was planned.
    (*result)->partition.forward->removeAttr(kLaunches);
    EXPECT_TRUE(
        failed(formKernels((*result)->partition.link, *(*result)->kernelPlan,
                           *(*result)->memory)));
    EXPECT_EQ(lastError, "has other ops than its launches");
  }
  kernels += formed->kernels;
  launches += formed->launches;
  ownBuffers += formed->ownBuffers;
  formed->module->walk([&](kernel::LaunchOp launch) {
    nested += launch->getParentOfType<joint::NestedOp>() != nullptr;
  });
  // As text, and back.
  std::string text = textOf(*formed->module);
  OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(read) << "seed " << seed << ": " << lastError;
  EXPECT_EQ(textOf(*read), text) << "seed " << seed;
  refuseEdits(*formed->module);
  checkRuns(link, *formed, graph, names);
  EXPECT_TRUE(succeeded(verifyKernels(graph, *formed)))
      << "seed " << seed << ": " << lastError;
}

TEST_F(RandomKernelsTest, AnOldViewThatNoCopyWasPlannedOfIsRefused) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    joint.graph @g(%b: tensor<2x3xf32> {joint.role = #joint.role<buffer "b">},
                   %t: tensor<3x2xf32> {joint.role = #joint.role<tangent of 0>})
        -> (tensor<3x2xf32>) gradients (tensor<2x3xf32>) {
      %old = aten.t(%b) : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %new = aten.exp(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %w = joint.write %b, %new : tensor<2x3xf32>, tensor<2x3xf32>
      %d = aten.t(%t) : (tensor<3x2xf32>) -> tensor<2x3xf32>
      joint.output %old gradients(%d of 0) : tensor<3x2xf32>, tensor<2x3xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  auto graph = *module->getOps<joint::GraphOp>().begin();
  PartitionOptions partition;
  partition.memory.emplace();
  partition.verify = false; // it says so, too
  auto result = partitionGraph(graph, partition);
  ASSERT_TRUE(succeeded(result) && (*result)->memory) << lastError;
  EXPECT_TRUE(failed(formKernels((*result)->partition.link,
                                 *(*result)->kernelPlan, *(*result)->memory)));
  EXPECT_EQ(lastError, "is a view of an argument that is written before it is "
                       "read last, and no copy of it was planned");
}

// A product whose factor is the sum of one element of the tensor that it could
// take the place of.
TEST_F(RandomKernelsTest, WhatIsReadForAllElementsIsNotWrittenOver) {
  seed = 1744;
  checkOne(Strategy::MinCut);
  EXPECT_GT(kernels, 0u);
}

TEST_F(RandomKernelsTest, ComputeWhatTheirOpsCompute) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 200);
  for (seed = first; seed < first + count; ++seed)
    for (Strategy strategy : {Strategy::MinCut, Strategy::RecomputeAll}) {
      checkOne(strategy);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  printf("seeds %llu to %llu: %llu launches (%llu in graphs of calls), %llu "
         "kernels, %llu buffers outside of the arena, %llu refused, %llu by "
         "machine code\n",
         (unsigned long long)first, (unsigned long long)(first + count - 1),
         (unsigned long long)launches, (unsigned long long)nested,
         (unsigned long long)kernels, (unsigned long long)ownBuffers,
         (unsigned long long)refused, (unsigned long long)natives);
  EXPECT_LT(refused, count / 2 + 1) << lastError;
  EXPECT_GT(kernels, count);
  EXPECT_GT(ownBuffers, count / 5);
  EXPECT_GT(nested, count / 5);
  EXPECT_GT(movedReads, count / 50);
  EXPECT_GT(movedDraws, count / 50);
  EXPECT_LE(apart, count / 200) << lastApart;
  EXPECT_GT(hooks, count);
}

} // namespace
