// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint regions whose gradients flow through their inputs alone.
#ifndef CUTBACK_LIB_AUTOGRAD_REENTRANTREGIONS_H
#define CUTBACK_LIB_AUTOGRAD_REENTRANTREGIONS_H

#include "DifferentiateTargets.h"

namespace cutback {

/// Looks at the regions of `graph` with `reentrant = true`. Where none of the
/// values that a region reads, parameters aside, has a gradient, it warns and
/// detaches the region's results. An error if gradients of chosen arguments
/// are asked for, or if no result of a region has a gradient. Linear.
llvm::LogicalResult detachReentrant(joint::GraphOp graph,
                                    const DifferentiateOptions &options,
                                    const GradientTargets &targets);

} // namespace cutback

#endif // CUTBACK_LIB_AUTOGRAD_REENTRANTREGIONS_H
