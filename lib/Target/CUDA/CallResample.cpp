// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resampling of planes of one to three dimensions, and its gradients. In each
// dimension an element of the result is a weighted sum of one element
// (nearest), two (linear) or four (cubic), and the weights multiply. A thread
// has one element of the result; a gradient is summed over the elements that
// read its element, in their order.

#include "CallDescription.h"
#include "ScalarText.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

struct Mode {
  const char *taps; ///< the function of the header
  precompiled::Resample::Kind kind;
  int64_t count; ///< of its elements
  int64_t reach; ///< how far an element is read from
  bool isNearest, isExact;
};
constexpr Mode kNearest = {
    "nearestTaps", precompiled::Resample::Nearest, 1, 1, true, false};
constexpr Mode kNearestExact = {
    "nearestTaps", precompiled::Resample::Nearest, 1, 1, true, true};
constexpr Mode kLinear = {
    "linearTaps", precompiled::Resample::Linear, 2, 1, false, false};
constexpr Mode kCubic = {"cubicTaps", precompiled::Resample::Cubic, 4, 2, false,
                         false};

const char *const kPlaces[] = {"i", "j", "k"};

/// One dimension: `in` elements become `out`.
struct Axis {
  int64_t in, out;
  double ratio = 1, offset = 0;
};

struct Resample {
  Operation *op;
  aten::CallReader call;
  size_t rank;
  Mode mode;
  SmallVector<Axis> axes;
  std::string type; ///< of sums

  Resample(aten::CallOp op, size_t rank, const Mode &mode)
      : op(op), call(op), rank(rank), mode(mode) {}

  void readAxes(ArrayRef<int64_t> in, ArrayRef<int64_t> out);
  std::string number(double value) const;
  /// "linearTaps<float>(i, 0.5f, 0.5f, 9)"
  std::string taps(size_t axis, const std::string &place) const {
    const Axis &a = axes[axis];
    return mode.taps + ("<" + type) + ">(" + place + ", " + number(a.ratio) +
           ", " + number(a.offset) + ", " + std::to_string(a.in) + ")";
  }
  CallResult failed() const {
    return CallResult::failed("resamples other elements than floats, or by "
                              "sizes that are not known");
  }
  CallResult forward();
  CallResult gradient();
  precompiled::Resample describe(bool isGradient) const;
};

} // namespace

void Resample::readAxes(ArrayRef<int64_t> in, ArrayRef<int64_t> out) {
  static constexpr const char *names[] = {"scales_d", "scales_h", "scales_w"};
  bool isAligned =
      call.boolean(aten::optional("align_corners")).value_or(false);
  for (size_t i = 0; i < rank; ++i) {
    Axis axis{in[in.size() - rank + i], out[out.size() - rank + i]};
    const char *name = rank == 1 ? "scales" : names[3 - rank + i];
    double scale = call.number(name).value_or(0);
    double from = static_cast<double>(axis.in),
           to = static_cast<double>(axis.out);
    axis.ratio = scale > 0 ? 1 / scale : from / to;
    axis.offset = mode.isNearest && !mode.isExact ? 0 : 0.5;
    if (isAligned) {
      axis.ratio = axis.out > 1 ? (from - 1) / (to - 1) : 0;
      axis.offset = 0;
    } else if (mode.isNearest && !mode.isExact &&
               (axis.out == axis.in || axis.out == 2 * axis.in)) {
      axis.ratio = from / to;
    } else if (mode.count == 2 && axis.in == axis.out) {
      axis.ratio = 1;
    }
    axes.push_back(axis);
  }
}

std::string Resample::number(double value) const {
  Builder b(op->getContext());
  return literal(type == "double" ? Type(b.getF64Type()) : b.getF32Type(),
                 b.getF64FloatAttr(value));
}

precompiled::Resample Resample::describe(bool isGradient) const {
  precompiled::Resample resample;
  resample.kind = mode.kind;
  resample.rank = static_cast<int64_t>(rank);
  resample.isGradient = isGradient;
  for (size_t axis = 0; axis < rank; ++axis)
    resample.axes[precompiled::kMostAxes - rank + axis] = {
        axes[axis].in, axes[axis].ratio, axes[axis].offset};
  return resample;
}

CallResult Resample::forward() {
  Value self = call.value("self"), out = op->getResult(0);
  if (!self || !isFloatTensor(self) || sizesOf(self).size() < rank)
    return failed();
  type = sumTypeText(self);
  readAxes(sizesOf(self), sizesOf(out));
  CallWriter text("resample");
  text.comment("[" + sizesText(sizesOf(out)) + "] from [" +
               sizesText(sizesOf(self)) + "]");
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  std::string weight;
  for (size_t axis = 0; axis < rank; ++axis) {
    std::string place = kPlaces[axis], own = "of_" + place;
    std::string &index = at[at.size() - rank + axis];
    text.line("const auto " + own + " = " + taps(axis, index) + ";");
    index = own + ".at[" + place + "]";
    weight += own + ".weight[" + place + "] * ";
  }
  text.line(type + " sum = 0;");
  std::string indent;
  for (size_t axis = 0; axis < rank; ++axis, indent += "  ")
    text.line(indent + "for (int " + kPlaces[axis] + " = 0; " + kPlaces[axis] +
              " < " + std::to_string(mode.count) + "; ++" + kPlaces[axis] +
              ")");
  text.line(indent + "sum += " + weight + "toFloat(" +
            CallWriter::element(self, "self", at) + ");");
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  text.kernel().precompiled =
      describeCall("cutback_resample", text, {"self", "out"}, describe(false));
  return CallResult::of(text);
}

CallResult Resample::gradient() {
  Value gradient = call.value("grad_output"), out = op->getResult(0);
  if (!isFloatTensor(gradient) || sizesOf(out).size() < rank)
    return failed();
  type = sumTypeText(gradient);
  readAxes(sizesOf(out), sizesOf(gradient));
  CallWriter text("resample_gradient");
  text.comment("[" + sizesText(sizesOf(out)) + "] from [" +
               sizesText(sizesOf(gradient)) + "]");
  text.read(gradient, "gradient");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out)), from = at;
  for (size_t axis = 0; axis < rank; ++axis) {
    const Axis &a = axes[axis];
    std::string place = kPlaces[axis], mine = "at_" + place;
    text.line("const int " + mine + " = " + at[at.size() - rank + axis] + ";");
    text.line("const Span over_" + place + " = readersOf<" + type + ">(" +
              mine + ", " + number(a.ratio) + ", " +
              number(mode.isNearest ? 0 : a.offset) + ", " +
              std::to_string(mode.reach) + ", " + std::to_string(a.in) + ", " +
              std::to_string(a.out) + ");");
    from[from.size() - rank + axis] = place;
  }
  text.line(type + " sum = 0;");
  std::string indent, before;
  for (size_t axis = 0; axis < rank; ++axis) {
    std::string place = kPlaces[axis], own = "weight_" + place;
    text.line(indent + "for (int " + place + " = over_" + place + ".begin; " +
              place + " < over_" + place + ".end; ++" + place + ") {");
    indent += "  ";
    text.line(indent + "const " + type + " " + own + " = " + before +
              taps(axis, place) + ".of(at_" + place + ");");
    text.line(indent + "if (" + own + " == 0)");
    text.line(indent + "  continue;");
    before = own + " * ";
  }
  text.line(indent + "sum += " + before + "toFloat(" +
            CallWriter::element(gradient, "gradient", from) + ");");
  for (size_t axis = 0; axis < rank; ++axis) {
    indent.resize(indent.size() - 2);
    text.line(indent + "}");
  }
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  text.kernel().precompiled = describeCall("cutback_resample", text,
                                           {"gradient", "out"}, describe(true));
  return CallResult::of(text);
}

CallResult cuda::writeResampleCall(aten::CallOp op) {
  struct Entry {
    const char *name;
    size_t rank;
    Mode mode;
  };
  static constexpr Entry entries[] = {
      {"aten.upsample_nearest1d", 1, kNearest},
      {"aten.upsample_nearest2d", 2, kNearest},
      {"aten.upsample_nearest3d", 3, kNearest},
      {"aten._upsample_nearest_exact1d", 1, kNearestExact},
      {"aten._upsample_nearest_exact2d", 2, kNearestExact},
      {"aten._upsample_nearest_exact3d", 3, kNearestExact},
      {"aten.upsample_linear1d", 1, kLinear},
      {"aten.upsample_bilinear2d", 2, kLinear},
      {"aten.upsample_trilinear3d", 3, kLinear},
      {"aten.upsample_bicubic2d", 2, kCubic},
  };
  StringRef name = op.getPacketName();
  bool isGradient = name.consume_back("_backward");
  for (const Entry &entry : entries)
    if (name == entry.name) {
      Resample resample(op, entry.rank, entry.mode);
      return isGradient ? resample.gradient() : resample.forward();
    }
  return {};
}
