// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element formulas (LowerableOpInterface) of MLIR's own ops: they are scalar
// ops already, on tensors or in the body of a structured op.
#ifndef CUTBACK_LIB_DIALECT_UPSTREAM_FORMULAS_H
#define CUTBACK_LIB_DIALECT_UPSTREAM_FORMULAS_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::upstream {

/// Of an op of `arith` or `math` on tensors: itself, on their elements. A
/// constant is one number everywhere, or has no formula.
struct ElementwiseFormula
    : joint::LowerableOpInterface::FallbackModel<ElementwiseFormula> {
  bool hasElement(mlir::Operation *op) const;
  mlir::LogicalResult
  buildElement(mlir::Operation *op, joint::ElementBuilder &elements,
               mlir::SmallVectorImpl<mlir::Value> &results) const;
};

/// Of a structured op with one result whose maps pick dimensions: its body.
/// One that combines elements does so by one op with a known Combine; what it
/// starts with is combined last.
struct StructuredFormula
    : joint::LowerableOpInterface::FallbackModel<StructuredFormula> {
  bool hasElement(mlir::Operation *op) const;
  mlir::LogicalResult
  buildElement(mlir::Operation *op, joint::ElementBuilder &elements,
               mlir::SmallVectorImpl<mlir::Value> &results) const;
};

/// Of an op of `tosa`, by its specification. Reductions combine one axis.
struct TosaFormula : joint::LowerableOpInterface::FallbackModel<TosaFormula> {
  bool hasElement(mlir::Operation *op) const;
  mlir::LogicalResult
  buildElement(mlir::Operation *op, joint::ElementBuilder &elements,
               mlir::SmallVectorImpl<mlir::Value> &results) const;
};

} // namespace cutback::upstream

#endif // CUTBACK_LIB_DIALECT_UPSTREAM_FORMULAS_H
