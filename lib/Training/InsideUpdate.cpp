// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An update that waits for the end of the backward keeps every gradient alive.
// Here its ops become ops of the joint graph, so that planner, scheduler and
// certificate see one step:
//
//   1. tied arguments are read under the first of their names, so that every
//      read of the tensor is one of the argument that is written
//   2. buildUpdate() makes the ops, which are copied: those of a parameter
//      after the one that makes its gradient, and after the last one that reads
//      the parameter or a view of it. Recomputed ops of the forward are reads
//      of the old value too: who orders the backward keeps readers of an
//      argument before its `joint.write`, and the certificate and EffectProof
//      ask for it
//   3. gradients of what is updated are taken out of the results
//
// What all gradients have in common (a norm, whether they are finite, sums of
// micro-batches) needs all of them; and where a result, or the gradient of
// another argument, is a view of a parameter, the order of writes would be
// seen. Then the update stays a segment after the backward. Linear.

#include "cutback/Training/InsideUpdate.h"

#include "cutback/Analysis/GraphView.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Interpreter/Step.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/BitVector.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

/// By value: the argument whose memory it may lie in, or kNone.
static std::vector<uint32_t> findArguments(const GraphView &view) {
  std::vector<uint32_t> argument = view.findStorages();
  for (uint32_t &value : argument)
    if (!view.isArg(value))
      value = GraphView::kNone;
  return argument;
}

/// By argument: the parameter, by its number, that is the same tensor, or
/// kNone.
static std::vector<uint32_t>
numberUpdated(const GraphView &view, ArrayRef<UpdatedParameter> parameters) {
  std::vector<uint32_t> number(view.numArgs, GraphView::kNone);
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    number[parameter.argument] = i;
    for (unsigned tied : parameter.tied)
      number[tied] = i;
  }
  return number;
}

/// What of the options asks for all gradients first.
static std::string whyOptimizerNeedsAll(const Optimizer &optimizer) {
  if (optimizer.clipNorm != 0)
    return "--clip-norm needs the norm of all gradients";
  if (optimizer.scalesLoss)
    return "--scale-loss looks at all gradients, whether they are finite";
  return optimizer.accumulates
             ? "gradients of several micro-batches are added up"
             : "";
}

std::string cutback::whyUpdateAfter(joint::GraphOp graph,
                                    const Optimizer &optimizer,
                                    ArrayRef<UpdatedParameter> parameters) {
  if (std::string why = whyOptimizerNeedsAll(optimizer); !why.empty())
    return why;
  if (parameters.empty())
    return "no parameter has a gradient";
  GraphView view = GraphView::build(graph);
  std::vector<uint32_t> number = numberUpdated(view, parameters);
  std::vector<uint8_t> isWritten(view.numArgs, 0);
  for (auto write : graph.getBlock().getOps<joint::WriteOp>()) {
    auto argument = dyn_cast<BlockArgument>(write.getDestination());
    unsigned to = argument ? argument.getArgNumber() : 0;
    if (argument && number[to] != GraphView::kNone)
      return "the step itself writes '" + parameters[number[to]].name + "'";
    if (argument)
      isWritten[to] = 1;
  }
  std::vector<uint32_t> argument = findArguments(view);
  auto isShown = [&](uint32_t value, bool isGradient) {
    uint32_t of = argument[value];
    return of != GraphView::kNone &&
           (number[of] != GraphView::kNone || (isGradient && isWritten[of]));
  };
  for (auto [values, isGradient] : {std::pair(view.forwardResults(), false),
                                    std::pair(view.gradients(), true)})
    for (uint32_t value : values)
      if (isShown(value, isGradient))
        return "result '" + view.name(value) + "' shows argument '" +
               graph.getArgName(argument[value]).str() +
               "', which the step writes";
  for (const UpdatedParameter &parameter : parameters)
    for (unsigned tied : parameter.tied)
      if (graph.getArgumentTypes()[tied] != parameter.type)
        return "'" + parameter.name + "' has two types";
  return "";
}

namespace {

class Inserter {
public:
  Inserter(joint::GraphOp graph, const Optimizer &optimizer,
           ArrayRef<UpdatedParameter> parameters)
      : graph(graph), optimizer(optimizer), parameters(parameters),
        namer(graph) {}

  LogicalResult run() {
    FailureOr<UpdateGraph> made = buildUpdate(graph, optimizer);
    if (failed(made))
      return failure();
    readUnderOneName();
    findPlaces();
    addArguments(*made);
    splitOps(made->graph);
    copyOps();
    dropGradients();
    mark();
    return verify(graph);
  }

private:
  void readUnderOneName() {
    Block &block = graph.getBlock();
    for (const UpdatedParameter &parameter : parameters)
      for (unsigned tied : parameter.tied)
        block.getArgument(tied).replaceAllUsesWith(
            block.getArgument(parameter.argument));
  }

  Value gradientOf(const UpdatedParameter &parameter) {
    return graph.getOutput().getGradients()[parameter.gradient];
  }

  /// After which op of the graph a parameter may be written.
  void findPlaces() {
    GraphView view = GraphView::build(graph);
    std::vector<uint32_t> argument = findArguments(view);
    std::vector<uint32_t> number = numberUpdated(view, parameters);
    place.assign(parameters.size(), 0);
    // Beginning with 1: what makes none begins before all ops.
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t value : view.operands(op))
        if (uint32_t of = argument[value];
            of != GraphView::kNone && number[of] != GraphView::kNone)
          place[number[of]] = op + 1;
    llvm::DenseMap<Operation *, uint32_t> numberOf;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      numberOf[view.ops[op]] = op + 1;
    for (auto [i, parameter] : llvm::enumerate(parameters))
      if (Operation *maker = gradientOf(parameter).getDefiningOp())
        place[i] = std::max(place[i], numberOf.lookup(maker));
    ops = std::move(view.ops);
  }

  /// The arguments of the update that the step does not have, and in `mapping`
  /// what the others are.
  void addArguments(const UpdateGraph &update) {
    llvm::StringMap<Value> known;
    for (const UpdatedParameter &parameter : parameters) {
      known[parameter.argumentName] =
          graph.getBlock().getArgument(parameter.argument);
      known[parameter.gradientName] = gradientOf(parameter);
    }
    joint::GraphOp from = update.graph;
    MLIRContext *context = graph.getContext();
    for (BlockArgument argument : from.getBlock().getArguments()) {
      StringRef name = from.getArgName(argument.getArgNumber());
      Value &now = known[name];
      if (!now) {
        auto text = StringAttr::get(context, name);
        NamedAttrList attrs;
        attrs.set(joint::JointDialect::kRole,
                  joint::RoleAttr::get(context, joint::RoleKind::Buffer, text,
                                       -1, false));
        attrs.set(joint::JointDialect::kName, namer.next(name));
        attrs.set(interpreter::kFileName, text);
        unsigned number = graph.getNumArguments();
        (void)graph.insertArgument(number, argument.getType(),
                                   attrs.getDictionary(context),
                                   graph.getLoc());
        now = graph.getBlock().getArgument(number);
      }
      mapping.map(argument, now);
    }
    for (auto [i, parameter] : llvm::enumerate(parameters))
      ofArgument[parameter.argumentName] = i;
  }

  /// Which ops of the update are of which parameter: those up to its write.
  /// What reads numbers of the step alone all have in common.
  void splitOps(joint::GraphOp update) {
    of.resize(parameters.size());
    llvm::DenseSet<Value> isCommon;
    for (BlockArgument argument : update.getBlock().getArguments()) {
      StringRef name = update.getArgName(argument.getArgNumber());
      if (name == kLearningRate || name == kStepNumber)
        isCommon.insert(argument);
    }
    SmallVector<Operation *> own;
    for (Operation &op : update.getBlock().without_terminator()) {
      if (llvm::all_of(op.getOperands(),
                       [&](Value value) { return isCommon.contains(value); })) {
        isCommon.insert(op.result_begin(), op.result_end());
        common.push_back(&op);
        continue;
      }
      own.push_back(&op);
      auto write = dyn_cast<joint::WriteOp>(op);
      auto found =
          write ? ofArgument.find(joint::getValueName(write.getDestination()))
                : ofArgument.end();
      if (found != ofArgument.end())
        of[found->second] = std::exchange(own, {});
    }
  }

  void copyOps() {
    std::vector<uint32_t> order(parameters.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(
        order, [&](uint32_t a, uint32_t b) { return place[a] < place[b]; });
    OpBuilder builder(graph.getContext());
    for (uint32_t number : order) {
      Operation *next = place[number] < ops.size()
                            ? ops[place[number]]
                            : graph.getBlock().getTerminator();
      builder.setInsertionPoint(next);
      for (Operation *op : std::exchange(common, {}))
        copy(builder, op);
      for (Operation *op : of[number])
        copy(builder, op);
    }
  }

  /// Ops that the planner takes apart have names of usual stems for the parts.
  void copy(OpBuilder &builder, Operation *op) {
    Operation *made = builder.clone(*op, mapping);
    SmallVector<Attribute> names;
    for (OpResult result : made->getResults())
      names.push_back(
          namer.next(("update_" + joint::getValueName(result)).str()));
    made->setAttr("names", builder.getArrayAttr(names));
    if (auto write = dyn_cast<joint::WriteOp>(made))
      write.setSide(joint::Side::Backward);
  }

  void dropGradients() {
    llvm::SmallDenseSet<unsigned> isUpdated;
    for (const UpdatedParameter &parameter : parameters) {
      isUpdated.insert(parameter.argument);
      isUpdated.insert(parameter.tied.begin(), parameter.tied.end());
    }
    joint::OutputOp output = graph.getOutput();
    SmallVector<Value> results(output.getForwardResults());
    SmallVector<int32_t> gradientOf;
    llvm::BitVector isGone(output->getNumOperands());
    for (auto [i, argument, value] :
         llvm::enumerate(output.getGradientOf(), output.getGradients())) {
      if (isUpdated.contains(argument)) {
        isGone.set(output.getNumForwardResults() + i);
        continue;
      }
      results.push_back(value);
      gradientOf.push_back(argument);
    }
    output->setOperands(results);
    output.setGradientOf(gradientOf);
    (void)graph.eraseResults(isGone);
  }

  void mark() {
    SmallVector<StringRef> undecayed;
    for (const UpdatedParameter &parameter : parameters)
      if (!parameter.decays)
        undecayed.push_back(parameter.argumentName);
    graph->setAttr(joint::kInsideUpdate,
                   Builder(graph.getContext()).getStrArrayAttr(undecayed));
  }

  joint::GraphOp graph;
  const Optimizer &optimizer;
  ArrayRef<UpdatedParameter> parameters;
  aten::ValueNamer namer;
  std::vector<Operation *> ops;         ///< of the step
  std::vector<uint32_t> place;          ///< by parameter: before which of them
  llvm::StringMap<uint32_t> ofArgument; ///< parameter by argument's name
  IRMapping mapping;                    ///< from the update to the step
  std::vector<SmallVector<Operation *>> of; ///< by parameter, of the update
  SmallVector<Operation *> common;
};

} // namespace

LogicalResult cutback::insertUpdate(joint::GraphOp graph,
                                    const Optimizer &optimizer,
                                    ArrayRef<UpdatedParameter> parameters) {
  return Inserter(graph, optimizer, parameters).run();
}
