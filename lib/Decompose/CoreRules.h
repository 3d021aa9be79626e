// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of the second level: units that have a gradient rule, and the ops of
// gradients, as pointwise ops and reductions. Those of the list are applied
// where a plan is made in core ops, and not in front of PyTorch's decisions.
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

CoreTable coreLossRules();      ///< of the list: losses of elements
CoreTable coreMoveRules();      ///< of the list: stacks, puts under a mask
CoreTable coreReductionRules(); ///< of the list: logsumexp, gates, dot products

/// f32 for 16-bit floats, else the element type of `x`: what the rules
/// compute in.
mlir::Type computeType(mlir::Value x);
/// `x` in that type.
mlir::Value widen(aten::CallBuilder &b, mlir::Value x);
/// `value` in the element type of result `i` of the op; null stays null.
mlir::Value asResult(Rewrite &c, mlir::Value value, unsigned i = 0);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_CORERULES_H
