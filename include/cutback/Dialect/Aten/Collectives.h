// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that a group of processes runs together.
#ifndef CUTBACK_DIALECT_ATEN_COLLECTIVES_H
#define CUTBACK_DIALECT_ATEN_COLLECTIVES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace cutback::aten {

/// True of a collective and of what waits for one.
bool isCollective(mlir::Operation *op);

/// Whether everything below `root` can run in one process. Else false, after an
/// error at the first op that cannot, with the next step.
bool runsInOneProcess(mlir::Operation *root);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_COLLECTIVES_H
