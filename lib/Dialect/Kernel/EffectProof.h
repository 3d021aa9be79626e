// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of reads, writes and draws in a step of launches.
#ifndef CUTBACK_LIB_DIALECT_KERNEL_EFFECTPROOF_H
#define CUTBACK_LIB_DIALECT_KERNEL_EFFECTPROOF_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::kernel {

/// Fails, with an error at the op and a note at the other, where an op of
/// `partition` reads an argument on the wrong side of a write, or draws out of
/// its turn. Linear, times the length of chains of views.
mlir::LogicalResult verifyEffectOrder(joint::PartitionOp partition);

} // namespace cutback::kernel

#endif // CUTBACK_LIB_DIALECT_KERNEL_EFFECTPROOF_H
