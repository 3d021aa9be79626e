// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common scalars of a nest.
#ifndef CUTBACK_LIB_LOWERING_MERGESCALARS_H
#define CUTBACK_LIB_LOWERING_MERGESCALARS_H

#include "mlir/IR/Block.h"

namespace cutback {

/// Formulas are built one by one: equal scalars of a nest become one, indices
/// of an access too, and what no store needs goes. All loads stand before the
/// first store. Linear.
void mergeScalars(mlir::Block &nest);

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_MERGESCALARS_H
