// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edits of sizes and attributes. A size is replaced everywhere at once, in
// types and in the whole numbers of calls, since the sizes of a graph hang
// together; then ops that can evaluate their results (the interface of
// symbolic sizes) say what follows. Replacing multiples too keeps most
// reshapes true: with 1024 → 2, 8 × 1024 = 8192 becomes 16.
//
// Whether the result still is a graph is not known before it is verified: 768
// may be a width in one place and a number of tokens in another.

#include "cutback/Reduce/GraphEdits.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using Resize = llvm::function_ref<RankedTensorType(RankedTensorType)>;

static Type resized(Type type, Resize resize) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? resize(tensor) : type;
}

/// Types of results as the op evaluates them for its operands; where it cannot
/// tell, they stay as they are.
static void evaluate(Operation &op) {
  auto evaluation = dyn_cast<SizeEvaluationOpInterface>(op);
  if (!evaluation)
    return;
  SmallVector<Type> operands(op.getOperandTypes()), results;
  SmallVector<int64_t> unknown(operands.size(), ShapedType::kDynamic), ints;
  if (!evaluation.evaluateSizes(operands, unknown, results, ints) ||
      results.size() != op.getNumResults())
    return;
  for (auto [result, type] : llvm::zip(op.getResults(), results)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto declared = dyn_cast<RankedTensorType>(result.getType());
    if (tensor && declared && tensor.hasStaticShape() &&
        tensor.getElementType() == declared.getElementType())
      result.setType(tensor);
  }
}

/// Resizes all values of the graph, inner ones too, then evaluates.
static void resizeValues(GraphOp graph, Resize resize) {
  for (BlockArgument arg : graph.getBody().getArguments())
    arg.setType(resized(arg.getType(), resize));
  graph.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(resized(result.getType(), resize));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(resized(argument.getType(), resize));
  });
  for (Operation &op : graph.getBlock().without_terminator())
    evaluate(op);
  tidy(graph);
}

std::vector<int64_t> cutback::distinctSizes(GraphOp graph) {
  std::set<int64_t, std::greater<int64_t>> sizes;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t size : tensor.getShape())
        if (size > 1)
          sizes.insert(size);
  };
  for (Type type : graph.getBody().getArgumentTypes())
    add(type);
  for (Operation &op : graph.getBlock())
    for (Type type : op.getResultTypes())
      add(type);
  return {sizes.begin(), sizes.end()};
}

void cutback::replaceSize(GraphOp graph, int64_t from, int64_t to,
                          bool multiples) {
  auto replaced = [&](int64_t size) {
    if (size == from)
      return to;
    return multiples && size > 0 && size % from == 0 ? size / from * to : size;
  };
  AttrTypeReplacer numbers;
  numbers.addReplacement([&](IntegerAttr value) {
    if (!value.getType().isInteger(64))
      return value;
    return IntegerAttr::get(value.getType(), replaced(value.getInt()));
  });
  for (Operation *op : bodyOps(graph))
    if (Attribute args = op->getAttr("args"))
      op->setAttr("args", numbers.replace(args));
  resizeValues(graph, [&](RankedTensorType type) {
    SmallVector<int64_t> shape;
    for (int64_t size : type.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? size : replaced(size));
    return type.clone(shape);
  });
}

void cutback::limitRank(GraphOp graph, int64_t rank) {
  resizeValues(graph, [&](RankedTensorType type) {
    if (type.getRank() <= rank)
      return type;
    return type.clone(type.getShape().take_back(rank));
  });
}

void cutback::bindSymbols(GraphOp graph, int64_t size) {
  graph.removeSymbolsAttr();
  for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i)
    graph.removeArgAttr(i, JointDialect::kDims);
  graph.getBody().walk(
      [](Operation *op) { op->removeDiscardableAttr(JointDialect::kDims); });
  resizeValues(graph, [&](RankedTensorType type) {
    SmallVector<int64_t> shape;
    for (int64_t dim : type.getShape())
      shape.push_back(ShapedType::isDynamic(dim) ? size : dim);
    return type.clone(shape);
  });
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::vector<AttributeSite> cutback::attributeSites(GraphOp graph) {
  std::vector<AttributeSite> sites;
  for (NamedAttribute attr : graph->getDiscardableAttrs())
    sites.push_back({graph, 0, attr.getName()});
  if (graph.getSymbolsAttr())
    sites.push_back({graph, 0, graph.getSymbolsAttrName()});
  for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i)
    for (NamedAttribute attr : function_interface_impl::getArgAttrs(graph, i))
      if (attr.getName() != JointDialect::kName)
        sites.push_back({nullptr, i, attr.getName()});
  graph.getBody().walk([&](Operation *op) {
    for (NamedAttribute attr : op->getDiscardableAttrs())
      sites.push_back({op, 0, attr.getName()});
  });
  return sites;
}

void cutback::dropAttributes(GraphOp graph, unsigned begin, unsigned end) {
  std::vector<AttributeSite> sites = attributeSites(graph);
  for (unsigned i = begin; i < std::min<size_t>(end, sites.size()); ++i) {
    const AttributeSite &site = sites[i];
    if (site.op) {
      site.op->removeAttr(site.name);
      continue;
    }
    RoleAttr role = graph.getRole(site.argument);
    if (site.name != JointDialect::kRole)
      graph.removeArgAttr(site.argument, site.name);
    else if (role && role.getName()) // a role stays, its name goes
      graph.setArgAttr(site.argument, site.name,
                       RoleAttr::get(graph.getContext(), role.getKind(),
                                     StringAttr(), role.getOf(),
                                     role.getBackward()));
  }
  tidy(graph);
}

unsigned cutback::numCallEntries(GraphOp graph) {
  unsigned count = 0;
  for (Operation *op : bodyOps(graph))
    if (auto args = op->getAttrOfType<ArrayAttr>("args"))
      count += args.size();
  return count;
}

/// `list` without its last half, or an empty one without its only entry.
static ArrayAttr halfOf(ArrayAttr list) {
  return ArrayAttr::get(list.getContext(),
                        list.getValue().take_front(list.size() / 2));
}

static Attribute simplerEntry(Attribute entry, Simpler to) {
  MLIRContext *context = entry.getContext();
  auto list = dyn_cast<ArrayAttr>(entry);
  switch (to) {
  case Simpler::None:
    return NoneAttr::get(context);
  case Simpler::Empty:
    return list ? ArrayAttr::get(context, {}) : entry;
  case Simpler::Half:
    return list ? halfOf(list) : entry;
  case Simpler::Zero:
    break;
  }
  if (auto value = dyn_cast<IntegerAttr>(entry))
    return IntegerAttr::get(value.getType(), 0);
  if (auto value = dyn_cast<FloatAttr>(entry))
    return FloatAttr::get(value.getType(), 0.0);
  return entry;
}

static unsigned operandsIn(Attribute entry) {
  if (isa<OperandAttr>(entry))
    return 1;
  auto list = dyn_cast<ArrayAttr>(entry);
  return list ? countOperands(list) : 0;
}

void cutback::simplifyEntry(GraphOp graph, unsigned number, Simpler to) {
  for (Operation *op : bodyOps(graph)) {
    auto args = op->getAttrOfType<ArrayAttr>("args");
    if (!args)
      continue;
    if (number >= args.size()) {
      number -= args.size();
      continue;
    }
    SmallVector<Attribute> entries(args.begin(), args.end());
    unsigned before = 0;
    for (unsigned i = 0; i < number; ++i)
      before += operandsIn(entries[i]);
    unsigned had = operandsIn(entries[number]);
    entries[number] = simplerEntry(entries[number], to);
    unsigned has = operandsIn(entries[number]);
    op->setAttr("args", ArrayAttr::get(op->getContext(), entries));
    op->eraseOperands(before + has, had - has);
    break;
  }
  // Types of results follow.
  resizeValues(graph, [](RankedTensorType type) { return type; });
}
