// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as functions of CUDA C++, and the launch that each is written for.
#ifndef CUTBACK_LIB_TARGET_CUDA_KERNELTEXT_H
#define CUTBACK_LIB_TARGET_CUDA_KERNELTEXT_H

#include "NestPlan.h"

#include "cutback/Target/CUDA/EmitStep.h"

#include <array>
#include <string>
#include <vector>

namespace cutback::cuda {

/// How threads are laid over what a kernel computes.
struct LaunchShape {
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  int64_t sharedBytes = 0;
};

/// A parameter of a kernel: a stretch of memory.
struct Parameter {
  std::string type, name; ///< of an element; as the text calls it
  bool isWritten = false;
};

/// One function of the text. Last parameter of one that checks indices:
/// `int *problem`.
struct KernelText {
  std::string name, comment, body; ///< comment and body: whole lines
  std::vector<Parameter> parameters;
  LaunchShape shape;
  /// Blocks that a multiprocessor has room for at least, or 0.
  int64_t blocksAtOnce = 0;
  bool waits = false;         ///< threads wait for each other
  bool checks = false;        ///< indices that data give
  bool mayOverlap = false;    ///< a result may lie where an operand lies
  bool isMachineCode = false; ///< has no text
  /// What a CPU runs in its place.
  std::optional<PrecompiledCall> precompiled;

  /// The function, with its comment.
  std::string print() const;
};

/// Writes `function`, whose parameters are called `names`. Nothing, with why in
/// `problem`, for a body that has no text. Linear in ops times passes.
std::optional<KernelText> writeKernel(kernel::FuncOp function,
                                      llvm::ArrayRef<std::string> names,
                                      std::string &problem);

/// C++ statements of a nest whose block number is `block`. `names`: of the
/// function's parameters.
struct NestText {
  std::string text;
  int64_t sharedBytes = 0;
  bool checks = false;
};
std::optional<NestText> writeNest(kernel::NestOp nest,
                                  const NestSchedule &schedule,
                                  llvm::ArrayRef<std::string> names,
                                  llvm::StringRef block, unsigned indent,
                                  std::string &problem);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_KERNELTEXT_H
