// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel of the corpus's models, run as text on the emulated device, bit
// by bit against a scalar evaluator that knows nothing of threads. Arguments
// are random; calls run, too, so that later kernels see what they would see.
//
// With CUTBACK_GOLDEN=FOLDER also the models in FOLDER/small.

#include "CanonicalBody.h"
#include "HostKernels.h"

#include "cutback/Import/Import.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Runtime/Executor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace mlir;
using namespace cutback;

namespace {

std::vector<std::string> findModels() {
  std::vector<std::string> folders = {CUTBACK_SOURCE_DIR "/test/corpus"};
  if (const char *golden = std::getenv("CUTBACK_GOLDEN"))
    folders.push_back(std::string(golden) + "/small");
  std::vector<std::string> models;
  for (const std::string &folder : folders) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(folder, error), end;
         !error && it != end; it.increment(error))
      if (llvm::sys::fs::exists(it->path() + "/model.pt2"))
        models.push_back(it->path() + "/model.pt2");
  }
  std::sort(models.begin(), models.end());
  return models;
}

class KernelBitsTest : public testing::TestWithParam<std::string> {
protected:
  KernelBitsTest() {
    registerTrainingGraph(context);
    context.disableMultithreading();
    // What has no kernel yet is said, and is no failure here.
    context.getDiagEngine().registerHandler([](Diagnostic &) {});
  }

  /// The step; false if it has an op without a kernel for a GPU.
  bool emit();
  void load();
  void run(const ArtifactLaunch &launch);
  char *at(const ArtifactMemory &memory) {
    return memory.kind == ArtifactMemory::Arena ? arena.data() + memory.at
                                                : arguments[memory.at].data();
  }

  MLIRContext context;
  FailureOr<ImportedModule> model = failure();
  std::unique_ptr<PartitionResult> plan;
  FailureOr<KernelModule> kernels = failure();
  FailureOr<CudaStep> step = failure();
  test::HostLaunch entry = nullptr;
  using Bytes = std::vector<char>;
  Bytes arena;
  std::vector<Bytes> arguments;
  size_t compared = 0;
};

bool KernelBitsTest::emit() {
  model = readInput(GetParam(), context);
  if (failed(model) || failed(makeTrainingGraph(model->graph)))
    return false;
  PartitionOptions options;
  options.memory.emplace();
  auto planned = planStep(model->graph, options);
  if (failed(planned) || !(*planned)->memory || !(*planned)->kernelPlan)
    return false;
  plan = std::move(*planned);
  kernels = formKernels(plan->partition.link, *plan->kernelPlan, *plan->memory);
  if (failed(kernels))
    return false;
  step = emitCudaStep(*kernels, model->graph);
  return succeeded(step);
}

void KernelBitsTest::load() {
  std::vector<TextFile> files = step->files;
  for (TextFile &file : emitCudaHost(*step))
    files.push_back(std::move(file));
  entry = test::buildAndLoad(files);
  ASSERT_TRUE(entry);
}

/// Floats in [-1, 1), integers that are indices of anything.
std::vector<char> randomBytes(const ArtifactTensor &tensor,
                              std::mt19937 &generator) {
  int64_t count = 1, item = bytesOfType(tensor.dtype);
  for (int64_t size : tensor.sizes)
    count *= size;
  std::vector<char> bytes(count * item + 16);
  for (int64_t i = 0; i < count; ++i) {
    double real = std::uniform_real_distribution<double>(-1, 1)(generator);
    float single = static_cast<float>(real);
    int64_t integer = generator() % 2;
    const void *from = tensor.dtype == "f64"   ? static_cast<void *>(&real)
                       : tensor.dtype == "f32" ? static_cast<void *>(&single)
                                               : &integer;
    std::memcpy(bytes.data() + i * item, from, item);
  }
  return bytes;
}

void KernelBitsTest::run(const ArtifactLaunch &launch) {
  SymbolTable symbols(*kernels->module);
  auto function = symbols.lookup<kernel::FuncOp>(launch.op);
  // Operands at one place share their copy.
  std::vector<Bytes> copies;
  std::vector<char *> expected;
  std::vector<void *> pointers;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const ArtifactOperand &operand = launch.operands[i];
    char *bytes = at(operand.memory);
    copies.emplace_back(bytes, bytes + operand.bytes);
    expected.push_back(copies.back().data());
    for (size_t j = 0; j < i; ++j)
      if (pointers[j] == bytes)
        expected.back() = expected[j];
    pointers.push_back(bytes);
  }
  if (function) {
    ASSERT_TRUE(test::runCanonically(function, expected)) << launch.op;
  }
  KernelMark problem;
  pointers.push_back(&problem);
  unsigned grid[3], block[3];
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = static_cast<unsigned>(launch.grid[axis]);
    block[axis] = static_cast<unsigned>(launch.block[axis]);
  }
  entry(static_cast<int>(launch.kernel), grid, block,
        static_cast<unsigned>(launch.sharedBytes), pointers.data());
  // What a call chooses by random numbers may lie outside: DeviceCallsTest.
  if (!function)
    return;
  ASSERT_EQ(problem.kind, 0) << launch.op;
  ++compared;
  for (size_t i = 0; i < launch.operands.size(); ++i)
    if (launch.operands[i].isWritten) {
      EXPECT_EQ(std::memcmp(pointers[i], expected[i], launch.operands[i].bytes),
                0)
          << "operand " << i << " of " << launch.op;
    }
}

TEST_P(KernelBitsTest, TextGivesTheBitsOfTheDialect) {
  if (!emit())
    GTEST_SKIP() << "an op has no kernel yet";
  load();
  if (HasFatalFailure())
    return;
  std::mt19937 generator(1);
  for (const ArtifactArgument &argument : step->artifact.arguments)
    arguments.push_back(randomBytes(argument, generator));
  arena.assign(step->artifact.arenaBytes + 16, 0);
  for (const ArtifactSegment &segment : step->artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches) {
      run(launch);
      if (HasFatalFailure())
        return;
    }
  EXPECT_GT(compared, 0u);
  RecordProperty("kernels", static_cast<int>(compared));
}

/// Each `kernel.func` of `text`, on random floats. All are compiled at once.
void checkKernels(MLIRContext &context, const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  test::HostKernels kernels;
  ASSERT_TRUE(kernels.build(*module));
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (size_t k = 0; k < kernels.functions.size(); ++k) {
    std::vector<std::vector<float>> is, wanted;
    for (BlockArgument memory : kernels.functions[k].getBody().getArguments()) {
      is.emplace_back(cast<MemRefType>(memory.getType()).getNumElements());
      for (float &value : is.back())
        value = normal(generator);
    }
    wanted = is;
    SmallVector<char *> expected;
    std::vector<void *> pointers;
    for (size_t i = 0; i < is.size(); ++i) {
      expected.push_back(reinterpret_cast<char *>(wanted[i].data()));
      pointers.push_back(is[i].data());
    }
    ASSERT_TRUE(test::runCanonically(kernels.functions[k], expected));
    EXPECT_EQ(kernels.run(k, pointers), 0);
    for (size_t i = 0; i < is.size(); ++i)
      EXPECT_EQ(std::memcmp(is[i].data(), wanted[i].data(), is[i].size() * 4),
                0)
          << "operand " << i << " of "
          << kernels.functions[k].getSymName().str();
  }
}

/// The norm of rows, and sums of columns, of sizes that models here do not
/// have.
TEST(LongSumsTest, TextGivesTheBitsOfTheDialect) {
  MLIRContext context;
  registerTrainingGraph(context);
  context.loadDialect<kernel::KernelDialect, arith::ArithDialect,
                      math::MathDialect>();
  std::string text;
  for (int64_t size : {1, 3, 130, 1023, 1024, 1500, 4096, 5000, 70001}) {
    std::string n = std::to_string(size), all = std::to_string(3 * size);
    text += "kernel.func @k" + n + "(%x: memref<" + all +
            "xf32>) to (%y: memref<" + all +
            "xf32>, %s: memref<3xf32>, %c: memref<3xf32>) schedule \"row\" {"
            "kernel.nest (%i, %j) in [3, " +
            n +
            " reduced] {"
            "%0 = kernel.load %x[%i * " +
            n + " + %j] : memref<" + all +
            "xf32>"
            "%1 = kernel.reduce add %0 : f32 "
            "%2 = arith.subf %0, %1 : f32 "
            "%3 = math.exp %2 : f32 "
            "%4 = kernel.reduce add %3 : f32 "
            "%5 = arith.divf %3, %4 : f32 "
            "%6 = kernel.reduce max %5 : f32 "
            "kernel.store %5, %y[%i * " +
            n + " + %j] : memref<" + all +
            "xf32>"
            "kernel.store %4, %s[%i] : memref<3xf32> "
            "kernel.store %6, %c[%i] : memref<3xf32> } }"
            "kernel.func @c" +
            n + "(%x: memref<" + all +
            "xf32>) to (%y: memref<3xf32>)"
            " schedule \"partial\" { kernel.nest (%i, %j) in [" +
            n + " reduced, 3] { %0 = kernel.load %x[%i * 3 + %j] : memref<" +
            all +
            "xf32> %1 = kernel.reduce add %0 : f32 "
            "kernel.store %1, %y[%j] : memref<3xf32> } }";
  }
  checkKernels(context, text);
}

/// Rows of `size`, sums of columns and elements side by side in one function:
/// a block has as many threads as the largest needs, and no bit changes.
TEST(NestsOfOneLaunchTest, TextGivesTheBitsOfTheDialect) {
  MLIRContext context;
  registerTrainingGraph(context);
  context.loadDialect<kernel::KernelDialect, arith::ArithDialect,
                      math::MathDialect>();
  std::string text;
  for (int64_t size : {5, 1000, 1024, 1500, 4096, 4099}) {
    std::string n = std::to_string(size), all = std::to_string(5 * size);
    std::string x = " : memref<" + all + "xf32> ";
    auto row = [&](const std::string &rows, const std::string &to) {
      return "kernel.nest (%i, %j) in [" + rows + ", " + n + " reduced] { " +
             "%0 = kernel.load %x[%i * " + n + " + %j]" + x +
             "%1 = kernel.reduce add %0 : f32 %2 = arith.subf %0, %1 : f32 "
             "kernel.store %2, %" +
             to + "[%i * " + n + " + %j]" + x + "} ";
    };
    std::string begin = "(%x: memref<" + all + "xf32>) to (%y: memref<" + all +
                        "xf32>, %s: memref<" + all + "xf32>, %c: memref<" + n +
                        "xf32>) schedule \"row\" {";
    std::string columns =
        "kernel.nest (%i, %j) in [5 reduced, " + n +
        "] { %0 = kernel.load %x[%i * " + n + " + %j]" + x +
        "%1 = kernel.reduce add %0 : f32 kernel.store %1, %c[%j] : memref<" +
        n + "xf32> } ";
    std::string elements =
        "kernel.nest (%i) in [" + all + "] { %0 = kernel.load %x[%i]" + x +
        "%1 = math.exp %0 : f32 kernel.store %1, %s[%i]" + x + "} ";
    std::string longRow = "kernel.nest (%i, %j) in [1, " + all +
                          " reduced] { %0 = kernel.load %x[%j]" + x +
                          "%1 = kernel.reduce max %0 : f32 "
                          "%2 = arith.mulf %0, %1 : f32 "
                          "kernel.store %2, %s[%j]" +
                          x + "} ";
    text += "kernel.func @few" + n + begin + row("5", "y") + columns +
            elements + "} kernel.func @many" + n + begin + columns + longRow +
            row("5", "y") + "}";
  }
  checkKernels(context, text);
}

/// "small_gpt2"
std::string nameOf(const testing::TestParamInfo<std::string> &info) {
  llvm::StringRef folder = llvm::StringRef(info.param).rsplit('/').first;
  llvm::StringRef in = folder.rsplit('/').first.rsplit('/').second;
  return (in + "_" + folder.rsplit('/').second).str();
}

INSTANTIATE_TEST_SUITE_P(Models, KernelBitsTest,
                         testing::ValuesIn(findModels()), nameOf);

} // namespace
