// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element formulas of ATen calls, one function an op or a few of them,
// named in the ODS files (see joint::LowerableOpInterface).
#ifndef CUTBACK_DIALECT_ATEN_ELEMENTS_H
#define CUTBACK_DIALECT_ATEN_ELEMENTS_H

#include "cutback/Dialect/Joint/ElementBuilder.h"

#include "mlir/IR/Operation.h"

namespace cutback::aten::elements {

using joint::ElementBuilder;
using Results = llvm::SmallVectorImpl<mlir::Value>;

/// Fails, without an error, where the call has no formula.
using Function = llvm::LogicalResult(mlir::Operation *op,
                                     ElementBuilder &elements,
                                     Results &results);

/// As the ODS files name them; `none` is of a call without a formula.
#define ATEN_RULE(name) Function name;
#include "cutback/Dialect/Aten/AtenElements.inc"

} // namespace cutback::aten::elements

#endif // CUTBACK_DIALECT_ATEN_ELEMENTS_H
