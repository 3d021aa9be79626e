// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a segment launch by launch, as they run and as they are written.
#ifndef CUTBACK_KERNELS_LAUNCHORDER_H
#define CUTBACK_KERNELS_LAUNCHORDER_H

#include "cutback/Kernels/Formation.h"

namespace cutback {

/// All ops of a segment, those of one kernel behind each other. What no kernel
/// runs (a view, a literal, a size) stands with its first reader, or if it has
/// none with the last op that it reads.
struct LaunchOrder {
  std::vector<uint32_t> order; ///< ops of the graph
  /// By kernel, in the order in which they run: its ops in `order`, with what
  /// stands with it; 0 for none. The sum is the size of `order`; one entry
  /// where there is no kernel.
  std::vector<int32_t> sizes;
};

/// `order`: the ops as kernels were formed of them. Linear.
LaunchOrder orderByLaunches(const GraphView &view,
                            llvm::ArrayRef<uint32_t> order,
                            const SegmentKernels &segment);

} // namespace cutback

#endif // CUTBACK_KERNELS_LAUNCHORDER_H
