// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of all kernels is one file of a step of one segment, which is
// compiled for the emulated device and stays loaded. The functions that a CPU
// has for the same calls were compiled with Cutback: they are linked by the
// names and descriptions that the writer of a call gives.
//
// A call is run with its blocks from the first to the last, from the last to
// the first, and by a CPU in some parts, which all must give the same bits.
// Memory of results has all bits set before, so that an element that is not
// written is seen.

#include "DeviceCalls.h"

#include "Target/CPU/Precompiled.h"
#include "Target/CUDA/DeviceFiles.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Runtime/KernelCode.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;
using namespace cutback::interpreter;
using test::DeviceCalls;

DeviceCalls::DeviceCalls() {
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
}

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
  entry = buildAndLoad(files);
  ASSERT_TRUE(entry);
  loadForCpu();
}

void DeviceCalls::runKernel(const CallKernel &kernel, size_t number,
                            void **operands, KernelMark &problem, By by) {
  if (by == By::Cpu) {
    KernelCode function = native->find(kernel.kernel.name);
    ASSERT_TRUE(function) << kernel.kernel.name;
    // As threads would, in any order.
    int64_t parts = 1 + int64_t(number % 3);
    for (int64_t part = parts; part-- > 0;) {
      int64_t cells[kKernelCells] = {0, 0, part, parts};
      callKernel(function, operands, cells);
      problem.kind |= static_cast<int>(cells[0]);
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
  KernelMark problem;
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
  return problem.kind != 0;
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

void DeviceCalls::compareAll() {
  load();
  if (HasFatalFailure())
    return;
  for (Call &call : calls)
    EXPECT_EQ(compare(call), "") << call.text;
}
