// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops become pure functions of a seed.
#ifndef CUTBACK_DECOMPOSE_FUNCTIONALIZERNG_H
#define CUTBACK_DECOMPOSE_FUNCTIONALIZERNG_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// Writes the random ops of `graph`, and of the graphs that its ops run, with
/// `joint.random`, `joint.poisson` and `joint.binomial`, each with a stream of
/// its own in program order, so that they can be recomputed at any budget. The
/// graph gets one argument of role `rng_seed` (tensor<i64>), behind its others,
/// if it has such ops. Ops for which there is no rule (what attention's graphs
/// draw) stay as they are: drawn once, never recomputed. Linear.
mlir::LogicalResult functionalizeRng(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_DECOMPOSE_FUNCTIONALIZERNG_H
