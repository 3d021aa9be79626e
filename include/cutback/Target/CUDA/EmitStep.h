// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of kernels as CUDA C++, and what a runtime must know to launch it.
#ifndef CUTBACK_TARGET_CUDA_EMITSTEP_H
#define CUTBACK_TARGET_CUDA_EMITSTEP_H

#include "cutback/Lowering/FormKernels.h"
#include "cutback/Runtime/Artifact.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace cutback {

/// A file of text: its name, and what it holds.
using TextFile = std::pair<std::string, std::string>;

/// Why the interpreter runs a call that no kernel could be written for, in any
/// release: one reason of many ops.
inline constexpr const char *kSizedByData = "has a size that data decide";

/// A function that was compiled with Cutback, and what it is told
/// (Target/CPU/PrecompiledCalls.h), for a kernel on a CPU.
struct PrecompiledCall {
  std::string function, description;
  /// Of a call of the interpreter: why it has no machine code.
  std::string reason = {};
  int64_t flops = 0; ///< of products and attention, as they are computed
};

/// `structure` as it lies in memory: of 64-bit numbers alone.
template <typename Structure>
void appendDescription(std::string &description, const Structure &structure) {
  static_assert(std::is_trivially_copyable_v<Structure> &&
                    sizeof(Structure) % 8 == 0,
                "numbers alone");
  description.append(reinterpret_cast<const char *>(&structure),
                     sizeof(Structure));
}

/// One function that a CPU runs for a call, with the tensors in whose memory
/// its operands lie.
struct CpuCall {
  PrecompiledCall call;
  std::vector<mlir::Value> tensors;
};
/// The functions of `op`, in their order; nothing for an op that has none,
/// whose sizes are not known, or that draws random numbers.
std::optional<std::vector<CpuCall>> describeCpuCall(mlir::Operation *op);

/// A step in CUDA C++.
struct CudaStep {
  Artifact artifact; ///< without checksums of files
  /// A file of kernels for each segment (forward.cu), and the headers that they
  /// include.
  std::vector<TextFile> files;
  /// By kernel its parameters: type of an element ("const float") and name.
  std::vector<std::vector<TextFile>> parameters;
  /// By segment and launch: the op that it is of, a hook for the copy that it
  /// sees; null for a copy of what is handed over.
  std::vector<std::vector<mlir::Operation *>> origins;
  /// By their names in the graph: numbers of arguments.
  llvm::StringMap<int64_t> argumentNumbers;
  /// By kernel what a CPU runs in its place, where there is such a function.
  std::vector<std::optional<PrecompiledCall>> precompiled;
};

/// Whether kernels have text, or stand for functions of machine code.
enum class StepKernels { HaveText, AreMachineCode };

/// What the user chose of the text.
struct CudaOptions {
  /// Products and convolutions of f32 are on tensor cores, their factors
  /// rounded to ten bits of mantissa. Not PyTorch's default.
  bool tf32 = false;
  /// With `AreMachineCode`: collectives are launches, for a runtime that has a
  /// group of processes; else they are errors.
  bool hasGroup = false;
};

/// Writes the kernels of a step of `graph`, and its calls. Equal kernels are
/// written once, those of several segments where the first has them. With
/// `AreMachineCode` there is no text: a kernel stands for the function of its
/// name, and a call has a description. Emits an error at each op that has no
/// kernel, with the next step. Linear.
mlir::FailureOr<CudaStep> emitCudaStep(const KernelModule &kernels,
                                       joint::GraphOp graph,
                                       StepKernels form = StepKernels::HaveText,
                                       CudaOptions options = {});

/// The text as a program for the host: host.cpp, which includes it behind an
/// emulation of the device, and that emulation.
std::vector<TextFile> emitCudaHost(const CudaStep &step);

} // namespace cutback

#endif // CUTBACK_TARGET_CUDA_EMITSTEP_H
