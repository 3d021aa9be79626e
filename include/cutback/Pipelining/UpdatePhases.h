// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What updates the parameters of a stage, as phases.
#ifndef CUTBACK_PIPELINING_UPDATEPHASES_H
#define CUTBACK_PIPELINING_UPDATEPHASES_H

#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Pipelining/PhaseGraphs.h"
#include "cutback/Training/Optimizer.h"

namespace cutback {

/// By stage of `program`: `optimizer` without the patterns of parameters that
/// do not decay which fit none of the stage. Fails with an error at the first
/// stage for one that fits no stage at all.
mlir::FailureOr<std::vector<Optimizer>>
distributeOptimizer(const CutProgram &program, const Optimizer &optimizer);

/// `norms` (buildNorms) where the optimizer clips or scales, and `update`
/// (buildUpdate, Norms::Given) of a stage with gradients: they take them by
/// their names in files, `grad.NAME`. Empty where it updates nothing. Linear.
mlir::FailureOr<std::vector<PhaseGraph>>
makeUpdatePhases(joint::GraphOp stage, const Optimizer &optimizer);

} // namespace cutback

#endif // CUTBACK_PIPELINING_UPDATEPHASES_H
