// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as machine code of this process.
#ifndef CUTBACK_TARGET_CPU_NATIVEKERNELS_H
#define CUTBACK_TARGET_CPU_NATIVEKERNELS_H

#include "cutback/Interpreter/KernelBodies.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace cutback {

/// Compiles all kernels of `module` for this machine. It must outlive what is
/// returned. Emits an error at an op that has no machine code.
mlir::FailureOr<std::unique_ptr<interpreter::KernelRunner>>
compileNativeKernels(mlir::ModuleOp module);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_NATIVEKERNELS_H
