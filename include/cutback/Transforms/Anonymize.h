// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that plans as before and does not say whose model it is.
#ifndef CUTBACK_TRANSFORMS_ANONYMIZE_H
#define CUTBACK_TRANSFORMS_ANONYMIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace cutback {

/// Replaces every name of values, arguments, parameters, functions and
/// symbols, every source line, every text and every number that is not whole
/// by a neutral one, in place; drops attributes that no plan reads, and the
/// elements of constants. What stays: ops, types, sizes with their hints, whole
/// numbers, roles, tags, checkpoint regions, the nesting of modules and which
/// ops share a source line. The order of everything stays, so a plan of the
/// result saves the values with the same numbers. Linear but for maps.
void anonymize(mlir::ModuleOp module);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_ANONYMIZE_H
