// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of elements that are sums of as many terms as it takes: no formula
// of a kernel's body. So far the slope of a draw from a gamma distribution in
// its shape.
//
// A thread has an element, in double precision whatever its type. Operands
// broadcast, and the result may lie over one of its own type and sizes.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// An element of a tensor that broadcasts to `sizes`.
static std::string elementOf(Value tensor, const char *name,
                             ArrayRef<int64_t> sizes) {
  SmallVector<std::string> at = indicesOf("element", sizes);
  return held(tensor, CallWriter::element(
                          tensor, name,
                          ArrayRef(at).take_back(sizesOf(tensor).size())));
}

CallResult cuda::writeSpecialCall(aten::CallOp op) {
  if (op.getPacketName() != "aten._standard_gamma_grad")
    return {};
  aten::CallReader call(op);
  Value shape = call.value("self"), drawn = call.value("output"),
        out = op->getResult(0);
  CallWriter text("gamma_slope");
  text.comment("[" + sizesText(sizesOf(out)) + "]");
  text.read(shape, "shape");
  text.read(drawn, "drawn");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const double slope = gammaSlope(" +
            elementOf(shape, "shape", sizesOf(out)) + ", " +
            elementOf(drawn, "drawn", sizesOf(out)) + ");");
  text.line("out[element] = " + stored(out, "slope") + ";");
  text.kernel().precompiled =
      describeCall("cutback_special", text, {"shape", "drawn", "out"},
                   precompiled::Special());
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = 2;
  return result;
}
