// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of calls that run graphs of their own, as PyTorch has them: a graph
// is differentiated as a graph is, and the backward is a call of the same kind,
// whose graphs take what the graphs of the forward took, and the gradients of
// what those gave. So what the forward computes inside is computed again.
//
//   cond(p, f, g, xs)      cond(p, f', g', xs + gradients of the results)
//   scan(f, h, xs, ws)     (1) a scan that gives the h before each round
//                          (2) a scan over the rounds from the last to the
//                              first, which carries the gradients of h and the
//                              sums of those of ws, and gives those of xs
//
// An operand on which what is differentiated does not depend in one graph gets
// zeros from it. The rounds of a while_loop are known when it has run, and how
// much is to be kept for its gradient with them: it has none here.

#include "NestedVjps.h"

#include "DifferentiateTargets.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Dialect/Joint/Vjp.h"
#include "cutback/Transforms/DeadCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace op = cutback::aten::op;

namespace {

/// The backward of one graph: a graph that takes what it took, and the
/// gradients of some of its results; it gives those of some of its arguments.
class GraphGradient {
public:
  GraphGradient(Region &region)
      : module(ModuleOp::create(region.getLoc())),
        graph(copyGraph(region, *module)) {}

  /// `wanted`: numbers of arguments; `given`: of results.
  LogicalResult build(ArrayRef<unsigned> wanted, ArrayRef<unsigned> given);
  /// Ends it with the results `values`.
  void finish(ArrayRef<Value> values, Region &region);

  Block &block() { return graph.getBlock(); }
  /// By wanted argument; null where none of the results depends on it.
  SmallVector<Value> gradients;

private:
  bool isReached(ArrayRef<unsigned> wanted, ArrayRef<unsigned> given);

  OwningOpRef<ModuleOp> module;
  GraphOp graph;
};

} // namespace

bool GraphGradient::isReached(ArrayRef<unsigned> wanted,
                              ArrayRef<unsigned> given) {
  llvm::DenseSet<Value> active;
  for (unsigned argument : wanted)
    active.insert(block().getArgument(argument));
  for (Operation &at : block().without_terminator())
    for (auto [i, operand] : llvm::enumerate(at.getOperands()))
      if (active.contains(operand) &&
          mayPassGradient(&at, static_cast<unsigned>(i)))
        for (Value result : at.getResults())
          if (isDifferentiable(result.getType()))
            active.insert(result);
  return llvm::any_of(given, [&](unsigned result) {
    return active.contains(graph.getOutput().getForwardResults()[result]);
  });
}

LogicalResult GraphGradient::build(ArrayRef<unsigned> wanted,
                                   ArrayRef<unsigned> given) {
  gradients.assign(wanted.size(), Value());
  if (!isReached(wanted, given)) {
    for (unsigned result : given) {
      Value value = graph.getOutput().getForwardResults()[result];
      block().addArgument(value.getType(), value.getLoc());
    }
    return success();
  }
  for (unsigned argument : wanted)
    graph.setArgAttr(argument, kRequiresGrad,
                     UnitAttr::get(graph.getContext()));
  DifferentiateOptions options;
  options.lossOutputs.assign(given.begin(), given.end());
  options.firstVector = 0;
  if (failed(differentiate(graph, options)))
    return failure();
  OutputOp output = graph.getOutput();
  for (auto [of, gradient] :
       llvm::zip(output.getGradientOf(), output.getGradients()))
    gradients[llvm::find(wanted, static_cast<unsigned>(of)) - wanted.begin()] =
        gradient;
  return success();
}

void GraphGradient::finish(ArrayRef<Value> values, Region &region) {
  OutputOp output = graph.getOutput();
  OpBuilder builder(output);
  OutputOp::create(builder, output.getLoc(), SmallVector<Value>(values),
                   builder.getDenseI32ArrayAttr({}));
  output.erase();
  eliminateDeadCode(graph);
  moveGraph(graph, region);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

/// A list of arguments of a call: what stands there, and its operands.
struct List {
  SmallVector<Attribute> entries;
  SmallVector<Value> values;

  void add(Value value) {
    entries.push_back(OperandAttr::get(value.getContext()));
    values.push_back(value);
  }
};

/// What both kinds of calls share.
class NestedVjp {
public:
  NestedVjp(NestedOp forward, VjpContext &context)
      : forward(forward), context(context),
        b(context.builder, forward.getLoc()) {}

protected:
  MLIRContext *mlirContext() { return forward.getContext(); }
  /// The list that is argument `place` of the forward call.
  List listAt(unsigned place);
  /// The number of its first operand.
  unsigned firstOperandAt(unsigned place);
  /// By result of the call: its number among the values that graph `graph`
  /// gives; nothing of a None.
  std::optional<unsigned> placeOf(unsigned result);
  Attribute nameOf(unsigned graph);
  NestedOp call(ArrayRef<Attribute> args, ArrayRef<Value> operands,
                ArrayRef<Type> types,
                std::vector<std::unique_ptr<Region>> graphs);
  Attribute listOf(ArrayRef<Attribute> entries) {
    return ArrayAttr::get(mlirContext(), entries);
  }
  /// Zeros like `like`, where `at` inserts.
  static Value zerosLike(aten::CallBuilder &at, Value like) {
    return at.call(op::full, {at.sizes(like), 0.0},
                   {{"dtype", aten::elementOf(like)}});
  }

  NestedOp forward;
  VjpContext &context;
  aten::CallBuilder b;
};

} // namespace

List NestedVjp::listAt(unsigned place) {
  List list;
  llvm::append_range(list.entries, cast<ArrayAttr>(forward.getArgs()[place]));
  unsigned first = firstOperandAt(place);
  for (Attribute entry : list.entries)
    if (isa<OperandAttr>(entry))
      list.values.push_back(forward->getOperand(first++));
  return list;
}

unsigned NestedVjp::firstOperandAt(unsigned place) {
  ArrayRef<Attribute> before = forward.getArgs().getValue().take_front(place);
  return countOperands(ArrayAttr::get(mlirContext(), before));
}

std::optional<unsigned> NestedVjp::placeOf(unsigned result) {
  if (isa<NoneType>(forward->getResult(result).getType()))
    return std::nullopt;
  return llvm::count_if(
      forward->getResults().take_front(result),
      [](Value value) { return !isa<NoneType>(value.getType()); });
}

Attribute NestedVjp::nameOf(unsigned graph) {
  SmallVector<FlatSymbolRefAttr> names;
  collectGraphs(forward.getArgs(), names);
  return FlatSymbolRefAttr::get(mlirContext(),
                                names[graph].getValue().str() + "_backward");
}

NestedOp NestedVjp::call(ArrayRef<Attribute> args, ArrayRef<Value> operands,
                         ArrayRef<Type> types,
                         std::vector<std::unique_ptr<Region>> graphs) {
  OperationState state(forward.getLoc(), NestedOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(types);
  Builder attributes(mlirContext());
  state.addAttribute("callee", forward.getCalleeAttr());
  state.addAttribute("args", attributes.getArrayAttr(args));
  state.addAttribute("tuple", attributes.getUnitAttr());
  // Whoever asked for the gradient names the results.
  state.addAttribute("names", attributes.getArrayAttr(SmallVector<Attribute>(
                                  types.size(), attributes.getStringAttr(""))));
  for (std::unique_ptr<Region> &graph : graphs)
    state.addRegion(std::move(graph));
  return cast<NestedOp>(context.builder.create(state));
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

namespace {

class CondVjp : public NestedVjp {
public:
  using NestedVjp::NestedVjp;

  LogicalResult build() {
    List list = listAt(3);
    SmallVector<unsigned> wanted, given;
    SmallVector<Type> types;
    unsigned first = firstOperandAt(3);
    for (auto [i, value] : llvm::enumerate(list.values))
      if (context.needs(first + i)) {
        wanted.push_back(i);
        types.push_back(value.getType());
      }
    for (unsigned result = 0; result < forward->getNumResults(); ++result)
      if (Value gradient = context.gradient(result)) {
        given.push_back(*placeOf(result));
        list.add(gradient);
      }
    std::vector<std::unique_ptr<Region>> graphs;
    for (Region &graph : forward.getGraphs()) {
      graphs.push_back(std::make_unique<Region>());
      if (failed(branch(graph, wanted, given, *graphs.back())))
        return failure();
    }
    SmallVector<Value> operands;
    if (first > 0)
      operands.push_back(forward->getOperand(0));
    operands.append(list.values);
    NestedOp made =
        call({forward.getArgs()[0], nameOf(0), nameOf(1), listOf(list.entries)},
             operands, types, std::move(graphs));
    for (auto [argument, gradient] :
         llvm::zip_equal(wanted, made->getResults()))
      context.set(first + argument, gradient);
    return success();
  }

private:
  LogicalResult branch(Region &graph, ArrayRef<unsigned> wanted,
                       ArrayRef<unsigned> given, Region &region) {
    GraphGradient gradient(graph);
    if (failed(gradient.build(wanted, given)))
      return failure();
    OpBuilder builder(gradient.block().getTerminator());
    aten::CallBuilder at(builder, forward.getLoc());
    for (auto [argument, value] : llvm::zip(wanted, gradient.gradients))
      if (!value)
        value = zerosLike(at, gradient.block().getArgument(argument));
    if (at.failed())
      return failure();
    gradient.finish(gradient.gradients, region);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

namespace {

/// The arguments of the body, each with its place: carried values first, then
/// slices, then what all rounds read.
class ScanVjp : public NestedVjp {
public:
  ScanVjp(NestedOp forward, VjpContext &context)
      : NestedVjp(forward, context), inits(listAt(1)), slices(listAt(2)),
        others(listAt(3)), numCarried(inits.values.size()),
        numSlices(slices.values.size()) {}

  LogicalResult build();

private:
  LogicalResult collect();
  SmallVector<Value> carriedBefore();
  LogicalResult body(Region &region);
  Value flip(Value stack) {
    return b.call(op::flip, {stack, ArrayRef<int64_t>{0}});
  }
  NestedOp runBack(List &backInits, List &backSlices);

  List inits, slices, others;
  unsigned numCarried, numSlices;
  /// Numbers of floating-point carried values, wanted slices, others.
  SmallVector<unsigned> carried, sliced, shared;
  /// Results that are stacks and have a gradient: number among all results.
  SmallVector<unsigned> stacks;
};

} // namespace

/// What has a gradient. Fails where a carried value is a number.
LogicalResult ScanVjp::collect() {
  if (inits.entries.size() != numCarried ||
      slices.entries.size() != numSlices) {
    auto diagnostic = forward.emitError("no gradient through '")
                      << forward.getCallee() << "' that carries a number";
    diagnostic.attachNote() << "let it carry a tensor of one element";
    return diagnostic;
  }
  for (unsigned i = 0; i < numCarried; ++i)
    if (isDifferentiable(inits.values[i].getType()))
      carried.push_back(i);
  unsigned first = numCarried;
  for (unsigned i = 0; i < numSlices; ++i)
    if (context.needs(first + i))
      sliced.push_back(i);
  first += numSlices;
  for (unsigned i = 0; i < others.values.size(); ++i)
    if (context.needs(first + i))
      shared.push_back(i);
  for (unsigned i = numCarried; i < forward->getNumResults(); ++i)
    if (context.gradient(i))
      stacks.push_back(i);
  return success();
}

/// Stacks of the carried values before each round.
SmallVector<Value> ScanVjp::carriedBefore() {
  if (numCarried == 0)
    return {};
  OwningOpRef<ModuleOp> module = ModuleOp::create(forward.getLoc());
  GraphOp graph = copyGraph(forward.getGraphs()[0], *module);
  OutputOp output = graph.getOutput();
  SmallVector<Value> results(output.getForwardResults().take_front(numCarried));
  SmallVector<Type> types(llvm::make_range(
      forward->result_type_begin(), forward->result_type_begin() + numCarried));
  auto steps = cast<RankedTensorType>(slices.values[0].getType()).getDimSize(0);
  for (unsigned i = 0; i < numCarried; ++i) {
    results.push_back(graph.getBlock().getArgument(i));
    auto type = cast<RankedTensorType>(inits.values[i].getType());
    SmallVector<int64_t> shape = {steps};
    llvm::append_range(shape, type.getShape());
    types.push_back(type.clone(shape));
  }
  OpBuilder builder(output);
  OutputOp::create(builder, output.getLoc(), results,
                   builder.getDenseI32ArrayAttr({}));
  output.erase();
  eliminateDeadCode(graph);
  std::vector<std::unique_ptr<Region>> graphs;
  graphs.push_back(std::make_unique<Region>());
  moveGraph(graph, *graphs.back());
  NestedOp made = call(forward.getArgs().getValue(),
                       SmallVector<Value>(forward->getOperands()), types,
                       std::move(graphs));
  return SmallVector<Value>(made->getResults().drop_front(numCarried));
}

/// New arguments in the order of the call, in `results` too; then the old ones
/// go.
static void reorderArguments(Block &block, ArrayRef<unsigned> order,
                             MutableArrayRef<Value> results) {
  unsigned old = block.getNumArguments();
  for (unsigned number : order) {
    BlockArgument before = block.getArgument(number);
    Value now = block.addArgument(before.getType(), before.getLoc());
    before.replaceAllUsesWith(now);
    llvm::replace(results, Value(before), now);
  }
  block.eraseArguments(0, old);
}

/// The arguments of the backward's body: gradients of the carried values, sums;
/// slices, carried values, gradients of stacks; others.
LogicalResult ScanVjp::body(Region &region) {
  Region &source = forward.getGraphs()[0];
  SmallVector<unsigned> wanted, given;
  for (unsigned i : carried)
    wanted.push_back(i);
  for (unsigned i : sliced)
    wanted.push_back(numCarried + i);
  for (unsigned i : shared)
    wanted.push_back(numCarried + numSlices + i);
  for (unsigned i : carried)
    given.push_back(i);
  llvm::append_range(given, stacks);
  GraphGradient gradient(source);
  if (failed(gradient.build(wanted, given)))
    return failure();
  Block &block = gradient.block();
  unsigned numOthers = others.values.size();
  unsigned firstSeed = numCarried + numSlices + numOthers;
  OpBuilder builder(block.getTerminator());
  aten::CallBuilder at(builder, forward.getLoc());
  // As they stand in the block, with the sums at the end.
  SmallVector<Value> results;
  SmallVector<unsigned> order;
  unsigned next = block.getNumArguments();
  for (auto [k, argument] : llvm::enumerate(wanted)) {
    Value &value = gradient.gradients[k];
    if (!value)
      value = zerosLike(at, block.getArgument(argument));
  }
  for (unsigned k = 0; k < carried.size(); ++k) {
    results.push_back(gradient.gradients[k]);
    order.push_back(firstSeed + k);
  }
  for (unsigned k = 0; k < shared.size(); ++k) {
    Value value = gradient.gradients[carried.size() + sliced.size() + k];
    Value sum = block.addArgument(
        block.getArgument(numCarried + numSlices + shared[k]).getType(),
        forward.getLoc());
    results.push_back(at.call(op::add_Tensor, {sum, value}));
    order.push_back(next++);
  }
  for (unsigned k = 0; k < sliced.size(); ++k)
    results.push_back(gradient.gradients[carried.size() + k]);
  auto range = [&](unsigned first, unsigned count) {
    llvm::append_range(order, llvm::seq(first, first + count));
  };
  range(numCarried, numSlices);
  range(0, numCarried);
  range(firstSeed + carried.size(), stacks.size());
  range(numCarried + numSlices, numOthers);
  if (at.failed())
    return failure();
  reorderArguments(block, order, results);
  gradient.finish(results, region);
  return success();
}

LogicalResult ScanVjp::build() {
  if (failed(collect()))
    return failure();
  List backInits, backSlices;
  for (unsigned i : carried) {
    Value gradient = context.gradient(i);
    backInits.add(gradient ? gradient : zerosLike(b, inits.values[i]));
  }
  for (unsigned i : shared)
    backInits.add(zerosLike(b, others.values[i]));
  for (Value stack : slices.values)
    backSlices.add(flip(stack));
  for (Value stack : carriedBefore())
    backSlices.add(flip(stack));
  for (unsigned i : stacks)
    backSlices.add(flip(context.gradient(i)));
  if (b.failed())
    return failure();
  std::vector<std::unique_ptr<Region>> graphs;
  graphs.push_back(std::make_unique<Region>());
  if (failed(body(*graphs.back())))
    return failure();
  SmallVector<Value> operands(backInits.values);
  operands.append(backSlices.values);
  operands.append(others.values);
  SmallVector<Type> types;
  for (Value value : backInits.values)
    types.push_back(value.getType());
  for (unsigned i : sliced)
    types.push_back(slices.values[i].getType());
  NestedOp made = call({nameOf(0), listOf(backInits.entries),
                        listOf(backSlices.entries), listOf(others.entries)},
                       operands, types, std::move(graphs));
  unsigned next = 0;
  for (unsigned i : carried)
    if (Value gradient = made->getResult(next++); context.needs(i))
      context.set(i, gradient);
  for (unsigned i : shared)
    context.set(numCarried + numSlices + i, made->getResult(next++));
  for (unsigned i : sliced)
    context.set(numCarried + i, flip(made->getResult(next++)));
  return b.result();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {

struct NestedGradient
    : DifferentiableOpInterface::ExternalModel<NestedGradient, NestedOp> {
  bool canHaveGradient(Operation *op, unsigned operand) const {
    return isDifferentiable(op->getOperand(operand).getType()) &&
           llvm::any_of(op->getResultTypes(), isDifferentiable);
  }

  LogicalResult buildVjp(Operation *op, VjpContext &context) const {
    auto forward = cast<NestedOp>(op);
    NestedKind kind = *nestedKindOf(forward.getCallee());
    if (kind == NestedKind::Cond)
      return CondVjp(forward, context).build();
    if (kind == NestedKind::Scan)
      return ScanVjp(forward, context).build();
    auto diagnostic = forward.emitError("no gradient through '")
                      << forward.getCallee() << "' here";
    bool isLoop =
        kind == NestedKind::WhileLoop || kind == NestedKind::WhileLoopStack;
    diagnostic.attachNote()
        << (isLoop ? "how often it runs is known only then: use scan, or a "
                     "Python loop, which the export unrolls"
                   : "give a joint graph, which brings its gradients (FX text, "
                     "a trace log)");
    return diagnostic;
  }
};

} // namespace

void cutback::registerNestedVjps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, JointDialect *) {
    NestedOp::attachInterface<NestedGradient>(*context);
  });
}
