// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of calls on the emulated device, against what PyTorch made of the
// same calls (Interpreter/TorchCalls.h): every call of a file that has a
// kernel. Each file is one library. Indices that are outside are marked. The
// functions of a CPU, which were compiled with Cutback, have the same bits.
// Attention also in sizes and types that the files have not, and
// products of f32 in tf32, against the interpreter.
// CUTBACK_KERNEL_CALLS names one more file.

#include "../../Interpreter/TorchCalls.h"

#include "Target/CPU/LinkLibrary.h"
#include "Target/CPU/Precompiled.h"
#include "Target/CUDA/CallText.h"
#include "Target/CUDA/DeviceFiles.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Runtime/KernelCode.h"
#include "cutback/Target/CPU/NativeKernels.h"
#include "cutback/Target/CUDA/EmitStep.h"
#include "cutback/Target/CUDA/Toolchain.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;
using namespace cutback::interpreter;

namespace {

using Launch = void (*)(int, const unsigned *, const unsigned *, unsigned,
                        void **);

/// What runs a call: the emulated device, or a CPU.
enum class By { Device, Cpu };

/// A call, and the numbers of its kernels in the library. A CPU may have one
/// function for what a device has several for.
struct Call {
  std::string text;
  test::TorchCall torch;
  std::vector<CallKernel> kernels{}, natives{};
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
  void *loadLibrary(const std::vector<TextFile> &files);
  void *loadBytes(const std::string &library);
  void loadForCpu();
  /// Whether a kernel marks a problem.
  bool run(Call &call, std::vector<std::vector<char>> &results,
           By by = By::Device);
  void runKernel(const CallKernel &kernel, size_t number, void **operands,
                 int &problem, By by);
  std::string compare(Call &call);
  void checkFile(llvm::StringRef path);

  MLIRContext context;
  CallOptions options;
  std::vector<Call> calls;
  CudaStep step;
  std::string cuda = "#include \"cutback_cuda.cuh\"\n";
  Launch entry = nullptr;
  std::unique_ptr<cpu::LoadedLibrary> native; ///< calls for a CPU
};

void DeviceCalls::add(Call call) {
  call.first = step.artifact.kernels.size();
  std::string problem;
  Operation *op = &call.torch.function.getBody().front().front();
  call.kernels = writeCall(op, problem, options);
  if (!options.cuda.tf32)
    call.natives = writeCall(op, problem, {StepKernels::AreMachineCode, {}});
  EXPECT_EQ(call.natives.empty(), options.cuda.tf32 || call.kernels.empty())
      << call.text;
  for (auto [i, one] : llvm::enumerate(call.natives)) {
    EXPECT_TRUE(one.kernel.precompiled) << call.text << one.kernel.print();
    one.kernel.name =
        "n" + std::to_string(call.first) + "_" + std::to_string(i);
  }
  for (CallKernel &one : call.kernels) {
    KernelText &kernel = one.kernel;
    kernel.name = "k" + std::to_string(step.artifact.kernels.size());
    kernel.mayOverlap = true;
    cuda += kernel.print();
    step.artifact.kernels.push_back(
        {kernel.name, "forward.cu", kernel.waits, kernel.checks, {}});
    step.parameters.emplace_back();
    for (const Parameter &parameter : kernel.parameters)
      step.parameters.back().emplace_back(
          (parameter.isWritten ? "" : "const ") + parameter.type,
          parameter.name);
  }
  if (!call.kernels.empty())
    calls.push_back(std::move(call));
}

void *DeviceCalls::loadLibrary(const std::vector<TextFile> &files) {
  ToolResult built = buildHostLibrary(findHostCompiler(), files);
  EXPECT_EQ(built.error, "") << built.log;
  return built.error.empty() ? loadBytes(built.files[0].second) : nullptr;
}

void *DeviceCalls::loadBytes(const std::string &bytes) {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("cutback", "so", path))
    return nullptr;
  std::ofstream(path.c_str(), std::ios::binary) << bytes;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  EXPECT_TRUE(library) << ::dlerror();
  return library;
}

/// A CPU has no tf32.
void DeviceCalls::loadForCpu() {
  if (options.cuda.tf32)
    return;
  NamedCalls named;
  for (const Call &call : calls)
    for (const CallKernel &kernel : call.natives)
      if (kernel.kernel.precompiled)
        named.emplace_back(kernel.kernel.name, *kernel.kernel.precompiled);
  OwningOpRef<ModuleOp> none(ModuleOp::create(UnknownLoc::get(&context)));
  FailureOr<KernelObject> object = compileKernelObject(*none, named);
  ASSERT_TRUE(succeeded(object));
  std::vector<std::string> objects = {object->bytes};
  cpu::addPrecompiledObjects(objects);
  std::string error;
  native = cpu::LoadedLibrary::link(objects, error);
  ASSERT_TRUE(native) << error;
}

void DeviceCalls::load() {
  step.artifact.segments = {{"forward", {}, {}}};
  std::vector<TextFile> files = {{"forward.cu", cuda}};
  for (const DeviceFile &file : deviceFiles())
    files.emplace_back(file.name, file.text);
  llvm::append_range(files, emitCudaHost(step));
  void *library = loadLibrary(files);
  ASSERT_TRUE(library);
  entry = reinterpret_cast<Launch>(::dlsym(library, "cutback_launch"));
  loadForCpu();
}

void DeviceCalls::runKernel(const CallKernel &kernel, size_t number,
                            void **operands, int &problem, By by) {
  if (by == By::Cpu) {
    KernelCode function = native->find(kernel.kernel.name);
    ASSERT_TRUE(function) << kernel.kernel.name;
    // As threads would, in any order.
    int64_t parts = 1 + int64_t(number % 3);
    for (int64_t part = parts; part-- > 0;) {
      int64_t cells[kKernelCells] = {0, 0, part, parts};
      callKernel(function, operands, cells);
      problem |= static_cast<int>(cells[0]);
    }
    return;
  }
  unsigned grid[3], block[3];
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = static_cast<unsigned>(kernel.kernel.shape.grid[axis]);
    block[axis] = static_cast<unsigned>(kernel.kernel.shape.block[axis]);
  }
  entry(static_cast<int>(number), grid, block,
        static_cast<unsigned>(kernel.kernel.shape.sharedBytes), operands);
}

bool DeviceCalls::run(Call &call, std::vector<std::vector<char>> &results,
                      By by) {
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
  int64_t seed = 0;
  for (auto [i, one] :
       llvm::enumerate(by == By::Cpu ? call.natives : call.kernels)) {
    std::vector<void *> pointers;
    for (Value root : one.roots)
      pointers.push_back(root ? static_cast<void *>(memory.lookup(root))
                              : &seed);
    pointers.push_back(&problem);
    runKernel(one, call.first + i, pointers.data(), problem, by);
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
  if (!options.cuda.tf32) {
    std::vector<std::vector<char>> natives;
    if (run(call, natives, By::Cpu))
      return "marks an index on a CPU";
    for (size_t i = 0; i < natives.size(); ++i)
      if (natives[i] != forwards[i])
        return "result " + std::to_string(i) + " has other bits on a CPU";
  }
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

void DeviceCalls::checkFile(llvm::StringRef path) {
  for (const auto &[text, data] : test::readCallFile(path)) {
    Call call{text, {}};
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

class DeviceCallsTest : public DeviceCalls,
                        public testing::WithParamInterface<std::string> {};

TEST_P(DeviceCallsTest, AgreeWithTorch) {
  checkFile(test::callFile(GetParam()));
}

class MoreDeviceCallsTest : public DeviceCallsTest {};

TEST_P(MoreDeviceCallsTest, AgreeWithTorch) { checkFile(GetParam()); }

INSTANTIATE_TEST_SUITE_P(More, MoreDeviceCallsTest,
                         testing::ValuesIn(test::moreCallFiles()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MoreDeviceCallsTest);

class WrongIndexTest : public DeviceCalls {};

/// The elements of the first tensor of integers are 99, which no table here
/// has, and as a mask is true everywhere.
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
      "aten.take_along_dim(%0, %1, 0) : (tensor<5x4xf32>, tensor<3x4xi64>) -> "
      "tensor<3x4xf32>",
      "aten.searchsorted.Tensor(%0, %1, sorter = %2) : (tensor<3xf32>, "
      "tensor<4xf32>, tensor<3xi64>) -> tensor<4xi64>",
      "aten.masked_scatter(%0, %1, %2) : (tensor<5x4xf32>, tensor<5x4xi1>, "
      "tensor<3xf32>) -> tensor<5x4xf32>",
      "aten.masked_scatter_backward(%0, %1, [3]) : (tensor<5x4xf32>, "
      "tensor<5x4xi1>) -> tensor<3xf32>",
  };
  for (const char *text : texts) {
    Call call{text, {}};
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
    EXPECT_TRUE(run(call, results, By::Cpu)) << call.text;
  }
}

/// Two batches of two heads. `mask`: its type, of one element a score; "".
struct Attention {
  const char *type;
  int queries, keys, width, outWidth;
  bool isCausal;
  const char *mask;

  std::string tensor(int rows, int columns) const {
    return "tensor<2x2x" + std::to_string(rows) + "x" +
           std::to_string(columns) + "x" + type + ">";
  }
  std::string maskType() const {
    return "tensor<2x2x" + std::to_string(queries) + "x" +
           std::to_string(keys) + "x" + mask + ">";
  }
  std::string sumType() const {
    return "tensor<2x2x" + std::to_string(queries) + "xf32>";
  }
  /// Operands behind the sizes, and results.
  std::string forward() const {
    bool hasMask = *mask;
    return "aten._scaled_dot_product_flash_attention_for_cpu(%0, %1, %2, "
           "0.0, " +
           std::string(isCausal ? "true" : "false") +
           ", attn_mask = " + (hasMask ? "%3" : "none") + ", scale = 0.3) : (" +
           tensor(queries, width) + ", " + tensor(keys, width) + ", " +
           tensor(keys, outWidth) + (hasMask ? ", " + maskType() : "") +
           ") -> (" + tensor(queries, outWidth) + ", " + sumType() + ")";
  }
  /// Of the gradient, the operands, what the forward gave, and the mask.
  std::string backward() const {
    bool hasMask = *mask;
    return "aten._scaled_dot_product_flash_attention_for_cpu_backward(%0, %1, "
           "%2, %3, %4, %5, 0.0, " +
           std::string(isCausal ? "true" : "false") +
           ", attn_mask = " + (hasMask ? "%6" : "none") + ", scale = 0.3) : (" +
           tensor(queries, outWidth) + ", " + tensor(queries, width) + ", " +
           tensor(keys, width) + ", " + tensor(keys, outWidth) + ", " +
           tensor(queries, outWidth) + ", " + sumType() +
           (hasMask ? ", " + maskType() : "") + ") -> (" +
           tensor(queries, width) + ", " + tensor(keys, width) + ", " +
           tensor(keys, outWidth) + ")";
  }
  /// The same with the gradient of a mask of floats.
  std::string biasBackward() const {
    return "aten._scaled_dot_product_efficient_attention_backward(%0, %1, %2, "
           "%3, %4, %5, %6, %7, %8, 0.0, [true, true, true, true], " +
           std::string(isCausal ? "true" : "false") + ", scale = 0.3) : (" +
           tensor(queries, outWidth) + ", " + tensor(queries, width) + ", " +
           tensor(keys, width) + ", " + tensor(keys, outWidth) + ", " +
           maskType() + ", " + tensor(queries, outWidth) + ", " + sumType() +
           ", tensor<i64>, tensor<i64>) -> (" + tensor(queries, width) + ", " +
           tensor(keys, width) + ", " + tensor(keys, outWidth) + ", " +
           maskType() + ")";
  }
};

class AttentionCallsTest : public DeviceCalls {
protected:
  /// Arguments that are not `given` are drawn; what the interpreter makes of
  /// them is expected, and returned behind them.
  std::vector<RuntimeValue> addCall(const std::string &function,
                                    std::vector<RuntimeValue> given = {});
  FailureOr<std::vector<RuntimeValue>> interpret(test::TorchCall &call);
  Tensor draw(Type type);
  static std::optional<Tensor> tensorOf(const RuntimeValue &value) {
    const Tensor *tensor = std::get_if<Tensor>(&value);
    return tensor ? std::optional<Tensor>(*tensor) : std::nullopt;
  }

  std::mt19937 generator{7};
};

/// Of booleans one in four is false, and never the first of a row.
Tensor AttentionCallsTest::draw(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Tensor values =
      Tensor::zeros(*dtypeOf(tensor.getElementType()), tensor.getShape());
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < values.numel(); ++i)
    if (isIntegral(values.type))
      values.setInt(i, i % tensor.getShape().back() == 0 || generator() % 4);
    else
      values.set(i, normal(generator));
  return values;
}

/// A mask of booleans, which PyTorch does not give to these ops, is one of
/// floats there.
FailureOr<std::vector<RuntimeValue>>
AttentionCallsTest::interpret(test::TorchCall &call) {
  std::vector<RuntimeValue> arguments = call.arguments;
  Value last = call.function.getArguments().back();
  auto type = cast<RankedTensorType>(last.getType());
  if (!type.getElementType().isInteger(1))
    return interpreter::run(call.function, arguments);
  std::vector<int64_t> truth = std::get<Tensor>(arguments.back()).ints();
  Tensor mask = Tensor::zeros(DType::F32, type.getShape());
  for (int64_t i = 0; i < mask.numel(); ++i)
    mask.set(i, truth[i] ? 0.0 : -INFINITY);
  arguments.back() = mask;
  auto floats = type.clone(Float32Type::get(&context));
  last.setType(floats);
  auto results = interpreter::run(call.function, arguments);
  last.setType(type);
  return results;
}

std::vector<RuntimeValue>
AttentionCallsTest::addCall(const std::string &function,
                            std::vector<RuntimeValue> given) {
  Call call{function, {}};
  call.torch.module = parseSourceString<ModuleOp>(function, &context);
  EXPECT_TRUE(call.torch.module) << function;
  if (!call.torch.module)
    return {};
  call.torch.function = *call.torch.module->getOps<func::FuncOp>().begin();
  ArrayRef<Type> types = call.torch.function.getArgumentTypes();
  for (Type type : types.drop_front(given.size()))
    given.emplace_back(draw(type));
  call.torch.arguments = std::move(given);
  FailureOr<std::vector<RuntimeValue>> results = interpret(call.torch);
  EXPECT_TRUE(succeeded(results)) << function;
  if (failed(results))
    return {};
  std::vector<RuntimeValue> all = call.torch.arguments;
  for (const RuntimeValue &result : *results) {
    call.torch.expected.push_back(tensorOf(result));
    all.push_back(result);
  }
  size_t before = calls.size();
  add(std::move(call));
  EXPECT_EQ(calls.size(), before + 1) << function << " has no kernel";
  return all;
}

TEST_F(AttentionCallsTest, AgreeWithTheInterpreter) {
  const Attention all[] = {
      {"f32", 37, 53, 20, 20, false, ""},
      {"f32", 200, 70, 64, 40, true, ""},
      {"f32", 37, 53, 130, 64, false, "i1"},
      {"f32", 1, 97, 3, 5, false, "f32"},
      {"bf16", 37, 53, 20, 20, false, ""},
      {"bf16", 70, 70, 64, 64, true, ""},
      {"f16", 37, 53, 130, 20, false, "i1"},
      {"f16", 53, 1, 200, 9, true, ""},
      // More keys than a block of a CPU has.
      {"f32", 70, 210, 64, 40, true, ""},
      {"bf16", 35, 401, 64, 9, false, "i1"},
  };
  for (const Attention &one : all) {
    bool hasMask = *one.mask;
    auto values = addCall(test::functionAround(one.forward()));
    ASSERT_EQ(values.size(), hasMask ? 6u : 5u) << one.forward();
    size_t out = hasMask ? 4 : 3;
    std::vector<RuntimeValue> given = {
        draw(cast<RankedTensorType>(
            calls.back().torch.function.getResultTypes().front())),
        values[0],
        values[1],
        values[2],
        values[out],
        values[out + 1]};
    if (hasMask)
      given.push_back(values[3]);
    addCall(test::functionAround(one.backward()), given);
    if (one.mask != std::string("f32"))
      continue;
    std::rotate(given.begin() + 4, given.end() - 1, given.end());
    for (int i = 0; i < 2; ++i) // random numbers that are not drawn
      given.emplace_back(Tensor::zeros(DType::I64, {}));
    addCall(test::functionAround(one.biasBackward()), given);
  }
  load();
  ASSERT_TRUE(entry && native);
  for (Call &call : calls)
    EXPECT_EQ(compare(call), "") << call.text;
}

/// A result that nobody reads has no memory.
TEST_F(AttentionCallsTest, OneOfTwoResultsIsMade) {
  for (int read : {0, 1}) {
    std::string type = read ? "tensor<1x2x37xf32>" : "tensor<1x2x37x20xf32>";
    addCall("func.func @f(%q: tensor<1x2x37x20xf32>, %k: "
            "tensor<1x2x53x20xf32>, %v: tensor<1x2x53x20xf32>) -> " +
            type +
            " {\n  %r:2 = aten._scaled_dot_product_flash_attention_for_cpu(%q, "
            "%k, %v, 0.0, false, attn_mask = none, scale = 0.3) : "
            "(tensor<1x2x37x20xf32>, tensor<1x2x53x20xf32>, "
            "tensor<1x2x53x20xf32>) -> (tensor<1x2x37x20xf32>, "
            "tensor<1x2x37xf32>)\n  return %r#" +
            std::to_string(read) + " : " + type + "\n}\n");
    ASSERT_FALSE(calls.empty());
    auto &expected = calls.back().torch.expected;
    if (read) // results are numbered as the op has them
      expected.insert(expected.begin(), std::nullopt);
    else
      expected.emplace_back();
  }
  load();
  ASSERT_TRUE(entry && native);
  for (Call &call : calls)
    EXPECT_EQ(compare(call), "") << call.text;
}

/// More than the functions of a CPU have in one block of a line, of rows or of
/// columns, and planes that parts share.
TEST_F(AttentionCallsTest, CallsOfManyBlocksAgreeWithTheInterpreter) {
  const char *const texts[] = {
      "aten.max_pool2d_with_indices(%0, [3, 3], [2, 1], [1, 1]) : "
      "(tensor<3x5x601xf32>) -> (tensor<3x3x601xf32>, tensor<3x3x601xi64>)",
      "aten.avg_pool2d(%0, [2, 3], [1, 2], [1, 1]) : (tensor<2x4x1203xbf16>) "
      "-> tensor<2x5x602xbf16>",
      "aten.avg_pool2d_backward(%0, %1, [2, 3], [1, 2], [1, 1], false, true, "
      "none) : (tensor<2x5x602xf32>, tensor<2x4x1203xf32>) -> "
      "tensor<2x4x1203xf32>",
      "aten.upsample_bilinear2d(%0, [6, 522], false) : (tensor<1x2x3x261xf32>) "
      "-> tensor<1x2x6x522xf32>",
      "aten.upsample_bicubic2d_backward(%0, [4, 521], [1, 2, 3, 260], false) : "
      "(tensor<1x2x4x521xf16>) -> tensor<1x2x3x260xf16>",
      "aten.upsample_nearest2d_backward(%0, [6, 522], [1, 2, 3, 261]) : "
      "(tensor<1x2x6x522xf32>) -> tensor<1x2x3x261xf32>",
      "aten.scatter_add(%0, 0, %1, %2) : (tensor<5x601xbf16>, "
      "tensor<9x601xi64>, tensor<9x601xbf16>) -> tensor<5x601xbf16>",
      "aten.index_add(%0, 1, %1, %2) : (tensor<301x5xf32>, tensor<7xi64>, "
      "tensor<301x7xf32>) -> tensor<301x5xf32>",
      "aten.index_put(%0, [%1], %2, true) : (tensor<601x37xf32>, "
      "tensor<33xi64>, tensor<33x37xf32>) -> tensor<601x37xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [%2], %3) : "
      "(tensor<601x40xf32>, tensor<33x1xi1>, tensor<33xi64>, "
      "tensor<33x40xf32>) -> "
      "tensor<601x40xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [none, %2], %3) : "
      "(tensor<9x4xf32>, tensor<9x33xi1>, tensor<33xi64>, tensor<9x33xf32>) -> "
      "tensor<9x4xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [%2], %3) : "
      "(tensor<601x37xf32>, tensor<33x37xi1>, tensor<33xi64>, "
      "tensor<33x37xf32>) -> tensor<601x37xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [%2], %3) : "
      "(tensor<601x37xbf16>, tensor<33x1xi1>, tensor<33xi64>, "
      "tensor<33x37xbf16>) -> tensor<601x37xbf16>",
      "aten.index_put(%0, [%1, %2], %3, true) : (tensor<9x3x300xf16>, "
      "tensor<31xi64>, tensor<31xi64>, tensor<31x300xf16>) -> "
      "tensor<9x3x300xf16>",
      "aten.sort(%0, 0, true) : (tensor<301x3xf32>) -> (tensor<301x3xf32>, "
      "tensor<301x3xi64>)",
      "aten.topk(%0, 7) : (tensor<5x301xbf16>) -> (tensor<5x7xbf16>, "
      "tensor<5x7xi64>)",
      "aten.cumsum(%0, 1) : (tensor<3x301x5xf16>) -> tensor<3x301x5xf16>",
      "aten.gather(%0, 1, %1) : (tensor<3x301xf32>, tensor<3x601xi64>) -> "
      "tensor<3x601xf32>",
  };
  for (const char *text : texts)
    addCall(test::functionAround(text));
  ASSERT_EQ(calls.size(), std::size(texts));
  load();
  ASSERT_TRUE(entry && native);
  for (Call &call : calls)
    EXPECT_EQ(compare(call), "") << call.text;
}

/// Distances, windows, padding and grids: more than one block of points, of a
/// line or of its places, and what is left of a block.
TEST_F(AttentionCallsTest, LinesOfManyBlocksAgreeWithTheInterpreter) {
  std::vector<std::string> texts = {
      "aten.im2col(%0, [2, 3], [1, 2], [1, 2], [2, 1]) : "
      "(tensor<2x3x5x601xf32>) -> tensor<2x18x1803xf32>",
      "aten.col2im(%0, [5, 601], [2, 3], [1, 2], [1, 2], [2, 1]) : "
      "(tensor<2x18x1803xbf16>) -> tensor<2x3x5x601xbf16>",
      "aten.col2im(%0, [3, 19], [2, 7], [1, 1], [0, 0], [3, 4]) : "
      "(tensor<14x4xf32>) -> tensor<1x3x19xf32>",
      "aten.unfold_backward(%0, [3, 603], 1, 5, 2) : (tensor<3x300x5xf32>) -> "
      "tensor<3x603xf32>",
      "aten.unfold_backward(%0, [2, 9, 521], 1, 3, 2) : "
      "(tensor<2x4x521x3xf16>) -> tensor<2x9x521xf16>",
      "aten.reflection_pad1d_backward(%0, %1, [520, 3]) : "
      "(tensor<2x1046xf32>, tensor<2x523xf32>) -> tensor<2x523xf32>",
      "aten.reflection_pad2d_backward(%0, %1, [3, 2, 4, 4]) : "
      "(tensor<3x13x9xbf16>, tensor<3x5x4xbf16>) -> tensor<3x5x4xbf16>",
      "aten.replication_pad3d_backward(%0, %1, [3, 9, 1, 2, 2, 0]) : "
      "(tensor<2x3x4x525xf64>, tensor<2x1x1x513xf64>) -> "
      "tensor<2x1x1x513xf64>",
      "aten.avg_pool2d_backward(%0, %1, [3, 5], [2, 2], [1, 2], true, false, "
      "none) : (tensor<2x3x301xf16>, tensor<2x5x601xf16>) -> "
      "tensor<2x5x601xf16>",
      "aten.avg_pool2d_backward(%0, %1, [2, 2], [2, 3], [0, 0], false, true, "
      "7) : (tensor<2x2x200xf32>, tensor<2x5x601xf32>) -> "
      "tensor<2x5x601xf32>",
      "aten._adaptive_avg_pool2d_backward(%0, %1) : (tensor<3x5x300xf32>, "
      "tensor<3x9x601xf32>) -> tensor<3x9x601xf32>",
      "aten._adaptive_avg_pool2d(%0, [5, 300]) : (tensor<3x9x601xf32>) -> "
      "tensor<3x5x300xf32>",
      "aten.grid_sampler_2d(%0, %1, 0, 0, false) : (tensor<2x3x9x7xbf16>, "
      "tensor<2x3x131x2xbf16>) -> tensor<2x3x3x131xbf16>",
      "aten.grid_sampler_3d_backward(%0, %1, %2, 0, 1, true, [true, true]) : "
      "(tensor<2x3x2x3x70xf32>, tensor<2x3x4x3x5xf32>, "
      "tensor<2x2x3x70x3xf32>) -> (tensor<2x3x4x3x5xf32>, "
      "tensor<2x2x3x70x3xf32>)",
  };
  // Distances are not negative, but gradients take what there is.
  for (const char *p : {"0.0", "1.0", "2.0", "3.0"}) {
    std::string power = p;
    texts.push_back("aten._cdist_forward(%0, %1, " + power +
                    ", none) : (tensor<2x37x21xf32>, tensor<1x83x21xf32>) -> "
                    "tensor<2x37x83xf32>");
    texts.push_back("aten._cdist_backward(%0, %1, %2, " + power +
                    ", %3) : (tensor<37x139xf32>, tensor<37x67xf32>, "
                    "tensor<139x67xf32>, tensor<37x139xf32>) -> "
                    "tensor<37x67xf32>");
    texts.push_back("aten._pdist_forward(%0, " + power +
                    ") : (tensor<75x5xf32>) -> tensor<2775xf32>");
    texts.push_back("aten._pdist_backward(%0, %1, " + power +
                    ", %2) : (tensor<2775xf32>, tensor<75x5xf32>, "
                    "tensor<2775xf32>) -> tensor<75x5xf32>");
  }
  for (const std::string &text : texts)
    addCall(test::functionAround(text));
  ASSERT_EQ(calls.size(), texts.size());
  load();
  ASSERT_TRUE(entry && native);
  for (Call &call : calls)
    EXPECT_EQ(compare(call), "") << call.text;
}

/// Products of f32 on tensor cores.
class Tf32CallsTest : public AttentionCallsTest {
protected:
  Tf32CallsTest() { options.cuda.tf32 = true; }

  /// A call of factors alone; what is expected is the product of their nearest
  /// tf32. Gives how far that is from their own product, of the largest.
  double addProduct(const std::string &text);
  static Tensor rounded(const Tensor &values);
};

/// Ten bits of mantissa; of two that are as near the larger one.
Tensor Tf32CallsTest::rounded(const Tensor &values) {
  Tensor result = copyOf(values);
  for (int64_t i = 0; i < values.numel(); ++i) {
    auto x = static_cast<float>(values.getDouble(i));
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x1000) & ~0x1fffu;
    std::memcpy(&x, &bits, 4);
    result.set(i, x);
  }
  return result;
}

double Tf32CallsTest::addProduct(const std::string &text) {
  size_t before = calls.size();
  std::vector<RuntimeValue> all = addCall(test::functionAround(text));
  if (calls.size() == before)
    return 0;
  test::TorchCall &call = calls.back().torch;
  std::vector<RuntimeValue> own = call.arguments;
  for (RuntimeValue &value : call.arguments)
    value = rounded(std::get<Tensor>(value));
  FailureOr<std::vector<RuntimeValue>> results = interpret(call);
  call.arguments = own;
  EXPECT_TRUE(succeeded(results)) << text;
  if (failed(results))
    return 0;
  double apart = 0, largest = 0;
  Tensor exact = *call.expected[0], tensor = std::get<Tensor>((*results)[0]);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    apart = std::max(apart, std::abs(exact.getDouble(i) - tensor.getDouble(i)));
    largest = std::max(largest, std::abs(exact.getDouble(i)));
  }
  for (auto [expected, result] : llvm::zip_equal(call.expected, *results))
    expected = tensorOf(result);
  return apart / largest;
}

TEST_F(Tf32CallsTest, FactorsHaveTenBitsOfMantissa) {
  const char *const texts[] = {
      "aten.mm(%0, %1) : (tensor<70x37xf32>, tensor<37x90xf32>) -> "
      "tensor<70x90xf32>",
      "aten.bmm(%0, %1) : (tensor<2x64x40xf32>, tensor<2x40x64xf32>) -> "
      "tensor<2x64x64xf32>",
      "aten.mm(%0, %1) : (tensor<1300x9xf32>, tensor<9x1536xf32>) -> "
      "tensor<1300x1536xf32>",
      "aten.convolution(%0, %1, none, [2, 1], [1, 0], [1, 1], false, [0, 0], "
      "1) : (tensor<2x5x9x7xf32>, tensor<6x5x3x2xf32>) -> "
      "tensor<2x6x5x6xf32>",
      "aten.convolution(%0, %1, none, [2], [1], [1], true, [1], 2) : "
      "(tensor<2x6x9xf32>, tensor<6x4x3xf32>) -> tensor<2x8x18xf32>",
      "aten.convolution_backward(%0, %1, %2, none, [2, 1], [1, 0], [1, 1], "
      "false, [0, 0], 1, [true, true, false]) : (tensor<2x6x5x6xf32>, "
      "tensor<2x5x9x7xf32>, tensor<6x5x3x2xf32>) -> (tensor<2x5x9x7xf32>, "
      "tensor<6x5x3x2xf32>, none)",
  };
  for (const char *text : texts) {
    double apart = addProduct(text);
    EXPECT_GT(apart, 1e-5) << text;
    EXPECT_LT(apart, 1e-3) << text;
  }
  load();
  ASSERT_TRUE(entry);
  for (Call &call : calls) {
    EXPECT_NE(call.kernels[0].kernel.body.find("tileProduct<"),
              std::string::npos);
    EXPECT_EQ(compare(call), "") << call.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, DeviceCallsTest,
                         testing::ValuesIn(test::callFileNames()),
                         [](const auto &info) { return info.param; });

} // namespace
