// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of ATen calls, one function a family, named in the ODS files. What
// has none is a kernel of its own. `shapes` holds the operands' shapes, then
// the results' (see joint::FusibleOpInterface).
#ifndef CUTBACK_DIALECT_ATEN_LOOPS_H
#define CUTBACK_DIALECT_ATEN_LOOPS_H

#include "cutback/Dialect/Joint/IterationSpace.h"

#include "mlir/IR/Operation.h"

namespace cutback::aten::loops {

using joint::IterationSpace;
using Shapes = joint::OpShapes;

/// A library call, or loops of another kind.
bool none(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// One element from the same place of each operand.
bool pointwise(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// Operand 0 along parameter `dim`; all of it without one, or for None or [].
bool reduction(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// Elements of a result, from anywhere in the operands; or from none.
bool gather(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// `gather` along parameter `dim`: a pick where one element a row is asked for.
bool pick(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// `scatter` along parameter `dim` of one element a row: elementwise, the new
/// one where the index says so. Nothing else.
bool place(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// Operand 0 with elements replaced, or added to, at computed places.
bool update(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// Rows of operand 0, chosen by operand 1.
bool lookup(mlir::Operation *op, Shapes shapes, IterationSpace &space);
/// Operands one behind the other along parameter `dim`.
bool concat(mlir::Operation *op, Shapes shapes, IterationSpace &space);

} // namespace cutback::aten::loops

#endif // CUTBACK_DIALECT_ATEN_LOOPS_H
