// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations that update their running statistics.
#ifndef CUTBACK_LIB_DECOMPOSE_STATISTICS_H
#define CUTBACK_LIB_DECOMPOSE_STATISTICS_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallOp.h"

namespace cutback {

/// A batch or instance norm in training, with running statistics to update.
bool updatesStatistics(aten::CallOp op);

/// The results of such an op, and the statistics after it. Empty after an
/// error.
struct Normalized {
  llvm::SmallVector<mlir::Value> results;
  mlir::Value mean, variance;
};
Normalized buildNormalized(aten::CallBuilder &b, aten::CallOp op);

} // namespace cutback

#endif // CUTBACK_LIB_DECOMPOSE_STATISTICS_H
