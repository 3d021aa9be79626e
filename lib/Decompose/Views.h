// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// View ops, forwards and backwards: a view of a new value of the viewed
// tensor, and the viewed tensor after a write to the view.
#ifndef CUTBACK_LIB_DECOMPOSE_VIEWS_H
#define CUTBACK_LIB_DECOMPOSE_VIEWS_H

#include "cutback/Dialect/Aten/CallBuilder.h"

namespace cutback {

/// The operand that the results of `op` are views of, -1 if they are none. Of
/// an op whose schema leaves it open, `joint.aliases` tells.
int64_t getViewed(mlir::Operation *op);

/// True for `detach`: the same values, another history.
bool isDetach(mlir::Operation *op);

/// Result `result` of the view op `view`, as a view of `base`.
mlir::Value viewAgain(aten::CallBuilder &b, mlir::Operation *view,
                      unsigned result, mlir::Value base);

/// `base` with result `result` of `view` replaced by `value`. Fails, by the
/// builder, where the view shows an element twice.
mlir::Value writeThrough(aten::CallBuilder &b, mlir::Operation *view,
                         unsigned result, mlir::Value base, mlir::Value value);

} // namespace cutback

#endif // CUTBACK_LIB_DECOMPOSE_VIEWS_H
