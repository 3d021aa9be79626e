// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of ops that have no `SizeEvaluationOpInterface`, from what MLIR itself
// knows of them.
#ifndef CUTBACK_ANALYSIS_SIZEFALLBACK_H
#define CUTBACK_ANALYSIS_SIZEFALLBACK_H

#include "mlir/IR/Operation.h"

namespace cutback {

/// Types and integers of the results of `op` for operands of types
/// `operandTypes`, one entry a result in each list. A result that nothing is
/// known of gets its declared type and `ShapedType::kDynamic`. Emits nothing.
void inferSizes(mlir::Operation *op, llvm::ArrayRef<mlir::Type> operandTypes,
                llvm::SmallVectorImpl<mlir::Type> &types,
                llvm::SmallVectorImpl<int64_t> &ints);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_SIZEFALLBACK_H
