// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mark on the op, not a look at the matrix when the kernel runs: in an arena
// a tensor may have other strides than in PyTorch, and in a backward half the
// matrix may be an argument without any. A value without declared strides is
// contiguous.

#include "cutback/Interpreter/Determinants.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;

static bool hasStrides(joint::GraphOp graph, Value value) {
  StringRef name = joint::JointDialect::kStrides;
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = value.getDefiningOp();
  if (!op)
    return argument.getOwner() == &graph.getBlock() &&
           graph.getArgAttr(argument.getArgNumber(), name);
  Attribute strides = op->getDiscardableAttr(name);
  // Of several results: one entry each, unit where there are none.
  auto list = dyn_cast_or_null<ArrayAttr>(strides);
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (op->getNumResults() > 1 && list && number < list.size())
    return !isa<UnitAttr>(list[number]);
  return strides != nullptr;
}

void interpreter::markDeterminants(joint::GraphOp graph) {
  graph->walk([&](aten::CallOp call) {
    Operation *op = call.getOperation();
    StringRef packet = call.getSchema().packet;
    if (packet != "aten._linalg_det" && packet != "aten._linalg_slogdet")
      return;
    Value matrix = op->getOperand(0);
    if (!isa<ComplexType>(getElementTypeOrSelf(matrix.getType())) &&
        !hasStrides(graph, matrix))
      op->setDiscardableAttr(kTransposed, UnitAttr::get(op->getContext()));
  });
}
