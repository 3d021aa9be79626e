// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops of graphs that bring them (those of forward programs are functions
// of a seed before they are planned): dropout with its mask, slopes of what is
// negative, a distribution for each element, whose parameters are numbers or
// tensors, rows of places that weights choose (a thread a row), and an order of
// numbers (one thread). The numbers are those of the interpreter: element i of
// a stream that the name of the op's first result decides, for the seed of the
// step. So an op that the backward runs again draws the same, and so does a run
// with --reference.

#include "CallDescription.h"

#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Joint/Replay.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

using precompiled::Draw;

/// "seed[0], (long long)0x2Aull": of the stream that the op's name decides.
std::string sourceText(Operation *op) {
  return "seed[0], (long long)0x" + llvm::utohexstr(joint::drawStreamOf(op)) +
         "ull";
}
std::string uniformText(Operation *op, const std::string &number, bool isWide) {
  return "randomUniform(" + sourceText(op) + ", " + number + ", " +
         (isWide ? "true)" : "false)");
}

/// What a CPU is told of a draw.
Draw drawOf(Operation *op, Draw::Kind kind) {
  Draw draw;
  draw.kind = kind;
  draw.stream = static_cast<int64_t>(joint::drawStreamOf(op));
  return draw;
}

/// Every digit of a double.
std::string doubleText(double number) {
  SmallString<32> text;
  llvm::APFloat(number).toString(text, /*FormatPrecision=*/17,
                                 /*FormatMaxPadding=*/0);
  return text.str().str();
}

/// x * mask / (1 - p), and the mask where that is a result. Channels of the
/// first two dimensions go as a whole where `ofFeatures`.
CallResult writeDropout(Operation *op, bool ofFeatures) {
  aten::CallReader call{aten::CallOp(op)};
  Value input = call.value("input"), out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out);
  if (!isFloatTensor(input))
    return CallResult::failed("is of another type than floats");
  bool isTraining = call.boolean(aten::optional("train")).value_or(true);
  double p = isTraining ? call.number(aten::optional("p")).value_or(0) : 0;
  Draw draw = drawOf(op, Draw::Dropout);
  draw.first = p;
  draw.inner = ofFeatures ? productOf(sizes.drop_front(2)) : 1;
  CallWriter text("dropout");
  text.comment("[" + sizesText(sizes) + "], " + doubleText(p) +
               " of it dropped");
  text.read(input, "input");
  if (p > 0)
    text.readSeed();
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (!op->getResult(i).use_empty())
      text.write(op->getResult(i), i ? "mask" : "out");
  text.openElements(productOf(sizes));
  std::string number = "element";
  if (draw.inner > 1)
    number += " / " + std::to_string(draw.inner);
  text.line("const bool keeps = " +
            (p > 0 ? uniformText(op, number, false) + " < " + doubleText(1 - p)
                   : std::string("true")) +
            ";");
  std::string x =
      "toFloat(" +
      CallWriter::element(input, "input", indicesOf("element", sizes)) + ")";
  std::string type = sumTypeText(out);
  if (p > 0)
    x += " * " + type + "(" + doubleText(p < 1 ? 1 / (1 - p) : 0) + ")";
  if (!out.use_empty())
    text.line("out[element] = to<" + elementTypeText(out) + ">(keeps ? " + x +
              " : " + type + "(0));");
  if (op->getNumResults() > 1 && !op->getResult(1).use_empty())
    text.line("mask[element] = keeps;");
  text.kernel().precompiled = describeCall(
      "cutback_draw", text, {"input", "", "seed", "out", "mask"}, draw);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = 1;
  return result;
}

/// x times a slope, which is drawn where x is not positive; and the slopes.
CallResult writeSlopes(Operation *op) {
  aten::CallReader call{aten::CallOp(op)};
  Value self = call.value("self"), noise = call.value("noise");
  Draw draw = drawOf(op, Draw::Slopes);
  draw.first = call.number("lower").value_or(0);
  draw.second = call.number("upper").value_or(0);
  draw.isTraining = call.boolean("training").value_or(false);
  CallWriter text("rrelu");
  text.comment("[" + sizesText(sizesOf(self)) + "]");
  text.read(self, "input");
  bool wantsSlopes = !op->getResult(1).use_empty();
  if (!draw.isTraining && wantsSlopes)
    text.read(noise, "noise");
  text.readSeed();
  for (unsigned i : {0u, 1u})
    if (!op->getResult(i).use_empty())
      text.write(op->getResult(i), i ? "slopes" : "out");
  text.openElements(productOf(sizesOf(self)));
  SmallVector<std::string> at = indicesOf("element", sizesOf(self));
  text.line("const double x = toFloat(" +
            CallWriter::element(self, "input", at) + ");");
  text.line("const double slope = randomSlope(" + sourceText(op) +
            ", element, " + (draw.isTraining ? "true" : "false") + ", x, " +
            doubleText(draw.first) + ", " + doubleText(draw.second) + ");");
  if (!op->getResult(0).use_empty())
    text.line("out[element] = " + stored(self, "x * slope") + ";");
  if (wantsSlopes)
    text.line("slopes[element] = " +
              (draw.isTraining ? stored(self, "slope")
                               : CallWriter::element(noise, "noise", at)) +
              ";");
  text.kernel().precompiled = describeCall(
      "cutback_draw", text, {"input", "noise", "seed", "out", "slopes"}, draw);
  return CallResult::of(text);
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

/// A parameter of a distribution: by name, and what it is without one.
struct Parameter {
  const char *name = nullptr;
  double otherwise = 0;
};
struct Distribution {
  const char *packet;
  Draw::Kind kind;
  const char *function;
  Parameter first{}, second{};
};
constexpr Distribution kDistributions[] = {
    {"rand", Draw::Uniform, "randomBetween", {"from", 0}, {"to", 1}},
    {"rand_like", Draw::Uniform, "randomBetween", {"from", 0}, {"to", 1}},
    {"uniform", Draw::Uniform, "randomBetween", {"from", 0}, {"to", 1}},
    {"randn", Draw::Normal, "randomNormalOf", {"mean", 0}, {"std", 1}},
    {"randn_like", Draw::Normal, "randomNormalOf", {"mean", 0}, {"std", 1}},
    {"normal", Draw::Normal, "randomNormalOf", {"mean", 0}, {"std", 1}},
    {"normal_functional",
     Draw::Normal,
     "randomNormalOf",
     {"mean", 0},
     {"std", 1}},
    {"log_normal", Draw::LogNormal, "randomLogNormal", {"mean", 0}, {"std", 1}},
    {"exponential", Draw::Exponential, "randomExponential", {"lambd", 1}},
    {"cauchy", Draw::Cauchy, "randomCauchy", {"median", 0}, {"sigma", 1}},
    {"geometric", Draw::Geometric, "randomGeometric", {"p", 0}},
    {"bernoulli", Draw::Bernoulli, "", {"p", 0}},
    {"poisson", Draw::Poisson, "randomPoisson", {"self", 0}},
    {"binomial", Draw::Binomial, "randomBinomial", {"count", 0}, {"prob", 0}},
    {"_standard_gamma", Draw::Gamma, "randomGamma", {"self", 0}},
};

/// One draw for each element of the result of an op.
class ElementDraws {
public:
  ElementDraws(aten::CallOp op, const Distribution &of)
      : op(op), of(of), out(op->getResult(0)), call(op),
        text((Twine("draw_") + StringRef(of.packet).ltrim('_')).str()),
        draw(drawOf(op, of.kind)) {}

  CallResult write();

private:
  std::string parameter(const Parameter &parameter, const char *name,
                        double &number);
  std::string numberText(const std::string &first, const std::string &second);

  aten::CallOp op;
  const Distribution &of;
  Value out;
  aten::CallReader call;
  CallWriter text;
  Draw draw;
};

/// The number of a parameter, or its element, which is read as `name`.
std::string ElementDraws::parameter(const Parameter &parameter,
                                    const char *name, double &number) {
  if (!parameter.name)
    return "";
  Value each = call.value(aten::optional(parameter.name));
  // Without a number the chances of 0 and 1 are the tensor's elements.
  if (of.kind == Draw::Bernoulli && call.isNone(aten::optional("p")))
    each = call.value("self");
  if (!each) {
    number = call.number(aten::optional(parameter.name))
                 .value_or(parameter.otherwise);
    return doubleText(number);
  }
  text.read(each, name);
  SmallVector<std::string> at = indicesOf("element", sizesOf(out));
  return held(
      each, CallWriter::element(each, name,
                                ArrayRef(at).take_back(sizesOf(each).size())));
}

/// What is stored, in double precision.
std::string ElementDraws::numberText(const std::string &first,
                                     const std::string &second) {
  if (of.kind == Draw::Bernoulli)
    return uniformText(op, "element", true) + " < " + first + " ? 1.0f : 0.0f";
  if (of.kind == Draw::Uniform && draw.first == 0 && draw.second == 1 &&
      draw.steps == 0)
    return uniformText(op, "element", draw.isWide);
  std::string list = sourceText(op) + ", element, ";
  if (of.kind == Draw::Uniform || of.kind == Draw::Normal)
    list += draw.isWide ? "true, " : "false, ";
  if (of.kind == Draw::Uniform)
    list += doubleText(draw.steps) + ", ";
  return std::string(of.function) + "(" + list + first +
         (second.empty() ? "" : ", " + second) + ")";
}

CallResult ElementDraws::write() {
  text.comment("[" + sizesText(sizesOf(out)) + "]");
  std::string first = parameter(of.first, "first", draw.first),
              second = parameter(of.second, "second", draw.second);
  unsigned tensors = text.kernel().parameters.size();
  text.readSeed();
  Type element = cast<RankedTensorType>(out.getType()).getElementType();
  draw.isWide = element.isF64();
  if (of.kind == Draw::Geometric)
    first = doubleText(draw.first = std::log1p(-draw.first));
  if (of.kind == Draw::Uniform) {
    // Rounding to 16 bits must not give the upper end.
    draw.steps = isFloatTensor(out) && element.getIntOrFloatBitWidth() == 16
                     ? std::ldexp(1.0, joint::numExactBits(element))
                     : 0;
    second = doubleText(draw.second -= draw.first);
  }
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const double number = " + numberText(first, second) + ";");
  text.line("out[element] = " + stored(out, "number") + ";");
  text.kernel().precompiled = describeCall(
      "cutback_draw", text, {"first", "second", "seed", "out", "rounds"}, draw);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = tensors;
  return result;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// From low on, below high.
CallResult writeIntegers(aten::CallOp op) {
  aten::CallReader call(op);
  Value out = op->getResult(0);
  unsigned bits = joint::numExactBits(
      cast<RankedTensorType>(out.getType()).getElementType());
  Draw draw = drawOf(op, Draw::Integer);
  bool isAny = op.getPacketName() == "aten.random";
  std::optional<int64_t> low =
      call.integer(aten::optional(isAny ? "from" : "low"));
  std::optional<int64_t> high =
      call.integer(aten::optional(isAny ? "to" : "high"));
  if (isAny && !high)
    high = bits > 62 ? INT64_MAX : int64_t(1) << bits;
  draw.low = low.value_or(0);
  if (!high || *high <= draw.low)
    return CallResult::failed("has no integer to draw from");
  draw.range = static_cast<int64_t>(static_cast<uint64_t>(*high) -
                                    static_cast<uint64_t>(draw.low));
  CallWriter text("draw_integers");
  text.comment("[" + sizesText(sizesOf(out)) + "], from " +
               std::to_string(draw.low) + " to " + std::to_string(*high));
  text.readSeed();
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const long long number = randomInteger(" + sourceText(op) +
            ", element, (long long)0x" +
            llvm::utohexstr(static_cast<uint64_t>(draw.low)) + "ull, 0x" +
            llvm::utohexstr(static_cast<uint64_t>(draw.range)) + "ull);");
  text.line("out[element] = " +
            stored(out, isFloatTensor(out) ? "double(number)" : "number") +
            ";");
  text.kernel().precompiled = describeCall(
      "cutback_draw", text, {"first", "second", "seed", "out", "rounds"}, draw);
  return CallResult::of(text);
}

/// Numbers of a row, by its weights.
CallResult writePlaces(aten::CallOp op) {
  aten::CallReader call(op);
  Value weights = call.value("self"), out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(weights);
  Draw draw = drawOf(op, Draw::Places);
  draw.replaces = call.boolean(aten::optional("replacement")).value_or(false);
  int64_t samples = sizesOf(out).back(), rows = sizes.size() > 1 ? sizes[0] : 1;
  CallWriter text("multinomial");
  text.comment(std::to_string(samples) + " of " + sizesText(sizes));
  text.read(weights, "weights");
  text.readSeed();
  text.write(out, "out");
  text.kernel().checks = true;
  text.openElements(rows);
  SmallVector<std::string> at = {"element", "i"};
  std::string weight = CallWriter::element(
      weights, "weights", ArrayRef(at).take_back(sizes.size()));
  text.line("randomPlaces(" + sourceText(op) + ", element, " +
            std::to_string(samples) + ", " + std::to_string(sizes.back()) +
            (draw.replaces ? ", true," : ", false,"));
  text.line("             [=](int i) -> double { return " +
            held(weights, weight) + "; },");
  text.line("             out + element * " + std::to_string(samples) +
            ", problem);");
  text.kernel().precompiled = describeCall(
      "cutback_draw", text, {"weights", "", "seed", "out", "rounds"}, draw);
  return CallResult::of(text);
}

/// The numbers below n.
CallResult writeOrder(aten::CallOp op) {
  Value out = op->getResult(0);
  CallWriter text("randperm");
  text.comment(sizesText(sizesOf(out)) + " numbers, by one thread");
  text.readSeed();
  text.write(out, "out");
  text.openElements(1);
  text.line("randomOrder(" + sourceText(op) + ", " +
            std::to_string(sizesOf(out)[0]) + ", out);");
  text.kernel().precompiled =
      describeCall("cutback_draw", text, {"", "", "seed", "out", "rounds"},
                   drawOf(op, Draw::Order));
  return CallResult::of(text);
}

//===----------------------------------------------------------------------===//
// With a seed
//===----------------------------------------------------------------------===//

/// "randomPoisson(seeds[0], 3ll, element, ...)": an op with its own seed and
/// stream, and parameters for each element.
template <typename Op>
CallResult writeSeeded(Op op, Draw::Kind kind, const char *function,
                       ValueRange parameters) {
  Value out = op.getResult();
  CallWriter text(("draw_" + op->getName().stripDialect()).str());
  text.comment("[" + sizesText(sizesOf(out)) + "]");
  text.read(op.getSeed(), "seeds");
  std::string stream = std::to_string(op.getStream()) + "ll", list;
  if (op.getRound()) {
    text.read(op.getRound(), "rounds");
    stream = "streamOfRound(" + stream + ", rounds[0])";
  }
  for (auto [i, each] : llvm::enumerate(parameters)) {
    const char *name = i ? "second" : "first";
    text.read(each, name);
    list += ", " +
            held(each, CallWriter::element(each, name,
                                           indicesOf("element", sizesOf(out))));
  }
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const double number = " + std::string(function) + "(seeds[0], " +
            stream + ", element" + list + ");");
  text.line("out[element] = " + stored(out, "number") + ";");
  Draw draw;
  draw.kind = kind;
  draw.stream = static_cast<int64_t>(op.getStream());
  text.kernel().precompiled =
      describeCall("cutback_draw", text,
                   {"first", "second", "seeds", "out", "rounds"}, draw);
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeSeededDraw(Operation *op) {
  if (auto poisson = dyn_cast<joint::PoissonOp>(op))
    return writeSeeded(poisson, Draw::Poisson, "randomPoisson",
                       poisson.getRate());
  if (auto binomial = dyn_cast<joint::BinomialOp>(op))
    return writeSeeded(binomial, Draw::Binomial, "randomBinomial",
                       {binomial.getTrials(), binomial.getChance()});
  return {};
}

CallResult cuda::writeDrawCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  bool ofFeatures = name == "aten.feature_dropout";
  if (name == "aten.native_dropout" || name == "aten.dropout" || ofFeatures)
    return writeDropout(op, ofFeatures);
  if (name == "aten.rrelu_with_noise_functional")
    return writeSlopes(op);
  if (!name.consume_front("aten.") || !op.isRandom())
    return {};
  if (name == "random" || name.starts_with("randint"))
    return writeIntegers(op);
  if (name == "multinomial")
    return writePlaces(op);
  if (name == "randperm")
    return writeOrder(op);
  for (const Distribution &distribution : kDistributions)
    if (name == distribution.packet)
      return ElementDraws(op, distribution).write();
  return {};
}
