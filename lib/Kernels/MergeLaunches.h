// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that need nothing of each other, in one launch.
#ifndef CUTBACK_LIB_KERNELS_MERGELAUNCHES_H
#define CUTBACK_LIB_KERNELS_MERGELAUNCHES_H

#include "KernelBytes.h"

namespace cutback {

/// Merges each kernel with one of the few in front of it, at either's place,
/// where
///   * both have the same schedule, elements of both stay or both move
///     (Kernel::isAligned), and neither needs what the other makes;
///   * nothing that stands between the two has to come between them: a reader,
///     a write, an effect;
///   * what is live stays within the room; where that is an estimate, what
///     moves is small, or far from the peak of the segment.
/// Loops of one shape become one nest. Gives by kernel the number of that at
/// whose place it runs, and leaves bytes to the caller. Near linear.
std::vector<uint32_t>
mergeLaunches(const KernelProblem &problem, const GraphView &view,
              const ValueSizes &sizes, const KernelLimits &limits,
              const SegmentFacts &facts, const MergeRoom &room,
              SegmentKernels &segment);

/// Makes one kernel of two where one reads what the other makes, element by
/// element of the same loops, so that this stays in registers: each reader
/// moves to the nearest such maker in front of it, or that one to the reader.
/// Leaves bytes to the caller. Near linear.
void fuseKernels(const KernelProblem &problem, const GraphView &view,
                 const ValueSizes &sizes, const KernelLimits &limits,
                 const SegmentFacts &facts, SegmentKernels &segment);

} // namespace cutback

#endif // CUTBACK_LIB_KERNELS_MERGELAUNCHES_H
