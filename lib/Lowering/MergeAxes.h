// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of a nest that all accesses walk as one.
#ifndef CUTBACK_LIB_LOWERING_MERGEAXES_H
#define CUTBACK_LIB_LOWERING_MERGEAXES_H

#include "cutback/Dialect/Kernel/Kernel.h"

namespace cutback {

/// Makes one of two neighbours of one kind where each access goes over both as
/// over one with the stride of the inner: [2, 32, 64] of contiguous tensors is
/// [4096]. So kernels that differ in shapes alone are equal. O(accesses x
/// axes).
void mergeAxes(kernel::NestOp nest);

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_MERGEAXES_H
