// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of the second level: units that have a gradient rule, and the ops of
// gradients, as pointwise ops and reductions.
#ifndef CUTBACK_LIB_DECOMPOSE_CORERULES_H
#define CUTBACK_LIB_DECOMPOSE_CORERULES_H

#include "Rules.h"

namespace cutback::decompose {

/// A rule of this level; some ops are better left as they are.
struct CoreRule {
  const char *torchName;
  aten::DecomposeFn build;
  /// Whether the rule applies to this op; null for always.
  bool (*applies)(aten::CallOp op) = nullptr;
};
using CoreTable = llvm::ArrayRef<CoreRule>;

CoreTable coreNormalizationRules(); ///< norms and their gradients
CoreTable coreSoftmaxRules();       ///< softmax, nll_loss, their gradients
CoreTable coreDataRules();          ///< pooling, repetition
CoreTable coreLinalgRules();        ///< pseudo-inverses

/// f32 for 16-bit floats, else the element type of `x`: what both families
/// compute in.
mlir::Type computeType(mlir::Value x);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_CORERULES_H
