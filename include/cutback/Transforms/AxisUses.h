// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one op walks one axis: what must be known to run it in pieces.
#ifndef CUTBACK_TRANSFORMS_AXISUSES_H
#define CUTBACK_TRANSFORMS_AXISUSES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <numeric>
#include <optional>

namespace cutback {

/// A dimension of an operand or a result.
struct AxisPlace {
  bool isResult = false;
  unsigned index = 0; ///< of the operand or result
  unsigned dim = 0;
};

/// An op that computes each part of its results from the same part of its
/// operands: the parts lie along one dimension each, and begin and end at the
/// same fraction of its size.
struct AxisUse {
  static constexpr int kNone = -1;

  /// By operand: the dimension of which a part needs the same part, or kNone:
  /// it needs all.
  llvm::SmallVector<int, 4> operandDim;
  /// By result: the dimension, or kNone.
  llvm::SmallVector<int, 2> resultDim;
  /// The one result is the sum of what each part gives.
  bool isSum = false;
  /// Parts may begin and end at multiples of 1 / grains.
  int64_t grains = 0;
};

/// How `op` walks the axis of `place`; nothing if a part of its results is not
/// what it makes of the same part of its operands, or where that is not known
/// (sizes that are not static; calls whose loops nobody describes).
///
/// Asked are, in this order: matrix products, by their factors; views, by where
/// their elements lie (Layouts.h); what has loops and an element formula, by
/// building the formula: it must not ask for its place along the axis, nor for
/// how many elements there are.
std::optional<AxisUse> findAxisUse(mlir::Operation *op, AxisPlace place);

/// Whether a parameter of this name lists the sizes of its op's result, so that
/// a part of the result has an argument of its own.
bool isSizesParameter(llvm::StringRef name);

/// Sizes of a tensor whose type is static; nothing for what is none.
std::optional<llvm::ArrayRef<int64_t>> staticShape(mlir::Value value);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_AXISUSES_H
