// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step without a plan, for terms that must not depend on one.
#ifndef CUTBACK_LIB_KERNELS_PLAINHALVES_H
#define CUTBACK_LIB_KERNELS_PLAINHALVES_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Kernels/KernelProblem.h"

namespace cutback {

/// By op: the backward reads a result of it, or of one that reads it. Linear.
std::vector<uint8_t> findWantedOps(const KernelProblem &problem,
                                   const GraphView &view,
                                   const GraphSets &sets);

/// By value: it is the root of a result of the forward.
std::vector<uint8_t> findForwardResults(const KernelProblem &problem,
                                        const GraphView &view);

} // namespace cutback

#endif // CUTBACK_LIB_KERNELS_PLAINHALVES_H
