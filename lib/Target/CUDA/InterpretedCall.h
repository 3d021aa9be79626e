// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call as a function that the interpreter runs.
#ifndef CUTBACK_LIB_TARGET_CUDA_INTERPRETEDCALL_H
#define CUTBACK_LIB_TARGET_CUDA_INTERPRETEDCALL_H

#include "CallText.h"

namespace cutback::cuda {

/// The kernel of `op`, which has no machine code. Nothing where the interpreter
/// has no kernel either, where it draws random numbers, or where a size that it
/// takes is not known.
std::optional<CallKernel> writeInterpretedCall(mlir::Operation *op);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_INTERPRETEDCALL_H
