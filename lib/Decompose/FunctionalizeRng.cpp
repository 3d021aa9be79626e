// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops of dialect `aten` in terms of `joint.random` and pure ops, by the
// rules of RandomRules.cpp, each from the next stream.
//
// Graphs that ops run take the seed as one more operand. A loop hands its round
// to its graphs too, which keeps the draws of its rounds apart: a scan goes
// over the numbers of its rounds, a while loop carries and counts them. A graph
// inside a round takes a seed that is drawn in that round. Graphs of attention
// take no operands of ours: what they draw stays as it is.
//
// What is drawn differs from what the framework's generator would draw; its
// distribution does not. So this is for graphs whose random numbers are ours:
// programs that are differentiated here, or where the user asks for it.

#include "cutback/Decompose/FunctionalizeRng.h"

#include "RandomRules.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Nested.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using decompose::RandomSource;
using joint::NestedKind;
using joint::NestedOp;

/// The last op that makes a value takes over the name of what it replaces.
static void takeNames(CallOp from, ArrayRef<Value> values) {
  for (auto [old, value] : llvm::zip(from.getOperation()->getResults(), values))
    if (auto maker = value.getDefiningOp<CallOp>())
      if (StringRef name = joint::getValueName(old);
          !name.empty() && maker->getNumResults() == 1)
        maker.getProperties().names = OpBuilder(maker).getStringAttr(name);
}

/// Whether something in `op` draws, and has a rule.
static bool draws(Operation *op) {
  return op
      ->walk([](CallOp inner) {
        return decompose::hasRandomRule(inner) ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Graphs that ops run
//===----------------------------------------------------------------------===//

namespace {

/// One call that is made anew, with a seed and, of a loop, a round.
class SeededCall {
public:
  SeededCall(NestedOp op, RandomSource &source, ValueNamer &namer)
      : op(op), kind(*joint::nestedKindOf(op.getCallee())), source(source),
        builder(op), call(builder, op.getLoc(), &namer), args(op.getArgs()),
        inputs(op.getInputs()) {}

  bool isKnown() const {
    return kind != NestedKind::FlexAttention &&
           kind != NestedKind::FlexAttentionBackward;
  }
  /// The new call, whose graphs draw from `inner` each; null after an error.
  NestedOp run(SmallVectorImpl<RandomSource> &inner);

private:
  bool isLoop() const { return kind != NestedKind::Cond; }
  /// Operands in the entries of the argument list in front of `entry`, or in
  /// it.
  unsigned countIn(unsigned entry) const;
  unsigned countBefore(unsigned entry) const;
  void append(unsigned entry, Value value);
  Value seedForGraphs();
  void addRound();
  Type typeOfRounds(Type number);
  void countRounds(Region &body, Value round);

  NestedOp op;
  NestedKind kind;
  RandomSource &source;
  OpBuilder builder;
  CallBuilder call;
  ArrayAttr args;
  SmallVector<Value> inputs;
};

} // namespace

unsigned SeededCall::countIn(unsigned entry) const {
  return joint::countOperands(
      ArrayAttr::get(args.getContext(), args.getValue()[entry]));
}

unsigned SeededCall::countBefore(unsigned entry) const {
  return joint::countOperands(
      ArrayAttr::get(args.getContext(), args.getValue().take_front(entry)));
}

/// `value` becomes the last of the list that is entry `entry`.
void SeededCall::append(unsigned entry, Value value) {
  SmallVector<Attribute> entries(args.begin(), args.end());
  auto list = cast<ArrayAttr>(entries[entry]);
  SmallVector<Attribute> longer(list.begin(), list.end());
  longer.push_back(joint::OperandAttr::get(builder.getContext()));
  inputs.insert(inputs.begin() + countBefore(entry) + countIn(entry), value);
  entries[entry] = builder.getArrayAttr(longer);
  args = builder.getArrayAttr(entries);
}

/// Outside of loops the seed itself: streams keep draws apart.
Value SeededCall::seedForGraphs() {
  if (!source.round)
    return source.seed;
  auto name = call.getNamer()->next("seed");
  return joint::RandomOp::create(builder, op.getLoc(), source.seed.getType(),
                                 joint::Distribution::Bits, source.seed,
                                 source.stream++, source.round, ValueRange(),
                                 builder.getArrayAttr({name}));
}

/// What a loop counts its rounds with: a first number, or all numbers.
void SeededCall::addRound() {
  Type type = builder.getI64Type();
  if (kind != NestedKind::Scan)
    return append(2,
                  call.call(op::full, {ArrayRef<Arg>(), 0}, {{"dtype", type}}));
  Value over = inputs[countBefore(2)];
  append(2, call.call(op::arange, {call.size(over, 0)}, {{"dtype", type}}));
}

/// The body of a while loop gives the next number behind what it carries.
void SeededCall::countRounds(Region &body, Value round) {
  auto give = cast<joint::ReturnOp>(body.front().getTerminator());
  OpBuilder inside(give);
  CallBuilder add(inside, give.getLoc(), call.getNamer());
  give.getOperandsMutable().append(add.call(op::add_Scalar, {round, 1}));
  if (auto places = give.getPlaces()) {
    SmallVector<bool> longer(*places);
    longer.push_back(true);
    give.setPlacesAttr(inside.getDenseBoolArrayAttr(longer));
  }
}

/// The result of a while loop for the number that it carries.
Type SeededCall::typeOfRounds(Type number) {
  if (kind != NestedKind::WhileLoopStack)
    return number;
  int64_t rounds = ShapedType::kDynamic;
  for (Type type : op->getResultTypes())
    if (auto stack = dyn_cast<RankedTensorType>(type))
      rounds = stack.getDimSize(0);
  return RankedTensorType::get({rounds}, builder.getI64Type());
}

NestedOp SeededCall::run(SmallVectorImpl<RandomSource> &inner) {
  Value seed = seedForGraphs();
  if (isLoop())
    addRound();
  append(3, seed);
  if (call.failed())
    return {};
  Type number = seed.getType();
  // Where the round stands among what a graph takes: behind all but what is
  // handed over unchanged.
  unsigned place =
      kind == NestedKind::Scan ? countBefore(3) - 1 : countIn(2) - 1;
  for (auto [i, graph] : llvm::enumerate(op.getGraphs())) {
    RandomSource own{{}, {}, 0};
    if (isLoop())
      own.round = graph.insertArgument(place, number, op.getLoc());
    own.seed = graph.addArgument(number, op.getLoc());
    if (isLoop() && kind != NestedKind::Scan && i == 1)
      countRounds(graph, own.round);
    inner.push_back(own);
  }
  SmallVector<Type> resultTypes(op.getResultTypes());
  ArrayAttr names = op.getNamesAttr();
  if (isLoop() && kind != NestedKind::Scan) {
    resultTypes.push_back(typeOfRounds(number));
    if (names) {
      SmallVector<Attribute> longer(names.begin(), names.end());
      longer.push_back(call.getNamer()->next("rounds"));
      names = builder.getArrayAttr(longer);
    }
  }
  auto made = NestedOp::create(
      builder, op.getLoc(), resultTypes, op.getCalleeAttr(), inputs, args,
      op.getKeywordsAttr(), op.getTupleAttr(), names, op.getGraphs().size());
  for (auto [to, from] : llvm::zip_equal(made.getGraphs(), op.getGraphs()))
    to.takeBody(from);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
  op->erase();
  return made;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static LogicalResult seedBlock(Block &block, RandomSource &source,
                               ValueNamer &namer);

static LogicalResult seedNested(NestedOp op, RandomSource &source,
                                ValueNamer &namer) {
  SeededCall seeded(op, source, namer);
  if (!draws(op) || !seeded.isKnown())
    return success();
  SmallVector<RandomSource, 2> inner;
  NestedOp made = seeded.run(inner);
  if (!made)
    return failure();
  for (auto [graph, own] : llvm::zip_equal(made.getGraphs(), inner)) {
    own.stream = source.stream;
    if (failed(seedBlock(graph.front(), own, namer)))
      return failure();
    source.stream = own.stream;
  }
  return success();
}

static LogicalResult seedBlock(Block &block, RandomSource &source,
                               ValueNamer &namer) {
  for (Operation &operation : llvm::make_early_inc_range(block)) {
    if (auto nested = dyn_cast<NestedOp>(operation)) {
      if (failed(seedNested(nested, source, namer)))
        return failure();
      continue;
    }
    for (Region &region : operation.getRegions())
      for (Block &inside : region)
        if (failed(seedBlock(inside, source, namer)))
          return failure();
    auto op = dyn_cast<CallOp>(operation);
    if (!op || !decompose::hasRandomRule(op))
      continue;
    decompose::Values values = decompose::buildRandom(op, source, namer);
    if (values.empty())
      return failure();
    takeNames(op, values);
    operation.replaceAllUsesWith(values);
    operation.erase();
  }
  return success();
}

/// The new argument, behind the others.
static FailureOr<Value> addSeed(joint::GraphOp graph) {
  MLIRContext *context = graph.getContext();
  Builder builder(context);
  auto role = joint::RoleAttr::get(context, joint::RoleKind::RngSeed,
                                   StringAttr(), -1, false);
  unsigned position = graph.getNumArguments();
  ValueNamer namer(graph);
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(joint::JointDialect::kRole, role),
       builder.getNamedAttr(joint::JointDialect::kName,
                            namer.next("rng_seed"))});
  if (failed(graph.insertArgument(
          position, RankedTensorType::get({}, builder.getI64Type()), attributes,
          graph.getLoc())))
    return failure();
  return Value(graph.getBlock().getArgument(position));
}

LogicalResult cutback::functionalizeRng(joint::GraphOp graph) {
  if (!draws(graph))
    return success();
  FailureOr<Value> seed = addSeed(graph);
  if (failed(seed))
    return failure();
  ValueNamer namer(graph);
  RandomSource source{*seed, {}, 0};
  return seedBlock(graph.getBlock(), source, namer);
}
