// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random steps with a symbolic size as one module of launches for all sizes:
// read back from text and bytecode, proved, and at several sizes run by the
// bodies of its kernels, against the halves run op by op.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (60), CUTBACK_RANDOM_SEED the
// first seed (1).

#include "../Planner/RandomProgram.h"
#include "Lowering/SymbolicBody.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Lowering/SymbolicKernels.h"
#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
  return StringRef(text).trim().str();
}

class SymbolicKernelsTest : public testing::Test {
protected:
  SymbolicKernelsTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          lastError = diagnostic.str();
          for (const Diagnostic &note : diagnostic.getNotes())
            lastNote = note.str();
          return success();
        }) {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect, kernel::KernelDialect>();
  }

  /// Plans `graph`, and forms kernels for all sizes of it.
  void form(joint::GraphOp graph, int64_t hint);
  void checkRoundTrip();
  void runAt(joint::GraphOp graph, int64_t size);
  void compare(ArrayRef<RuntimeValue> expected, ArrayRef<RuntimeValue> actual,
               int64_t size);

  MLIRContext context;
  std::string lastError, lastNote;
  ScopedDiagnosticHandler handler;
  std::unique_ptr<PartitionResult> plan;
  std::optional<KernelModule> formed;
  uint64_t seed = 0, launches = 0, calls = 0, anew = 0, runs = 0, refused = 0;
  uint64_t apart = 0; ///< runs that make rounding large
};

void SymbolicKernelsTest::form(joint::GraphOp graph, int64_t hint) {
  formed.reset();
  PartitionOptions partition;
  partition.memory.emplace();
  partition.decompose = true;
  partition.symbols["s0"] = hint;
  PhaseSeconds seconds;
  ASSERT_TRUE(succeeded(preparePartition(graph, partition, seconds)));
  auto result = partitionGraph(graph, partition);
  if (failed(result) || !(*result)->kernelPlan)
    return;
  plan = std::move(*result);
  auto made = formSymbolicKernels(plan->partition.link, plan->view.graph,
                                  *plan->kernelPlan);
  ASSERT_TRUE(succeeded(made)) << "seed " << seed << ": " << lastError;
  formed = std::move(*made);
}

void SymbolicKernelsTest::checkRoundTrip() {
  std::string text = textOf(*formed->module);
  auto read = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(read) << "seed " << seed << ": " << lastError;
  EXPECT_EQ(textOf(*read), text) << "seed " << seed;
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ASSERT_TRUE(succeeded(writeBytecodeToFile(*formed->module, os)));
  auto back = parseSourceString<ModuleOp>(bytes, &context);
  ASSERT_TRUE(back) << "seed " << seed << ": " << lastError;
  EXPECT_EQ(textOf(*back), text) << "seed " << seed;
  // What was read is proved, and runs.
  auto kernels = readKernelModule(std::move(read));
  ASSERT_TRUE(succeeded(kernels)) << lastError;
  EXPECT_EQ(kernels->kernels, formed->kernels);
  EXPECT_EQ(kernels->launches, formed->launches);
  EXPECT_EQ(kernels->calls, formed->calls);
  EXPECT_TRUE(succeeded(verifyKernels(plan->view.graph, *kernels)))
      << "seed " << seed << ": " << lastError;
  kernels->refused = formed->refused;
  formed = std::move(*kernels);
}

void SymbolicKernelsTest::compare(ArrayRef<RuntimeValue> expected,
                                  ArrayRef<RuntimeValue> actual, int64_t size) {
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
    for (size_t e = 0; e < x.size(); ++e)
      if (x[e] != y[e] && !(std::isnan(x[e]) && std::isnan(y[e])) &&
          !(std::fabs(x[e] - y[e]) <= 1e-2 * scale)) {
        ++apart;
        lastError = "seed " + std::to_string(seed) + ", size " +
                    std::to_string(size) + ": result " + std::to_string(i);
        return;
      }
  }
}

void SymbolicKernelsTest::runAt(joint::GraphOp graph, int64_t size) {
  StepNames names = nameStep(graph);
  auto arguments = [&] {
    auto values = randomArguments(graph, names, size, seed);
    return succeeded(values) ? *values : std::vector<RuntimeValue>();
  };
  auto expected = runPartition(plan->partition.link, graph, arguments());
  // Some graphs are meant for one size.
  if (failed(expected))
    return;
  llvm::StringMap<int64_t> symbols;
  symbols["s0"] = size;
  auto sized = instantiateKernels(*formed, graph, symbols);
  ASSERT_TRUE(succeeded(sized))
      << "seed " << seed << ", size " << size << ": " << lastError;
  EXPECT_TRUE(succeeded(verifyKernels(plan->view.graph, sized->kernels)))
      << "seed " << seed << ", size " << size << ": " << lastError;
  LaunchMemory memory(sized->kernels.link, /*poisonDead=*/true);
  InterpreterOptions run;
  run.memory = &memory;
  run.checkKernels = true;
  auto actual = runPartition(sized->kernels.link, graph, arguments(), run);
  ASSERT_TRUE(succeeded(actual))
      << "seed " << seed << ", size " << size << ": " << lastError;
  compare(*expected, *actual, size);
  launches += sized->kernels.launches - sized->kernels.calls;
  anew += sized->formedAnew;
  if (sized->formedAnew && std::getenv("CUTBACK_VERBOSE"))
    printf("seed %llu, size %lld: %llu anew\n", (unsigned long long)seed,
           (long long)size, (unsigned long long)sized->formedAnew);
  ++runs;
}

TEST_F(SymbolicKernelsTest, OneModuleRunsAtManySizes) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 60);
  for (seed = first; seed < first + count; ++seed) {
    RandomProgramOptions options;
    options.percentWrite = seed % 4 ? 0 : 8;
    OwningOpRef<ModuleOp> module =
        RandomProgram(seed, options, context).build();
    ASSERT_TRUE(module) << "seed " << seed << ": " << lastError;
    auto graph = *module->getOps<joint::GraphOp>().begin();
    form(graph, options.size);
    ASSERT_FALSE(HasFailure());
    if (!formed)
      continue;
    for (const auto &[why, number] : formed->refused) {
      refused += number;
      if (std::getenv("CUTBACK_VERBOSE"))
        printf("seed %llu: %llu %s\n", (unsigned long long)seed,
               (unsigned long long)number, why.c_str());
    }
    calls += formed->calls;
    checkRoundTrip();
    for (int64_t size : {3, 2, 5, 8})
      if (!HasFailure())
        runAt(graph, size);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  printf("seeds %llu to %llu: %llu runs, %llu launches of kernels, %llu formed "
         "anew, %llu refused\n",
         (unsigned long long)first, (unsigned long long)(first + count - 1),
         (unsigned long long)runs, (unsigned long long)launches,
         (unsigned long long)anew, (unsigned long long)refused);
}

/// A softmax of rows, less a mean of all of it: two symbols.
const char *const kRows = R"(
  joint.graph @g(
      %x: tensor<?x?xf32> {joint.role = #joint.role<input>,
                           joint.dims = ["s0", "s1"]},
      %n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
      %m: index {joint.role = #joint.role<size>, joint.dims = ["s1"]},
      %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<f32>) gradients (tensor<?x?xf32>)
      attributes {symbols = {s0 = #joint.symbol<hint = 4, min = 2, max = 64>,
                             s1 = #joint.symbol<hint = 4>}} {
    %soft = aten._softmax(%x, 1, false)
        : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %mean = aten.mean(%soft) : (tensor<?x?xf32>) -> tensor<f32>
    %wide = aten.expand(%t, [%n, %m])
        : (tensor<f32>, index, index) -> tensor<?x?xf32>
    %dx = aten._softmax_backward_data(%wide, %soft, 1, f32)
        : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    joint.output %mean gradients(%dx of 0) : tensor<f32>, tensor<?x?xf32>
  })";

TEST_F(SymbolicKernelsTest, SizesThatItDoesNotTakeAreRefused) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kRows, &context);
  ASSERT_TRUE(module) << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  form(graph, 4);
  ASSERT_TRUE(formed && isSymbolic(*formed)) << lastError;
  EXPECT_EQ(formed->calls, 0u);
  // The number of elements, of a mean, is one of both symbols.
  EXPECT_NE(textOf(*formed->module).find("kernel.size [symbol("),
            std::string::npos);
  llvm::StringMap<int64_t> symbols;
  symbols["s0"] = 7;
  EXPECT_TRUE(failed(instantiateKernels(*formed, graph, symbols)));
  EXPECT_EQ(lastError, "'kernel.arena' op has no value for symbol 's1'");
  EXPECT_EQ(lastNote, "give the sizes of all symbols");
  symbols["s1"] = 5;
  for (int64_t size : {1, 65}) {
    symbols["s0"] = size;
    EXPECT_TRUE(failed(instantiateKernels(*formed, graph, symbols)));
    EXPECT_EQ(lastError,
              "'kernel.arena' op takes no " + std::to_string(size) +
                  " for symbol 's0', whose range is #joint.symbol<hint = 4, "
                  "min = 2, max = 64>");
    EXPECT_EQ(lastNote, "give a size inside, or export the graph again");
  }
  for (int64_t size : {2, 5, 64}) {
    symbols["s0"] = size;
    auto sized = instantiateKernels(*formed, graph, symbols);
    ASSERT_TRUE(succeeded(sized)) << lastError;
    EXPECT_EQ(sized->formedAnew, 0u);
    EXPECT_EQ(sized->kernels.kernels, formed->kernels);
    EXPECT_EQ(arenaBytes(sized->kernels), sized->memory.arenaBytes());
    EXPECT_TRUE(failed(instantiateKernels(sized->kernels, graph, symbols)));
    EXPECT_EQ(lastError, "the sizes of this step of launches are known");
  }
  // A row of one element combines nothing, and has no loop over it.
  symbols["s1"] = 1;
  auto sized = instantiateKernels(*formed, graph, symbols);
  ASSERT_TRUE(succeeded(sized)) << lastError;
  EXPECT_GT(sized->formedAnew, 0u);
}

TEST_F(SymbolicKernelsTest, AnotherStepThanThatOfTheOpsIsRefused) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kRows, &context);
  ASSERT_TRUE(module) << lastError;
  form(*module->getOps<joint::GraphOp>().begin(), 4);
  ASSERT_TRUE(formed) << lastError;
  std::string text = textOf(*formed->module);
  auto readEdited = [&](llvm::function_ref<void(ModuleOp)> edit) {
    auto copy = parseSourceString<ModuleOp>(text, &context);
    edit(*copy);
    return readKernelModule(std::move(copy));
  };
  auto same = readEdited([](ModuleOp) {});
  ASSERT_TRUE(succeeded(same));
  EXPECT_TRUE(succeeded(verifyKernels(plan->view.graph, *same))) << lastError;
  // A number of a kernel.
  auto other = readEdited([](ModuleOp copy) {
    copy.walk([](arith::ConstantOp number) {
      if (auto value = dyn_cast<FloatAttr>(number.getValue()))
        number.setValueAttr(
            FloatAttr::get(value.getType(), value.getValueAsDouble() + 1));
    });
    copy.walk([](kernel::SizeOp number) {
      number.setMap(AffineMap::get(0, number.getMap().getNumSymbols(),
                                   number.getMap().getResult(0) + 1));
    });
  });
  ASSERT_TRUE(succeeded(other));
  EXPECT_TRUE(failed(verifyKernels(plan->view.graph, *other)));
  EXPECT_NE(lastError.find("has ops that are not those of its kernel"),
            std::string::npos)
      << lastError;
  // A launch in which nothing runs.
  auto empty = readEdited([](ModuleOp copy) {
    auto half = *copy.getOps<func::FuncOp>().begin();
    auto launch = *half.front().getOps<kernel::LaunchOp>().begin();
    OpBuilder builder(launch);
    auto added = kernel::LaunchOp::create(builder, launch.getLoc(), TypeRange(),
                                          {}, ValueRange(), ArrayRef<int32_t>(),
                                          ArrayRef<int64_t>(), {}, {}, {}, {});
    builder.setInsertionPointToEnd(&added.getBody().emplaceBlock());
    kernel::YieldOp::create(builder, launch.getLoc(), ValueRange());
  });
  ASSERT_TRUE(succeeded(empty));
  EXPECT_TRUE(failed(verifyKernels(plan->view.graph, *empty)));
  EXPECT_EQ(lastError, "has other launches than its ops give");
  EXPECT_TRUE(failed(readEdited([](ModuleOp copy) {
    (*copy.getOps<kernel::ArenaOp>().begin())->erase();
  })));
  EXPECT_EQ(lastError, "has no arena");
}

/// Rows of two inputs, added: their numbers have to be one, which no symbol
/// says but their hints.
TEST_F(SymbolicKernelsTest, SizesThatMustBeEqualAreOne) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    joint.graph @g(
        %x: tensor<?x3xf32> {joint.role = #joint.role<input>,
                             joint.dims = ["s0", "3"]},
        %y: tensor<?x3xf32> {joint.role = #joint.role<input>,
                             joint.dims = ["s1", "3"]},
        %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
        -> (tensor<f32>) gradients (tensor<?x3xf32>)
        attributes {symbols = {s0 = #joint.symbol<hint = 4, min = 2>,
                               s1 = #joint.symbol<hint = 4, min = 2>}} {
      %a = aten.mul.Tensor(%x, %y)
          : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      %loss = aten.sum(%a) : (tensor<?x3xf32>) -> tensor<f32>
      %dx = aten.mul.Tensor(%y, %t)
          : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
      joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<?x3xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module) << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  form(graph, 4);
  ASSERT_TRUE(formed && isSymbolic(*formed)) << lastError;
  EXPECT_EQ(formed->calls, 0u);
  EXPECT_TRUE(succeeded(verifyKernels(plan->view.graph, *formed))) << lastError;
  auto sized = instantiateKernels(*formed, graph, {{"s0", 7}, {"s1", 7}});
  ASSERT_TRUE(succeeded(sized)) << lastError;
  EXPECT_EQ(sized->formedAnew, 0u);
  EXPECT_TRUE(
      failed(instantiateKernels(*formed, graph, {{"s0", 7}, {"s1", 5}})));
  EXPECT_NE(lastError.find("do not broadcast"), std::string::npos) << lastError;
}

/// A diagonal of three elements in all sizes that are looked at, but its type
/// does not say so: the launch has a kernel for the sizes of a run.
TEST_F(SymbolicKernelsTest, SizesThatFollowFromNoSymbolAreThoseOfARun) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    joint.graph @g(
        %x: tensor<?x3xf32> {joint.role = #joint.role<input>,
                             joint.dims = ["s0", "3"]},
        %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
        -> (tensor<f32>) gradients (tensor<?x3xf32>)
        attributes {symbols = {s0 = #joint.symbol<hint = 4, min = 2>}} {
      %e = aten.exp(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %d = aten.diagonal(%e) : (tensor<?x3xf32>) -> tensor<?xf32>
      %c = aten.cumsum(%d, 0) : (tensor<?xf32>) -> tensor<?xf32>
      %s = aten.sin(%c) : (tensor<?xf32>) -> tensor<?xf32>
      %f = aten.cumsum(%s, 0) : (tensor<?xf32>) -> tensor<?xf32>
      %loss = aten.sum(%f) : (tensor<?xf32>) -> tensor<f32>
      %dx = aten.mul.Tensor(%e, %t)
          : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
      joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<?x3xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module) << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  form(graph, 4);
  ASSERT_TRUE(formed) << lastError;
  ASSERT_EQ(formed->refused.size(), 1u);
  EXPECT_EQ(formed->refused[0].first,
            "has memory of one size only in the sizes that were looked at");
  EXPECT_TRUE(succeeded(verifyKernels(plan->view.graph, *formed))) << lastError;
  auto sized = instantiateKernels(*formed, graph, {{"s0", 2}});
  ASSERT_TRUE(succeeded(sized)) << lastError;
  EXPECT_GT(sized->formedAnew, 0u);
  seed = 1;
  for (int64_t size : {2, 5})
    runAt(graph, size);
  EXPECT_EQ(runs, 2u) << lastError;
  EXPECT_EQ(apart, 0u) << lastError;
}

/// Rows in pairs: no text says that their number is even, but the hint is.
TEST_F(SymbolicKernelsTest, SizesAreMultiplesOfWhatTheirHintsAre) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    joint.graph @g(
        %x: tensor<?x4xf32> {joint.role = #joint.role<input>,
                             joint.dims = ["s0", "4"]},
        %n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
        %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
        -> (tensor<f32>) gradients (tensor<?x4xf32>)
        attributes {symbols = {s0 = #joint.symbol<hint = 6, min = 2>}} {
      %pairs = aten.view(%x, [-1, 2, 4])
          : (tensor<?x4xf32>) -> tensor<?x2x4xf32>
      %sums = aten.sum.dim_IntList(%pairs, [1])
          : (tensor<?x2x4xf32>) -> tensor<?x4xf32>
      %c = aten.cos(%sums) : (tensor<?x4xf32>) -> tensor<?x4xf32>
      %loss = aten.sum(%c) : (tensor<?x4xf32>) -> tensor<f32>
      %s = aten.sin(%pairs) : (tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
      %rows = aten.view(%s, [%n, 4])
          : (tensor<?x2x4xf32>, index) -> tensor<?x4xf32>
      %dx = aten.mul.Tensor(%rows, %t)
          : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
      joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<?x4xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module) << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  form(graph, 6);
  ASSERT_TRUE(formed && isSymbolic(*formed)) << lastError;
  EXPECT_EQ(formed->calls, 0u);
  checkRoundTrip();
  EXPECT_TRUE(failed(instantiateKernels(*formed, graph, {{"s0", 5}})));
  EXPECT_EQ(lastError, "aten.view: 20 elements cannot be arranged in groups "
                       "of 8");
  seed = 1;
  for (int64_t size : {2, 6, 70})
    runAt(graph, size);
  EXPECT_EQ(runs, 3u) << lastError;
  EXPECT_EQ(apart, 0u) << lastError;
}

/// The first elements of %e, as many as are positive: a view of what lies in
/// the arena, by a number that depends on data; beside sizes that are symbols.
TEST_F(SymbolicKernelsTest, SizesThatDependOnDataLieOutside) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    joint.graph @g(
        %x: tensor<?xf32> {joint.role = #joint.role<input>, joint.dims = ["s0"]},
        %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
        -> (tensor<f32>) gradients (tensor<?xf32>)
        attributes {symbols = {s0 = #joint.symbol<min = 2>}} {
      %places = aten.nonzero(%x) : (tensor<?xf32>) -> tensor<?x1xi64>
      %n = aten.sym_size.int(%places, 0) : (tensor<?x1xi64>) -> index
      %e = aten.exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
      %some = aten.slice.Tensor(%e, 0, 0, %n)
          : (tensor<?xf32>, index) -> tensor<?xf32>
      %s = aten.sin(%e) : (tensor<?xf32>) -> tensor<?xf32>
      %c = aten.cos(%s) : (tensor<?xf32>) -> tensor<?xf32>
      %p = aten.sum(%c) : (tensor<?xf32>) -> tensor<f32>
      %q = aten.sum(%some) : (tensor<?xf32>) -> tensor<f32>
      %loss = aten.mul.Tensor(%p, %q)
          : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %dx = aten.mul.Tensor(%e, %t)
          : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<?xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module) << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  PartitionOptions partition;
  partition.memory.emplace();
  partition.decompose = true;
  auto result = partitionGraph(graph, partition);
  ASSERT_TRUE(succeeded(result) && (*result)->kernelPlan) << lastError;
  plan = std::move(*result);
  auto made = formSymbolicKernels(plan->partition.link, plan->view.graph,
                                  *plan->kernelPlan);
  ASSERT_TRUE(succeeded(made)) << lastError;
  formed = std::move(*made);
  checkRoundTrip();
  seed = 1;
  auto sized = instantiateKernels(*formed, graph, {{"s0", 5}});
  ASSERT_TRUE(succeeded(sized)) << lastError;
  EXPECT_EQ(sized->kernels.ownBuffers, 1u);
  EXPECT_GT(sized->memory.arenaBytes(), 0);
  for (int64_t size : {2, 5, 70})
    runAt(graph, size);
  EXPECT_EQ(runs, 3u) << lastError;
  EXPECT_EQ(apart, 0u) << lastError;
  EXPECT_GT(launches, 0u);
}

TEST_F(SymbolicKernelsTest, KernelsThatAreNotOneAreNamed) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kRows, &context);
  ASSERT_TRUE(module) << lastError;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  SizeNumbers numbers(graph.getSymbolsAttr(), {graph}, {});
  auto kernel = [&](int64_t size, StringRef constant, StringRef op) {
    std::string n = std::to_string(size);
    return "kernel.func @k(%x: memref<" + n + "xf32>) to (%y: memref<" + n +
           "xf32>) schedule \"pointwise\" { kernel.nest (%i) in [" + n +
           "] { %0 = kernel.load %x[%i] : memref<" + n +
           "xf32> %c = arith.constant " + constant.str() +
           " : f32 %1 = arith." + op.str() +
           " %0, %c : f32 kernel.store %1, "
           "%y[%i] : memref<" +
           n + "xf32> } }";
  };
  auto generalize = [&](ArrayRef<StringRef> constants, StringRef lastOp,
                        std::string &problem) {
    std::vector<OwningOpRef<ModuleOp>> read;
    std::array<kernel::FuncOp, kSizePoints> bodies;
    for (size_t p = 0; p < kSizePoints; ++p) {
      int64_t size = numbers.point(p).lookup("s0") * 8;
      read.push_back(parseSourceString<ModuleOp>(
          kernel(size, constants[p], p == 2 ? lastOp : "mulf"), &context));
      bodies[p] = *read.back()->getOps<kernel::FuncOp>().begin();
    }
    std::optional<SymbolicBody> body = generalizeBody(bodies, numbers, problem);
    std::string text = body ? textOf(*body->function) : "";
    // Back at each size it is the kernel of that size.
    for (size_t p = 0; body && p < kSizePoints; ++p) {
      auto memories =
          llvm::map_to_vector(bodies[p].getMemories(),
                              [](Value memory) { return memory.getType(); });
      OwningOpRef<kernel::FuncOp> back = instantiateBody(
          *body->function, numbers.point(p).lookup("s0"), memories);
      EXPECT_EQ(textOf(*back), textOf(bodies[p]));
    }
    return text;
  };
  std::string problem;
  std::string text = generalize({"1.0", "1.0", "1.0"}, "mulf", problem);
  EXPECT_NE(text.find("in [symbol(%arg2) * 8]"), std::string::npos) << text;
  EXPECT_EQ(generalize({"1.0", "1.0", "1.0"}, "addf", problem), "");
  EXPECT_EQ(problem, "has another structure at other sizes");
  problem.clear();
  EXPECT_EQ(generalize({"1.0", "2.0", "7.0"}, "mulf", problem), "");
  EXPECT_EQ(problem, "has a number that is no expression of sizes");
  problem.clear();
  EXPECT_EQ(generalize({"1.5", "2.5", "3.5"}, "mulf", problem), "");
  EXPECT_EQ(problem, "has a number that is no expression of sizes");
}

} // namespace
