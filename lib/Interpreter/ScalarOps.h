// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the scalar ops of `arith` and `math` compute.
#ifndef CUTBACK_LIB_INTERPRETER_SCALAROPS_H
#define CUTBACK_LIB_INTERPRETER_SCALAROPS_H

#include "mlir/IR/Operation.h"

namespace cutback::interpreter {

/// A number of one SSA value: floating point as double, integers (and `index`)
/// sign-extended. Only the half that the type asks for counts.
union Scalar {
  double real;
  int64_t integer;
};

/// The function of one op on numbers; `op` says types, predicates, constants.
using ScalarFn = Scalar (*)(mlir::Operation *op, const Scalar *operands);

/// Null for an op that is none, or is not known. Its result still has to be
/// rounded to its type.
ScalarFn findScalarOp(mlir::Operation *op);

/// Rounds to `type`: to nearest, ties to even; integers wrap around.
Scalar roundScalar(mlir::Type type, Scalar value);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_SCALAROPS_H
