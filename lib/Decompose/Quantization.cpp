// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantization, element by element. An element x has the place
//
//   q = round(x / scale) + zero point,   kept between quant_min and quant_max,
//
// (a zero point that is no integer is added before x is rounded),
// and fake quantization gives (q - zero point) * scale. PyTorch multiplies by
// the reciprocal, in single precision, and so do we: where x is half way
// between two places, that decides.
//
// The units have gradient rules (lib/Autograd/Aten/Quantization.cpp), in which
// the gradient passes where q is in the range; here they are taken apart behind
// differentiation. An observer follows the range of what it sees, and chooses
// scale and zero point as PyTorch's ChooseQuantizationParams does: in double
// precision, rounded to single precision where it rounds. Whether it observes
// and quantizes is in tensors, so both are computed and one is taken.

#include "CoreRules.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value times(CallBuilder &b, const Arg &x, const Arg &y) {
  return b.call(op::mul_Tensor, {x, y});
}

static Value minus(CallBuilder &b, const Arg &x, const Arg &y) {
  return b.call(op::sub_Tensor, {x, y});
}

static Value choose(CallBuilder &b, Value condition, const Arg &x,
                    const Arg &y) {
  return b.call(op::where_self, {condition, x, y});
}

/// `like`'s sizes for `value`, which has as many elements.
static Value shapedLike(CallBuilder &b, Value value, Value like) {
  return viewAs(b, value, b.sizes(like).getList().vec());
}

/// The one element of `value`.
static Value single(CallBuilder &b, Value value) {
  return value ? viewAs(b, value, {}) : value;
}

/// The one number of a tensor that says whether something is on.
static Value isOn(CallBuilder &b, Value flag) {
  return single(b, b.call(op::ne_Scalar, {flag, 0}));
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

namespace {

/// What fake quantization makes of a tensor: the values, where they were in the
/// range, and the places on the grid.
struct Quantized {
  Value rounded, isInside, kept;
};

/// Scale and zero point: numbers, or tensors of one number or of one a channel.
class Grid {
public:
  /// `axis` is the dimension of channels.
  Grid(Rewrite &c, Value self, const Arg &scale, const Arg &zero,
       std::optional<int64_t> axis)
      : c(c), b(c.b), rank(rankOf(self)), axis(axis), scale(placed(scale)),
        zero(zero.isNone() ? Arg(int64_t(0)) : placed(zero)) {}

  /// The number of the place on the grid, before it is kept in the range.
  Value places(Value x) {
    bool isWhole = !zero.isValue() || !isa<FloatType>(elementOf(getZero()));
    Value place = scaled(x);
    if (isWhole)
      place = b.call(op::round, {place});
    place = shifted(place, op::add_Tensor, op::add_Scalar);
    return isWhole ? place : b.call(op::round, {place});
  }
  Value clamped(Value places) {
    return b.call(op::clamp,
                  {places, c.r.arg("quant_min"), c.r.arg("quant_max")});
  }
  Value back(Value places) {
    Value value = shifted(places, op::sub_Tensor, op::sub_Scalar);
    return scale.isValue()
               ? times(b, value, scale)
               : b.call(op::mul_Scalar, {value, static_cast<double>(number())});
  }
  Quantized quantize(Value self) {
    Value place = places(widen(b, self)), kept = clamped(place);
    return {castTo(b, back(kept), elementOf(self)),
            b.call(op::eq_Tensor, {place, kept}), kept};
  }
  /// `x` divided by the scale.
  Value scaled(Value x) {
    if (scale.isValue())
      return times(b, x, b.call(op::reciprocal, {scale}));
    return b.call(op::mul_Scalar, {x, static_cast<double>(1.0F / number())});
  }
  Value getScale() const { return scale.getValue(); }
  Value getZero() const { return zero.getValue(); }

private:
  /// The scale that is one; after an error it is none.
  float number() const {
    return static_cast<float>(scale.getNumber().value_or(1));
  }
  Value shifted(Value x, StringRef byTensor, StringRef byNumber) {
    return b.call(zero.isValue() ? byTensor : byNumber, {x, zero});
  }
  /// One number a channel, in the shape of a tensor of `rank` dimensions; one
  /// number for all without any dimension.
  Arg placed(const Arg &arg) {
    Value value = arg.getValue();
    if (!value)
      return arg;
    if (!axis)
      return Arg(single(b, value));
    std::vector<Arg> sizes(rank, Arg(int64_t(1)));
    sizes[wrapDim(*axis, rank)] = b.size(value, 0);
    return Arg(viewAs(b, value, sizes));
  }

  Rewrite &c;
  CallBuilder &b;
  int64_t rank;
  std::optional<int64_t> axis;
  Arg scale, zero;
};

} // namespace

/// The grid that the arguments of a call say.
static Grid gridOf(Rewrite &c, Value self, const char *scale,
                   const char *zero) {
  return {c, self, c.r.arg(scale), c.r.arg(zero),
          c.r.integer(optional("axis"))};
}

//===----------------------------------------------------------------------===//
// To integers and back
//===----------------------------------------------------------------------===//

static Value quantize(Rewrite &c) {
  Value input = c.r.value("input");
  bool many = c.op.getSchema().find("scales") >= 0;
  Grid grid = gridOf(c, input, many ? "scales" : "scale",
                     many ? "zero_points" : "zero_point");
  return castTo(c.b, grid.clamped(grid.places(input)), elementOf(c.result()));
}

static Value dequantize(Rewrite &c) {
  Value input = castTo(c.b, c.r.value("input"), elementOf(c.result()));
  bool many = c.op.getSchema().find("scales") >= 0;
  Grid grid = gridOf(c, input, many ? "scales" : "scale",
                     many ? "zero_points" : "zero_point");
  return castTo(c.b, grid.back(input), elementOf(c.result()));
}

//===----------------------------------------------------------------------===//
// Fake quantization
//===----------------------------------------------------------------------===//

/// By the op that keeps the mask, which the gradient reads.
static Value fakeQuantize(Rewrite &c) {
  SmallVector<Arg> args;
  for (const char *name : {"self", "scale", "zero_point"})
    args.push_back(c.r.arg(name));
  const char *withMask = op::fake_quantize_per_tensor_affine_cachemask;
  if (!c.r.isNone(optional("axis"))) {
    withMask = op::fake_quantize_per_channel_affine_cachemask;
    args.push_back(c.r.arg("axis"));
  } else if (c.r.value("scale")) {
    withMask = op::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams;
    args.push_back(Arg(c.b.call(op::full, {{1}, 1}, {{"dtype", c.b.i64()}})));
  }
  args.append({c.r.arg("quant_min"), c.r.arg("quant_max")});
  Values results = c.b.callMany(withMask, args);
  return results.empty() ? Value() : results.front();
}

static Value maskGradient(Rewrite &c) {
  return times(c.b, c.r.value("grad"), c.r.value("mask"));
}

/// What is quantized where that is on, else `self` as it is; and the mask.
static Values switched(CallBuilder &b, Value on, Value self,
                       const Quantized &quantized) {
  Value isOff = b.call(op::logical_not, {on});
  return {choose(b, on, quantized.rounded, self),
          b.call(op::logical_or, {quantized.isInside, isOff})};
}

static Values fakeQuantizeWithMask(Rewrite &c) {
  Value self = c.r.value("self");
  Quantized done = gridOf(c, self, "scale", "zero_point").quantize(self);
  Value flag = c.r.value(optional("fake_quant_enabled"));
  if (flag)
    return switched(c.b, isOn(c.b, flag), self, done);
  return {done.rounded, done.isInside};
}

//===----------------------------------------------------------------------===//
// Learned grids
//===----------------------------------------------------------------------===//

/// The zero point is a float, and used as an integer of the range. In the
/// gradient of one for the whole tensor PyTorch rounds 0.5 up and the rest of
/// negative numbers towards zero.
static Grid learnedGrid(Rewrite &c, Value self, bool isBackward) {
  CallBuilder &b = c.b;
  Value zero = c.r.value("zero_point");
  bool truncates = isBackward && c.r.isNone(optional("axis"));
  zero = truncates ? b.call(op::add_Scalar, {zero, 0.5})
                   : b.call(op::round, {zero});
  zero = b.call(op::clamp, {zero, c.r.arg("quant_min"), c.r.arg("quant_max")});
  zero = castTo(b, zero, b.i64()); // towards zero
  return {c, self, c.r.arg("scale"), Arg(zero), c.r.integer(optional("axis"))};
}

static Value learnedQuantize(Rewrite &c) {
  Value self = c.r.value("self");
  return learnedGrid(c, self, /*isBackward=*/false).quantize(self).rounded;
}

/// The sum of all elements, or of each channel, in the shape of `like`.
static Value sumLike(Rewrite &c, Value terms, Value like) {
  SmallVector<int64_t> dims = allDims(terms);
  if (std::optional<int64_t> axis = c.r.integer(optional("axis")))
    dims.erase(dims.begin() + wrapDim(*axis, rankOf(terms)));
  if (!dims.empty())
    terms = c.b.call(op::sum_dim_IntList, {terms, dims, false});
  return castTo(c.b, shapedLike(c.b, terms, like), elementOf(like));
}

/// With y = (q - z) s: inside of the range dy/ds is (y - x) / s and dy/dz is 0;
/// outside q - z and -s.
static Values learnedQuantizeBackward(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), gradient = c.r.value("grad");
  Grid grid = learnedGrid(c, self, /*isBackward=*/true);
  Quantized done = grid.quantize(self);
  Value x = widen(b, self), g = widen(b, gradient);
  Arg factor = c.r.arg("grad_factor");
  Value slope =
      choose(b, done.isInside, grid.scaled(minus(b, grid.back(done.kept), x)),
             minus(b, done.kept, grid.getZero()));
  Value ofScale = b.call(op::mul_Scalar, {times(b, g, slope), factor});
  Value outside = b.call(
      op::where_ScalarSelf,
      {done.isInside, 0.0, b.call(op::neg, {times(b, g, grid.getScale())})});
  Value ofZero = b.call(op::mul_Scalar, {outside, factor});
  return {castTo(b, times(b, gradient, done.isInside), elementOf(self)),
          sumLike(c, ofScale, c.r.value("scale")),
          sumLike(c, ofZero, c.r.value("zero_point"))};
}

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

namespace {

/// Scale and zero point of a range, by ChooseQuantizationParams.
class Chooser {
public:
  Chooser(Rewrite &c, Value low, Value high)
      : b(c.b), low(castTo(b, low, f64())), high(castTo(b, high, f64())),
        qMin(c.r.integer("quant_min").value_or(0)),
        qMax(c.r.integer("quant_max").value_or(0)),
        isSymmetric(c.r.boolean("symmetric_quant").value_or(false)) {
    if (qMin >= qMax)
      b.error("quantization from " + Twine(qMin) + " to " + Twine(qMax) +
              " has no range");
  }
  void run();

  Value scale, zero; ///< f64

private:
  Type f64() { return Float64Type::get(b.getBuilder().getContext()); }
  Value number(const char *name, Value x, const Arg &y) {
    return b.call(name, {x, y});
  }
  /// Rounded to single precision.
  Value rounded(Value x) { return castTo(b, castTo(b, x, b.f32()), f64()); }
  /// Zero is inside of the range.
  Value spansZero() {
    return b.call(op::logical_and, {number(op::lt_Scalar, low, 0.0),
                                    number(op::gt_Scalar, high, 0.0)});
  }
  void balance();
  void chooseScale();
  Value chooseZero();

  CallBuilder &b;
  Value low, high;
  int64_t qMin, qMax;
  bool isSymmetric;
};

} // namespace

/// The same distance to both sides of zero, in steps.
void Chooser::balance() {
  int64_t half = (qMax - qMin) / 2;
  auto above = static_cast<double>(half), below = -(above + 1);
  auto stepOf = [&](Value end, double steps) {
    return b.call(op::abs, {rounded(number(op::div_Scalar, end, steps))});
  };
  Value step = b.call(op::maximum, {stepOf(low, below), stepOf(high, above)});
  Value spans = spansZero();
  low = choose(b, spans, rounded(number(op::mul_Scalar, step, below)), low);
  high = choose(b, spans, rounded(number(op::mul_Scalar, step, above)), high);
}

/// What is too small is made larger, and the range with it.
void Chooser::chooseScale() {
  constexpr double least = 6.1e-5F, noReciprocal = 0x1p-128;
  scale = number(op::div_Scalar, minus(b, high, low),
                 static_cast<double>(qMax - qMin));
  Value isNothing = number(op::le_Scalar, scale, noReciprocal);
  scale = b.call(op::where_ScalarSelf, {isNothing, 0.1, scale});
  Value isSmall = number(op::lt_Scalar, scale, least);
  Value larger = rounded(
      number(op::mul_Scalar, b.call(op::reciprocal, {rounded(scale)}), least));
  for (Value *end : {&low, &high})
    *end = choose(b, isSmall, rounded(times(b, *end, larger)), *end);
  scale = b.call(op::where_ScalarSelf, {isSmall, least, scale});
}

/// From the end of the range where the smaller terms are added.
Value Chooser::chooseZero() {
  auto from = [&](Value end, int64_t place, Value &error) {
    Value steps = b.call(op::div_Tensor, {end, scale});
    error = number(op::rsub_Scalar, b.call(op::abs, {steps}),
                   static_cast<double>(std::abs(place)));
    return number(op::rsub_Scalar, steps, static_cast<double>(place));
  };
  Value lowError, highError;
  Value ofLow = from(low, qMin, lowError), ofHigh = from(high, qMax, highError);
  Value place =
      choose(b, b.call(op::lt_Tensor, {lowError, highError}), ofLow, ofHigh);
  if (isSymmetric)
    place = b.call(op::where_ScalarSelf,
                   {spansZero(), static_cast<double>(qMin + qMax) / 2, place});
  return b.call(op::clamp,
                {b.call(op::round, {place}), static_cast<double>(qMin),
                 static_cast<double>(qMax)});
}

void Chooser::run() {
  // Of what was never observed there is no scale: PyTorch refuses it.
  Value isRange = b.call(op::le_Tensor, {low, high});
  if (isSymmetric)
    balance();
  low = number(op::clamp_max, low, 0.0);
  high = number(op::clamp_min, high, 0.0);
  chooseScale();
  zero = chooseZero();
  scale = b.call(op::where_ScalarOther,
                 {isRange, scale, std::numeric_limits<double>::quiet_NaN()});
}

/// The moving average of the least or the largest element, of each channel or
/// of all.
static Value observe(Rewrite &c, Value on, const char *end, Value running) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  SmallVector<int64_t> dims = allDims(self);
  if (c.r.boolean("per_row_fake_quant").value_or(false))
    dims.erase(dims.begin());
  Value now = dims.empty() ? self : b.call(end, {self, dims, false});
  now = shapedLike(b, castTo(b, now, elementOf(running)), running);
  Value step = b.call(op::mul_Scalar,
                      {minus(b, now, running), c.r.arg("averaging_const")});
  Value moved = b.call(op::add_Tensor, {running, step});
  Value isFirst = b.call(op::isinf, {running});
  return choose(b, on, choose(b, isFirst, now, moved), running);
}

/// Says what cannot be observed.
static void checkObserver(Rewrite &c) {
  bool perRow = c.r.boolean("per_row_fake_quant").value_or(false);
  int64_t axis = c.r.integer("ch_axis").value_or(0);
  int64_t rank = rankOf(c.r.value("self"));
  if (perRow && axis != 0)
    c.b.error("channels are observed along dimension 0 only, not " +
              Twine(axis));
  else if (perRow && rank < 2)
    c.b.error("channels of a tensor of " + Twine(rank) +
              " dimensions have no elements to observe");
  else if (llvm::is_contained(shapeOf(c.r.value("running_min")), 0))
    c.b.error("an observer that has seen nothing has no sizes yet: run the "
              "model once before it is exported");
}

static Values observedQuantize(Rewrite &c) {
  CallBuilder &b = c.b;
  checkObserver(c);
  if (b.failed())
    return {};
  Value self = c.r.value("self"), scale = c.r.value("scale"),
        zero = c.r.value("zero_point");
  Value observes = isOn(b, c.r.value("observer_on"));
  Value quantizes = isOn(b, c.r.value("fake_quant_on"));
  Value low = observe(c, observes, op::amin, c.r.value("running_min"));
  Value high = observe(c, observes, op::amax, c.r.value("running_max"));
  Chooser chosen(c, low, high);
  chosen.run();
  auto updated = [&](Value now, Value before) {
    now = shapedLike(b, castTo(b, now, elementOf(before)), before);
    return choose(b, quantizes, now, before);
  };
  scale = updated(chosen.scale, scale);
  zero = updated(chosen.zero, zero);
  std::optional<int64_t> axis;
  if (c.r.boolean("per_row_fake_quant").value_or(false))
    axis = 0;
  Grid grid(c, self, Arg(scale), Arg(zero), axis);
  Values results = switched(b, quantizes, self, grid.quantize(self));
  results.append({low, high, scale, zero});
  return results;
}

const DecomposeFn decompositions::fakeQuantize = one<::fakeQuantize>;
const DecomposeFn decompositions::maskGradient = one<::maskGradient>;
const DecomposeFn decompositions::quantize = one<::quantize>;
const DecomposeFn decompositions::dequantize = one<::dequantize>;
const CoreRule units::fakeQuantize = {many<::fakeQuantizeWithMask>};
const CoreRule units::learnedQuantize = {one<::learnedQuantize>};
const CoreRule units::learnedQuantizeBackward = {
    many<::learnedQuantizeBackward>};
const CoreRule units::observedQuantize = {many<::observedQuantize>};
