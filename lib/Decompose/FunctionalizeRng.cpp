// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops of dialect `aten` in terms of `joint.random` and pure ops. Each
// rule draws once, from the next stream, in a shape that it takes from the op's
// result type, with sizes for what the type leaves open.
//
// What is drawn differs from what the framework's generator would draw; its
// distribution does not. So this is for graphs whose random numbers are ours:
// programs that are differentiated here, or where the user asks for it.

#include "cutback/Decompose/FunctionalizeRng.h"

#include "Rules.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Forgets.h"
#include "cutback/Dialect/Joint/Random.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using joint::Distribution;

namespace {

/// One random op being replaced.
class Rewrite {
public:
  Rewrite(CallOp op, Value seed, int64_t stream, ValueNamer &namer)
      : op(op), seed(seed), stream(stream), builder(op.getOperation()),
        call(builder, op.getLoc(), &namer), read(op) {}

  bool failed() const { return call.failed(); }

  // Rules: the values of the results.
  SmallVector<Value> uniform();
  SmallVector<Value> standardNormal();
  SmallVector<Value> integers();
  SmallVector<Value> bernoulli();
  SmallVector<Value> dropout();
  SmallVector<Value> permutation();
  SmallVector<Value> normal();

private:
  Value draw(Distribution distribution, Type element);
  Value cast(Value value, Type element);
  Value withZeros(Value numbers);
  Type resultElement() { return elementOf(op.getOperation()->getResult(0)); }

  CallOp op;
  Value seed;
  int64_t stream;
  OpBuilder builder;
  CallBuilder call;
  CallReader read;
};

} // namespace

/// Random numbers of the shape of result 0.
Value Rewrite::draw(Distribution distribution, Type element) {
  auto type =
      mlir::cast<RankedTensorType>(op.getOperation()->getResult(0).getType());
  SmallVector<Value> sizes;
  std::vector<Arg> list = read.list(optional("size"));
  Value like = read.value(optional("self"));
  if (!like)
    like = read.value(optional("input"));
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    Arg size = like                      ? call.size(like, d)
               : size_t(d) < list.size() ? list[size_t(d)]
                                         : read.arg(optional("n"));
    if (!size.isValue()) {
      call.error(Twine("a size of '") + op.getInfo().torchName +
                 "' is not known");
      return {};
    }
    sizes.push_back(size.getValue());
  }
  auto name = call.getNamer()->next("random");
  return joint::RandomOp::create(
      builder, op.getLoc(), RankedTensorType::get(type.getShape(), element),
      distribution, seed, stream, sizes, builder.getArrayAttr({name}));
}

Value Rewrite::cast(Value value, Type element) {
  if (!value || elementOf(value) == element)
    return value;
  return call.call(op::_to_copy, {value}, {{"dtype", element}});
}

SmallVector<Value> Rewrite::uniform() {
  return {draw(Distribution::Uniform, resultElement())};
}

SmallVector<Value> Rewrite::standardNormal() {
  return {draw(Distribution::Normal, resultElement())};
}

/// The same numbers, with a gradient of zeros to the tensor that they take the
/// place of, or are drawn by: PyTorch gives it one.
Value Rewrite::withZeros(Value numbers) {
  Value self = read.value(optional("self"));
  if (!self || !numbers || !isa<FloatType>(elementOf(self)) ||
      !decompose::mayHaveGradient(self))
    return numbers;
  Value zeros = call.call(op::full_like, {self, 0});
  if (!zeros)
    return {};
  zeros.getDefiningOp()->setDiscardableAttr(joint::kForgets,
                                            builder.getUnitAttr());
  return call.call(op::add_Tensor, {numbers, zeros});
}

/// low + (64 random bits mod (high - low)).
SmallVector<Value> Rewrite::integers() {
  Arg low = read.isNone(optional("low")) ? Arg(0) : read.arg("low");
  Arg range = low.getInt() == 0
                  ? read.arg("high")
                  : Arg(call.call(op::operator_sub, {read.arg("high"), low}));
  if (low.getInt() && read.arg("high").getInt())
    range = Arg(*read.arg("high").getInt() - *low.getInt());
  Value bits = draw(Distribution::Bits, builder.getI64Type());
  Value below = call.call(op::remainder_Scalar, {bits, range});
  return {cast(call.call(op::add_Scalar, {below, low}), resultElement())};
}

SmallVector<Value> Rewrite::bernoulli() {
  Value number = draw(Distribution::Uniform, builder.getF32Type());
  Value drawn = read.isNone(optional("p"))
                    ? call.call(op::lt_Tensor, {number, read.arg("self")})
                    : call.call(op::lt_Scalar, {number, read.arg("p")});
  return {withZeros(cast(drawn, resultElement()))};
}

/// x · mask / (1 - p), and the mask.
SmallVector<Value> Rewrite::dropout() {
  Value input = read.value("input");
  double keep = 1 - read.number("p").value_or(0);
  Value number = draw(Distribution::Uniform, builder.getF32Type());
  Value mask = call.call(op::lt_Scalar, {number, keep});
  Value kept = call.call(op::mul_Tensor, {input, mask});
  double scale = keep > 0 ? 1 / keep : 0;
  return {call.call(op::mul_Scalar, {kept, scale}), mask};
}

SmallVector<Value> Rewrite::permutation() {
  Value keys = draw(Distribution::Uniform, builder.getF64Type());
  SmallVector<Value> sorted = call.callMany(op::sort, {keys});
  return {sorted.size() == 2 ? cast(sorted[1], resultElement()) : Value()};
}

SmallVector<Value> Rewrite::normal() {
  Value number = draw(Distribution::Normal, resultElement());
  Value wide = call.call(op::mul_Scalar, {number, read.arg("std")});
  return {withZeros(call.call(op::add_Scalar, {wide, read.arg("mean")}))};
}

using Rule = SmallVector<Value> (Rewrite::*)();

/// The rule for an op, null if there is none.
static Rule ruleFor(StringRef packet) {
  return llvm::StringSwitch<Rule>(packet)
      .Cases({"aten.rand", "aten.rand_like"}, &Rewrite::uniform)
      .Cases({"aten.randn", "aten.randn_like"}, &Rewrite::standardNormal)
      .Cases({"aten.randint", "aten.randint_like"}, &Rewrite::integers)
      .Case("aten.bernoulli", &Rewrite::bernoulli)
      .Case("aten.native_dropout", &Rewrite::dropout)
      .Case("aten.randperm", &Rewrite::permutation)
      .Case("aten.normal_functional", &Rewrite::normal)
      .Default(nullptr);
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

/// The last op that makes a value takes over the name of what it replaces.
static void takeNames(CallOp from, ArrayRef<Value> values) {
  for (auto [old, value] : llvm::zip(from.getOperation()->getResults(), values))
    if (auto maker = value.getDefiningOp<CallOp>())
      if (StringRef name = joint::getValueName(old);
          !name.empty() && maker->getNumResults() == 1)
        maker.getProperties().names = OpBuilder(maker).getStringAttr(name);
}

LogicalResult cutback::functionalizeRng(joint::GraphOp graph) {
  SmallVector<std::pair<CallOp, Rule>> random;
  graph.getBlock().walk([&](CallOp op) {
    if (Rule rule = ruleFor(op.getSchema().packet); rule && op.isRandom())
      random.emplace_back(op, rule);
  });
  if (random.empty())
    return success();
  FailureOr<Value> seed = addSeed(graph);
  if (failed(seed))
    return failure();
  ValueNamer namer(graph);
  int64_t stream = 0;
  for (auto [op, rule] : random) {
    Rewrite rewrite(op, *seed, stream++, namer);
    SmallVector<Value> values = (rewrite.*rule)();
    if (rewrite.failed())
      return failure();
    takeNames(op, values);
    op.getOperation()->replaceAllUsesWith(values);
    op.getOperation()->erase();
  }
  return success();
}
