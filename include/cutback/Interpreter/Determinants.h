// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which matrix it is whose LU factors a determinant gives.
#ifndef CUTBACK_INTERPRETER_DETERMINANTS_H
#define CUTBACK_INTERPRETER_DETERMINANTS_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::interpreter {

/// On `_linalg_det` and `_linalg_slogdet`: the factors are those of the
/// transposed matrix.
inline constexpr llvm::StringLiteral kTransposed = "joint.transposed";

/// PyTorch factorizes the transpose of a real contiguous matrix, and its
/// gradient solves with those factors: that is part of what its joint graphs
/// mean, though no call says so. Marks the determinants of `graph` by the
/// declared strides of their matrices. Linear.
void markDeterminants(joint::GraphOp graph);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_DETERMINANTS_H
