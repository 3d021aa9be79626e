// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase of a pipeline in the interpreter.
#ifndef CUTBACK_PIPELINING_INTERPRETEDPHASE_H
#define CUTBACK_PIPELINING_INTERPRETEDPHASE_H

#include "cutback/Runtime/Pipeline/PhaseRunner.h"

#include "mlir/IR/MLIRContext.h"

namespace cutback {

/// Runs the graph in `text`, as makePhases() has made it, op by op; `path` is
/// for messages. `context` must outlive the runner, and have the dialects and
/// rules of registerTrainingGraph(). Null, with `error` set, where it is no
/// such graph, or its sizes are not known.
std::unique_ptr<PhaseRunner> interpretPhase(mlir::MLIRContext &context,
                                            const std::string &text,
                                            const std::string &path,
                                            StepError &error);

} // namespace cutback

#endif // CUTBACK_PIPELINING_INTERPRETEDPHASE_H
