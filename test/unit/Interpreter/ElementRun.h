// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls by their element formulas (joint::LowerableOpInterface), one iteration
// after the other: to compare with a kernel of the interpreter.
#ifndef CUTBACK_TEST_UNIT_INTERPRETER_ELEMENTRUN_H
#define CUTBACK_TEST_UNIT_INTERPRETER_ELEMENTRUN_H

#include "cutback/Interpreter/Tensor.h"

#include "mlir/IR/Operation.h"

namespace cutback::test {

struct ElementRun {
  /// Nothing is run where the call has no formula, or no loops for these sizes.
  bool hasRun = false;
  std::vector<interpreter::Tensor> results;
  /// What the formula did that it may not; empty if nothing.
  std::string fault;
};

/// "failed" if the call's formula is not built, else empty.
std::string buildError(mlir::Operation *call);

ElementRun runElements(mlir::Operation *call,
                       llvm::ArrayRef<interpreter::RuntimeValue> operands);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_INTERPRETER_ELEMENTRUN_H
