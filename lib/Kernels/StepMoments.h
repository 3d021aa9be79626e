// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is in the arena whatever the order and the plan.
#ifndef CUTBACK_LIB_KERNELS_STEPMOMENTS_H
#define CUTBACK_LIB_KERNELS_STEPMOMENTS_H

#include "cutback/Kernels/PlanBound.h"

namespace cutback {

/// By value: bytes in the arena of what is no view; 0 outside.
std::vector<int64_t> arenaBytes(const KernelProblem &problem,
                                const GraphView &view, const ValueSizes &sizes);

/// The moments at which most may be live, calls first. At most calls × ops,
/// within a bound on that.
std::vector<StepMoment> findMoments(const KernelProblem &problem,
                                    const GraphView &view,
                                    const GraphSets &sets,
                                    const std::vector<int64_t> &bytes);

} // namespace cutback

#endif // CUTBACK_LIB_KERNELS_STEPMOMENTS_H
