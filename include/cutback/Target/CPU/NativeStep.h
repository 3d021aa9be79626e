// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step as machine code of this process.
#ifndef CUTBACK_TARGET_CPU_NATIVESTEP_H
#define CUTBACK_TARGET_CPU_NATIVESTEP_H

#include "cutback/Interpreter/KernelBodies.h"

#include <memory>

namespace cutback {

/// Compiles all kernels of `module` for this machine, and links the functions
/// that its calls name: what a step of `compile --target=cpu` has. Calls whose
/// sizes data decide, random draws and ops without machine code stay with the
/// interpreter. The module must outlive what is returned. Emits an error at an
/// op that has no machine code, or where the linker fails.
mlir::FailureOr<std::unique_ptr<interpreter::KernelRunner>>
compileNativeStep(mlir::ModuleOp module);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_NATIVESTEP_H
