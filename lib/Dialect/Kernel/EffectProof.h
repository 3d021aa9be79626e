// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of reads, writes and draws in a step of launches.
#ifndef CUTBACK_LIB_DIALECT_KERNEL_EFFECTPROOF_H
#define CUTBACK_LIB_DIALECT_KERNEL_EFFECTPROOF_H

#include "cutback/Dialect/Kernel/Kernel.h"

namespace cutback::kernel {

/// Fails, with an error at the op and a note at the other, where an op of
/// `step` reads an argument on the wrong side of a write, or draws out of its
/// turn. Linear, times the length of chains of views.
mlir::LogicalResult verifyEffectOrder(const StepSegments &step);

} // namespace cutback::kernel

#endif // CUTBACK_LIB_DIALECT_KERNEL_EFFECTPROOF_H
