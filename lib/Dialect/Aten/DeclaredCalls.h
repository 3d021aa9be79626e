// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What dialect `aten` says about calls of its ops that are taken as declared.
#ifndef CUTBACK_LIB_DIALECT_ATEN_DECLAREDCALLS_H
#define CUTBACK_LIB_DIALECT_ATEN_DECLAREDCALLS_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Declared.h"

namespace cutback::aten {

/// Whether an op draws random numbers, given its arguments `training` (or
/// `train`) and dropout probability, null where it has none.
bool drawsRandomly(const OpInfo &info, mlir::Attribute training,
                   mlir::Attribute probability);

std::unique_ptr<joint::CalleeInterface>
createDeclaredCalls(mlir::Dialect *dialect);

} // namespace cutback::aten

#endif // CUTBACK_LIB_DIALECT_ATEN_DECLAREDCALLS_H
