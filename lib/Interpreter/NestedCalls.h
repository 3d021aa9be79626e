// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that run graphs.
#ifndef CUTBACK_LIB_INTERPRETER_NESTEDCALLS_H
#define CUTBACK_LIB_INTERPRETER_NESTEDCALLS_H

#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Interpreter/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace cutback::interpreter {

/// Runs one graph on values for its region's arguments.
using GraphRunner =
    llvm::function_ref<mlir::FailureOr<std::vector<RuntimeValue>>(
        mlir::Region &, llvm::ArrayRef<RuntimeValue>)>;

/// The results of `op`; they may share storage with operands. Emits an error
/// where a graph does, and for what is not executed here.
mlir::FailureOr<std::vector<RuntimeValue>>
runNested(joint::NestedOp op, llvm::ArrayRef<RuntimeValue> operands,
          GraphRunner run);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_NESTEDCALLS_H
