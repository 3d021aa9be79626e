// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled step has memory for.
#ifndef CUTBACK_LIB_TARGET_CUDA_STEPSIZES_H
#define CUTBACK_LIB_TARGET_CUDA_STEPSIZES_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cutback::cuda {

/// The error of a value whose size depends on data.
llvm::LogicalResult sayNoMemory(mlir::Value value);

/// Whether no launch makes such a value; else with that error.
llvm::LogicalResult checkSizes(mlir::func::FuncOp function);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_STEPSIZES_H
