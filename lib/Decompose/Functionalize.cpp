// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functionalization: (1) every tensor is a node of a tree, whose root owns the
// storage and whose other nodes are views of their parents; (2) an in-place op
// becomes a functional op, whose result is written through the views up to the
// root (Views.h); (3) the root's version goes up; (4) a node that is read at an
// older version is viewed again from its parent. Nodes on the way of a write
// know their new values; siblings are viewed again when they are read.
//
// Several SSA values may name one tensor object: the result of an in-place op
// is `self`. `detach_` and `squeeze_` give the object another node.
//
// Arguments that were written get one `joint.write` at the end.
//
// A tensor and its views share a history, which the root of a storage has, and
// each detached alias. A write is recorded in the history of what is written
// and in no other; in none where gradients are off. A tensor so written keeps
// its history h for its new value: x + (h - h), with x and the subtrahend
// without gradient, is x and has the gradient of h.
//
// O(ops × depth of view chains); chains are short.

#include "cutback/Decompose/Functionalize.h"

#include "cutback/Decompose/Composites.h"

#include "InPlace.h"
#include "Replacement.h"
#include "Rules.h"
#include "Statistics.h"
#include "Views.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Transforms/DeadCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// A tensor: the root of a storage, or a view of another one.
struct Node {
  Node *parent = nullptr; ///< null at a root
  Node *root = nullptr;
  Operation *view = nullptr; ///< makes it from its parent
  unsigned result = 0;
  Value current;
  uint64_t version = 0;    ///< of the root, when `current` was made
  Value origin;            ///< of a root: its first value
  Value history;           ///< of a root or detached alias, null without one
  bool written = false;    ///< of a root
  bool isUnmarked = false; ///< an argument that takes no gradient after all
};

/// One op being visited: what it named before, and what is built for it.
struct Visit {
  Operation *op;
  SmallVector<Value> named; ///< its operands as the program had them
  Replacement heirs;
  aten::CallBuilder b;

  Visit(Operation *op, aten::ValueNamer &namer)
      : op(op), named(op->getOperands()), heirs(op, namer),
        b(heirs.builder, op->getLoc()) {}
};

class Functionalizer {
public:
  /// Of a graph whose views are all ops: names that are given later
  /// are free.
  explicit Functionalizer(GraphOp graph) : graph(graph), namer(graph) {}
  LogicalResult run();

private:
  void addArguments();
  LogicalResult visit(Operation *op);
  LogicalResult visitInPlace(Visit &visit, aten::CallOp call);
  LogicalResult visitUpdate(Visit &visit, aten::CallOp call);
  void addViews(Visit &visit);
  void writeArguments();

  Node *makeRoot(Value value);
  Node *nodeOf(Value value);
  Value read(aten::CallBuilder &b, Node *node);
  LogicalResult write(Visit &visit, Node *node, Value value);
  bool isLeaf(const Node *node) const;
  Value withHistory(aten::CallBuilder &b, const Node *owner, Value value);
  bool unmark(Node *root);
  LogicalResult checkLeaf(Node *node, Operation *op);
  void markHistory(Operation *op);
  void settle(Visit &visit, ArrayRef<Value> results = {});

  GraphOp graph;
  aten::ValueNamer namer;
  std::deque<Node> nodes;
  /// Tensor objects; values that name one map to its place here.
  std::vector<Node *> objects;
  DenseMap<Value, size_t> objectOf;
  /// Values that have a history: a gradient may flow back from them.
  llvm::DenseSet<Value> history;
  SmallVector<Operation *> replaced;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which values have a history
//===----------------------------------------------------------------------===//

static bool isFloating(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType, ComplexType>(type.getElementType());
}

/// As differentiation decides which arguments take a gradient.
static bool takesGradient(GraphOp graph, unsigned i, bool isMarked) {
  if (isMarked)
    return graph.getArgAttr(i, "joint.requires_grad") != nullptr;
  RoleAttr role = graph.getRole(i);
  return role && role.getKind() == RoleKind::Param &&
         isFloating(graph.getArgument(i));
}

void Functionalizer::markHistory(Operation *op) {
  auto model = dyn_cast<DifferentiableOpInterface>(op);
  if (!model || op->hasAttr(kNoGrad))
    return;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (history.contains(operand) &&
        model.canHaveGradient(static_cast<unsigned>(i))) {
      for (Value result : op->getResults())
        if (isFloating(result))
          history.insert(result);
      return;
    }
}

void Functionalizer::settle(Visit &visit, ArrayRef<Value> results) {
  visit.heirs.settle(results);
  for (Operation *op : visit.heirs.getOps())
    markHistory(op);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Node *Functionalizer::makeRoot(Value value) {
  Node &node = nodes.emplace_back();
  node.root = &node;
  node.current = node.origin = value;
  if (history.contains(value))
    node.history = value;
  objectOf[value] = objects.size();
  objects.push_back(&node);
  return &node;
}

Node *Functionalizer::nodeOf(Value value) {
  auto it = objectOf.find(value);
  return it == objectOf.end() ? makeRoot(value) : objects[it->second];
}

Value Functionalizer::read(aten::CallBuilder &b, Node *node) {
  if (node->version == node->root->version || !node->parent)
    return node->current;
  Value base = read(b, node->parent);
  if (!base)
    return {};
  Value value = viewAgain(b, node->view, node->result, base);
  if (!value)
    return {};
  // A size that is known stays known.
  auto type = cast<RankedTensorType>(node->current.getType());
  if (value != base && type.hasStaticShape())
    value.setType(type);
  if (isDetach(node->view))
    value = withHistory(b, node, value);
  node->current = value;
  node->version = node->root->version;
  return value;
}

/// The node, or one that it is a view of, is detached from its base.
static bool isBelowDetach(const Node *node) {
  for (; node->parent; node = node->parent)
    if (isDetach(node->view))
      return true;
  return false;
}

/// The tensor is an argument that takes a gradient.
bool Functionalizer::isLeaf(const Node *node) const {
  return isa<BlockArgument>(node->root->origin) && !node->root->isUnmarked &&
         history.contains(node->root->origin);
}

/// `value`, which has no gradient, with the history of `owner`.
Value Functionalizer::withHistory(aten::CallBuilder &b, const Node *owner,
                                  Value value) {
  if (!owner->history || !value)
    return value;
  Value result = decompose::withGradientOf(b, value, owner->history);
  if (result)
    history.insert(result);
  return result;
}

/// PyTorch refuses to write to a leaf that takes a gradient. So an argument
/// that is written took none before: exporters say what they find behind the
/// write.
bool Functionalizer::unmark(Node *root) {
  unsigned marked = 0;
  for (unsigned i = 0; i < graph.getNumArguments(); ++i)
    marked += graph.getArgAttr(i, "joint.requires_grad") != nullptr;
  auto number = cast<BlockArgument>(root->origin).getArgNumber();
  if (marked < 2 || !graph.getArgAttr(number, "joint.requires_grad"))
    return false;
  graph.removeArgAttr(number, "joint.requires_grad");
  root->isUnmarked = true;
  return true;
}

LogicalResult Functionalizer::checkLeaf(Node *node, Operation *op) {
  if (!isLeaf(node) || op->hasAttr(kNoGrad) || isBelowDetach(node) ||
      unmark(node->root))
    return success();
  InFlightDiagnostic diagnostic = op->emitError("argument '")
                                  << getValueName(node->root->origin)
                                  << "' takes a gradient, and is written in "
                                     "place";
  diagnostic.attachNote() << "update parameters outside of the program, or "
                             "write a copy";
  return diagnostic;
}

/// Gives `node` the value, and its parents up to the root theirs. Behind a
/// tensor that keeps its history, its views are made again when they are read.
LogicalResult Functionalizer::write(Visit &visit, Node *node, Value value) {
  if (!value || failed(checkLeaf(node, visit.op)))
    return failure();
  aten::CallBuilder &b = visit.b;
  bool isRecorded = !visit.op->hasAttr(kNoGrad);
  SmallVector<std::pair<Node *, Value>> updates;
  size_t first = 0; // of those that share the history
  for (; node; node = node->parent) {
    Value above = value;
    if (Node *parent = node->parent)
      if (Value base = read(b, parent))
        above = writeThrough(b, node->view, node->result, base, value);
    if (b.failed())
      return failure();
    settle(visit);
    updates.emplace_back(node, value);
    if (!node->parent || isDetach(node->view)) {
      if (isRecorded) {
        node->history = history.contains(value) ? value : Value();
      } else if (node->history) {
        updates.resize(first);
        updates.emplace_back(node, withHistory(b, node, value));
      }
      isRecorded = false;
      first = updates.size();
      if (node->parent && history.contains(above))
        above = b.call(aten::op::detach, {above});
      settle(visit);
    }
    value = above;
  }
  Node *root = updates.back().first;
  ++root->version;
  root->written = true;
  for (auto [at, current] : updates) {
    at->current = current;
    at->version = root->version;
  }
  return b.result();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Functionalizer::addViews(Visit &visit) {
  int64_t operand = getViewed(visit.op);
  if (operand < 0)
    return;
  Node *parent = nodeOf(visit.named[static_cast<size_t>(operand)]);
  for (OpResult result : visit.op->getResults()) {
    Node *node = makeRoot(result);
    node->parent = parent;
    node->root = parent->root;
    node->view = visit.op;
    node->result = result.getResultNumber();
    node->version = parent->root->version;
  }
}

LogicalResult Functionalizer::visitInPlace(Visit &visit, aten::CallOp call) {
  Value self = visit.op->getOperand(0), value;
  Node *node = nodeOf(visit.named[0]);
  size_t object = objectOf[visit.named[0]];
  objectOf[visit.op->getResult(0)] = object;
  replaced.push_back(visit.op);
  switch (getInPlaceKind(call)) {
  case InPlaceKind::Nothing:
    return success();
  case InPlaceKind::Value:
    value = buildValue(visit.b, call, self);
    settle(visit, {value});
    return write(visit, node, value);
  case InPlaceKind::View:
    value = buildView(visit.b, call, self);
    break;
  case InPlaceKind::Detach:
    value = visit.b.call(aten::op::detach, {self});
    break;
  }
  if (!value)
    return failure();
  settle(visit, {value});
  Node &view = nodes.emplace_back();
  view.parent = node;
  view.root = node->root;
  view.view = value.getDefiningOp();
  view.current = value;
  view.version = node->root->version;
  objects[object] = &view;
  return success();
}

LogicalResult Functionalizer::visitUpdate(Visit &visit, aten::CallOp call) {
  Operation *op = visit.op;
  aten::CallReader reader(call);
  Updated done = buildUpdated(visit.b, call);
  if (done.results.empty() || visit.b.failed())
    return failure();
  settle(visit, done.results);
  for (auto [result, value] : llvm::zip(op->getResults(), done.results))
    result.replaceAllUsesWith(value);
  replaced.push_back(op);
  for (auto [name, value] : done.statistics) {
    Node *node = nodeOf(visit.named[reader.operand(name)]);
    if (failed(write(visit, node, fitTo(visit.b, value, node->current))))
      return failure();
  }
  return success();
}

LogicalResult Functionalizer::visit(Operation *op) {
  Visit visit(op, namer);
  for (OpOperand &operand : op->getOpOperands()) {
    auto it = objectOf.find(operand.get());
    if (it == objectOf.end() ||
        (isa<WriteOp>(op) && operand.getOperandNumber() == 0))
      continue;
    Node *node = objects[it->second];
    Value value = read(visit.b, node);
    if (!value)
      return failure();
    operand.set(value);
  }
  settle(visit);
  if (auto call = dyn_cast<aten::CallOp>(op)) {
    LogicalResult done = isInPlace(op)             ? visitInPlace(visit, call)
                         : updatesStatistics(call) ? visitUpdate(visit, call)
                                                   : success();
    if (failed(done))
      return failure();
    if (!isInPlace(op))
      addViews(visit);
  } else if (auto write = dyn_cast<WriteOp>(op)) {
    // The reader's form of `argument.copy_(value)`.
    Node *node = nodeOf(write.getDestination());
    objectOf[write.getResult()] = objectOf[write.getDestination()];
    replaced.push_back(op);
    Value value = fitTo(visit.b, write.getValue(), node->current);
    if (failed(this->write(visit, node, value)))
      return failure();
  }
  settle(visit);
  markHistory(op);
  return visit.b.result();
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// A tied argument is the tensor of an earlier one, which it names.
void Functionalizer::addArguments() {
  bool isMarked = false;
  unsigned count = graph.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    isMarked |= graph.getArgAttr(i, "joint.requires_grad") != nullptr;
  llvm::StringMap<Value> byName;
  for (unsigned i = 0; i < count; ++i) {
    Value argument = graph.getArgument(i);
    if (takesGradient(graph, i, isMarked))
      history.insert(argument);
    byName.try_emplace(graph.getArgName(i), argument);
    if (RoleAttr role = graph.getRole(i); role && role.getName())
      byName.try_emplace(role.getName(), argument);
    auto tied = graph.getArgAttrOfType<StringAttr>(i, "joint.tied");
    Value first = tied ? byName.lookup(tied.getValue()) : Value();
    if (first && first != argument && first.getType() == argument.getType()) {
      nodeOf(first);
      objectOf[argument] = objectOf[first];
    }
  }
}

void Functionalizer::writeArguments() {
  OutputOp output = graph.getOutput();
  OpBuilder builder(output);
  for (BlockArgument argument : graph.getBlock().getArguments()) {
    auto it = objectOf.find(argument);
    if (it == objectOf.end())
      continue;
    // The first argument of a tied pair is the one that is written.
    Node *root = objects[it->second]->root;
    if (!root->written || root->origin != argument)
      continue;
    WriteOp::create(builder, root->current.getLoc(), argument.getType(),
                    argument, root->current, Side::Forward,
                    builder.getArrayAttr(namer.next(
                        (getValueName(argument) + "_written").str())));
  }
}

/// The op gives a tensor that is there another value.
static bool writes(Operation *op) {
  auto call = dyn_cast<aten::CallOp>(op);
  return isInPlace(op) || (call && updatesStatistics(call));
}

LogicalResult Functionalizer::run() {
  addArguments();
  for (Operation &op : llvm::make_early_inc_range(graph.getBlock()))
    if (failed(visit(&op)))
      return failure();
  writeArguments();
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  eliminateDeadCode(graph);
  updateResultTypes(graph);
  return success();
}

/// Whether something is written in place; that is an error in a region.
static FailureOr<bool> writesInPlace(GraphOp graph) {
  bool changes = false;
  WalkResult nested = graph.walk([&](Operation *op) {
    bool inPlace = writes(op);
    changes |= inPlace || isa<WriteOp>(op);
    if (!inPlace || op->getBlock() == &graph.getBlock())
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        op->emitError("an op that writes in place stands in a region");
    diagnostic.attachNote() << "run --cutback-flatten-checkpoints first";
    return WalkResult::interrupt();
  });
  if (nested.wasInterrupted())
    return failure();
  return changes;
}

static LogicalResult functionalizeForward(GraphOp graph) {
  FailureOr<bool> changes = writesInPlace(graph);
  if (failed(changes))
    return failure();
  bool isJoint = joint::hasBackward(graph);
  if (!*changes || isJoint)
    return success();
  if (failed(decomposeHiddenViews(graph)))
    return failure();
  return Functionalizer(graph).run();
}

/// What a graph of a call writes is a value of its own, so the graph is made
/// functional on its own.
static LogicalResult functionalizeRegion(NestedOp op, Region &region) {
  if (llvm::none_of(region.front(), [](Operation &op) { return writes(&op); }))
    return success();
  auto end = cast<ReturnOp>(region.front().getTerminator());
  DenseBoolArrayAttr places = end.getPlacesAttr();
  OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
  GraphOp graph = copyGraph(region, *module);
  Builder builder(op.getContext());
  for (unsigned i = 0; i < graph.getNumArguments(); ++i) {
    graph.setArgAttr(i, JointDialect::kName,
                     builder.getStringAttr("arg" + Twine(i)));
    if (isFloating(graph.getArgument(i)))
      graph.setArgAttr(i, "joint.requires_grad", builder.getUnitAttr());
  }
  if (failed(functionalizeForward(graph)))
    return failure();
  for (Operation &inner : graph.getBlock())
    if (isa<WriteOp>(inner)) {
      auto diagnostic = op.emitError("a graph of '")
                        << op.getCallee() << "' writes to what it is called "
                        << "with";
      diagnostic.attachNote() << "let it give the new value, and write that "
                                 "behind the call";
      return diagnostic;
    }
  moveGraph(graph, region);
  cast<ReturnOp>(region.front().getTerminator()).setPlacesAttr(places);
  return success();
}

static LogicalResult functionalizeGraphs(GraphOp graph) {
  WalkResult walk = graph.walk([](NestedOp op) {
    for (Region &region : op.getGraphs())
      if (failed(functionalizeRegion(op, region)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult cutback::functionalize(GraphOp graph) {
  LogicalResult result = functionalizeGraphs(graph);
  if (succeeded(result))
    result = functionalizeForward(graph);
  graph.walk([](Operation *op) { op->removeAttr(kNoGrad); });
  return result;
}
