// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops of graphs that bring them (those of forward programs are functions
// of a seed before they are planned): dropout with its mask, and draws of 0 and
// 1. The numbers are those of the interpreter: element i of a stream that the
// name of the op's first result decides, for the seed of the step. So an op
// that the backward runs again draws the same, and so does a run with
// --reference.

#include "CallDescription.h"

#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Joint/Replay.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

/// "randomUniform(seed[0], 12ll, element, false)"
std::string drawText(Operation *op, bool isWide) {
  return "randomUniform(seed[0], (long long)0x" +
         llvm::utohexstr(joint::drawStreamOf(op)) + "ull, element, " +
         (isWide ? "true" : "false") + ")";
}

/// Every digit of a double.
std::string numberText(double number) {
  SmallString<32> text;
  llvm::APFloat(number).toString(text, /*FormatPrecision=*/17,
                                 /*FormatMaxPadding=*/0);
  return text.str().str();
}

/// What a CPU is told of a draw.
void describe(CallWriter &text, uint64_t stream, ArrayRef<const char *> names,
              precompiled::Draw::Kind kind, double p) {
  precompiled::Draw draw;
  draw.kind = kind;
  draw.stream = static_cast<int64_t>(stream);
  draw.p = p;
  text.kernel().precompiled = describeCall("cutback_draw", text, names, draw);
}

CallResult writeDropout(Operation *op) {
  aten::CallReader call{aten::CallOp(op)};
  Value input = call.value("input"), out = op->getResult(0);
  if (!isFloatTensor(input))
    return CallResult::failed("is of another type than floats");
  bool isTraining = call.boolean(aten::optional("train")).value_or(true);
  double p = isTraining ? call.number(aten::optional("p")).value_or(0) : 0;
  CallWriter text("dropout");
  text.comment("[" + sizesText(sizesOf(out)) + "], " + numberText(p) +
               " of it dropped");
  text.read(input, "input");
  if (p > 0)
    text.readSeed();
  for (unsigned i : {0u, 1u})
    if (!op->getResult(i).use_empty())
      text.write(op->getResult(i), i ? "mask" : "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const bool keeps = " +
            (p > 0 ? drawText(op, false) + " < " + numberText(1 - p)
                   : std::string("true")) +
            ";");
  std::string x =
      "toFloat(" +
      CallWriter::element(input, "input", indicesOf("element", sizesOf(out))) +
      ")";
  std::string type = sumTypeText(out);
  if (p > 0)
    x += " * " + type + "(" + numberText(p < 1 ? 1 / (1 - p) : 0) + ")";
  if (!out.use_empty())
    text.line("out[element] = to<" + elementTypeText(out) + ">(keeps ? " + x +
              " : " + type + "(0));");
  if (!op->getResult(1).use_empty())
    text.line("mask[element] = keeps;");
  describe(text, joint::drawStreamOf(op), {"input", "seed", "out", "mask"},
           precompiled::Draw::Dropout, p);
  return CallResult::of(text);
}

/// 1 with probability p, or with the probability that `self` holds.
CallResult writeBernoulli(Operation *op) {
  aten::CallReader call{aten::CallOp(op)};
  Value out = op->getResult(0), each = call.value(aten::optional("p"));
  std::optional<double> p = call.number(aten::optional("p"));
  if (!each && !p)
    each = call.value("self");
  CallWriter text("bernoulli");
  text.comment("[" + sizesText(sizesOf(out)) + "]");
  text.readSeed();
  if (each)
    text.read(each, "chance");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  std::string chance = p ? numberText(*p) : "";
  if (each) {
    SmallVector<std::string> at = indicesOf("element", sizesOf(out));
    chance =
        held(each,
             CallWriter::element(each, "chance",
                                 ArrayRef(at).take_back(sizesOf(each).size())));
  }
  text.line("const bool isOne = " + drawText(op, true) + " < " + chance + ";");
  text.line("out[element] = " + stored(out, "isOne ? 1.0f : 0.0f") + ";");
  describe(text, joint::drawStreamOf(op), {"chance", "seed", "out"},
           precompiled::Draw::Bernoulli, p.value_or(0));
  return CallResult::of(text);
}

CallResult writePoisson(joint::PoissonOp op) {
  Value out = op.getResult(), rate = op.getRate();
  CallWriter text("poisson");
  text.comment("[" + sizesText(sizesOf(out)) + "]");
  text.read(op.getSeed(), "seeds");
  std::string stream = std::to_string(op.getStream()) + "ll";
  if (op.getRound()) {
    text.read(op.getRound(), "rounds");
    stream = "streamOfRound(" + stream + ", rounds[0])";
  }
  text.read(rate, "rate");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  std::string each =
      held(rate, CallWriter::element(rate, "rate",
                                     indicesOf("element", sizesOf(out))));
  text.line("const double number = randomPoisson(seeds[0], " + stream +
            ", element, " + each + ");");
  text.line("out[element] = " + stored(out, "number") + ";");
  describe(text, op.getStream(), {"rate", "seeds", "out", "rounds"},
           precompiled::Draw::Poisson, 0);
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeSeededDraw(Operation *op) {
  auto poisson = dyn_cast<joint::PoissonOp>(op);
  return poisson ? writePoisson(poisson) : CallResult();
}

CallResult cuda::writeDrawCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.native_dropout")
    return writeDropout(op);
  if (name == "aten.bernoulli")
    return writeBernoulli(op);
  return {};
}
