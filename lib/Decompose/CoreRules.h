// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of the second level: units that have a gradient rule, and the ops of
// gradients, as pointwise ops and reductions.
#ifndef CUTBACK_LIB_DECOMPOSE_CORERULES_H
#define CUTBACK_LIB_DECOMPOSE_CORERULES_H

#include "Rules.h"

namespace cutback::decompose {

RuleTable coreNormalizationRules(); ///< norms and their gradients
RuleTable coreSoftmaxRules();       ///< softmax, nll_loss, their gradients
RuleTable coreDataRules();          ///< pooling, repetition: where they apply

/// Where the rules of `coreDataRules` apply: `cat` of one tensor several
/// times, pooling of images by a window of fewer than 128 places.
bool isRepetition(mlir::Operation *op);
bool isSmallPool(mlir::Operation *op);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_CORERULES_H
