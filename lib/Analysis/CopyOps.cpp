// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of numbered ops, each made from its parts: name, properties,
// attributes, and the copies of what it reads. An op with regions is cloned, on
// a map of what it and its regions read. Ops are far apart in memory, so the
// next ones are fetched while one is copied.

#include "cutback/Analysis/CopyOps.h"

#include "cutback/Support/MLIR/DefinitionMap.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace cutback;

Operation *cutback::copyReading(Operation *op, ArrayRef<Value> read,
                                ArrayRef<Value> now) {
  if (op->getNumRegions() == 0)
    return Operation::create(op->getLoc(), op->getName(), op->getResultTypes(),
                             now, op->getDiscardableAttrDictionary(),
                             op->getPropertiesStorage(), BlockRange(),
                             /*numRegions=*/0);
  IRMapping mapping;
  mapping.map(read, now);
  return op->clone(mapping);
}

/// The op as row `row` of the view has it, or its terminator.
static Operation *copyRow(const GraphView &view, Operation *op, uint32_t row,
                          ArrayRef<Value> copies) {
  SmallVector<Value, 8> read, now;
  for (uint32_t value : view.operands(row)) {
    if (op->getNumRegions())
      read.push_back(view.values[value]);
    now.push_back(copies[value]);
  }
  return copyReading(op, read, now);
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

joint::GraphOp cutback::copyGraph(joint::GraphOp from) {
  auto graph = cast<joint::GraphOp>(from->cloneWithoutRegions());
  Block &block = graph.getBody().emplaceBlock();
  for (BlockArgument arg : from.getBlock().getArguments())
    block.addArgument(arg.getType(), arg.getLoc());
  std::vector<Operation *> copies;
  DefinitionMap numbers;
  numbers.reset();
  auto copyOf = [&](Value value) -> Value {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return block.getArgument(arg.getArgNumber());
    auto result = cast<OpResult>(value);
    return copies[numbers.lookup(result.getOwner())]->getResult(
        result.getResultNumber());
  };
  SmallVector<Value, 8> read, now;
  for (Operation &op : from.getBlock()) {
    prefetchOp(op.getNextNode());
    read.assign(op.operand_begin(), op.operand_end());
    if (op.getNumRegions()) {
      SetVector<Value> captured;
      getUsedValuesDefinedAbove(op.getRegions(), captured);
      llvm::append_range(read, captured);
    }
    now.clear();
    for (Value value : read)
      now.push_back(copyOf(value));
    numbers.insert(&op, copies.size());
    copies.push_back(copyReading(&op, read, now));
    block.push_back(copies.back());
  }
  return graph;
}
