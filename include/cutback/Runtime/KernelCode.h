// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call of a kernel's machine code.
#ifndef CUTBACK_RUNTIME_KERNELCODE_H
#define CUTBACK_RUNTIME_KERNELCODE_H

#include <cstdint>

namespace cutback {

/// Takes the addresses of a kernel's operands, and kKernelCells (Artifact.h).
using KernelCode = void (*)(void **operands, int64_t *cells);

/// UBSan looks for the type of a function in front of its code, where machine
/// code of ours has nothing.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
inline void callKernel(KernelCode code, void **operands, int64_t *cells) {
  code(operands, cells);
}

} // namespace cutback

#endif // CUTBACK_RUNTIME_KERNELCODE_H
