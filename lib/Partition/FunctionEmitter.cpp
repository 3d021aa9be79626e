// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function of a partition: arguments, copies of ops in their order,
// results. Ops that an earlier function has run are marked, so that no pass
// merges them with the others, and get names of their own. Linear, about 200 ns
// an op.

#include "FunctionEmitter.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/MLIR/OpAccess.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

FunctionEmitter::FunctionEmitter(const GraphView &view, GraphOp place)
    : view(view), graph(view.graph), builder(graph->getContext()),
      recomputeName(builder.getStringAttr(JointDialect::kRecompute)),
      nameId(builder.getStringAttr(JointDialect::kName)),
      namesId(builder.getStringAttr("names")),
      savedRole(builder.getStringAttr(JointDialect::kRole),
                RoleAttr::get(builder.getContext(), RoleKind::Saved,
                              StringAttr(), -1, false)) {
  // A graph that was not read from text need not have it.
  graph->getContext()->loadDialect<func::FuncDialect>();
  builder.setInsertionPointAfter(place);
}

SmallVector<Type> FunctionEmitter::typesOf(ArrayRef<uint32_t> values) const {
  SmallVector<Type> types;
  for (uint32_t value : values)
    types.push_back(view.types[value]);
  return types;
}

func::FuncOp FunctionEmitter::createFunction(const FunctionPart &part) {
  auto function = func::FuncOp::create(
      builder, graph.getLoc(), (graph.getSymName() + part.suffix).str(),
      builder.getFunctionType(typesOf(part.args), typesOf(part.results)));
  // CSE across an inlined step would merge recomputed ops back.
  function->setAttr("no_inline", builder.getUnitAttr());
  return function;
}

StringAttr FunctionEmitter::nameOf(uint32_t value) {
  if (auto result = dyn_cast<OpResult>(view.values[value]))
    if (StringAttr name = getResultName(result); name && !name.empty())
      return name;
  return builder.getStringAttr(view.name(value));
}

DictionaryAttr FunctionEmitter::argAttrs(uint32_t value, bool isHanded) {
  if (view.isArg(value) && !isHanded)
    return graph.getArgAttrDict(value);
  NamedAttribute attrs[] = {{nameId, nameOf(value)}, savedRole};
  return builder.getDictionaryAttr(attrs);
}

/// Keeps a recomputed op apart from every other copy (20-partition §7), and
/// calls its results NAME_recompute; a copy of the graph has its name.
void FunctionEmitter::markRecomputed(Operation *op, bool isOfRun) {
  op->setDiscardableAttr(recomputeName,
                         builder.getI64IntegerAttr(nextRecompute++));
  if (!isOfRun)
    addNameSuffix(op, namesId, kRecomputeSuffix);
}

void FunctionEmitter::addOps(const FunctionPart &part, Block *block) {
  ArrayRef<uint32_t> ops = part.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    // What is copied soon after it.
    if (i + 4 < ops.size())
      prefetchOp(view.ops[ops[i + 4]]);
    Operation *created = copyOp(view, ops[i], mapping);
    block->push_back(created);
    if (!part.isCopy.empty() && part.isCopy[ops[i]])
      markRecomputed(created, view.traits[ops[i]].copy);
  }
}

func::FuncOp FunctionEmitter::emit(const FunctionPart &part) {
  func::FuncOp function = createFunction(part);
  Block *block = function.addEntryBlock();
  SmallVector<DictionaryAttr> attrs;
  mapping.assign(view.numValues(), Value());
  for (auto [i, arg] : llvm::enumerate(part.args)) {
    mapping[arg] = block->getArgument(i);
    attrs.push_back(argAttrs(arg, i < part.numHanded));
  }
  function.setAllArgAttrs(attrs);
  addOps(part, block);
  SmallVector<Value> returned;
  for (uint32_t value : part.results)
    returned.push_back(mapping[value]);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, graph.getLoc(), returned);
  return function;
}
