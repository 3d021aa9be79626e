// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of kernels as CUDA C++, and what a runtime must know to launch it.
#ifndef CUTBACK_TARGET_CUDA_EMITSTEP_H
#define CUTBACK_TARGET_CUDA_EMITSTEP_H

#include "cutback/Lowering/FormKernels.h"
#include "cutback/Runtime/Artifact.h"

#include <array>
#include <optional>

namespace cutback {

/// A file of text: its name, and what it holds.
using TextFile = std::pair<std::string, std::string>;

/// Blocks and threads of a kernel.
struct KernelGrid {
  std::array<int64_t, 3> grid, block;
  int64_t sharedBytes = 0;
  int64_t runs = 0;       ///< of the body on a CPU, in place of blocks, or 0
  bool isProduct = false; ///< threads of a CPU share the blocks of a run
};

/// A function that was compiled with Cutback, and what it is told
/// (Target/CPU/PrecompiledCalls.h), for a kernel on a CPU.
struct PrecompiledCall {
  std::string function, description;
};

/// A step in CUDA C++.
struct CudaStep {
  Artifact artifact; ///< without checksums of files
  /// A file of kernels for each segment (forward.cu), and the headers that they
  /// include.
  std::vector<TextFile> files;
  /// By kernel its parameters: type of an element ("const float") and name.
  std::vector<std::vector<TextFile>> parameters;
  /// By kernel the launch that its text is for, and whether it is one
  /// product().
  std::vector<KernelGrid> grids;
  /// By kernel what a CPU runs in its place, where there is such a function.
  std::vector<std::optional<PrecompiledCall>> precompiled;
};

/// Which kernels have text: all, or calls alone that are not precompiled.
enum class StepKernels { HaveText, AreMachineCode };

/// What the user chose of the text.
struct CudaOptions {
  /// Products and convolutions of f32 are on tensor cores, their factors
  /// rounded to ten bits of mantissa. Not PyTorch's default.
  bool tf32 = false;
};

/// Writes the kernels of a step of `graph`, and its calls. Equal kernels are
/// written once, those of several segments where the first has them. With
/// `AreMachineCode` a kernel that is no call, or a precompiled one, stands for
/// the function of its name alone. Emits an error at each op that has no
/// kernel, with the next step. Linear.
mlir::FailureOr<CudaStep> emitCudaStep(const KernelModule &kernels,
                                       joint::GraphOp graph,
                                       StepKernels form = StepKernels::HaveText,
                                       CudaOptions options = {});

/// The text as a program for the host: host.cpp, which includes it behind an
/// emulation of the device, and that emulation.
std::vector<TextFile> emitCudaHost(const CudaStep &step);

/// The calls of a step as functions of their names (Artifact.h, kCodeSuffix),
/// which run products as loops, for the C++ compiler of this machine.
struct CpuCalls {
  /// One for each segment that has a kernel: calls_forward.cpp.
  std::vector<TextFile> sources;
  std::vector<TextFile> headers; ///< what they include besides the text
};
CpuCalls emitCpuCalls(const CudaStep &step);

} // namespace cutback

#endif // CUTBACK_TARGET_CUDA_EMITSTEP_H
