// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which inputs of a step an index was computed from, for errors.
#ifndef CUTBACK_LIB_INTERPRETER_INDEXSOURCE_H
#define CUTBACK_LIB_INTERPRETER_INDEXSOURCE_H

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace cutback::interpreter {

/// What files call the arguments that the integer operands of `op` are computed
/// from by way of integers: {"input.0"}, in the order in which they are met. Of
/// an op in a half, the arguments of the graph beside it. Linear.
std::vector<std::string> findIndexSources(mlir::Operation *op);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_INDEXSOURCE_H
