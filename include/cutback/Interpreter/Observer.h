// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who looks on while the interpreter runs: checks, traces, tests.
#ifndef CUTBACK_INTERPRETER_OBSERVER_H
#define CUTBACK_INTERPRETER_OBSERVER_H

#include "cutback/Interpreter/Tensor.h"

#include "mlir/IR/Operation.h"

#include <functional>

namespace cutback::interpreter {

/// Is told of the ops of a function, and of launches as of ops. Of the graphs
/// of a call it hears nothing. A callback that fails, with an error emitted,
/// stops the run.
class OpObserver {
public:
  virtual ~OpObserver();

  /// `function` begins with these values for its arguments.
  virtual llvm::LogicalResult starts(mlir::Operation *function,
                                     llvm::ArrayRef<RuntimeValue> arguments);
  /// `op` is about to run.
  virtual void begins(mlir::Operation *op);
  /// `op` has run. A result may lie where an operand lay; what is done to a
  /// result is seen by later ops.
  virtual llvm::LogicalResult ran(mlir::Operation *op,
                                  llvm::MutableArrayRef<RuntimeValue> results);
  /// `function` has run and gives back these values.
  virtual llvm::LogicalResult ends(mlir::Operation *function,
                                   llvm::ArrayRef<RuntimeValue> results);

  /// Whether the ops of a launch, which has run, are wanted one by one: they
  /// run again, on what the launch has read. Asked for a copy of that before
  /// each launch, if `keepsOperands`.
  virtual bool keepsOperands() const { return false; }
  virtual bool wantsOpsOf(mlir::Operation *launch,
                          llvm::ArrayRef<RuntimeValue> results);
};

/// Calls a function behind each op.
class OpCallback : public OpObserver {
public:
  using Function = std::function<void(mlir::Operation *,
                                      llvm::MutableArrayRef<RuntimeValue>)>;
  explicit OpCallback(Function function) : function(std::move(function)) {}
  llvm::LogicalResult
  ran(mlir::Operation *op,
      llvm::MutableArrayRef<RuntimeValue> results) override {
    function(op, results);
    return llvm::success();
  }

private:
  Function function;
};

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_OBSERVER_H
