// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of kernels, compiled for the emulated device and loaded.
#ifndef CUTBACK_TEST_UNIT_TARGET_CUDA_HOSTKERNELS_H
#define CUTBACK_TEST_UNIT_TARGET_CUDA_HOSTKERNELS_H

#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Target/CUDA/EmitStep.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cutback::test {

/// Runs the kernel of a number: grid, block, shared bytes, operands and behind
/// them the mark of a problem.
using HostLaunch = void (*)(int, const unsigned *, const unsigned *, unsigned,
                            void **);

/// These files as a library of this process; null after a failure, which is
/// one of the test.
HostLaunch buildAndLoad(const std::vector<TextFile> &files);

/// Each `kernel.func` of a module.
class HostKernels {
public:
  /// False after a failure, which is one of the test.
  bool build(mlir::ModuleOp module);
  /// Runs `functions[k]` on memory, one pointer an argument; what is marked.
  int run(size_t k, std::vector<void *> memory) const;

  std::vector<kernel::FuncOp> functions;

private:
  struct Shape {
    unsigned grid[3], block[3], sharedBytes;
  };
  std::vector<Shape> shapes;
  HostLaunch entry = nullptr;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TARGET_CUDA_HOSTKERNELS_H
