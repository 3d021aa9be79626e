// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules for random ops. Each draws once, from a stream of its own (gamma
// several times, each from its own), in a shape that it takes from the op's
// result type, with sizes for what the type leaves open. With u in [0, 1) and n
// normal:
//   exponential   -log(1 - u) / lambda, never 0
//   geometric     ceil(log(1 - u) / log(1 - p)), 1 at least
//   cauchy        median + sigma tan(pi (u - 1/2))
//   log_normal    exp(mean + std n)
//   random        low + bits mod (high - low)
//   multinomial   with replacement the place of u total in the running sum of
//                 the weights; without, the k largest of weight / exponential
//                 (of weights that are all 0 behind the others, any)
//   poisson, binomial   joint.poisson, joint.binomial: as often as they need to
//   gamma         d v of the first of eight rounds that Marsaglia and Tsang's
//                 method accepts, with v = (1 + n / sqrt(9 d))^3, d = a - 1/3;
//                 of a shape a below 1 that of a + 1, times (1 - u)^(1 / a). A
//                 round is refused once in 20 times at most: none of eight is
//                 accepted once in 10^10 draws, and v = 1 is taken
// 16-bit floats are drawn in f32 and rounded once.

#include "RandomRules.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Forgets.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;
using joint::Distribution;

namespace {

/// One random op being replaced.
class Drawing {
public:
  Drawing(CallOp op, RandomSource &source, ValueNamer &namer)
      : op(op), source(source), builder(op.getOperation()),
        call(builder, op.getLoc(), &namer), read(op) {}

  bool failed() const { return call.failed(); }

  // Rules: the values of the results.
  Values uniform();
  Values standardNormal();
  Values integers();
  Values anyIntegers();
  Values bernoulli();
  Values dropout();
  Values permutation();
  Values normal();
  Values logNormal();
  Values exponential();
  Values geometric();
  Values cauchy();
  Values poisson();
  Values binomial();
  Values multinomial();
  Values standardGamma();

private:
  Value draw(Distribution distribution, Type element, Value like = {});
  SmallVector<Value> openSizes(RankedTensorType type, Value like);
  Value cast(Value value, Type element);
  Values finish(Value numbers);
  Value bounded(Value bits, int64_t low, const Arg &range);
  Value exponentials(Value like);
  Value fraction(Value like = {});
  Value gamma(Value shape);
  Value add(Value x, const Arg &y) { return combine("add", x, y); }
  Value mul(Value x, const Arg &y) { return combine("mul", x, y); }
  Value combine(const char *name, Value x, const Arg &y);
  Type resultElement() { return elementOf(op.getOperation()->getResult(0)); }
  Type drawnElement();
  Arg parameter(ParamRef param);
  Value eachOf(ParamRef param, ArrayRef<Value> all);

  CallOp op;
  RandomSource &source;
  OpBuilder builder;
  CallBuilder call;
  CallReader read;
};

} // namespace

//===----------------------------------------------------------------------===//
// What rules are made of
//===----------------------------------------------------------------------===//

/// The sizes that `type` leaves open; null entries after an error.
SmallVector<Value> Drawing::openSizes(RankedTensorType type, Value like) {
  SmallVector<Value> sizes;
  std::vector<Arg> list = read.list(optional("size"));
  for (const char *param : {"self", "input", "mean", "std"})
    if (!like && list.empty())
      like = read.value(optional(param));
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    Arg size = like && d < rankOf(like)  ? call.size(like, d)
               : size_t(d) < list.size() ? list[size_t(d)]
                                         : read.arg(optional("n"));
    if (!size.isValue()) {
      call.error(Twine("a size of '") + op.getInfo().torchName +
                 "' is not known");
      return {};
    }
    sizes.push_back(size.getValue());
  }
  return sizes;
}

/// Random numbers of the shape of `like`, or of result 0.
Value Drawing::draw(Distribution distribution, Type element, Value like) {
  Value shaped = like ? like : Value(op.getOperation()->getResult(0));
  auto type = mlir::cast<RankedTensorType>(shaped.getType());
  SmallVector<Value> sizes = openSizes(type, like);
  if (call.failed())
    return {};
  auto name = call.getNamer()->next("random");
  return joint::RandomOp::create(
      builder, op.getLoc(), RankedTensorType::get(type.getShape(), element),
      distribution, source.seed, source.stream, source.round, sizes,
      builder.getArrayAttr({name}));
}

Value Drawing::cast(Value value, Type element) {
  if (!value || elementOf(value) == element)
    return value;
  return call.call(op::_to_copy, {value}, {{"dtype", element}});
}

/// x + y or x * y, y a number or a tensor.
Value Drawing::combine(const char *name, Value x, const Arg &y) {
  return call.call(
      std::string("aten.") + name +
          (y.isValue() && isa<RankedTensorType>(y.getValue().getType())
               ? ".Tensor"
               : ".Scalar"),
      {x, y});
}

/// What real numbers are drawn in.
Type Drawing::drawnElement() {
  Type element = resultElement();
  return element.isF64() ? element : Type(builder.getF32Type());
}

/// In [0, 1).
Value Drawing::fraction(Value like) {
  return draw(Distribution::Uniform, like ? elementOf(like) : drawnElement(),
              like);
}

/// The numbers as the result's type, with a gradient of zeros to each tensor
/// that they take the place of, or are drawn by: PyTorch gives it one.
Values Drawing::finish(Value numbers) {
  numbers = cast(numbers, resultElement());
  for (const char *param : {"self", "p", "mean", "std"}) {
    Value given = read.value(optional(param));
    if (!given || !numbers || !isa<RankedTensorType>(given.getType()) ||
        !isa<FloatType>(elementOf(given)) || !mayHaveGradient(given))
      continue;
    Value zeros = call.call(op::full_like, {given, 0});
    if (!zeros)
      return {};
    zeros.getDefiningOp()->setDiscardableAttr(joint::kForgets,
                                              builder.getUnitAttr());
    numbers =
        cast(call.call(op::add_Tensor, {numbers, zeros}), resultElement());
  }
  return {numbers};
}

//===----------------------------------------------------------------------===//
// Real numbers
//===----------------------------------------------------------------------===//

Values Drawing::uniform() {
  if (op.getSchema().find("from") < 0)
    return {draw(Distribution::Uniform, resultElement())};
  double from = read.number(optional("from")).value_or(0),
         to = read.number(optional("to")).value_or(1);
  Value number = fraction();
  if (to - from != 1)
    number = mul(number, to - from);
  return finish(from != 0 ? add(number, from) : number);
}

Values Drawing::standardNormal() {
  return {draw(Distribution::Normal, resultElement())};
}

/// A parameter that is a number, or a tensor, which gets no gradient here.
Arg Drawing::parameter(ParamRef param) {
  Value given = read.value(param);
  return given ? Arg(call.call(op::detach, {given})) : read.arg(param);
}

Values Drawing::normal() {
  Value number = draw(Distribution::Normal, drawnElement());
  return finish(add(mul(number, parameter("std")), parameter("mean")));
}

Values Drawing::logNormal() {
  Value number = draw(Distribution::Normal, drawnElement());
  Value wide = add(mul(number, read.arg("std")), read.arg("mean"));
  return finish(call.call(op::exp, {wide}));
}

/// Of mean 1, and above 0: half a step of u stands for u = 0.
Value Drawing::exponentials(Value like) {
  Value u = fraction(like);
  if (!u)
    return {};
  Value number =
      call.call(op::neg, {call.call(op::log1p, {call.call(op::neg, {u})})});
  double least = elementOf(u).isF64() ? 0x1p-54 : 0x1p-25;
  return call.call(op::clamp_min, {number, least});
}

Values Drawing::exponential() {
  double rate = read.number(optional("lambd")).value_or(1);
  Value number = exponentials({});
  return finish(rate == 1 ? number : call.call(op::div_Scalar, {number, rate}));
}

Values Drawing::cauchy() {
  double median = read.number(optional("median")).value_or(0),
         sigma = read.number(optional("sigma")).value_or(1);
  Value angle = mul(add(fraction(), -0.5), 3.14159265358979323846);
  return finish(add(mul(call.call(op::tan, {angle}), sigma), median));
}

Values Drawing::geometric() {
  double rate = -std::log1p(-read.number("p").value_or(0.5));
  Value waits = call.call(op::div_Scalar, {exponentials({}), rate});
  return finish(call.call(op::clamp_min, {call.call(op::ceil, {waits}), 1.0}));
}

/// Of shapes of 1 and more.
Value Drawing::gamma(Value shape) {
  constexpr unsigned kRounds = 8;
  Value d = add(shape, -1.0 / 3), c = call.call(op::rsqrt, {mul(d, 9.0)});
  SmallVector<std::pair<Value, Value>> rounds; // v, and whether it is accepted
  for (unsigned i = 0; i < kRounds; ++i) {
    ++source.stream;
    Value x = draw(Distribution::Normal, elementOf(shape));
    ++source.stream;
    Value u = draw(Distribution::Uniform, elementOf(shape));
    if (!x || !u)
      return {};
    Value t = add(mul(c, x), 1.0), v = mul(mul(t, t), t);
    // Of v below 0 the logarithm is no number, and nothing is below that.
    Value most = mul(
        d, add(call.call(op::sub_Tensor, {call.call(op::log, {v}), v}), 1.0));
    Value accepts = call.call(op::lt_Tensor,
                              {call.call(op::log1p, {call.call(op::neg, {u})}),
                               add(mul(mul(x, x), 0.5), most)});
    rounds.emplace_back(v, accepts);
  }
  Value v = call.call(op::ones_like, {d});
  for (auto [drawn, accepts] : llvm::reverse(rounds))
    v = call.call(op::where_self, {accepts, drawn, v});
  return mul(d, v);
}

/// The gradient keeps the quantile of the draw, whatever rounds were refused:
/// it is that of a term which is zero.
Values Drawing::standardGamma() {
  Value given = read.value("self"), still = call.call(op::detach, {given});
  Value shape = cast(still, drawnElement());
  Value isSmall = call.call(op::lt_Scalar, {shape, 1.0});
  Value power = call.call(op::pow_Tensor_Tensor,
                          {add(call.call(op::neg, {fraction()}), 1.0),
                           call.call(op::reciprocal, {shape})});
  Value numbers = gamma(call.call(op::add_Tensor, {shape, isSmall}));
  if (call.failed())
    return {};
  numbers = mul(numbers,
                call.call(op::where_self,
                          {isSmall, power, call.call(op::ones_like, {power})}));
  double least = elementOf(shape).isF64() ? 0x1p-1022 : 0x1p-126;
  numbers = cast(call.call(op::clamp_min, {numbers, least}), resultElement());
  if (!mayHaveGradient(given))
    return {numbers};
  Value slope = call.call(op::_standard_gamma_grad, {still, numbers});
  return {add(numbers, mul(call.call(op::sub_Tensor, {given, still}), slope))};
}

//===----------------------------------------------------------------------===//
// Whole numbers
//===----------------------------------------------------------------------===//

/// low + bits mod range
Value Drawing::bounded(Value bits, int64_t low, const Arg &range) {
  Value below = call.call(op::remainder_Scalar, {bits, range});
  return low == 0 ? below : add(below, low);
}

Values Drawing::integers() {
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

Values Drawing::anyIntegers() {
  unsigned bits = joint::numExactBits(resultElement());
  Value drawn = draw(Distribution::Bits, builder.getI64Type());
  int64_t low = read.integer(optional("from")).value_or(0);
  std::optional<int64_t> high = read.integer(optional("to"));
  if (!high && bits >= 63) {
    Value numbers = call.call(op::bitwise_and_Scalar,
                              {drawn, INT64_MAX - std::max(low, int64_t(0))});
    return finish(low == 0 ? numbers : add(numbers, low));
  }
  int64_t end = high.value_or(int64_t(1) << bits);
  if (low >= end) {
    call.error(Twine("'") + op.getInfo().torchName +
               "' has no integer to draw from " + Twine(low) + " to " +
               Twine(end));
    return {};
  }
  return finish(bounded(drawn, low, end - low));
}

Values Drawing::bernoulli() {
  bool isOfSelf = read.isNone(optional("p"));
  Arg p = isOfSelf ? read.arg("self") : read.arg("p");
  Value number = draw(Distribution::Uniform, builder.getF32Type());
  return finish(
      call.call(p.isValue() ? op::lt_Tensor : op::lt_Scalar, {number, p}));
}

/// x · mask / (1 - p), and the mask.
Values Drawing::dropout() {
  Value input = read.value("input");
  double keep = 1 - read.number("p").value_or(0);
  Value number = draw(Distribution::Uniform, builder.getF32Type());
  Value mask = call.call(op::lt_Scalar, {number, keep});
  Value kept = call.call(op::mul_Tensor, {input, mask});
  double scale = keep > 0 ? 1 / keep : 0;
  return {call.call(op::mul_Scalar, {kept, scale}), mask};
}

Values Drawing::permutation() {
  Value keys = draw(Distribution::Uniform, builder.getF64Type());
  Values sorted = call.callMany(op::sort, {keys});
  return {sorted.size() == 2 ? cast(sorted[1], resultElement()) : Value()};
}

Values Drawing::poisson() {
  Value rate = read.value("self");
  Value numbers = joint::PoissonOp::create(
      builder, op.getLoc(), rate.getType(), source.seed, source.stream,
      source.round, rate,
      builder.getArrayAttr({call.getNamer()->next("poisson")}));
  return finish(numbers);
}

/// A parameter of each element: of the type and the sizes of the result.
Value Drawing::eachOf(ParamRef param, ArrayRef<Value> all) {
  auto type =
      mlir::cast<RankedTensorType>(op.getOperation()->getResult(0).getType());
  Value given =
      cast(call.call(op::detach, {read.value(param)}), resultElement());
  if (call.failed() || given.getType() == type)
    return given;
  SmallVector<Arg> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    sizes.emplace_back(type.getDimSize(d));
    for (Value of : all) {
      int64_t own = d - type.getRank() + rankOf(of);
      if (type.isDynamicDim(d) && own >= 0 &&
          mlir::cast<RankedTensorType>(of.getType()).getDimSize(own) != 1)
        sizes.back() = call.size(of, own);
    }
  }
  return call.call(op::expand, {given, ArrayRef<Arg>(sizes)});
}

Values Drawing::binomial() {
  Value all[] = {read.value("count"), read.value("prob")};
  Value trials = eachOf("count", all), chance = eachOf("prob", all);
  if (call.failed())
    return {};
  return {joint::BinomialOp::create(
      builder, op.getLoc(), trials.getType(), source.seed, source.stream,
      source.round, trials, chance,
      builder.getArrayAttr({call.getNamer()->next("binomial")}))};
}

Values Drawing::multinomial() {
  Value weights = read.value("self");
  Type element = elementOf(weights);
  if (!element.isF64())
    weights = cast(weights, builder.getF32Type());
  if (read.boolean("replacement") != true) {
    Value waits = exponentials(weights);
    Values best =
        call.callMany(op::topk, {call.call(op::div_Tensor, {weights, waits}),
                                 read.arg("num_samples"), -1, true, true});
    return {best.size() == 2 ? best[1] : Value()};
  }
  Value sums = call.call(op::cumsum, {weights, -1});
  Value total = call.call(op::slice_Tensor, {sums, -1, -1});
  Value number = draw(Distribution::Uniform, elementOf(weights));
  Value at = call.call(op::mul_Tensor, {number, total});
  Value place =
      call.call(op::searchsorted_Tensor, {sums, at}, {{"right", true}});
  Arg most = call.size(weights, -1);
  // Rounding may reach the total.
  if (most.getInt())
    place = call.call(op::clamp_max, {place, *most.getInt() - 1});
  return {place};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Rule = Values (Drawing::*)();

/// The rule for an op, null if there is none.
static Rule ruleFor(StringRef packet) {
  return llvm::StringSwitch<Rule>(packet)
      .Cases({"aten.rand", "aten.rand_like", "aten.uniform"}, &Drawing::uniform)
      .Cases({"aten.randn", "aten.randn_like"}, &Drawing::standardNormal)
      .Cases({"aten.randint", "aten.randint_like"}, &Drawing::integers)
      .Case("aten.random", &Drawing::anyIntegers)
      .Case("aten.bernoulli", &Drawing::bernoulli)
      .Case("aten.native_dropout", &Drawing::dropout)
      .Case("aten.randperm", &Drawing::permutation)
      .Cases({"aten.normal", "aten.normal_functional"}, &Drawing::normal)
      .Case("aten.log_normal", &Drawing::logNormal)
      .Case("aten.exponential", &Drawing::exponential)
      .Case("aten.geometric", &Drawing::geometric)
      .Case("aten.cauchy", &Drawing::cauchy)
      .Case("aten.poisson", &Drawing::poisson)
      .Case("aten.binomial", &Drawing::binomial)
      .Case("aten._standard_gamma", &Drawing::standardGamma)
      .Case("aten.multinomial", &Drawing::multinomial)
      .Default(nullptr);
}

bool decompose::hasRandomRule(CallOp op) {
  return op.isRandom() && ruleFor(op.getSchema().packet);
}

Values decompose::buildRandom(CallOp op, RandomSource &source,
                              ValueNamer &namer) {
  Drawing drawing(op, source, namer);
  Values values = (drawing.*ruleFor(op.getSchema().packet))();
  ++source.stream;
  return drawing.failed() ? Values() : values;
}
