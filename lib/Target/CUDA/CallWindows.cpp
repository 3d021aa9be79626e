// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over the last dimensions: the greatest element and where it is in its
// window, and windows along one dimension that were laid out as a dimension of
// their own. A thread has one element of the result;
// a gradient is summed over all that its element went to, in their order, so no
// two threads write one place.

#include "CallText.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

struct Windows {
  SmallVector<int64_t> taps, stride, padding, dilation;

  /// False if a list is not known. One number stands for all axes.
  bool read(const aten::CallReader &call) {
    auto list = [&](aten::ParamRef name, SmallVector<int64_t> &to,
                    ArrayRef<int64_t> ifEmpty) {
      auto values = call.integers(name);
      if (!values)
        return false;
      to.assign(values->begin(), values->end());
      if (to.empty())
        to.assign(ifEmpty.begin(), ifEmpty.end());
      if (to.size() == 1)
        to.resize(2, to.front());
      return to.size() == 2;
    };
    return list("kernel_size", taps, {}) && list("stride", stride, taps) &&
           list("padding", padding, {0, 0}) &&
           list(aten::optional("dilation"), dilation, {1, 1});
  }
  /// "y * 2 - 1 + 3"
  std::string source(size_t axis, const std::string &place,
                     const std::string &tap) const {
    return "(" + place + ") * " + std::to_string(stride[axis]) + " - " +
           std::to_string(padding[axis]) + " + " + tap + " * " +
           std::to_string(dilation[axis]);
  }
};

std::string numberText(int64_t number) { return std::to_string(number); }

CallResult unknownWindows() {
  return CallResult::failed("has other windows than over two dimensions");
}

CallResult writeMaxPool(aten::CallOp op) {
  aten::CallReader call(op);
  Windows w;
  Value self = call.value("self"), out = op->getResult(0);
  if (!w.read(call) || !isFloatTensor(self) || sizesOf(self).size() < 2)
    return unknownWindows();
  ArrayRef<int64_t> sizes = sizesOf(out), from = sizesOf(self);
  size_t rank = sizes.size();
  CallWriter text("max_pool");
  text.comment("[" + sizesText(sizes) + "] of [" + sizesText(from) +
               "], windows of " + sizesText(w.taps));
  text.read(self, "self");
  bool isOutRead = !out.use_empty();
  bool areOffsetsRead = !op->getResult(1).use_empty();
  if (isOutRead)
    text.write(out, "out");
  if (areOffsetsRead)
    text.write(op->getResult(1), "offsets");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes), place = at;
  place[rank - 2] = "y", place[rank - 1] = "x";
  std::string type = sumTypeText(self);
  text.line(type + " greatest = 0;");
  text.line("int offset = -1;");
  text.line("for (int tap = 0; tap < " + numberText(productOf(w.taps)) +
            "; ++tap) {");
  text.line("  const int y = " +
            w.source(0, at[rank - 2], "(tap / " + numberText(w.taps[1]) + ")") +
            ";");
  text.line("  const int x = " +
            w.source(1, at[rank - 1], "(tap % " + numberText(w.taps[1]) + ")") +
            ";");
  text.line("  if (y < 0 || y >= " + numberText(from[rank - 2]) +
            " || x < 0 || x >= " + numberText(from[rank - 1]) + ")");
  text.line("    continue;");
  text.line("  const " + type + " value = toFloat(" +
            CallWriter::element(self, "self", place) + ");");
  text.line("  if (offset >= 0 && !(value > greatest) && value == value)");
  text.line("    continue;");
  text.line("  greatest = value;");
  text.line("  offset = tap;");
  text.line("}");
  if (isOutRead)
    text.line("out[element] = to<" + elementTypeText(out) +
              ">(offset < 0 ? lowest() : greatest);");
  if (areOffsetsRead)
    text.line("offsets[element] = offset < 0 ? 0 : offset;");
  return CallResult::of(text);
}

CallResult writePoolIndices(aten::CallOp op) {
  aten::CallReader call(op);
  Windows w;
  Value offsets = call.value("self"), out = op->getResult(0);
  auto input = call.integers("input_size");
  if (!w.read(call) || !input || input->size() < 2)
    return unknownWindows();
  ArrayRef<int64_t> sizes = sizesOf(out);
  size_t rank = sizes.size();
  CallWriter text("max_pool_indices");
  text.comment("[" + sizesText(sizes) + "]");
  text.read(offsets, "offsets");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes);
  text.line("const int tap = " + CallWriter::element(offsets, "offsets", at) +
            ";");
  text.line("const int y = " +
            w.source(0, at[rank - 2], "(tap / " + numberText(w.taps[1]) + ")") +
            ";");
  text.line("const int x = " +
            w.source(1, at[rank - 1], "(tap % " + numberText(w.taps[1]) + ")") +
            ";");
  text.line("out[element] = y * " + numberText(input->back()) + " + x;");
  return CallResult::of(text);
}

/// An element is the sum of those that windows along a dimension have of it.
CallResult writeUnfoldGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value gradient = call.value("grad_in"), out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out);
  std::optional<size_t> axis = axisOf(call, sizes.size());
  std::optional<int64_t> size = call.integer("size");
  std::optional<int64_t> step = call.integer("step");
  if (!axis || !size || !step || !isFloatTensor(gradient))
    return unknownWindows();
  CallWriter text("unfold_gradient");
  text.comment("[" + sizesText(sizes) + "] from windows [" +
               sizesText(sizesOf(gradient)) + "] along " +
               std::to_string(*axis));
  text.read(gradient, "gradient");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  Indices from = indicesOf("element", sizes);
  text.line("const int at = " + from[*axis] + ";");
  from[*axis] = "number";
  from.push_back("(at - number * " + numberText(*step) + ")");
  text.line("const Span windows = slidingWindowsOver(at, " + numberText(*size) +
            ", " + numberText(*step) + ", 0, 1, " +
            numberText(sizesOf(gradient)[*axis]) + ");");
  text.line(sumTypeText(gradient) + " sum = 0;");
  text.line("for (int number = windows.begin; number < windows.end; ++number)");
  text.line("  sum += toFloat(" +
            CallWriter::element(gradient, "gradient", from) + ");");
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeWindowsCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "prims._low_memory_max_pool_with_offsets")
    return writeMaxPool(op);
  if (name == "prims._low_memory_max_pool_offsets_to_indices")
    return writePoolIndices(op);
  if (name == "aten.unfold_backward")
    return writeUnfoldGradient(op);
  return {};
}
