// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The terms of the network of cost model `roofline`, by the kernels that the
// backward has whatever the plan.
#ifndef CUTBACK_KERNELS_NETWORKTERMS_H
#define CUTBACK_KERNELS_NETWORKTERMS_H

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Kernels/KernelProblem.h"

namespace cutback {

/// Puts in the place of savePs of tensors and recomputePs of ops what their
/// kernels add to the step, as KernelPlanner::extraPs counts it, as far as it
/// does not depend on the plan, and fills in copyReads, stepPs and givenBytes.
/// What is kNever or 0 stays so. One formation of each half; near linear.
void refineByKernels(RooflineCosts &costs, const KernelProblem &problem,
                     const GraphView &view, const GraphSets &sets,
                     const ValueSizes &sizes, const Device &device);

} // namespace cutback

#endif // CUTBACK_KERNELS_NETWORKTERMS_H
