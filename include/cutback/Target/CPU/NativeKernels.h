// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as machine code: of this process, or as an object file.
#ifndef CUTBACK_TARGET_CPU_NATIVEKERNELS_H
#define CUTBACK_TARGET_CPU_NATIVEKERNELS_H

#include "cutback/Interpreter/KernelBodies.h"
#include "cutback/Target/CPU/LowerKernel.h"
#include "cutback/Target/CUDA/EmitStep.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cutback {

/// How kernels become loops of this machine's processor. Other choices give the
/// same bits.
LoopChoices choicesOfThisProcessor(AccessTests tests = AccessTests::OfData);

/// Compiles all kernels of `module` for this machine. It must outlive what is
/// returned. Emits an error at an op that has no machine code.
mlir::FailureOr<std::unique_ptr<interpreter::KernelRunner>>
compileNativeKernels(mlir::ModuleOp module);

/// The same, with so many parts (Runtime/Artifact.h) of each kernel one behind
/// the other, the last one first: what threads do in any order.
mlir::FailureOr<std::unique_ptr<interpreter::KernelRunner>>
compileNativeKernelsInParts(mlir::ModuleOp module, unsigned parts,
                            const LoopChoices &choices);

/// An object file of kernels.
struct KernelObject {
  std::string bytes;
  /// By kernel: what it checks (Artifact.h).
  std::map<std::string, std::vector<int64_t>> bounds;
};

/// Names of kernels, and what is called in their place.
using NamedCalls = std::vector<std::pair<std::string, PrecompiledCall>>;

/// Compiles all kernels of `module` for this machine: the same code, under
/// symbols NAME.run, as have `calls`. Emits an error at an op that has no
/// machine code.
mlir::FailureOr<KernelObject>
compileKernelObject(mlir::ModuleOp module, const NamedCalls &calls = {},
                    AccessTests tests = AccessTests::OfData);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_NATIVEKERNELS_H
