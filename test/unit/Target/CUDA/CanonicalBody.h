// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel evaluated scalar by scalar, with sums in the order that is stated
// for every target: what emitted text is compared with, bit by bit.
#ifndef CUTBACK_TEST_UNIT_TARGET_CUDA_CANONICALBODY_H
#define CUTBACK_TEST_UNIT_TARGET_CUDA_CANONICALBODY_H

#include "cutback/Dialect/Kernel/Kernel.h"

namespace cutback::test {

/// Runs `function` on memory, one pointer an argument. False for an op that it
/// does not know.
bool runCanonically(kernel::FuncOp function, llvm::ArrayRef<char *> memory);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TARGET_CUDA_CANONICALBODY_H
