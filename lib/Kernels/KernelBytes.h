// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels read and write.
#ifndef CUTBACK_LIB_KERNELS_KERNELBYTES_H
#define CUTBACK_LIB_KERNELS_KERNELBYTES_H

#include "cutback/Kernels/Formation.h"

namespace cutback {

/// What a segment says of ops and values.
struct SegmentFacts {
  std::vector<uint32_t> places; ///< by op; kNone: not in the segment
  std::vector<uint8_t> isKept;  ///< by root
  std::vector<uint8_t> isGiven; ///< by value (KernelProblem::findGiven)

  /// Linear.
  SegmentFacts(const KernelProblem &problem, const GraphView &view,
               const SegmentOps &segment);
};

/// Fills in passes, bytes and time of all kernels. Linear.
void countBytes(const KernelProblem &problem, const GraphView &view,
                const ValueSizes &sizes, const SegmentOps &segment,
                const KernelRates &rates, const SegmentFacts &facts,
                SegmentKernels &kernels);

} // namespace cutback

#endif // CUTBACK_LIB_KERNELS_KERNELBYTES_H
