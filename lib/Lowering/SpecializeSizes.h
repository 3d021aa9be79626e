// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A half of a step for one set of sizes.
#ifndef CUTBACK_LIB_LOWERING_SPECIALIZESIZES_H
#define CUTBACK_LIB_LOWERING_SPECIALIZESIZES_H

#include "cutback/MemoryPlan/StepProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace cutback {

/// Gives the values of `half`, a copy of a function of `program` by `copies`,
/// the types that the program knows, without symbols, and writes the numbers
/// that it knows into the calls that take them. `saved`: the arguments of a
/// backward that are the saved values of the program, in their order. Linear.
void specializeSizes(mlir::func::FuncOp half, const StepProgram &program,
                     const mlir::IRMapping &copies,
                     llvm::ArrayRef<mlir::BlockArgument> saved);

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_SPECIALIZESIZES_H
