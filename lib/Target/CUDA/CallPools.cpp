// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools over one to three dimensions: averages and greatest elements of windows
// that slide, or that cover an axis (adaptive), and their gradients. A thread
// has one element of the result; a gradient is summed over the windows that its
// element lies in, in their order.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

const char *const kPlaces[] = {"i", "j", "k"};

std::string listText(ArrayRef<std::string> parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}
std::string listText(std::initializer_list<int64_t> numbers) {
  Indices parts;
  for (int64_t number : numbers)
    parts.push_back(std::to_string(number));
  return listText(parts);
}

/// The windows of a call, by axis.
class Pool {
public:
  /// Over the last `rank` dimensions, of sizes `plane`, `counts` windows each.
  /// False if a list is not known.
  bool read(const aten::CallReader &call, size_t rank, bool isAdaptive,
            ArrayRef<int64_t> plane, ArrayRef<int64_t> counts) {
    this->isAdaptive = isAdaptive;
    sizes.assign(plane.end() - rank, plane.end());
    number.assign(counts.end() - rank, counts.end());
    if (isAdaptive)
      return true;
    return list(call, "kernel_size", taps) && list(call, "stride", stride) &&
           list(call, "padding", padding) &&
           list(call, aten::optional("dilation"), dilation);
  }
  size_t rank() const { return sizes.size(); }
  int64_t step(size_t axis) const {
    return dilation.empty() ? 1 : dilation[axis];
  }

  /// "slidingWindow(y, 3, 2, 1, 1, 9)": elements of window `at`.
  std::string window(size_t axis, const std::string &at) const {
    if (isAdaptive)
      return "coveringWindow(" + at + ", " +
             listText({number[axis], sizes[axis]}) + ")";
    return "slidingWindow(" + at + ", " +
           listText({taps[axis], stride[axis], padding[axis], step(axis),
                     sizes[axis]}) +
           ")";
  }
  /// The windows that element `at` lies in.
  std::string windowsOver(size_t axis, const std::string &at) const {
    if (isAdaptive)
      return "coveringWindowsOver(" + at + ", " +
             listText({number[axis], sizes[axis]}) + ")";
    return "slidingWindowsOver(" + at + ", " +
           listText({taps[axis], stride[axis], padding[axis], step(axis),
                     number[axis]}) +
           ")";
  }
  /// What the sum of the window at `places` is divided by.
  std::string divisor(const aten::CallReader &call,
                      ArrayRef<std::string> places) const {
    if (std::optional<int64_t> given =
            call.integer(aten::optional("divisor_override")))
      return std::to_string(*given);
    bool isPadded =
        call.boolean(aten::optional("count_include_pad")).value_or(false);
    std::string text;
    for (size_t axis = 0; axis < rank(); ++axis) {
      std::string length = isPadded
                               ? "paddedLength(" + places[axis] + ", " +
                                     listText({taps[axis], stride[axis],
                                               padding[axis], sizes[axis]}) +
                                     ")"
                               : "lengthOf(" + window(axis, places[axis]) + ")";
      text += (text.empty() ? "" : " * ") + length;
    }
    return text;
  }

  /// What a CPU is told of them.
  precompiled::Pool describe(const aten::CallReader &call,
                             precompiled::Pool::Kind kind) const {
    precompiled::Pool pool;
    pool.kind = kind;
    pool.rank = static_cast<int64_t>(rank());
    pool.isAdaptive = isAdaptive;
    pool.isPadded =
        call.boolean(aten::optional("count_include_pad")).value_or(false);
    if (std::optional<int64_t> given =
            call.integer(aten::optional("divisor_override"))) {
      pool.isDivisorGiven = true;
      pool.divisor = *given;
    }
    for (size_t axis = 0; axis < rank(); ++axis) {
      precompiled::Pool::Axis &to =
          pool.axes[precompiled::kMostAxes - rank() + axis];
      to.size = sizes[axis];
      to.count = number[axis];
      to.dilation = step(axis);
      if (isAdaptive)
        continue;
      to.taps = taps[axis];
      to.stride = stride[axis];
      to.padding = padding[axis];
    }
    return pool;
  }

private:
  /// One number stands for all axes; no stride is that of the window.
  bool list(const aten::CallReader &call, aten::ParamRef name,
            SmallVector<int64_t> &to) {
    if (call.isNone(name)) // an op without it
      return true;
    auto values = call.integers(name);
    if (!values)
      return false;
    to.assign(values->begin(), values->end());
    if (to.empty())
      to = taps;
    if (to.size() == 1)
      to.resize(rank(), to.front());
    return to.size() == rank();
  }

  bool isAdaptive = false;
  SmallVector<int64_t> sizes, number, taps, stride, padding, dilation;
};

/// Loops over one span an axis, as statements around `body`.
void writeLoops(CallWriter &text, ArrayRef<std::string> spans,
                const Pool *steps, ArrayRef<std::string> body) {
  for (size_t axis = 0; axis < spans.size(); ++axis)
    text.line("const Span over_" + std::string(kPlaces[axis]) + " = " +
              spans[axis] + ";");
  std::string indent;
  for (size_t axis = 0; axis < spans.size(); ++axis) {
    std::string place = kPlaces[axis];
    int64_t step = steps ? steps->step(axis) : 1;
    text.line(
        indent + "for (int " + place + " = over_" + place + ".begin; " + place +
        " < over_" + place + ".end; " +
        (step == 1 ? "++" + place : place + " += " + std::to_string(step)) +
        ")" + (axis + 1 == spans.size() ? " {" : ""));
    indent += "  ";
  }
  for (const std::string &line : body)
    text.line(indent + line);
  text.line(std::string(indent.size() - 2, ' ') + "}");
}

/// `at` with the last dimensions at the loops' places.
Indices insidePlane(Indices at, size_t rank) {
  for (size_t axis = 0; axis < rank; ++axis)
    at[at.size() - rank + axis] = kPlaces[axis];
  return at;
}
/// "(i * 9 + j) * 7 + k": the number of an element of its plane.
std::string numberInPlane(ArrayRef<std::string> places,
                          ArrayRef<int64_t> sizes) {
  std::string text = places[0];
  for (size_t axis = 1; axis < places.size(); ++axis)
    text = (axis > 1 ? "(" + text + ")" : text) + " * " +
           std::to_string(sizes[axis]) + " + " + places[axis];
  return text;
}

/// One call over the last `rank` dimensions.
struct PoolCall {
  Operation *operation;
  size_t rank;
  bool isAdaptive;
  aten::CallReader call;

  PoolCall(aten::CallOp op, size_t rank, bool isAdaptive)
      : operation(op), rank(rank), isAdaptive(isAdaptive), call(op) {}

  CallResult failed() const {
    return CallResult::failed("has windows that are not known, or of other "
                              "elements than floats");
  }
  Indices windowsOf(const Pool &pool, ArrayRef<std::string> at,
                    bool isOver) const {
    Indices spans;
    for (size_t axis = 0; axis < rank; ++axis) {
      const std::string &place = at[at.size() - rank + axis];
      spans.push_back(isOver ? pool.windowsOver(axis, place)
                             : pool.window(axis, place));
    }
    return spans;
  }
  /// A kernel with a thread for each element of `out`.
  CallWriter begin(const char *name, Value from, Value out) const {
    CallWriter text(name);
    text.comment("[" + sizesText(sizesOf(out)) + "] from [" +
                 sizesText(sizesOf(from)) + "]");
    return text;
  }

  CallResult average() const;
  CallResult averageGradient() const;
  CallResult greatest() const;
  CallResult greatestGradient() const;
};

} // namespace

CallResult PoolCall::average() const {
  Value self = call.value("self"), out = operation->getResult(0);
  Pool pool;
  if (!isFloatTensor(self) || sizesOf(self).size() < rank ||
      !pool.read(call, rank, isAdaptive, sizesOf(self), sizesOf(out)))
    return failed();
  CallWriter text = begin("average_pool", self, out);
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  std::string type = sumTypeText(self);
  text.line(type + " sum = 0;");
  writeLoops(text, windowsOf(pool, at, /*isOver=*/false), nullptr,
             {"sum += toFloat(" +
              CallWriter::element(self, "self", insidePlane(at, rank)) + ");"});
  text.line("const int divisor = " +
            pool.divisor(call, ArrayRef(at).take_back(rank)) + ";");
  text.line("out[element] = to<" + elementTypeText(out) + ">(divisor ? sum / " +
            type + "(divisor) : 0);");
  text.kernel().precompiled =
      describeCall("cutback_pool", text, {"self", "out", "indices"},
                   pool.describe(call, precompiled::Pool::Average));
  return CallResult::of(text);
}

CallResult PoolCall::averageGradient() const {
  Value gradient = call.value("grad_output");
  Value out = operation->getResult(0);
  Pool pool;
  if (!isFloatTensor(gradient) || sizesOf(out).size() < rank ||
      !pool.read(call, rank, isAdaptive, sizesOf(out), sizesOf(gradient)))
    return failed();
  CallWriter text = begin("average_pool_gradient", gradient, out);
  text.read(gradient, "gradient");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  std::string type = sumTypeText(gradient);
  Indices places;
  for (size_t axis = 0; axis < rank; ++axis)
    places.push_back(kPlaces[axis]);
  text.line(type + " sum = 0;");
  writeLoops(text, windowsOf(pool, at, /*isOver=*/true), nullptr,
             {"sum += toFloat(" +
              CallWriter::element(gradient, "gradient", insidePlane(at, rank)) +
              ") / " + type + "(" + pool.divisor(call, places) + ");"});
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  text.kernel().precompiled =
      describeCall("cutback_pool", text, {"gradient", "out", "indices"},
                   pool.describe(call, precompiled::Pool::AverageGradient));
  return CallResult::of(text);
}

/// The first of the greatest, or the last NaN, and its place in the plane.
CallResult PoolCall::greatest() const {
  Value self = call.value("self"), out = operation->getResult(0);
  Pool pool;
  if (!isFloatTensor(self) || sizesOf(self).size() < rank ||
      !pool.read(call, rank, isAdaptive, sizesOf(self), sizesOf(out)))
    return failed();
  CallWriter text = begin("max_pool", self, out);
  text.read(self, "self");
  bool hasIndices =
      operation->getNumResults() > 1 && !operation->getResult(1).use_empty();
  if (!out.use_empty())
    text.write(out, "out");
  if (hasIndices)
    text.write(operation->getResult(1), "indices");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  std::string type = sumTypeText(self);
  text.line(type + " greatest = lowest();");
  Indices first;
  for (size_t axis = 0; axis < rank; ++axis)
    first.push_back("over_" + std::string(kPlaces[axis]) + ".begin");
  Indices places = insidePlane(at, rank);
  ArrayRef<int64_t> plane = sizesOf(self).take_back(rank);
  text.line("int found = -1;");
  writeLoops(
      text, windowsOf(pool, at, /*isOver=*/false), &pool,
      {"const " + type + " value = toFloat(" +
           CallWriter::element(self, "self", places) + ");",
       "if (found >= 0 && !(value > greatest) && value == value)",
       "  continue;", "greatest = value;",
       "found = " + numberInPlane(ArrayRef(places).take_back(rank), plane) +
           ";"});
  if (!out.use_empty())
    text.line("out[element] = to<" + elementTypeText(out) + ">(greatest);");
  if (hasIndices)
    text.line("indices[element] = found < 0 ? 0 : found;");
  text.kernel().precompiled =
      describeCall("cutback_pool", text, {"self", "out", "indices"},
                   pool.describe(call, precompiled::Pool::Greatest));
  return CallResult::of(text);
}

CallResult PoolCall::greatestGradient() const {
  Value gradient = call.value("grad_output"), indices = call.value("indices");
  Value out = operation->getResult(0);
  Pool pool;
  if (!isFloatTensor(gradient) || sizesOf(out).size() < rank ||
      !pool.read(call, rank, isAdaptive, sizesOf(out), sizesOf(gradient)))
    return failed();
  CallWriter text = begin("max_pool_gradient", gradient, out);
  text.read(gradient, "gradient");
  text.read(indices, "indices");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out)),
          window = insidePlane(at, rank);
  text.line("const int mine = " +
            numberInPlane(ArrayRef(at).take_back(rank),
                          sizesOf(out).take_back(rank)) +
            ";");
  text.line(sumTypeText(gradient) + " sum = 0;");
  writeLoops(
      text, windowsOf(pool, at, /*isOver=*/true), nullptr,
      {"if (" + CallWriter::element(indices, "indices", window) + " == mine)",
       "  sum += toFloat(" + CallWriter::element(gradient, "gradient", window) +
           ");"});
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  text.kernel().precompiled =
      describeCall("cutback_pool", text, {"gradient", "out", "indices"},
                   pool.describe(call, precompiled::Pool::GreatestGradient));
  return CallResult::of(text);
}

CallResult cuda::writePoolCall(aten::CallOp op) {
  struct Entry {
    const char *name;
    size_t rank;
    bool isAdaptive;
    CallResult (PoolCall::*write)() const;
  };
  static constexpr Entry entries[] = {
      {"aten.avg_pool1d", 1, false, &PoolCall::average},
      {"aten.avg_pool2d", 2, false, &PoolCall::average},
      {"aten.avg_pool3d", 3, false, &PoolCall::average},
      {"aten.avg_pool2d_backward", 2, false, &PoolCall::averageGradient},
      {"aten.avg_pool3d_backward", 3, false, &PoolCall::averageGradient},
      {"aten._adaptive_avg_pool2d", 2, true, &PoolCall::average},
      {"aten._adaptive_avg_pool3d", 3, true, &PoolCall::average},
      {"aten._adaptive_avg_pool2d_backward", 2, true,
       &PoolCall::averageGradient},
      {"aten._adaptive_avg_pool3d_backward", 3, true,
       &PoolCall::averageGradient},
      {"aten.max_pool2d_with_indices", 2, false, &PoolCall::greatest},
      {"aten.max_pool3d_with_indices", 3, false, &PoolCall::greatest},
      {"aten.max_pool2d_with_indices_backward", 2, false,
       &PoolCall::greatestGradient},
      {"aten.max_pool3d_with_indices_backward", 3, false,
       &PoolCall::greatestGradient},
      {"aten.adaptive_max_pool2d", 2, true, &PoolCall::greatest},
      {"aten.adaptive_max_pool3d", 3, true, &PoolCall::greatest},
      {"aten.adaptive_max_pool2d_backward", 2, true,
       &PoolCall::greatestGradient},
      {"aten.adaptive_max_pool3d_backward", 3, true,
       &PoolCall::greatestGradient},
  };
  for (const Entry &entry : entries)
    if (op.getPacketName() == entry.name)
      return (PoolCall(op, entry.rank, entry.isAdaptive).*entry.write)();
  return {};
}
