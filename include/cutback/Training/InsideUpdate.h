// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The update inside of the backward: as ops of the step's graph, so that no
// gradient lives longer than its own update.
#ifndef CUTBACK_TRAINING_INSIDEUPDATE_H
#define CUTBACK_TRAINING_INSIDEUPDATE_H

#include "cutback/Training/Update.h"

namespace cutback {

/// Why the update of `graph` comes after all gradients are there, as the end of
/// a sentence; empty where each parameter may be updated inside of the
/// backward. Linear.
std::string whyUpdateAfter(joint::GraphOp graph, const Optimizer &optimizer,
                           llvm::ArrayRef<UpdatedParameter> parameters);

/// Puts the ops of buildUpdate() into `graph`, a joint graph for which
/// whyUpdateAfter() has nothing: those of a parameter after the last op that
/// makes its gradient, or reads the parameter. States of the optimizer,
/// kLearningRate and kStepNumber become arguments, the last ones, under their
/// names in files (interpreter::kFileName); gradients of what is updated are no
/// results any more; what is tied is read under its first name. Fails as
/// buildUpdate() does. Linear.
mlir::LogicalResult insertUpdate(joint::GraphOp graph,
                                 const Optimizer &optimizer,
                                 llvm::ArrayRef<UpdatedParameter> parameters);

} // namespace cutback

#endif // CUTBACK_TRAINING_INSIDEUPDATE_H
