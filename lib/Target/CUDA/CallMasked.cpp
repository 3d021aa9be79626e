// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The true elements of a mask take the elements of a source in their order, or
// go there. How many stand in front of an element is counted anew by each
// block, for the part of the mask that it has: as many reads of the mask as
// half of the blocks, no scratch, no exchange between blocks.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

/// No more blocks than keep a device busy: each one more reads the mask again.
static constexpr int64_t kMostBlocks = 512;

/// Opens `rankTrue(...)` over all elements of `sizes`: what follows has
/// `number`, whether it `isTrue`, and its `rank` among these.
static void openRanks(CallWriter &text, Value mask, ArrayRef<int64_t> sizes) {
  int64_t count = productOf(sizes), tiles = (count + 255) / 256;
  int64_t perBlock = (tiles + kMostBlocks - 1) / kMostBlocks * 256;
  perBlock = std::max<int64_t>(perBlock, 256);
  Indices at = indicesOf("number", sizes);
  Indices own(ArrayRef(at).take_back(sizesOf(mask).size()));
  text.line("rankTrue(" + std::to_string(count) + ", " +
            std::to_string(perBlock) + ",");
  text.line("    [=](int number) { return bool(" +
            CallWriter::element(mask, "mask", own) + "); },");
  text.line("    [=](int number, bool isTrue, int rank) {");
  text.shape({(count + perBlock - 1) / perBlock, 1, 1}, {256, 1, 1}, 8 * 4);
  text.kernel().waits = true;
}

/// A tensor with the dimensions of another one that it broadcasts to.
static std::optional<precompiled::StridedTensor>
broadcast(const CallWriter &text, const char *name, ArrayRef<int64_t> sizes) {
  std::optional<precompiled::StridedTensor> own = text.strided(name);
  SmallVector<StridedDim> dims;
  for (size_t dim = 0; own && dim < sizes.size(); ++dim) {
    size_t missing = sizes.size() - static_cast<size_t>(own->rank);
    dims.push_back(
        {sizes[dim], dim < missing ? 0 : own->strides[dim - missing]});
  }
  return withDims(own, dims);
}

static CallResult writeMaskedScatter(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), mask = call.value("mask");
  Value source = call.value("source"), out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out);
  CallWriter text("masked_scatter");
  text.comment("[" + sizesText(sizesOf(source)) + "] into [" +
               sizesText(sizes) + "]");
  text.read(self, "self");
  text.read(mask, "mask");
  text.read(source, "source");
  text.write(out, "out");
  openRanks(text, mask, sizes);
  Indices at = indicesOf("number", sizes);
  Indices own(ArrayRef(at).take_back(sizesOf(self).size()));
  int64_t count = productOf(sizesOf(source));
  std::string to = "      " + CallWriter::element(out, "out", at) + " = ";
  text.line("      if (!isTrue) {");
  text.line("  " + to + CallWriter::element(self, "self", own) + ";");
  text.line("        return;");
  text.line("      }");
  text.line("      const int from = " + checkedText(text, "rank", count) + ";");
  if (count)
    text.line(to +
              CallWriter::element(source, "source",
                                  indicesOf("from", sizesOf(source))) +
              ";");
  text.line("    });");
  text.kernel().precompiled = describeCall(
      "cutback_masked_scatter",
      {broadcast(text, "self", sizes), broadcast(text, "mask", sizes),
       text.strided("source"), text.strided("out")},
      precompiled::MaskedScatter());
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = sizesOf(self) == sizes;
  return result;
}

/// What is behind the last true element is 0: a kernel in front.
static CallResult writeMaskedScatterGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value gradient = call.value("grad_output"), mask = call.value("mask");
  Value out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(gradient);
  if (!isFloatTensor(gradient))
    return CallResult::failed("is of another type than floats");
  CallWriter zeros("masked_scatter_zeros");
  zeros.comment("[" + sizesText(sizesOf(out)) + "]");
  zeros.write(out, "out");
  zeros.openElements(productOf(sizesOf(out)));
  zeros.line(
      CallWriter::element(out, "out", indicesOf("element", sizesOf(out))) +
      " = " + stored(out, "0.0f") + ";");
  zeros.kernel().precompiled =
      describeCall("cutback_elements", zeros, {"from", "out"},
                   precompiled::Elements{precompiled::Elements::Zero});
  CallResult result = CallResult::of(zeros);
  if (productOf(sizesOf(out)) == 0)
    return result;
  CallWriter text("masked_scatter_gradient");
  text.comment("[" + sizesText(sizesOf(out)) + "] from [" + sizesText(sizes) +
               "]");
  text.read(gradient, "gradient");
  text.read(mask, "mask");
  text.write(out, "out");
  openRanks(text, mask, sizes);
  text.line("      if (!isTrue)");
  text.line("        return;");
  text.line("      const int to = " +
            checkedText(text, "rank", productOf(sizesOf(out))) + ";");
  text.line(
      "      " +
      CallWriter::element(out, "out", indicesOf("to", sizesOf(out))) + " = " +
      CallWriter::element(gradient, "gradient", indicesOf("number", sizes)) +
      ";");
  text.line("    });");
  text.kernel().precompiled =
      describeCall("cutback_masked_scatter",
                   {text.strided("self"), broadcast(text, "mask", sizes),
                    text.strided("gradient"), text.strided("out")},
                   precompiled::MaskedScatter{true});
  result.kernels.push_back(text.take());
  return result;
}

CallResult cuda::writeMaskedCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.masked_scatter")
    return writeMaskedScatter(op);
  if (name == "aten.masked_scatter_backward")
    return writeMaskedScatterGradient(op);
  return {};
}
