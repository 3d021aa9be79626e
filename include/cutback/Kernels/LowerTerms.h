// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Terms of the network that no plan's kernels come below.
#ifndef CUTBACK_KERNELS_LOWERTERMS_H
#define CUTBACK_KERNELS_LOWERTERMS_H

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Kernels/KernelProblem.h"
#include "cutback/Partition/RooflineProblem.h"

namespace cutback {

struct LowerTerms {
  /// savePs and recomputePs that under-estimate; kNever is as in
  /// the costs that they were made from, but that copied views may be saved.
  RooflineCosts costs;
  Relaxation relaxation;
  /// What every plan pays besides: the backward reads parameters and tangents.
  int64_t everyPlanPs = 0;
};

/// The least that saving a value or running an op again can add to the step, as
/// KernelPlanner::extraPs counts it: per value and op the least over the
/// kernels that it can be in. The terms that a plan pays are together no more
/// than its extraPs, where formKernels() makes of the ops of both halves alone
/// no more than it makes of them with what is saved and copied. (It is greedy,
/// so that it spares memory is taken off; of random plans on random graphs one
/// in 250 is below its terms.) `costs` are those of refineByKernels. Two
/// formations of each half; near linear.
LowerTerms lowerTerms(const RooflineCosts &costs, const KernelProblem &problem,
                      const GraphView &view, const GraphSets &sets,
                      const ValueSizes &sizes, const Device &device);

} // namespace cutback

#endif // CUTBACK_KERNELS_LOWERTERMS_H
