// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of elements that loops compute, or that take a parameter: no
// formula of a kernel's body. Those of the gamma and the normal distribution.
//
// A thread has an element, in double precision whatever its type. Operands
// broadcast, and the result may lie over those of its own type and sizes.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// An element of a tensor that broadcasts to `sizes`.
static std::string elementOf(Value tensor, const char *name,
                             ArrayRef<int64_t> sizes) {
  SmallVector<std::string> at = indicesOf("element", sizes);
  return "double(" +
         held(tensor, CallWriter::element(
                          tensor, name,
                          ArrayRef(at).take_back(sizesOf(tensor).size()))) +
         ")";
}

namespace {
struct SpecialOp {
  StringRef packet;
  precompiled::Special::Kind kind;
  const char *function; ///< of cutback_special.cuh
};
} // namespace

static const SpecialOp *findSpecial(StringRef packet) {
  using Special = precompiled::Special;
  static const SpecialOp all[] = {
      {"aten._standard_gamma_grad", Special::GammaSlope, "gammaSlope"},
      {"aten.lgamma", Special::LogGamma, "logGamma"},
      {"aten.digamma", Special::Polygamma, "polygamma"},
      {"aten.polygamma", Special::Polygamma, "polygamma"},
      {"aten.erfinv", Special::InverseErf, "inverseErf"},
      {"aten.special_erfcx", Special::ScaledErfc, "scaledErfc"},
      {"aten.special_log_ndtr", Special::LogNormal, "logNormalBelow"},
      {"aten.special_ndtri", Special::NormalQuantile, "normalQuantile"},
  };
  const SpecialOp *found = llvm::find_if(
      all, [&](const SpecialOp &one) { return one.packet == packet; });
  return found == std::end(all) ? nullptr : found;
}

CallResult cuda::writeSpecialCall(aten::CallOp op) {
  const SpecialOp *special = findSpecial(op.getPacketName());
  if (!special)
    return {};
  aten::CallReader call(op);
  bool isOfTwo = special->kind == precompiled::Special::GammaSlope;
  Value self = call.value("self"),
        second = isOfTwo ? call.value("output") : Value(),
        out = op->getResult(0);
  precompiled::Special numbers;
  numbers.kind = special->kind;
  if (op.getPacketName() == "aten.polygamma")
    numbers.degree = call.integer("n").value_or(-1);
  if (numbers.degree < 0 || numbers.degree > INT32_MAX)
    return CallResult::failed("runs for n from 0 on");
  CallWriter text(special->function);
  text.comment("[" + sizesText(sizesOf(out)) + "]");
  text.read(self, "self");
  if (second)
    text.read(second, "second");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  std::string operands = elementOf(self, "self", sizesOf(out));
  if (second)
    operands += ", " + elementOf(second, "second", sizesOf(out));
  if (numbers.kind == precompiled::Special::Polygamma)
    operands = std::to_string(numbers.degree) + ", " + operands;
  text.line("const double value = " + std::string(special->function) + "(" +
            operands + ");");
  text.line("out[element] = " + stored(out, "value") + ";");
  text.kernel().precompiled =
      describeCall("cutback_special", text, {"self", "second", "out"}, numbers);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = second ? 2 : 1;
  return result;
}
