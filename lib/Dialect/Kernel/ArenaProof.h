// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof that the launches of a step do not destroy each other's results.
#ifndef CUTBACK_LIB_DIALECT_KERNEL_ARENAPROOF_H
#define CUTBACK_LIB_DIALECT_KERNEL_ARENAPROOF_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::kernel {

/// Fails, with an error at the launch and a note at the other, where a launch
/// writes over bytes that somebody still reads, or outside of the arena. Uses
/// the functions and the offsets alone. O(n log n) for n results.
llvm::LogicalResult proveArena(joint::PartitionOp partition, int64_t bytes);

} // namespace cutback::kernel

#endif // CUTBACK_LIB_DIALECT_KERNEL_ARENAPROOF_H
