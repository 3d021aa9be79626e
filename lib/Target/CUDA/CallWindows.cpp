// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over the last dimensions: the greatest element and where it is, its
// gradient, and enlarging by whole factors. A thread has one element of the
// result; a gradient is summed over the windows that its element lies in, in
// their order.

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
    auto list = [&](const char *name, SmallVector<int64_t> &to,
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
           list("dilation", dilation, {1, 1});
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
  CallBuilder text("max_pool");
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
            CallBuilder::element(self, "self", place) + ");");
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
  CallBuilder text("max_pool_indices");
  text.comment("[" + sizesText(sizes) + "]");
  text.read(offsets, "offsets");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes);
  text.line("const int tap = " + CallBuilder::element(offsets, "offsets", at) +
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

CallResult writeMaxPoolGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Windows w;
  Value gradient = call.value("grad_output"), indices = call.value("indices");
  Value out = op->getResult(0);
  if (!w.read(call) || !isFloatTensor(gradient))
    return unknownWindows();
  ArrayRef<int64_t> sizes = sizesOf(out), windows = sizesOf(gradient);
  size_t rank = sizes.size();
  CallBuilder text("max_pool_gradient");
  text.comment("[" + sizesText(sizes) + "] from windows [" +
               sizesText(windows) + "]");
  text.read(gradient, "gradient");
  text.read(indices, "indices");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes), from = at;
  from[rank - 2] = "row", from[rank - 1] = "column";
  text.line("const int y = " + at[rank - 2] + ", x = " + at[rank - 1] + ";");
  text.line(sumTypeText(gradient) + " sum = 0;");
  // The windows whose first tap, and last tap, is at the element.
  auto loop = [&](size_t axis, const char *name, const char *place) {
    std::string padded =
        std::string(place) + " + " + numberText(w.padding[axis]);
    std::string reach = numberText((w.taps[axis] - 1) * w.dilation[axis]);
    std::string stride = numberText(w.stride[axis]);
    text.line("const int " + std::string(name) + "Begin = " + padded + " > " +
              reach + " ? (" + padded + " - " + reach + " + " + stride +
              " - 1) / " + stride + " : 0;");
    text.line("const int " + std::string(name) + "End = Min()((" + padded +
              ") / " + stride + " + 1, " +
              numberText(windows[rank - 2 + axis]) + ");");
  };
  loop(0, "row", "y");
  loop(1, "column", "x");
  text.line("for (int row = rowBegin; row < rowEnd; ++row)");
  text.line("  for (int column = columnBegin; column < columnEnd; ++column)");
  text.line("    if (" + CallBuilder::element(indices, "indices", from) +
            " == y * " + numberText(sizes[rank - 1]) + " + x)");
  text.line("      sum += toFloat(" +
            CallBuilder::element(gradient, "gradient", from) + ");");
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  return CallResult::of(text);
}

/// By how much each of the last dimensions grows; empty if not by a whole
/// factor.
SmallVector<int64_t> factorsOf(ArrayRef<int64_t> small,
                               ArrayRef<int64_t> large) {
  SmallVector<int64_t> factors;
  for (auto [a, b] : llvm::zip_equal(small, large)) {
    if (a == 0 || b % a != 0)
      return {};
    factors.push_back(b / a);
  }
  return factors;
}

CallResult writeEnlarge(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value(aten::optional("self")), out = op->getResult(0);
  SmallVector<int64_t> factors = factorsOf(sizesOf(self), sizesOf(out));
  if (factors.empty() || !isFloatTensor(self))
    return CallResult::failed("grows by other than whole factors");
  CallBuilder text("enlarge");
  text.comment("[" + sizesText(sizesOf(self)) + "] to [" +
               sizesText(sizesOf(out)) + "]");
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  for (auto [index, factor] : llvm::zip_equal(at, factors))
    if (factor > 1)
      index = "(" + index + ") / " + numberText(factor);
  text.line("out[element] = " + CallBuilder::element(self, "self", at) + ";");
  return CallResult::of(text);
}

CallResult writeEnlargeGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value gradient = call.value("grad_output"), out = op->getResult(0);
  SmallVector<int64_t> factors = factorsOf(sizesOf(out), sizesOf(gradient));
  if (factors.empty() || !isFloatTensor(gradient))
    return CallResult::failed("shrinks by other than whole factors");
  CallBuilder text("enlarge_gradient");
  text.comment("[" + sizesText(sizesOf(gradient)) + "] to [" +
               sizesText(sizesOf(out)) + "]");
  text.read(gradient, "gradient");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  Indices part = indicesOf("part", factors);
  for (auto [index, step, factor] : llvm::zip_equal(at, part, factors))
    if (factor > 1)
      index = "(" + index + ") * " + numberText(factor) + " + " + step;
  text.line(sumTypeText(gradient) + " sum = 0;");
  text.line("for (int part = 0; part < " + numberText(productOf(factors)) +
            "; ++part)");
  text.line("  sum += toFloat(" +
            CallBuilder::element(gradient, "gradient", at) + ");");
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
  if (name == "aten.max_pool2d_with_indices_backward")
    return writeMaxPoolGradient(op);
  if (name == "aten.upsample_nearest2d")
    return writeEnlarge(op);
  if (name == "aten.upsample_nearest2d_backward")
    return writeEnlargeGradient(op);
  return {};
}
