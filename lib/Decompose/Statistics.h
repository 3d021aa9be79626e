// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that write what they keep of all steps: normalizations their running
// statistics, observers the range of what they see.
#ifndef CUTBACK_LIB_DECOMPOSE_STATISTICS_H
#define CUTBACK_LIB_DECOMPOSE_STATISTICS_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallOp.h"

namespace cutback {

/// A batch or instance norm in training, with running statistics to update; or
/// fake quantization with an observer.
bool updatesStatistics(aten::CallOp op);

/// The results of such an op, and the statistics after it, by parameter.
/// Without results after an error.
struct Updated {
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<std::pair<const char *, mlir::Value>, 4> statistics;
};
Updated buildUpdated(aten::CallBuilder &b, aten::CallOp op);

} // namespace cutback

#endif // CUTBACK_LIB_DECOMPOSE_STATISTICS_H
