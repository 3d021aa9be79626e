// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of the second level: units that have a gradient rule, and the ops of
// gradients, as pointwise ops and reductions. The ODS files say which op has
// which. Forms are applied where a plan is made in core ops, and not in front
// of PyTorch's decisions.
#ifndef CUTBACK_LIB_DECOMPOSE_CORERULES_H
#define CUTBACK_LIB_DECOMPOSE_CORERULES_H

#include "Rules.h"

namespace cutback::decompose {

/// A rule of this level; some ops are better left as they are.
struct CoreRule {
  aten::DecomposeFn build;
  /// Whether the rule applies to this op; null for always.
  bool (*applies)(aten::CallOp op) = nullptr;
};

/// `CoreUnit<"layerNorm">` of the ODS files.
namespace units {
#define ATEN_RULE(name) extern const CoreRule name;
#include "cutback/Dialect/Aten/AtenCoreUnits.inc"
} // namespace units

/// `CoreForm<"meanSquare">`.
namespace forms {
#define ATEN_RULE(name) extern const CoreRule name;
#include "cutback/Dialect/Aten/AtenCoreForms.inc"
} // namespace forms

/// The rule of an op that combines tensors without elements; null for others.
aten::DecomposeFn findEmptyRule(mlir::Operation *op);

/// f32 for 16-bit floats, else the element type of `x`: what the rules
/// compute in.
mlir::Type computeType(mlir::Value x);
/// `x` in that type.
mlir::Value widen(aten::CallBuilder &b, mlir::Value x);
/// `value` in the element type of result `i` of the op; null stays null.
mlir::Value asResult(Rewrite &c, mlir::Value value, unsigned i = 0);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_CORERULES_H
