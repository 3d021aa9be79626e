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

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_CORERULES_H
