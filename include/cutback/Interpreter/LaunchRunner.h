// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who runs the launches of a step in the interpreter's place.
#ifndef CUTBACK_INTERPRETER_LAUNCHRUNNER_H
#define CUTBACK_INTERPRETER_LAUNCHRUNNER_H

#include "cutback/Dialect/Kernel/Kernel.h"

namespace cutback::interpreter {

/// Runs launches of a function, in their order, in the memory that the run has
/// (InterpreterOptions::memory) and on the bytes of the step's arguments.
class LaunchRunner {
public:
  virtual ~LaunchRunner() = default;
  /// Runs one, not of a nested graph. Emits an error if that fails.
  virtual llvm::LogicalResult run(kernel::LaunchOp launch) = 0;
  /// All launches of `function` have run.
  virtual llvm::LogicalResult finish(mlir::Operation *function) = 0;
};

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_LAUNCHRUNNER_H
