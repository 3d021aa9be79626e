// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that follow from sizes and are no sizes themselves: the factor of a
// mean's gradient, 2 / float(numel).
#ifndef CUTBACK_DIALECT_ATEN_SCALAREVALUATION_H
#define CUTBACK_DIALECT_ATEN_SCALAREVALUATION_H

#include "cutback/Dialect/Aten/CallOp.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cutback::aten {

/// The value of the only result of `op`, a float, by Python's arithmetic on
/// what `known` says of operands (an int counts as a float there). Nothing if
/// that is not known, or no number.
std::optional<double>
evaluateReal(CallOp op,
             llvm::function_ref<std::optional<double>(mlir::Value)> known);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_SCALAREVALUATION_H
