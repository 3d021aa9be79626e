// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex tensors as two real ones, for rules of core ops.
#ifndef CUTBACK_LIB_DECOMPOSE_COMPLEXPARTS_H
#define CUTBACK_LIB_DECOMPOSE_COMPLEXPARTS_H

#include "Rules.h"

namespace cutback::decompose {

struct ComplexParts {
  mlir::Value real, imaginary; ///< null: zero
};

bool isComplex(mlir::Value value);
bool areAllComplex(aten::CallOp op); ///< its operands
mlir::Type partTypeOf(mlir::Value complex);
/// Parts of `value`; of a real tensor itself, in the type of the parts of
/// `like`.
ComplexParts partsOf(aten::CallBuilder &b, mlir::Value value, mlir::Value like);
/// The complex tensor that has them.
mlir::Value fromParts(aten::CallBuilder &b, mlir::Value real,
                      mlir::Value imaginary);

// Rules of ops that have another rule for real numbers, and which ops they are
// for: `cat`, by the parts of its tensors, and sums.

mlir::Value complexConcat(Rewrite &c);
mlir::Value complexSum(Rewrite &c);
bool isComplexSum(aten::CallOp op);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_COMPLEXPARTS_H
