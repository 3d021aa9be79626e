// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planes of two or three dimensions that are read at the places of a grid
// (grid_sampler), and the gradients.
//
//   result      a thread an element
//   of the grid a thread a place: its taps, and for each all channels
//   of the input a warp an element of the plane, 128 channels; it asks each
//               place of the result, 32 at a time, whether it reads the
//               element, and adds up those that do, in their order. No atomics,
//               and places of the plane times those of the grid questions.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

const char *const kPlaces[] = {"i", "j", "k"};

struct GridSample {
  aten::CallReader call;
  Value input, grid, gradient;
  size_t rank = 0;
  std::string type;  ///< of sums
  std::string taps;  ///< "gridLinear<kZeros, true, float>("
  int64_t count = 0; ///< of taps along an axis

  explicit GridSample(aten::CallOp op)
      : call(op), input(call.value("input")), grid(call.value("grid")),
        gradient(call.value(aten::optional("grad_output"))) {}

  /// False if it is not known.
  bool read() {
    static const char *const modes[] = {"gridLinear", "gridNearest",
                                        "gridCubic"};
    static const char *const paddings[] = {"kZeros", "kBorder", "kReflection"};
    auto mode = call.integer("interpolation_mode");
    auto padding = call.integer("padding_mode");
    auto isAligned = call.boolean("align_corners");
    if (!mode || !padding || !isAligned || *mode < 0 || *mode > 2 ||
        *padding < 0 || *padding > 2 || !isFloatTensor(input) ||
        !isFloatTensor(grid))
      return false;
    rank = sizesOf(input).size() - 2;
    type = sumTypeText(input);
    count = *mode == 0 ? 2 : *mode == 1 ? 1 : 4;
    taps = std::string(modes[*mode]) + "<" + paddings[*padding] +
           (*isAligned ? ", true, " : ", false, ") + type + ">(";
    return true;
  }
  ArrayRef<int64_t> plane() const { return sizesOf(input).drop_front(2); }
  ArrayRef<int64_t> places() const {
    return sizesOf(grid).drop_front().drop_back();
  }
  /// Those of `axis` at a place of image `n`; the grid has the last axis first.
  std::string tapsAt(size_t axis, const std::string &n,
                     ArrayRef<std::string> place) const {
    Indices at = {n};
    at.append(place.begin(), place.end());
    at.push_back(std::to_string(rank - 1 - axis));
    return taps + "toFloat(" + CallWriter::element(grid, "grid", at) + "), " +
           std::to_string(plane()[axis]) + ")";
  }
  Indices inside(const std::string &n, const std::string &channel) const {
    Indices at = {n, channel};
    for (size_t axis = 0; axis < rank; ++axis)
      at.push_back("of_" + std::string(kPlaces[axis]) + ".at[" + kPlaces[axis] +
                   "]");
    return at;
  }
  void open(CallWriter &text, Value out) const {
    text.comment("[" + sizesText(sizesOf(out)) + "]: [" +
                 sizesText(sizesOf(input)) + "] at [" +
                 sizesText(sizesOf(grid)) + "]");
  }
  /// Loops over the elements that are read; gives the indentation inside.
  std::string openTaps(CallWriter &text, const std::string &n,
                       ArrayRef<std::string> place) const;
  void closeTaps(CallWriter &text) const {
    for (size_t axis = rank; axis-- > 0;)
      text.line(std::string(2 * axis, ' ') + "}");
  }
  CallKernel finish(CallWriter &text, precompiled::GridSample::Kind kind) const;
  CallKernel forward(Value out) const;
  CallKernel ofInput(Value out) const;
  CallKernel ofGrid(Value out) const;
};

} // namespace

std::string GridSample::openTaps(CallWriter &text, const std::string &n,
                                 ArrayRef<std::string> place) const {
  for (size_t axis = 0; axis < rank; ++axis)
    text.line("const auto of_" + std::string(kPlaces[axis]) + " = " +
              tapsAt(axis, n, place) + ";");
  std::string indent;
  for (size_t axis = 0; axis < rank; ++axis, indent += "  ") {
    std::string tap = kPlaces[axis];
    text.line(indent + "for (int " + tap + " = 0; " + tap + " < " +
              std::to_string(count) + "; ++" + tap + ") {");
    text.line(indent + "  if (of_" + tap + ".at[" + tap + "] < 0)");
    text.line(indent + "    continue;");
  }
  return indent;
}

/// With what a CPU is told.
CallKernel GridSample::finish(CallWriter &text,
                              precompiled::GridSample::Kind kind) const {
  precompiled::GridSample sample;
  sample.kind = kind;
  sample.rank = static_cast<int64_t>(rank);
  sample.mode = call.integer("interpolation_mode").value_or(0);
  sample.padding = call.integer("padding_mode").value_or(0);
  sample.isAligned = call.boolean("align_corners").value_or(false);
  text.kernel().precompiled =
      describeCall("cutback_grid_sample", text,
                   {"input", "grid", "gradient", "out"}, sample);
  return text.take();
}

CallKernel GridSample::forward(Value out) const {
  CallWriter text("grid_sample");
  open(text, out);
  text.read(input, "input");
  text.read(grid, "grid");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  text.line(type + " sum = 0;");
  std::string indent = openTaps(text, at[0], ArrayRef(at).drop_front(2));
  std::string weight;
  for (size_t axis = 0; axis < rank; ++axis)
    weight += "of_" + std::string(kPlaces[axis]) + ".weight[" + kPlaces[axis] +
              "] * ";
  text.line(indent + "sum += " + weight + "toFloat(" +
            CallWriter::element(input, "input", inside(at[0], at[1])) + ");");
  closeTaps(text);
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "sum") +
            ";");
  return finish(text, precompiled::GridSample::Forward);
}

CallKernel GridSample::ofInput(Value out) const {
  SmallVector<int64_t> rows(sizesOf(out));
  int64_t channels = rows[1];
  rows.erase(rows.begin() + 1);
  CallWriter text("grid_sample_input");
  open(text, out);
  text.read(gradient, "gradient");
  text.read(grid, "grid");
  text.write(out, "out");
  text.openRows(productOf(rows), channels);
  Indices at = indicesOf("row", rows);
  Indices place = indicesOf("number", places());
  text.line("const int n = " + at[0] + ";");
  std::string reaches, weight;
  for (size_t axis = 0; axis < rank; ++axis) {
    std::string name = kPlaces[axis], mine = "at_" + name;
    text.line("const int " + mine + " = " + at[1 + axis] + ";");
    text.line("const auto of_" + name + " = [=](int number) {");
    text.line("  return " + tapsAt(axis, "n", place) + ";");
    text.line("};");
    reaches +=
        (axis ? " && of_" : "of_") + name + "(number).reaches(" + mine + ")";
    weight += "of_" + name + "(number).of(" + mine + ") * ";
    at[1 + axis] = mine;
  }
  Indices from = {"n", "column"}, to = {"n", "column"};
  from.append(place);
  to.append(at.begin() + 1, at.end());
  text.line("sumRows<" + type + ">(" + std::to_string(productOf(places())) +
            ", " + std::to_string(channels) + ",");
  text.line("    [=](int number) { return " + reaches + "; },");
  text.line("    [=](int number, int column) {");
  text.line("      return " + weight + "toFloat(" +
            CallWriter::element(gradient, "gradient", from) + ");");
  text.line("    },");
  text.line("    [=](int column, " + type + " sum) {");
  text.line("      " + CallWriter::element(out, "out", to) + " = " +
            stored(out, "sum") + ";");
  text.line("    });");
  return finish(text, precompiled::GridSample::InputGradient);
}

CallKernel GridSample::ofGrid(Value out) const {
  SmallVector<int64_t> threads(sizesOf(out).drop_back());
  CallWriter text("grid_sample_grid");
  open(text, out);
  text.read(gradient, "gradient");
  text.read(input, "input");
  text.read(grid, "grid");
  text.write(out, "out");
  text.openElements(productOf(threads));
  Indices at = indicesOf("element", threads);
  for (size_t axis = 0; axis < rank; ++axis)
    text.line(type + " sum_" + kPlaces[axis] + " = 0;");
  ArrayRef<std::string> place = ArrayRef(at).drop_front();
  std::string indent = openTaps(text, at[0], place);
  Indices from = {at[0], "channel"};
  from.append(place.begin(), place.end());
  text.line(indent + type + " change = 0;");
  text.line(indent + "for (int channel = 0; channel < " +
            std::to_string(sizesOf(input)[1]) + "; ++channel)");
  text.line(indent + "  change += toFloat(" +
            CallWriter::element(input, "input", inside(at[0], "channel")) +
            ") * toFloat(" + CallWriter::element(gradient, "gradient", from) +
            ");");
  for (size_t axis = 0; axis < rank; ++axis) {
    std::string slope;
    for (size_t other = 0; other < rank; ++other)
      slope += "of_" + std::string(kPlaces[other]) +
               (other == axis ? ".slope[" : ".weight[") + kPlaces[other] +
               "] * ";
    text.line(indent + "sum_" + kPlaces[axis] + " += " + slope + "change;");
  }
  closeTaps(text);
  for (size_t axis = 0; axis < rank; ++axis) {
    Indices to = at;
    to.push_back(std::to_string(rank - 1 - axis));
    text.line(CallWriter::element(out, "out", to) + " = " +
              stored(out, "sum_" + std::string(kPlaces[axis])) + ";");
  }
  return finish(text, precompiled::GridSample::GridGradient);
}

CallResult cuda::writeGridCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  bool isGradient = name.consume_back("_backward");
  if (name != "aten.grid_sampler_2d" && name != "aten.grid_sampler_3d")
    return {};
  GridSample sample(op);
  if (!sample.read())
    return CallResult::failed("samples other elements than floats, or in a way "
                              "that is not known");
  CallResult result;
  result.isKnown = true;
  if (!isGradient) {
    result.kernels.push_back(sample.forward(op->getResult(0)));
    return result;
  }
  // A gradient that nobody wants is no tensor.
  auto isRead = [](Value value) {
    return isa<RankedTensorType>(value.getType()) && !value.use_empty();
  };
  if (isRead(op->getResult(0)))
    result.kernels.push_back(sample.ofInput(op->getResult(0)));
  if (isRead(op->getResult(1)))
    result.kernels.push_back(sample.ofGrid(op->getResult(1)));
  return result;
}
