// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a reduction adds up in, and the one order in which it is folded.
#ifndef CUTBACK_LIB_TARGET_CPU_REDUCTIONS_H
#define CUTBACK_LIB_TARGET_CPU_REDUCTIONS_H

#include "NestScopes.h"

namespace cutback::cpu {

/// Accumulators of a row of `count` elements: element i goes to number i mod
/// this. A power of two, a function of the length alone.
int64_t numAccumulators(int64_t count);
/// Those of them that a row of `count` elements comes to, folded.
int64_t numUsed(int64_t count);
/// Of a column, whose innermost axis is kept: folded one after the other.
constexpr int64_t kColumnAccumulators = 8;

/// The type that elements of `type` are combined in: half precision in single,
/// truth values as bytes.
mlir::Type accumulatorType(mlir::Type type);
mlir::Value toAccumulator(NestScopes &scopes, mlir::Value x);
mlir::Value fromAccumulator(NestScopes &scopes, mlir::Value x, mlir::Type type);

/// What does not change what it is combined with, as a constant.
mlir::Value identityOf(NestScopes &scopes, kernel::Combine how,
                       mlir::Type type);

/// Folds `count` accumulators from `first` on, a power of two from 4 on: four
/// neighbours first, then those of 32 that are 16, 8, 4, 2, 1 apart, then the
/// 32s.
mlir::Value foldRow(NestScopes &scopes, kernel::Combine how, mlir::Value memory,
                    mlir::Value first, int64_t count);

/// The same of each of `rows` rows at once, up to 128 accumulators, of which
/// each lies side by side for all: a vector.
mlir::Value foldRows(NestScopes &scopes, kernel::Combine how,
                     mlir::Value memory, int64_t count, int64_t rows);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_REDUCTIONS_H
