// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step as a shared library for this machine.
#ifndef CUTBACK_TARGET_CPU_COMPILESTEP_H
#define CUTBACK_TARGET_CPU_COMPILESTEP_H

#include "cutback/Target/CPU/LowerKernel.h"
#include "cutback/Target/CUDA/EmitStep.h"

namespace cutback {

/// An op without machine code, which the interpreter runs in the step.
struct InterpretedOp {
  std::string op, types, place; ///< "_grouped_mm", "(4x8xf32)"; of the first
  std::string reason;           ///< "has no kernel yet"
  int64_t count = 0;            ///< launches
};

/// A step of the target "cpu".
struct CpuStep {
  Artifact artifact;           ///< without checksums of files
  std::vector<TextFile> files; ///< libstep.so, and calls.mlir if there are any
  std::vector<InterpretedOp> interpreted;
  /// Why there is no library, though every op has machine code, and what the
  /// linker said.
  std::string problem, log;
};

/// Compiles the kernels of a step of `graph` to machine code, and links it with
/// the functions that its calls name. A call that has no machine code is the
/// interpreter's; emits an error at each op that it does not run alone either.
/// With `hasGroup` collectives are launches that who runs the step provides.
mlir::FailureOr<CpuStep> compileCpuStep(const KernelModule &kernels,
                                        joint::GraphOp graph,
                                        AccessTests tests = AccessTests::OfData,
                                        bool hasGroup = false);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_COMPILESTEP_H
