// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of calls on the emulated device, against what PyTorch made of the
// same calls (Interpreter/TorchCalls.h): every call of a file that has a
// kernel. Each file is one library. Indices that are outside are marked.

#include "../../Interpreter/TorchCalls.h"

#include "Target/CUDA/CallText.h"
#include "Target/CUDA/DeviceFiles.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Target/CUDA/EmitStep.h"
#include "cutback/Target/CUDA/Toolchain.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstring>
#include <dlfcn.h>
#include <fstream>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;
using namespace cutback::interpreter;

namespace {

using Launch = void (*)(int, const unsigned *, const unsigned *, unsigned,
                        void **);

/// A call, and the numbers of its kernels in the library.
struct Call {
  std::string text;
  test::TorchCall torch;
  std::vector<CallKernel> kernels;
  size_t first = 0;
};

class DeviceCalls : public testing::Test {
protected:
  DeviceCalls() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
    context.getDiagEngine().registerHandler([](Diagnostic &) {});
  }

  /// The kernels of a call, if it has some.
  void add(Call call);
  void load();
  /// Whether a kernel marks a problem.
  bool run(Call &call, std::vector<std::vector<char>> &results);
  std::string compare(Call &call);

  MLIRContext context;
  std::vector<Call> calls;
  CudaStep step;
  std::string cuda = "#include \"cutback_cuda.cuh\"\n";
  Launch entry = nullptr;
};

void DeviceCalls::add(Call call) {
  call.first = step.artifact.kernels.size();
  std::string problem;
  call.kernels =
      writeCall(&call.torch.function.getBody().front().front(), problem);
  for (CallKernel &one : call.kernels) {
    KernelText &kernel = one.kernel;
    kernel.name = "k" + std::to_string(step.artifact.kernels.size());
    kernel.mayOverlap = true;
    cuda += kernel.print();
    step.artifact.kernels.push_back(
        {kernel.name, "forward.cu", kernel.waits, kernel.checks});
    step.parameters.emplace_back();
    for (const Parameter &parameter : kernel.parameters)
      step.parameters.back().emplace_back(
          (parameter.isWritten ? "" : "const ") + parameter.type,
          parameter.name);
  }
  if (!call.kernels.empty())
    calls.push_back(std::move(call));
}

void DeviceCalls::load() {
  step.artifact.segments = {{"forward", {}}};
  std::vector<TextFile> files = {{"forward.cu", cuda}};
  for (const DeviceFile &file : deviceFiles())
    files.emplace_back(file.name, file.text);
  for (TextFile &file : emitCudaHost(step))
    files.push_back(std::move(file));
  ToolResult built = buildHostLibrary(findHostCompiler(), files);
  ASSERT_EQ(built.error, "") << built.log;
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("cutback", "so", path));
  std::ofstream(path.c_str(), std::ios::binary) << built.files[0].second;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  ASSERT_TRUE(library) << ::dlerror();
  entry = reinterpret_cast<Launch>(::dlsym(library, "cutback_launch"));
}

bool DeviceCalls::run(Call &call, std::vector<std::vector<char>> &results) {
  llvm::DenseMap<Value, char *> memory;
  std::vector<Tensor> arguments;
  for (auto [argument, value] : llvm::zip_equal(
           call.torch.function.getArguments(), call.torch.arguments)) {
    arguments.push_back(std::get<Tensor>(value).contiguous());
    memory[argument] = static_cast<char *>(arguments.back().data());
  }
  Operation &op = call.torch.function.getBody().front().front();
  for (Value result : op.getResults()) {
    results.emplace_back();
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      results.back().assign(type.getNumElements() *
                                ((type.getElementTypeBitWidth() + 7) / 8),
                            static_cast<char>(0xFF));
    memory[result] = results.back().data();
  }
  int problem = 0;
  for (auto [i, one] : llvm::enumerate(call.kernels)) {
    std::vector<void *> pointers;
    for (Value root : one.roots)
      pointers.push_back(memory.lookup(root));
    pointers.push_back(&problem);
    unsigned grid[3], block[3];
    for (int axis = 0; axis < 3; ++axis) {
      grid[axis] = static_cast<unsigned>(one.kernel.shape.grid[axis]);
      block[axis] = static_cast<unsigned>(one.kernel.shape.block[axis]);
    }
    entry(static_cast<int>(call.first + i), grid, block,
          static_cast<unsigned>(one.kernel.shape.sharedBytes), pointers.data());
  }
  return problem != 0;
}

std::string DeviceCalls::compare(Call &call) {
  std::vector<std::vector<char>> forwards, backwards;
  if (run(call, forwards))
    return "marks an index";
  ::setenv("CUTBACK_CUDA_HOST_ORDER", "reverse", 1);
  run(call, backwards);
  ::unsetenv("CUTBACK_CUDA_HOST_ORDER");
  if (forwards != backwards)
    return "has other bits where blocks run from the last to the first";
  for (size_t i = 0; i < forwards.size(); ++i) {
    if (!call.torch.expected[i] || forwards[i].empty())
      continue;
    const Tensor &expected = *call.torch.expected[i];
    Tensor actual = Tensor::zeros(expected.type, expected.sizes);
    std::memcpy(actual.data(), forwards[i].data(), forwards[i].size());
    if (std::string apart = test::differenceOf(expected, actual);
        !apart.empty())
      return "result " + std::to_string(i) + ": " + apart;
  }
  return "";
}

class DeviceCallsTest : public DeviceCalls,
                        public testing::WithParamInterface<std::string> {};

TEST_P(DeviceCallsTest, AgreeWithTorch) {
  for (const auto &[text, data] :
       test::readCallFile(test::callFile(GetParam()))) {
    Call call{text, {}, {}, 0};
    ASSERT_EQ(test::readTorchCall(text, data, context, call.torch), "") << text;
    add(std::move(call));
  }
  RecordProperty("calls", static_cast<int>(calls.size()));
  if (calls.empty())
    GTEST_SKIP() << "none of its calls has a kernel";
  load();
  if (HasFatalFailure())
    return;
  for (Call &call : calls)
    EXPECT_EQ(compare(call), "") << call.text;
}

class WrongIndexTest : public DeviceCalls {};

/// The elements of the first tensor of integers are 99, which no table here
/// has.
TEST_F(WrongIndexTest, IsMarkedAndNotReached) {
  const char *const texts[] = {
      "aten.embedding_dense_backward(%0, %1, 5, -1, false) : "
      "(tensor<3x40xf32>, tensor<3xi64>) -> tensor<5x40xf32>",
      "aten._embedding_bag(%0, %1, %2) : (tensor<5x4xf32>, tensor<3xi64>, "
      "tensor<1xi64>) -> (tensor<1x4xf32>, tensor<3xi64>, tensor<1xi64>, "
      "tensor<1xi64>)",
      "aten._embedding_bag_dense_backward(%0, %1, %2, %3, %4, 5, false, 0, "
      "none) : (tensor<1x4xf32>, tensor<3xi64>, tensor<3xi64>, "
      "tensor<1xi64>, tensor<1xi64>) -> tensor<5x4xf32>",
      "aten.index_put(%0, [%1], %2, true) : (tensor<5x40xf32>, tensor<3xi64>, "
      "tensor<3x40xf32>) -> tensor<5x40xf32>",
      "aten.index_put(%0, [%1, %2], %3) : (tensor<5x4xbf16>, tensor<3xi64>, "
      "tensor<i64>, tensor<3xbf16>) -> tensor<5x4xbf16>",
      "aten.scatter_add(%0, 0, %1, %2) : (tensor<5x4xf32>, tensor<3x4xi64>, "
      "tensor<3x4xf32>) -> tensor<5x4xf32>",
      "aten.index_add(%0, 0, %1, %2) : (tensor<5x4xf32>, tensor<3xi64>, "
      "tensor<3x4xf32>) -> tensor<5x4xf32>",
      "aten.gather(%0, 0, %1) : (tensor<5x4xf32>, tensor<3x4xi64>) -> "
      "tensor<3x4xf32>",
  };
  for (const char *text : texts) {
    Call call{text, {}, {}, 0};
    call.torch.module =
        parseSourceString<ModuleOp>(test::functionAround(text), &context);
    ASSERT_TRUE(call.torch.module) << text;
    call.torch.function = *call.torch.module->getOps<func::FuncOp>().begin();
    bool isFirst = true;
    for (Type type : call.torch.function.getArgumentTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      Tensor values =
          Tensor::zeros(*dtypeOf(tensor.getElementType()), tensor.getShape());
      bool isWrong = isFirst && isIntegral(values.type);
      for (int64_t i = 0; isWrong && i < values.numel(); ++i)
        values.setInt(i, 99);
      isFirst &= !isWrong;
      call.torch.arguments.emplace_back(values);
    }
    add(std::move(call));
  }
  ASSERT_EQ(calls.size(), std::size(texts));
  load();
  ASSERT_TRUE(entry);
  for (Call &call : calls) {
    std::vector<std::vector<char>> results;
    EXPECT_TRUE(run(call, results)) << call.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, DeviceCallsTest,
                         testing::ValuesIn(test::callFileNames()),
                         [](const auto &info) { return info.param; });

} // namespace
