// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether kernels can be written as one loop nest each, by counting out every
// element of every op: the naive reference beside formation.
#ifndef CUTBACK_TEST_UNIT_KERNELS_ELEMENTCHECK_H
#define CUTBACK_TEST_UNIT_KERNELS_ELEMENTCHECK_H

#include "cutback/Kernels/KernelPlan.h"

#include <string>

namespace cutback::test {

/// Follows, for each iteration of each kernel, which element of which op is
/// wanted, from the results down, with shapes, strides and interfaces alone.
/// Says what is wrong: an op of which two elements are wanted in one iteration,
/// a value that leaves its kernel and is not computed whole, a row that is
/// combined in another order of loops. Empty if nothing is. `kept`: values that
/// are read after the segment.
std::string checkElements(const GraphView &view, const ValueSizes &sizes,
                          const KernelProblem &problem,
                          const SegmentKernels &segment,
                          llvm::ArrayRef<uint32_t> order,
                          llvm::ArrayRef<uint32_t> kept);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_KERNELS_ELEMENTCHECK_H
