// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in front of the text of a kernel.
#ifndef CUTBACK_LIB_TARGET_CUDA_LAUNCHCOMMENT_H
#define CUTBACK_LIB_TARGET_CUDA_LAUNCHCOMMENT_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include <string>

namespace cutback::cuda {

/// Ops, place, loops and bytes of a launch of `function`, as lines that begin
/// with `//`.
std::string commentOf(kernel::LaunchOp launch, kernel::FuncOp function);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_LAUNCHCOMMENT_H
