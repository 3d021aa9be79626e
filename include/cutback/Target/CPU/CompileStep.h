// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step as a shared library for this machine.
#ifndef CUTBACK_TARGET_CPU_COMPILESTEP_H
#define CUTBACK_TARGET_CPU_COMPILESTEP_H

#include "cutback/Target/CPU/LowerKernel.h"
#include "cutback/Target/CUDA/Toolchain.h"

namespace cutback {

/// A step of the target "cpu".
struct CpuStep {
  Artifact artifact; ///< without checksums of files
  /// libstep.so, and the text of the calls.
  std::vector<TextFile> files;
  /// Why there is no library, though every op has a kernel: a compiler that is
  /// missing or has refused the text.
  ToolResult tool;
  std::string next; ///< what to do about it
};

/// Compiles the kernels of a step of `graph` to machine code, its calls with
/// the compiler of the host, and links both. Emits an error at each op that has
/// no machine code.
mlir::FailureOr<CpuStep>
compileCpuStep(const KernelModule &kernels, joint::GraphOp graph,
               AccessTests tests = AccessTests::OfData);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_COMPILESTEP_H
