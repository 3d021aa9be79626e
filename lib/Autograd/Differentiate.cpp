// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse-mode differentiation of a graph:
//
//   1. targets: the arguments that take a gradient (Targets.cpp)
//   2. activity, in program order: a value is active if its op lets a gradient
//      through to an active operand; each such op becomes a node, with an edge
//      an operand, and each active argument (a group of tied ones together) an
//      accumulate node
//   3. seeds: one new argument for each result that is differentiated
//   4. the walk over the nodes builds one VJP a node at the end of the block
//   5. finish: names and locations for the new ops; those that nobody uses, and
//      sizes that were asked for before, go
//
// What a VJP reads of an argument must be what its forward op read: where the
// argument is written behind that op, the value before is kept by a clone.
//
// Linear but for the heap of the walk. The values written by `joint.write` are
// not differentiated through.

#include "cutback/Autograd/Differentiate.h"

#include "BackwardOrder.h"
#include "DifferentiateTargets.h"
#include "HookPoints.h"
#include "ReentrantRegions.h"
#include "cutback/Autograd/NodeGraph.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/BackwardKey.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Dialect/Joint/Forgets.h"
#include "cutback/Dialect/Joint/Loss.h"
#include "cutback/Dialect/Joint/Vjp.h"
#include "cutback/Transforms/CleanTags.h"
#include "cutback/Transforms/CommonSubexpressions.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class Differentiator {
public:
  Differentiator(GraphOp graph, const DifferentiateOptions &options)
      : graph(graph), options(options), namer(graph),
        builder(graph.getContext()), order(graph, options) {}

  LogicalResult run();

private:
  void makeLeaves();
  LogicalResult makeNodes();
  void makeNode(Operation &op);
  LogicalResult makeSeeds();
  void makeSeed(unsigned result);
  LogicalResult walk();
  bool runNode(uint32_t node, ArrayRef<GradientRef> inputs,
               ArrayRef<bool> wanted, MutableArrayRef<GradientRef> outputs);
  bool add(GradientRef earlier, GradientRef later, GradientRef &sum);
  LogicalResult checkGradients(Operation *op, const VjpContext &context);
  void keepArguments(Operation *forward, Operation *from);
  Operation *gradientEnd(ArrayRef<unsigned> chosen);
  LogicalResult failUnreached(ArrayRef<unsigned> chosen);
  Value gradientTarget(uint32_t node);
  Value makeZeros(Value like);
  bool runHook(HookKind kind, uint32_t node, unsigned index,
               GradientRef &gradient);
  void describe(Operation *op, Operation *forward, uint64_t sequence);
  void finish();

  /// First op of the backward built after `mark`.
  Operation *firstAfter(Operation *mark) {
    return mark ? mark->getNextNode() : &graph.getBlock().front();
  }

  GraphOp graph;
  const DifferentiateOptions &options;
  aten::ValueNamer namer;
  OpBuilder builder;
  GradientTargets targets;
  NodeGraph nodes;
  BackwardOrder order;
  HookPoints hooks;
  int64_t nextKey = 0;                    ///< of a hook
  DenseMap<Value, NodeEdge> edges;        ///< of active values
  std::vector<Operation *> forward;       ///< by node; null for leaves
  std::vector<uint32_t> leaves;           ///< by group of tied arguments
  DenseMap<Value, Operation *> lastWrite; ///< by argument
  std::vector<BackwardRoot> roots;
  std::vector<Value> gradients; ///< by leaf node
  Operation *lastForward = nullptr;
  Operation *current = nullptr; ///< forward op of the node that ran last
  uint64_t currentSequence = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// The node graph
//===----------------------------------------------------------------------===//

/// One leaf a group, whose gradient is that of all its arguments.
void Differentiator::makeLeaves() {
  for (unsigned group = 0; group < targets.groups.size(); ++group) {
    leaves.push_back(nodes.addAccumulate());
    forward.push_back(nullptr);
    for (unsigned arg : targets.groups[group])
      edges[graph.getBody().getArgument(arg)] = {leaves.back(), 0};
  }
}

/// An op without the interface becomes a node too: it is an error only if a
/// gradient arrives there.
void Differentiator::makeNode(Operation &op) {
  SmallVector<NodeEdge, 4> next;
  bool any = false;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    NodeEdge edge;
    if (mayPassGradient(&op, static_cast<unsigned>(i)))
      edge = edges.lookup(operand);
    next.push_back(edge);
    any |= edge.isValid();
  }
  if (!any || llvm::none_of(op.getResultTypes(), isDifferentiable))
    return;
  uint32_t node =
      nodes.addNode(op.getNumResults(), order.numberOf(&op, next, nodes));
  forward.push_back(&op);
  for (NodeEdge edge : next)
    nodes.addNextEdge(node, edge);
  for (OpResult result : op.getResults())
    if (isDifferentiable(result.getType()))
      edges[result] = {node, result.getResultNumber()};
}

LogicalResult Differentiator::makeNodes() {
  for (Operation &op : graph.getBlock().without_terminator()) {
    lastForward = &op;
    if (auto write = dyn_cast<WriteOp>(op)) {
      lastWrite[write.getDestination()] = &op;
      continue;
    }
    for (Value operand : op.getOperands())
      if (Operation *write = lastWrite.lookup(operand);
          write && edges.lookup(operand).isValid()) {
        auto diagnostic = op.emitError("argument '")
                          << getValueName(operand)
                          << "' takes a gradient, and is read here after it "
                             "was written";
        diagnostic.attachNote(write->getLoc())
            << "written here; read the value that is written, or ask for no "
               "gradient of the argument";
        return failure();
      }
    makeNode(op);
  }
  return order.checkNumbers();
}

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

void Differentiator::makeSeed(unsigned result) {
  MLIRContext *context = graph.getContext();
  Value value = graph.getOutput().getForwardResults()[result];
  bool isLoss = isLossType(value.getType()) && result < options.firstVector;
  RoleKind kind = isLoss ? RoleKind::GradSeed : RoleKind::Tangent;
  NamedAttrList attrs;
  attrs.set(JointDialect::kRole,
            RoleAttr::get(context, kind, nullptr, result, false));
  std::string stem = "tangents_" + std::to_string(roots.size() + 1);
  attrs.set(JointDialect::kName, namer.next(stem));
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (Attribute dims =
            graph.getArgAttr(argument.getArgNumber(), JointDialect::kDims))
      attrs.set(JointDialect::kDims, dims);
  if (Operation *op = value.getDefiningOp())
    if (Attribute dims = op->getDiscardableAttr(JointDialect::kDims);
        dims && op->getNumResults() == 1)
      attrs.set(JointDialect::kDims, dims);
  unsigned number = graph.getNumArguments();
  (void)graph.insertArgument(number, value.getType(),
                             attrs.getDictionary(context), value.getLoc());
  BlockArgument seed = graph.getBody().getArgument(number);
  roots.push_back({edges.lookup(value), seed.getAsOpaquePointer()});
}

LogicalResult Differentiator::makeSeeds() {
  OperandRange results = graph.getOutput().getForwardResults();
  SmallVector<unsigned> chosen(options.lossOutputs.begin(),
                               options.lossOutputs.end());
  for (unsigned i : chosen) {
    if (i >= results.size())
      return graph.emitError("forward result ")
             << i << " is to be differentiated, and there are "
             << results.size();
    if (!isDifferentiable(results[i].getType()))
      return graph.emitError("forward result ")
             << i << " is to be differentiated, and has type "
             << results[i].getType();
  }
  llvm::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  if (chosen.empty() && !results.empty() && isLossType(results[0].getType()))
    chosen.push_back(0);
  else if (chosen.empty())
    for (auto [i, value] : llvm::enumerate(results))
      if (edges.lookup(value).isValid())
        chosen.push_back(i);
  for (unsigned i : chosen)
    makeSeed(i);
  bool reached = llvm::any_of(
      roots, [](const BackwardRoot &root) { return root.edge.isValid(); });
  if (reached)
    return success();
  if (chosen.empty()) // none has a type that can be differentiated
    for (unsigned i = 0; i < results.size(); ++i)
      chosen.push_back(i);
  return failUnreached(chosen);
}

/// The last op in front of the results `chosen` that depends on an argument
/// which takes a gradient, and has none itself; null if there is none.
Operation *Differentiator::gradientEnd(ArrayRef<unsigned> chosen) {
  SmallVector<Value> open;
  for (unsigned i : chosen)
    open.push_back(graph.getOutput().getForwardResults()[i]);
  llvm::SmallPtrSet<Operation *, 16> seen;
  Operation *end = nullptr;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
      return edges.lookup(operand).isValid();
    });
    if (reads && (!end || end->isBeforeInBlock(op)))
      end = op;
    llvm::append_range(open, op->getOperands());
  }
  return end;
}

LogicalResult Differentiator::failUnreached(ArrayRef<unsigned> chosen) {
  Operation *end = gradientEnd(chosen);
  auto diagnostic = mlir::emitError(end ? end->getLoc() : graph.getLoc())
                    << "no result of '" << graph.getSymName()
                    << "' that is differentiated depends on an argument that "
                       "takes a gradient";
  auto call = dyn_cast_or_null<FrameworkCallOpInterface>(end);
  if (end)
    diagnostic << ": gradients end at '"
               << (call ? call.getPacketName() : end->getName().getStringRef())
               << "'";
  diagnostic.attachNote() << "arguments that take a gradient: "
                          << targets.describe(graph)
                          << "; give a loss that is computed from one of them "
                             "by ops that have gradients, or ask for the "
                             "gradient of another argument";
  if (call && call.getPacketName() == "aten.detach")
    noteDetach(diagnostic);
  return failure();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static Value toValue(GradientRef gradient) {
  return Value::getFromOpaquePointer(const_cast<void *>(gradient));
}

/// Stands for a gradient of zeros. A node that only such reach passes them on
/// and builds nothing; zeros change no sum.
static constexpr char zeroMark = 0;
static bool isZero(GradientRef gradient) { return gradient == &zeroMark; }

/// Name, and the forward op's location with what ties the two.
void Differentiator::describe(Operation *op, Operation *forwardOp,
                              uint64_t sequence) {
  Builder attributes(graph.getContext());
  BackwardKey key;
  if (forwardOp->getNumResults())
    key.of = getValueName(forwardOp->getResult(0));
  key.number = sequence;
  if (auto policy = forwardOp->getAttrOfType<PolicyAttr>(JointDialect::kPolicy))
    key.region = policy.getRegion();
  op->setLoc(key.attach(forwardOp->getLoc()));
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  if (!call || !op->getInherentAttr("names"))
    return;
  StringRef stem = call.getPacketName().rsplit('.').second;
  SmallVector<Attribute> names;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    names.push_back(namer.next(stem));
  op->setInherentAttr(attributes.getStringAttr("names"),
                      attributes.getArrayAttr(names));
}

/// The value whose storage `value` shows through views.
static Value storageOf(Value value) {
  while (auto view = value.getDefiningOp<RematerializableOpInterface>()) {
    int64_t shown =
        view.getAliasedOperand(cast<OpResult>(value).getResultNumber());
    if (shown < 0)
      break;
    value = view->getOperand(static_cast<unsigned>(shown));
  }
  return value;
}

/// What the ops from `from` on read of an argument that is written behind the
/// forward op, or of a view of it, is cloned in front of it. The clone is
/// saved: run again behind the write, it would copy the new value.
void Differentiator::keepArguments(Operation *forwardOp, Operation *from) {
  if (lastWrite.empty())
    return;
  DenseMap<Value, Value> copies;
  for (Operation *op = from; op != graph.getOutput(); op = op->getNextNode())
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *write = lastWrite.lookup(storageOf(operand.get()));
      Operation *made = operand.get().getDefiningOp();
      if (!write || !forwardOp->isBeforeInBlock(write))
        continue;
      OpBuilder before(forwardOp);
      if (made == forwardOp)
        before.setInsertionPointAfter(forwardOp);
      Value &copy = copies[operand.get()];
      if (!copy) {
        aten::CallBuilder calls(before, forwardOp->getLoc(), &namer);
        copy = calls.call(aten::op::clone, {operand.get()});
        if (!copy)
          return;
        copy.getDefiningOp()->setAttr(
            JointDialect::kPolicy,
            PolicyAttr::get(graph.getContext(), PolicyKind::MustSave, -1));
      }
      operand.set(copy);
    }
}

/// An op that has no rules.
static LogicalResult failWithoutRules(Operation *op) {
  auto opaque = dyn_cast<OpaqueOp>(op);
  if (opaque && isTakenAsDeclared(op)) {
    InFlightDiagnostic diagnostic = op->emitError("no gradient through '")
                                    << opaque.getCallee() << "', which is "
                                    << declaredText(op);
    diagnostic.attachNote()
        << "give the graph with its gradients, or export the model again with "
           "a release whose op is the one that is known here";
    return diagnostic;
  }
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  StringRef name = opaque ? opaque.getCallee()
                   : call ? call.getPacketName()
                          : op->getName().getStringRef();
  InFlightDiagnostic diagnostic = op->emitError("no gradient through '")
                                  << name << "', which is not known here";
  if (!call) {
    diagnostic.attachNote()
        << "give the graph with its gradients, or the op the interface "
           "DifferentiableOpInterface of dialect joint";
    return diagnostic;
  }
  diagnostic.attachNote()
      << "write it in terms of other ops: run_decompositions() on the exported "
         "program does so for ops that PyTorch can take apart; or detach() "
         "what it reads";
  return diagnostic;
}

/// A gradient has the type of its operand, as far as both are known.
LogicalResult Differentiator::checkGradients(Operation *op,
                                             const VjpContext &context) {
  for (auto [i, gradient] : llvm::enumerate(context.getOperandGradients())) {
    if (!gradient)
      continue;
    Type type = op->getOperand(i).getType();
    if (getElementTypeOrSelf(gradient.getType()) ==
            getElementTypeOrSelf(type) &&
        succeeded(verifyCompatibleShape(gradient.getType(), type)))
      continue;
    return op->emitError("the gradient of operand ")
           << i << " has type " << gradient.getType()
           << ", the operand has type " << type;
  }
  return success();
}

bool Differentiator::runNode(uint32_t node, ArrayRef<GradientRef> inputs,
                             ArrayRef<bool> wanted,
                             MutableArrayRef<GradientRef> outputs) {
  Operation *op = forward[node];
  if (llvm::all_of(inputs, [](GradientRef g) { return !g || isZero(g); })) {
    for (auto [output, asked] : llvm::zip_equal(outputs, wanted))
      output = asked ? &zeroMark : nullptr;
    return true;
  }
  auto rules = dyn_cast<DifferentiableOpInterface>(op);
  if (!rules)
    return succeeded(failWithoutRules(op));
  SmallVector<Value> gradientsIn;
  for (GradientRef gradient : inputs)
    gradientsIn.push_back(isZero(gradient) ? Value() : toValue(gradient));
  llvm::SmallBitVector needed(wanted.size());
  for (unsigned i = 0; i < wanted.size(); ++i)
    needed[i] = wanted[i];
  Operation *mark = graph.getOutput()->getPrevNode();
  VjpContext context(builder, op, gradientsIn, needed);
  if (failed(rules.buildVjp(context)) || failed(checkGradients(op, context)))
    return false;
  current = op;
  currentSequence = nodes.getSequence(node);
  Operation *first = firstAfter(mark);
  keepArguments(op, first);
  order.built(op, first);
  for (Operation *at = first; at != graph.getOutput(); at = at->getNextNode())
    describe(at, op, currentSequence);
  for (auto [i, output] : llvm::enumerate(outputs)) {
    Value gradient = context.getOperandGradients()[i];
    output = gradient            ? gradient.getAsOpaquePointer()
             : context.isZero(i) ? &zeroMark
                                 : nullptr;
  }
  return true;
}

/// The sum belongs to the op whose VJP gave the later summand.
bool Differentiator::add(GradientRef earlier, GradientRef later,
                         GradientRef &sum) {
  if (isZero(earlier) || isZero(later)) {
    sum = isZero(earlier) ? later : earlier;
    return true;
  }
  Location loc = current ? current->getLoc() : graph.getLoc();
  aten::CallBuilder calls(builder, loc);
  Value value =
      calls.call(aten::op::add_Tensor, {toValue(earlier), toValue(later)});
  if (!value)
    return false;
  if (current)
    describe(value.getDefiningOp(), current, currentSequence);
  sum = value.getAsOpaquePointer();
  return true;
}

/// The argument whose gradient `leaf` accumulates.
Value Differentiator::gradientTarget(uint32_t leaf) {
  auto group = llvm::find(leaves, leaf) - leaves.begin();
  return graph.getBody().getArgument(targets.groups[group].front());
}

/// What a mark of zeros stands for, as a gradient of `like`.
Value Differentiator::makeZeros(Value like) {
  aten::CallBuilder calls(builder, like.getLoc(), &namer);
  return calls.call(aten::op::full, {calls.sizes(like), 0.0},
                    {{"dtype", aten::elementOf(like)}});
}

/// A hook sees zeros as what they are, and makes a gradient of them.
bool Differentiator::runHook(HookKind kind, uint32_t node, unsigned index,
                             GradientRef &gradient) {
  SmallVector<StringRef, 1> points = hooks.place(kind, node, index);
  if (points.empty())
    return true;
  Operation *op = forward[node];
  Value of = !op                          ? gradientTarget(node)
             : kind == HookKind::NodePost ? op->getOperand(index)
                                          : op->getResult(index);
  Value value = isZero(gradient) ? makeZeros(of) : toValue(gradient);
  if (!value)
    return false;
  for (StringRef point : points) {
    value = buildHook(builder, of.getLoc(), kind, point, value, nextKey++,
                      namer.next("hook"));
    if (op)
      describe(graph.getOutput()->getPrevNode(), op, nodes.getSequence(node));
  }
  gradient = value.getAsOpaquePointer();
  return true;
}

LogicalResult Differentiator::walk() {
  std::vector<uint32_t> wanted;
  for (unsigned group = 0; group < leaves.size(); ++group)
    if (targets.isWanted(group))
      wanted.push_back(leaves[group]);
  gradients.resize(nodes.size());
  builder.setInsertionPoint(graph.getOutput());
  auto addGradients = [&](GradientRef a, GradientRef b, GradientRef &sum) {
    return add(a, b, sum);
  };
  auto run = [&](uint32_t node, ArrayRef<GradientRef> inputs,
                 ArrayRef<bool> asked, MutableArrayRef<GradientRef> outputs) {
    return runNode(node, inputs, asked, outputs);
  };
  auto accumulate = [&](uint32_t node, GradientRef gradient) {
    gradients[node] =
        isZero(gradient) ? makeZeros(gradientTarget(node)) : toValue(gradient);
    return gradients[node] != nullptr;
  };
  auto hook = [&](HookKind kind, uint32_t node, unsigned index,
                  GradientRef &gradient) {
    return runHook(kind, node, index, gradient);
  };
  BackwardActions actions = {addGradients, run, accumulate};
  if (!hooks.empty())
    actions.hook = hook;
  if (!runBackward(nodes, roots, wanted, actions) ||
      failed(hooks.checkPlaced(graph)))
    return failure();
  bool any = llvm::any_of(
      wanted, [&](uint32_t leaf) { return gradients[leaf] != nullptr; });
  return any ? success() : failUnreached({});
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Gradients in the order of their arguments become results; ops of the
/// backward that nobody uses go.
void Differentiator::finish() {
  std::vector<Value> byArgument(graph.getNumArguments());
  for (unsigned group = 0; group < leaves.size(); ++group)
    for (unsigned arg : targets.groups[group])
      if (targets.wanted.count(arg))
        byArgument[arg] = gradients[leaves[group]];
  OutputOp output = graph.getOutput();
  SmallVector<Value> results(output.getForwardResults());
  SmallVector<int32_t> of;
  for (unsigned arg = 0; arg < byArgument.size(); ++arg)
    if (Value gradient = byArgument[arg]) {
      results.push_back(gradient);
      of.push_back(static_cast<int32_t>(arg));
    }
  // At once: each type of a function is kept for good.
  graph.setFunctionType(FunctionType::get(graph.getContext(),
                                          graph.getArgumentTypes(),
                                          TypeRange(ValueRange(results))));
  Operation *last = output->getPrevNode();
  OpBuilder at(output);
  for (Operation &op : graph.getBlock())
    op.removeDiscardableAttr(kForgets);
  OutputOp::create(at, output.getLoc(), results, at.getDenseI32ArrayAttr(of));
  output.erase();
  for (Operation *op = last; op && op != lastForward;) {
    Operation *before = op->getPrevNode();
    if (op->use_empty() && isMemoryEffectFree(op))
      op->erase();
    op = before;
  }
  order.settle();
  // Each VJP asks for the sizes that it needs: the first answer, which may be
  // the forward's, serves all.
  eliminateCommonSubexpressions(graph.getBlock(), [](Operation *op) {
    return op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
  });
}

LogicalResult Differentiator::run() {
  if (failed(chooseTargets(graph, options, targets)) ||
      failed(detachReentrant(graph, options, targets)))
    return failure();
  flattenCheckpoints(graph);
  makeLeaves();
  if (failed(order.readNames()) || failed(makeNodes()) || failed(makeSeeds()) ||
      failed(hooks.resolve(graph, nodes, options.hooks,
                           [&](Value value) { return edges.lookup(value); })) ||
      failed(walk()))
    return failure();
  finish();
  return success();
}

/// What rules read stands in the graph.
static void setGroupSizes(GraphOp graph, const DifferentiateOptions &options) {
  if (options.groupSizes.empty())
    return;
  Builder builder(graph.getContext());
  NamedAttrList sizes(graph->getAttrOfType<DictionaryAttr>(kGroupSizes));
  for (const auto &[name, size] : options.groupSizes)
    sizes.set(name, builder.getI64IntegerAttr(size));
  graph->setDiscardableAttr(kGroupSizes,
                            sizes.getDictionary(graph.getContext()));
}

LogicalResult cutback::differentiate(GraphOp graph,
                                     const DifferentiateOptions &options) {
  setGroupSizes(graph, options);
  return Differentiator(graph, options).run();
}
