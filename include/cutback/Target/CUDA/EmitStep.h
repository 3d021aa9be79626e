// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of kernels as CUDA C++, and what a runtime must know to launch it.
#ifndef CUTBACK_TARGET_CUDA_EMITSTEP_H
#define CUTBACK_TARGET_CUDA_EMITSTEP_H

#include "cutback/Lowering/FormKernels.h"
#include "cutback/Runtime/Artifact.h"

namespace cutback {

/// A file of text: its name, and what it holds.
using TextFile = std::pair<std::string, std::string>;

/// A step in CUDA C++.
struct CudaStep {
  Artifact artifact; ///< without checksums of files
  /// A file of kernels for each segment (forward.cu), and the headers that they
  /// include.
  std::vector<TextFile> files;
  /// By kernel its parameters: type of an element ("const float") and name.
  std::vector<std::vector<TextFile>> parameters;
  uint64_t numCalls = 0; ///< launches that stand for a call
};

/// Writes the kernels of a step of `graph`, and its calls. Equal kernels are
/// written once, those of several segments
/// where the first has them. Emits an error at each op
/// that has no kernel for a GPU, with the next step. Linear.
mlir::FailureOr<CudaStep> emitCudaStep(const KernelModule &kernels,
                                       joint::GraphOp graph);

/// The text as a program for the host: host.cpp, which includes it behind an
/// emulation of the device, and that emulation.
std::vector<TextFile> emitCudaHost(const CudaStep &step);

} // namespace cutback

#endif // CUTBACK_TARGET_CUDA_EMITSTEP_H
