// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composite ops of joint graphs, in terms of ops that the interpreter has.
#ifndef CUTBACK_PIPELINES_RUNNABLE_H
#define CUTBACK_PIPELINES_RUNNABLE_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// Decomposes the ops of `function`, a graph or a half, that have a rule and no
/// kernel, and takes known ops out of `with_effects`; whether there were any.
/// Fails with the error of a rule. The rules must be registered
/// (`registerTrainingGraph`). Linear.
mlir::FailureOr<bool> makeRunnable(mlir::Operation *function);

/// The same in front of a plan; where a rule fails the op stays.
void decomposeForPlan(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_PIPELINES_RUNNABLE_H
