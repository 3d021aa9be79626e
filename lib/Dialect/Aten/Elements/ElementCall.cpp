// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all element formulas of ATen calls share.

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/Elements.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

LogicalResult elements::none(Operation *op, ElementBuilder &, Results &) {
  return op->emitOpError("has no element formula");
}

/// Integers, and floating point that processors know.
static bool isLowerable(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  return element.isIntOrIndex() || element.isF64() || element.isF32() ||
         element.isF16() || element.isBF16();
}

bool CallOp::hasElement() {
  return getInfo().element != &elements::none &&
         llvm::all_of(getOperation()->getOperandTypes(), isLowerable) &&
         llvm::all_of(getOperation()->getResultTypes(), isLowerable);
}
