// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More tables of decomposition rules, beside those of Rules.h.
#ifndef CUTBACK_LIB_DECOMPOSE_FACTORRULES_H
#define CUTBACK_LIB_DECOMPOSE_FACTORRULES_H

#include "Rules.h"

namespace cutback::decompose {

RuleTable factorRules();     ///< LU factors, equations of tensors, ranks
RuleTable histogramRules();  ///< histograms, quantiles without NaN
RuleTable differenceRules(); ///< gradient, lines, padded sequences
RuleTable copyRules();       ///< copies of views, parts at tensors

/// The transpose of the last two dimensions.
mlir::Value transposed(aten::CallBuilder &b, mlir::Value matrix);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_FACTORRULES_H
