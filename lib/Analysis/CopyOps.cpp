// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of numbered ops, each made from its parts: name, properties,
// attributes, and the copies of what it reads. An op with regions is cloned, on
// a map of what it and its regions read. Ops are far apart in memory, so the
// next ones are fetched while one is copied.

#include "cutback/Analysis/CopyOps.h"

#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace cutback;

/// The op as row `row` of the view has it, or its terminator.
static Operation *copyRow(const GraphView &view, Operation *op, uint32_t row,
                          ArrayRef<Value> copies) {
  ArrayRef<uint32_t> read = view.operands(row);
  if (op->getNumRegions() == 0) {
    SmallVector<Value, 8> operands;
    for (uint32_t value : read)
      operands.push_back(copies[value]);
    return Operation::create(op->getLoc(), op->getName(), op->getResultTypes(),
                             operands, op->getDiscardableAttrDictionary(),
                             op->getPropertiesStorage(), BlockRange(),
                             /*numRegions=*/0);
  }
  // What the regions read from outside stands behind the operands.
  IRMapping mapping;
  for (uint32_t value : read)
    mapping.map(view.values[value], copies[value]);
  return op->clone(mapping);
}

Operation *cutback::copyOp(const GraphView &view, uint32_t op,
                           MutableArrayRef<Value> copies) {
  Operation *copy = copyRow(view, view.ops[op], op, copies);
  uint32_t first = view.resultBegin[op];
  for (auto [i, result] : llvm::enumerate(copy->getResults()))
    if (!copies[first + i])
      copies[first + i] = result;
  return copy;
}

joint::GraphOp cutback::copyGraph(const GraphView &view,
                                  std::vector<Value> &copies) {
  auto graph = cast<joint::GraphOp>(view.graph->cloneWithoutRegions());
  Block &block = graph.getBody().emplaceBlock();
  copies.assign(view.numValues(), Value());
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    copies[arg] = block.addArgument(view.types[arg], view.values[arg].getLoc());
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (op + 4 < view.numOps())
      prefetchOp(view.ops[op + 4]);
    block.push_back(copyOp(view, op, copies));
  }
  block.push_back(copyRow(view, view.terminator, view.numOps(), copies));
  return graph;
}
