// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads that step through memory along another axis than the innermost one.
#ifndef CUTBACK_LIB_TARGET_CPU_TRANSPOSEDTILE_H
#define CUTBACK_LIB_TARGET_CPU_TRANSPOSEDTILE_H

#include "NestScopes.h"

namespace cutback::cpu {

/// Iterations of two groups of a nest: up to a side of each, from `first` on.
struct TransposedTile {
  size_t outer, inner;
  mlir::Value firstOuter, firstInner;
  mlir::Value numOuter, numInner; ///< a side, or less at an end
  int64_t sideOuter, sideInner;   ///< multiples of 8
};

/// Whether copyTransposed() can copy what `load` reads: 32 bits an element,
/// neighbors along `outer`, of known places.
bool isTransposed(NestScopes &scopes, kernel::LoadOp load, size_t outer,
                  size_t inner);

/// Writes loops that copy what `load` reads in the tile, eight by eight
/// elements in registers: element (o, i) to o * sideInner + i of the memory
/// that it returns.
mlir::Value copyTransposed(NestScopes &scopes, kernel::LoadOp load,
                           const TransposedTile &tile);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_TRANSPOSEDTILE_H
