// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the two functions of a partition (FunctionEmitter): the forward with
// its results and the saved values, the backward with the saved values first
// among its arguments. The link lists what they hand over, sizes before
// tensors, and says how many of the forward's results are the graph's, and of
// which argument each gradient is. Linear.

#include "cutback/Partition/Halves.h"

#include "FunctionEmitter.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace cutback;

Partition cutback::emitHalves(const GraphView &view, const Halves &halves,
                              joint::GraphOp place) {
  FunctionEmitter emitter(view, place);
  SmallVector<uint32_t> saved(ArrayRef<uint32_t>(halves.savedSizes));
  saved.append(halves.savedTensors.begin(), halves.savedTensors.end());
  SmallVector<uint32_t> results(view.forwardResults()), args(saved);
  results.append(saved);
  args.append(halves.backwardArgs.begin(), halves.backwardArgs.end());
  std::vector<uint8_t> isCopy(view.numOps(), 0);
  for (uint32_t op : halves.recomputed)
    isCopy[op] = 1;
  Partition partition;
  partition.forward = emitter.emit(
      {"_forward", halves.forwardArgs, 0, halves.forwardOps, results});
  partition.backward =
      emitter.emit({"_backward", args, saved.size(), halves.backwardOps,
                    view.gradients(), isCopy});
  SmallVector<Attribute> names;
  for (uint32_t value : saved)
    names.push_back(emitter.nameOf(value));
  OpBuilder &builder = emitter.getBuilder();
  joint::GraphOp graph = view.graph;
  partition.link = joint::PartitionOp::create(
      builder, graph.getLoc(),
      builder.getStringAttr(graph.getSymName() + kPartitionSuffix),
      FlatSymbolRefAttr::get(graph.getSymNameAttr()),
      FlatSymbolRefAttr::get(partition.forward.getSymNameAttr()),
      FlatSymbolRefAttr::get(partition.backward.getSymNameAttr()),
      builder.getArrayAttr(names),
      builder.getI64IntegerAttr(halves.savedSizes.size()),
      builder.getI64IntegerAttr(graph.getNumForwardResults()),
      builder.getDenseI32ArrayAttr(
          joint::OutputOp(view.output).getGradientOf()));
  return partition;
}

Partition cutback::emitHalves(const GraphView &view, const Halves &halves) {
  return emitHalves(view, halves, view.graph);
}

joint::GraphOp cutback::graphOf(joint::PartitionOp partition) {
  if (!partition.getGraphAttr())
    return nullptr;
  return SymbolTable::lookupNearestSymbolFrom<joint::GraphOp>(
      partition, partition.getGraphAttr());
}

void cutback::eraseGraph(joint::GraphOp graph) {
  for (auto partition : graph->getBlock()->getOps<joint::PartitionOp>())
    if (partition.getGraph() == graph.getSymName())
      partition.removeGraphAttr();
  graph.erase();
}

void cutback::erasePartition(Partition &partition) {
  partition.link->erase();
  partition.forward->erase();
  partition.backward->erase();
  partition = Partition();
}
