// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literals of a half, in the launches that read them.
#ifndef CUTBACK_LIB_LOWERING_REPEATLITERALS_H
#define CUTBACK_LIB_LOWERING_REPEATLITERALS_H

#include "mlir/IR/Operation.h"

#include <vector>

namespace cutback {

/// Literals and their views lie nowhere: each launch that reads one makes it
/// again. Numbers that differ, and what is a result, stay where they are,
/// outside. Linear.
void repeatLiterals(std::vector<std::vector<mlir::Operation *>> &launches);

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_REPEATLITERALS_H
