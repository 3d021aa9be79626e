// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over the last dimensions: the greatest element and where it is in its
// window, and windows along one dimension that were laid out as a dimension of
// their own. A thread has one element of the result;
// a gradient is summed over all that its element went to, in their order, so no
// two threads write one place.

#include "CallDescription.h"

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

/// Windows over the last two axes, as a CPU is told of them.
precompiled::Pool describe(const Windows &w, precompiled::Pool::Kind kind,
                           ArrayRef<int64_t> plane, ArrayRef<int64_t> counts) {
  precompiled::Pool pool;
  pool.kind = kind;
  pool.rank = 2;
  for (size_t axis = 0; axis < 2; ++axis)
    pool.axes[precompiled::kMostAxes - 2 + axis] = {
        w.taps[axis],     w.stride[axis],           w.padding[axis],
        w.dilation[axis], plane.take_back(2)[axis], counts.take_back(2)[axis]};
  return pool;
}

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
  text.kernel().precompiled = describeCall(
      "cutback_pool", text, {"self", "out", "offsets"},
      describe(w, precompiled::Pool::GreatestInWindow, from, sizes));
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
  text.kernel().precompiled = describeCall(
      "cutback_pool", text, {"none", "out", "offsets"},
      describe(w, precompiled::Pool::PlacesOfWindows, *input, sizes));
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
  precompiled::ColumnWindows all;
  all.kind = precompiled::ColumnWindows::Unfolded;
  all.axis = static_cast<int64_t>(*axis);
  all.axes[0] = {*size, *step, 0, 1, sizes[*axis], sizesOf(gradient)[*axis]};
  text.kernel().precompiled =
      describeCall("cutback_windows", text, {"gradient", "out"}, all);
  return CallResult::of(text);
}

/// Windows over planes that are columns: [N, C, H, W] is [N, C * taps,
/// windows].
struct ColumnWindows {
  Windows w;
  int64_t counts[2];
  SmallVector<int64_t> columns, planes; ///< sizes

  /// Why they are not known; empty if they are.
  std::string read(const aten::CallReader &call, Value columns, Value planes) {
    if (!w.read(call))
      return "has other windows than over two dimensions";
    this->columns.assign(sizesOf(columns).begin(), sizesOf(columns).end());
    this->planes.assign(sizesOf(planes).begin(), sizesOf(planes).end());
    for (size_t axis = 0; axis < 2; ++axis)
      counts[axis] =
          (this->planes[this->planes.size() - 2 + axis] + 2 * w.padding[axis] -
           w.dilation[axis] * (w.taps[axis] - 1) - 1) /
              w.stride[axis] +
          1;
    return isFloatTensor(planes) ? "" : "is of another type than floats";
  }
  precompiled::ColumnWindows
  describe(precompiled::ColumnWindows::Kind kind) const {
    precompiled::ColumnWindows all;
    all.kind = kind;
    for (size_t axis = 0; axis < 2; ++axis)
      all.axes[axis] = {w.taps[axis],
                        w.stride[axis],
                        w.padding[axis],
                        w.dilation[axis],
                        planes[planes.size() - 2 + axis],
                        counts[axis]};
    return all;
  }
};

CallResult writeColumns(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), out = op->getResult(0);
  ColumnWindows c;
  if (std::string why = c.read(call, out, self); !why.empty())
    return CallResult::failed(why);
  size_t rank = c.columns.size();
  std::string width = numberText(c.w.taps[1]), counts = numberText(c.counts[1]);
  CallWriter text("im2col");
  text.comment("[" + sizesText(c.columns) + "] of [" + sizesText(c.planes) +
               "], windows of " + sizesText(c.w.taps));
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(c.columns));
  Indices at = indicesOf("element", c.columns), from = at;
  text.line("const int column = " + at[rank - 2] + ";");
  text.line("const int window = " + at[rank - 1] + ";");
  text.line(
      "const int y = " +
      c.w.source(0, "window / " + counts,
                 "(column / " + width + " % " + numberText(c.w.taps[0]) + ")") +
      ";");
  text.line("const int x = " +
            c.w.source(1, "window % " + counts, "(column % " + width + ")") +
            ";");
  text.line(sumTypeText(self) + " value = 0;");
  text.line("if (y >= 0 && y < " + numberText(c.planes[rank - 1]) +
            " && x >= 0 && x < " + numberText(c.planes[rank]) + ")");
  from[rank - 2] = "column / " + numberText(productOf(c.w.taps));
  from[rank - 1] = "y";
  from.push_back("x");
  text.line("  value = toFloat(" + CallWriter::element(self, "self", from) +
            ");");
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "value") +
            ";");
  text.kernel().precompiled =
      describeCall("cutback_windows", text, {"self", "out"},
                   c.describe(precompiled::ColumnWindows::Columns));
  return CallResult::of(text);
}

/// An element is the sum of what its windows have of it.
CallResult writePlanes(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), out = op->getResult(0);
  ColumnWindows c;
  if (std::string why = c.read(call, self, out); !why.empty())
    return CallResult::failed(why);
  size_t rank = c.planes.size();
  CallWriter text("col2im");
  text.comment("[" + sizesText(c.planes) + "] from [" + sizesText(c.columns) +
               "], windows of " + sizesText(c.w.taps));
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(c.planes));
  Indices at = indicesOf("element", c.planes), from = at;
  const char *const names[] = {"y", "x"};
  for (size_t axis = 0; axis < 2; ++axis) {
    std::string name = names[axis];
    text.line("const int " + name + " = " + at[rank - 2 + axis] + " + " +
              numberText(c.w.padding[axis]) + ";");
    text.line("const Span over_" + name + " = slidingWindowsOver(" +
              at[rank - 2 + axis] + ", " + numberText(c.w.taps[axis]) + ", " +
              numberText(c.w.stride[axis]) + ", " +
              numberText(c.w.padding[axis]) + ", " +
              numberText(c.w.dilation[axis]) + ", " +
              numberText(c.counts[axis]) + ");");
  }
  auto tap = [&](size_t axis, const std::string &window) {
    return "(" + std::string(names[axis]) + " - " + window + " * " +
           numberText(c.w.stride[axis]) + ")";
  };
  text.line(sumTypeText(self) + " sum = 0;");
  text.line("for (int i = over_y.begin; i < over_y.end; ++i)");
  text.line("  for (int j = over_x.begin; j < over_x.end; ++j) {");
  text.line("    const int down = " + tap(0, "i") + ", right = " + tap(1, "j") +
            ";");
  std::string dilationY = numberText(c.w.dilation[0]);
  std::string dilationX = numberText(c.w.dilation[1]);
  text.line("    if (down % " + dilationY + " == 0 && right % " + dilationX +
            " == 0)");
  from[rank - 3] = "(" + at[rank - 3] + ") * " +
                   numberText(productOf(c.w.taps)) + " + down / " + dilationY +
                   " * " + numberText(c.w.taps[1]) + " + right / " + dilationX;
  from[rank - 2] = "i * " + numberText(c.counts[1]) + " + j";
  from.pop_back();
  text.line("      sum += toFloat(" + CallWriter::element(self, "self", from) +
            ");");
  text.line("  }");
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "sum") +
            ";");
  text.kernel().precompiled =
      describeCall("cutback_windows", text, {"self", "out"},
                   c.describe(precompiled::ColumnWindows::Planes));
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
  if (name == "aten.im2col")
    return writeColumns(op);
  if (name == "aten.col2im")
    return writePlanes(op);
  return {};
}
