// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the two functions of a partition. Values are mapped by number in one
// array (copyOp), and ops appended at the end of a block: no hash table, no
// insertion in the middle. Ops that the backward runs again are marked, so that
// no pass merges them with the forward's, and get names of their own. Linear.

#include "cutback/Partition/Halves.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class Emitter {
public:
  Emitter(const GraphView &view, const Halves &halves, GraphOp place)
      : view(view), halves(halves), graph(view.graph),
        builder(graph->getContext()),
        recomputeName(builder.getStringAttr(JointDialect::kRecompute)),
        nameId(builder.getStringAttr(JointDialect::kName)),
        namesId(builder.getStringAttr("names")),
        savedRole(builder.getStringAttr(JointDialect::kRole),
                  RoleAttr::get(builder.getContext(), RoleKind::Saved,
                                StringAttr(), -1, false)) {
    builder.setInsertionPointAfter(place);
    saved.append(halves.savedSizes.begin(), halves.savedSizes.end());
    saved.append(halves.savedTensors.begin(), halves.savedTensors.end());
  }

  Partition run() {
    Partition partition;
    partition.forward = emitForward();
    partition.backward = emitBackward();
    SmallVector<Attribute> names;
    for (uint32_t value : saved)
      names.push_back(nameOf(value));
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

private:
  SmallVector<Type> typesOf(ArrayRef<uint32_t> values) {
    SmallVector<Type> types;
    for (uint32_t value : values)
      types.push_back(view.types[value]);
    return types;
  }

  func::FuncOp createFunction(StringRef suffix, ArrayRef<Type> inputs,
                              ArrayRef<Type> results) {
    auto function = func::FuncOp::create(
        builder, graph.getLoc(), (graph.getSymName() + suffix).str(),
        builder.getFunctionType(inputs, results));
    // CSE across an inlined step would merge recomputed ops back.
    function->setAttr("no_inline", builder.getUnitAttr());
    return function;
  }

  /// Arguments keep role and name; those that carry saved values get both.
  DictionaryAttr argAttrs(uint32_t value, bool isSaved) {
    if (view.isArg(value) && !isSaved)
      return graph.getArgAttrDict(value);
    NamedAttribute attrs[] = {{nameId, nameOf(value)}, savedRole};
    return builder.getDictionaryAttr(attrs);
  }

  /// GraphView::name as an attribute; mostly it is one already.
  StringAttr nameOf(uint32_t value) {
    if (auto result = dyn_cast<OpResult>(view.values[value]))
      if (StringAttr name = getResultName(result); name && !name.empty())
        return name;
    return builder.getStringAttr(view.name(value));
  }

  func::FuncOp emitForward() {
    SmallVector<Type> results = typesOf(view.forwardResults());
    llvm::append_range(results, typesOf(saved));
    func::FuncOp function =
        createFunction("_forward", typesOf(halves.forwardArgs), results);
    Block *block = function.addEntryBlock();
    SmallVector<DictionaryAttr> attrs;
    mapping.assign(view.numValues(), Value());
    for (auto [i, arg] : llvm::enumerate(halves.forwardArgs)) {
      mapping[arg] = block->getArgument(i);
      attrs.push_back(argAttrs(arg, /*isSaved=*/false));
    }
    function.setAllArgAttrs(attrs);
    for (size_t i = 0; i < halves.forwardOps.size(); ++i) {
      prefetchBehind(halves.forwardOps, i);
      copy(halves.forwardOps[i], block);
    }
    SmallVector<Value> returned;
    for (uint32_t value : view.forwardResults())
      returned.push_back(mapping[value]);
    for (uint32_t value : saved)
      returned.push_back(mapping[value]);
    terminate(block, returned);
    return function;
  }

  func::FuncOp emitBackward() {
    SmallVector<uint32_t> args(saved);
    args.append(halves.backwardArgs.begin(), halves.backwardArgs.end());
    func::FuncOp function =
        createFunction("_backward", typesOf(args), typesOf(view.gradients()));
    Block *block = function.addEntryBlock();
    SmallVector<DictionaryAttr> attrs;
    mapping.assign(view.numValues(), Value());
    for (auto [i, arg] : llvm::enumerate(args)) {
      mapping[arg] = block->getArgument(i);
      attrs.push_back(argAttrs(arg, i < saved.size()));
    }
    function.setAllArgAttrs(attrs);
    std::vector<uint8_t> isCopy(view.numOps(), 0);
    for (uint32_t op : halves.recomputed)
      isCopy[op] = 1;
    for (size_t i = 0; i < halves.backwardOps.size(); ++i) {
      prefetchBehind(halves.backwardOps, i);
      Operation *created = copy(halves.backwardOps[i], block);
      if (isCopy[halves.backwardOps[i]])
        markRecomputed(created, view.traits[halves.backwardOps[i]].copy);
    }
    SmallVector<Value> returned;
    for (uint32_t value : view.gradients())
      returned.push_back(mapping[value]);
    terminate(block, returned);
    return function;
  }

  void terminate(Block *block, ValueRange values) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    func::ReturnOp::create(builder, graph.getLoc(), values);
  }

  /// Fetches an op that is copied soon after number `i` of `ops`.
  void prefetchBehind(ArrayRef<uint32_t> ops, size_t i) const {
    if (i + 4 < ops.size())
      prefetchOp(view.ops[ops[i + 4]]);
  }

  Operation *copy(uint32_t number, Block *block) {
    Operation *created = copyOp(view, number, mapping);
    block->push_back(created);
    return created;
  }

  /// Keeps a recomputed op apart from every other copy (20-partition §7), and
  /// calls its results NAME_recompute; a copy of the graph has its name.
  void markRecomputed(Operation *op, bool isOfRun) {
    op->setDiscardableAttr(recomputeName,
                           builder.getI64IntegerAttr(nextRecompute++));
    if (!isOfRun)
      addNameSuffix(op, namesId, kRecomputeSuffix);
  }

  const GraphView &view;
  const Halves &halves;
  GraphOp graph;
  OpBuilder builder;
  StringAttr recomputeName, nameId, namesId;
  NamedAttribute savedRole;
  SmallVector<uint32_t> saved;
  std::vector<Value> mapping; ///< by value number, for the half at work
  int64_t nextRecompute = 0;
};

} // namespace

Partition cutback::emitHalves(const GraphView &view, const Halves &halves,
                              GraphOp place) {
  // A graph that was not read from text need not have it.
  view.graph->getContext()->loadDialect<func::FuncDialect>();
  return Emitter(view, halves, place).run();
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
