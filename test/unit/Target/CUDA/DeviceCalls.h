// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of PyTorch whose kernels become one library of the emulated device, and
// whose functions for a CPU become another.
#ifndef CUTBACK_TEST_UNIT_TARGET_CUDA_DEVICECALLS_H
#define CUTBACK_TEST_UNIT_TARGET_CUDA_DEVICECALLS_H

#include "../../Interpreter/TorchCalls.h"
#include "HostKernels.h"

#include "Target/CPU/LinkLibrary.h"
#include "Target/CUDA/CallText.h"
#include "cutback/Runtime/Executor.h"

#include "gtest/gtest.h"

#include <memory>

namespace cutback::test {

class DeviceCalls : public testing::Test {
protected:
  /// What runs a call: the emulated device, or a CPU.
  enum class By { Device, Cpu };

  /// A call, and the numbers of its kernels in the library. A CPU may have one
  /// function for what a device has several for.
  struct Call {
    std::string text;
    TorchCall torch;
    std::vector<cuda::CallKernel> kernels{}, natives{};
    size_t first = 0;
  };

  DeviceCalls();

  /// The kernels of a call, if it has some.
  void add(Call call);
  /// After all were added.
  void load();
  /// Whether a kernel marks a problem.
  bool run(Call &call, std::vector<std::vector<char>> &results,
           By by = By::Device);
  /// Loads all calls, and runs each: with blocks in both orders, and by a CPU.
  /// The bits are the same, the numbers near those that are expected.
  void compareAll();

  mlir::MLIRContext context;
  cuda::CallOptions options;
  std::vector<Call> calls;
  HostLaunch entry = nullptr;
  std::unique_ptr<cpu::LoadedLibrary> native; ///< calls for a CPU

private:
  void loadForCpu();
  void runKernel(const cuda::CallKernel &kernel, size_t number, void **operands,
                 KernelMark &problem, By by);
  std::string compare(Call &call);

  CudaStep step;
  std::string cuda = "#include \"cutback_cuda.cuh\"\n";
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TARGET_CUDA_DEVICECALLS_H
