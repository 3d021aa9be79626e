// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `LiteralOpInterface`, which says that an op's results need not be computed:
// undefined contents, one number everywhere, constants of the program. Without
// it a plan would hand over zeros from the forward to the backward, because a
// product that accumulates into them reads them from memory.

#include "cutback/Dialect/Joint/Literal.h"

#include "mlir/IR/Matchers.h"

#include "cutback/Dialect/Joint/LiteralInterface.cpp.inc"

using namespace mlir;
using namespace cutback;

bool joint::isLiteral(Operation *op) {
  auto literal = dyn_cast<LiteralOpInterface>(op);
  return literal ? literal.isLiteral() : op->hasTrait<OpTrait::ConstantLike>();
}

bool joint::isUniformLiteral(Operation *op) {
  DenseElementsAttr numbers;
  return isLiteral(op) &&
         (!matchPattern(op, m_Constant(&numbers)) || numbers.isSplat());
}

bool joint::isUndefined(Operation *op) {
  auto literal = dyn_cast_if_present<LiteralOpInterface>(op);
  return literal && literal.isLiteral() && literal.isUndefined();
}
