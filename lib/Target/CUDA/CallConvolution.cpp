// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution and its two gradients as products of what they look up, one for
// each group (blockIdx.z). With n the image, t a tap of the kernel, o a place
// of the narrow side, x one of the wide side, along each of up to three axes x
// = o * stride - padding + t * dilation:
//
//   narrow side     rows: its channels      columns (n, o)   over (wide c, t)
//   wide side       rows: its channels      columns (n, x)   over (narrow c, t)
//   weight          rows: narrow channels   columns (wide c, t)   over (n, o)
//
// The wide side is the input of a convolution and the output of a transposed
// one: what is the output of the one is the input's gradient of the other.
// Nothing is unfolded in memory; a place outside of the wide side is a zero.
// Those of bf16 and f16 are on tensor cores, as matrix products are.

#include "Convolution.h"
#include "ProductShape.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

using Indices = SmallVector<std::string, 5>;

/// A tensor and what the text calls it.
struct Named {
  Value tensor;
  const char *name;
};

class ConvolutionWriter {
public:
  ConvolutionWriter(aten::CallOp op, CallOptions options)
      : op(op), call(op), options(options) {}

  CallResult run() {
    StringRef name = op.getPacketName();
    bool isBackward = name == "aten.convolution_backward";
    if (!isBackward && name != "aten.convolution")
      return {};
    if (std::string why = readProblem(isBackward); !why.empty())
      return CallResult::failed(why);
    CallResult result;
    result.isKnown = true;
    Named input = {p.input, "input"}, gradient = {p.output, "gradient"};
    if (!isBackward) {
      Value out = op->getResult(0);
      result.kernels.push_back(p.isTransposed ? writeWide("", input, out)
                                              : writeNarrow("", input, out));
      return result;
    }
    auto wants = [&](unsigned i) {
      return isa<RankedTensorType>(op->getResult(i).getType()) &&
             !op->getResult(i).use_empty();
    };
    if (wants(0)) {
      Value out = op->getResult(0);
      result.kernels.push_back(
          p.isTransposed ? writeNarrow("_input_gradient", gradient, out)
                         : writeWide("_input_gradient", gradient, out));
    }
    if (wants(1))
      result.kernels.push_back(p.isTransposed
                                   ? writeWeightGradient(input, gradient)
                                   : writeWeightGradient(gradient, input));
    if (wants(2))
      result.kernels.push_back(writeBiasGradient());
    return result;
  }

private:
  std::string readProblem(bool isBackward) {
    p.input = call.value("input");
    p.weight = call.value("weight");
    p.bias = isBackward ? Value() : call.value("bias");
    size_t axes = sizesOf(p.input).size() - 2;
    auto read = [&](const char *name, SmallVector<int64_t, 3> &list) {
      auto values = call.integers(name);
      if (!values || values->empty())
        return false;
      list.assign(values->begin(), values->end());
      list.resize(axes, list.front());
      return true;
    };
    if (sizesOf(p.input).size() < 3 || axes > 3 || !isFloatTensor(p.input) ||
        !isFloatTensor(p.weight) || !read("stride", p.stride) ||
        !read("padding", p.padding) || !read("dilation", p.dilation))
      return "is a convolution of other tensors than floats of one to three "
             "axes";
    p.isTransposed = call.boolean("transposed").value_or(false);
    p.groups = call.integer("groups").value_or(1);
    p.output = isBackward ? call.value("grad_output") : op->getResult(0);
    return "";
  }

  //===--- Pieces of text -------------------------------------------------===//

  std::string sum() const { return sumTypeText(p.input); }
  bool onTiles() const { return isOfTiles(p.input, p.weight, options); }
  std::string zero() const {
    return onTiles()           ? elementTypeText(p.input) + "{}"
           : sum() == "double" ? "0.0"
                               : "0.0f";
  }
  /// Channel number `channel` of the group.
  std::string channel(const std::string &channel, int64_t size) const {
    return p.groups == 1 ? channel
                         : "group * " + std::to_string(size) + " + " + channel;
  }
  static std::string value(Value tensor, const std::string &name,
                           ArrayRef<std::string> indices) {
    return "toFloat(" + CallWriter::element(tensor, name, indices) + ")";
  }
  /// An element of an operand: tiles have it as it lies in memory.
  std::string factor(Value tensor, const std::string &name,
                     ArrayRef<std::string> indices) const {
    return onTiles() ? CallWriter::element(tensor, name, indices)
                     : value(tensor, name, indices);
  }
  /// Lines in front of and behind what looks up an operand, the right one if
  /// not on tiles. `isAlongK`: which neighbours lie beside each other.
  void openFactor(CallWriter &text, bool isLeft, bool isAlongK) const {
    if (onTiles())
      text.line("    lookedUp<" + elementTypeText(p.input) +
                (isAlongK ? ", true>" : ", false>") +
                (isLeft ? "([=](int i, int k) {" : "([=](int j, int k) {"));
    else
      text.line("    lookedUpFactor([=](int k, int j) {");
  }
  static void closeFactor(CallWriter &text) { text.line("    }),"); }
  /// The left operand: of `from` what the indices of a line and of a step name.
  /// `factor`: where these lie.
  void writeLeft(CallWriter &text, const Named &from,
                 ArrayRef<std::string> line, ArrayRef<std::string> step,
                 const FactorLayout &factor) const {
    if (onTiles()) {
      Indices all;
      for (auto [ofLine, ofStep] : llvm::zip_equal(line, step))
        all.push_back(ofLine + ofStep);
      openFactor(text, /*isLeft=*/true, factor.isAlongK());
      text.line("      return " + this->factor(from.tensor, from.name, all) +
                ";");
      return closeFactor(text);
    }
    if (p.groups == 1 && factor.stepStride())
      return text.line(
          "    " + factor.matrixText(elementTypeText(from.tensor), from.name) +
          ",");
    text.line("    leftFactor<" + factor.accessText() + "(" + from.name + ",");
    text.line("        " + placeText(from.tensor, "i", line, true));
    std::string steps = placeText(from.tensor, "k", step, false);
    steps.insert(steps.size() - 1, ")");
    text.line("        " + steps);
  }
  /// Lines are dimension `line` of `tensor`, one of its first two; steps the
  /// other one, and `counts` places along each axis: the first one and every so
  /// manieth of those behind it.
  FactorLayout layoutOf(Value tensor, size_t line, ArrayRef<int64_t> counts,
                        ArrayRef<int64_t> first = {},
                        ArrayRef<int64_t> every = {}) const {
    Layout layout = kernel::locate(tensor).layout;
    FactorLayout factor;
    factor.lines = layout.sizes[line];
    factor.lineStride = strideOf(layout, line);
    factor.offset = layout.offset;
    factor.steps.push_back(
        {layout.sizes[1 - line], strideOf(layout, 1 - line)});
    for (auto [axis, count] : llvm::enumerate(counts)) {
      int64_t stride = strideOf(layout, axis + 2);
      if (!first.empty())
        factor.offset += stride * first[axis];
      factor.steps.push_back(
          {count, every.empty() ? stride : stride * every[axis]});
    }
    if (p.groups > 1) // which begin anywhere
      factor.added.push_back(1);
    return factor;
  }
  static Indices tensorIndices(const std::string &first,
                               const std::string &second,
                               ArrayRef<std::string> rest) {
    Indices all = {first, second};
    all.append(rest.begin(), rest.end());
    return all;
  }

  CallWriter begin(const char *suffix) const {
    return CallWriter(
        (p.isTransposed ? "transposed_convolution" : "convolution") +
        std::string(suffix));
  }

  /// The wide side at place `o` of the narrow one and tap `taps`; zero outside.
  void lookUpWide(CallWriter &text, const Named &wide, ArrayRef<std::string> o,
                  ArrayRef<std::string> taps, const std::string &image,
                  const std::string &c) const {
    Indices x;
    std::string outside;
    for (size_t axis = 0; axis < o.size(); ++axis) {
      std::string name = "x" + std::to_string(axis);
      text.line("      const int " + name + " = (" + o[axis] + ") * " +
                std::to_string(p.stride[axis]) + " - " +
                std::to_string(p.padding[axis]) + " + (" + taps[axis] + ") * " +
                std::to_string(p.dilation[axis]) + ";");
      outside += (outside.empty() ? "" : " || ") + name + " < 0 || " + name +
                 " >= " + std::to_string(p.widePlaces()[axis]);
      x.push_back(name);
    }
    text.line("      if (" + outside + ")");
    text.line("        return " + zero() + ";");
    text.line("      return " +
              factor(wide.tensor, wide.name,
                     tensorIndices(image, channel(c, p.wideGroup()), x)) +
              ";");
  }

  /// What a column, or a step, has of the indices of a tensor; empty: nothing.
  struct Place {
    std::string image, channel;
    Indices along;
  };

  static void writePlace(CallWriter &text, const Layout &layout, const char *of,
                         const Place &place) {
    text.line("      [=](int " + std::string(of) + ") {");
    Indices names;
    std::string all;
    for (auto [axis, index] : llvm::enumerate(place.along)) {
      names.push_back("x" + std::to_string(axis));
      text.line("        const int " + names.back() + " = " + index + ";");
      all += (axis ? ", " : "") + names.back();
    }
    std::string at = CallWriter::element(
        layout, "", tensorIndices(place.image, place.channel, names));
    text.line("        return Place<" + std::to_string(names.size()) + ">{" +
              at.substr(1, at.size() - 2) + ", {" + all + "}};");
    text.line("      " + std::string(StringRef(of) == "k" ? "})," : "},"));
  }
  /// The right operand: an element of `from`, zero outside of it.
  static void lookUpWindows(CallWriter &text, const Named &from, bool isAlongK,
                            const Place &column, const Place &step) {
    Layout layout = kernel::locate(from.tensor).layout;
    std::string sizes;
    for (int64_t size : sizesOf(from.tensor).drop_front(2))
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    text.line("    windows<" + std::string(isAlongK ? "true, " : "false, ") +
              sizes + ">(" + from.name + ",");
    writePlace(text, layout, "j", column);
    layout.offset = 0;
    writePlace(text, layout, "k", step);
  }

  static std::string times(const std::string &index, int64_t factor) {
    return factor == 1 ? index : "(" + index + ") * " + std::to_string(factor);
  }
  /// Of place `o` of the narrow side, of a tap: what each has of a place of the
  /// wide one.
  Indices alongOf(ArrayRef<std::string> o) const {
    Indices along;
    for (auto [axis, index] : llvm::enumerate(o))
      along.push_back(
          times(index, p.stride[axis]) +
          (p.padding[axis] ? " - " + std::to_string(p.padding[axis]) : ""));
    return along;
  }
  Indices alongOfTaps(ArrayRef<std::string> taps) const {
    Indices along;
    for (auto [axis, index] : llvm::enumerate(taps))
      along.push_back(times(index, p.dilation[axis]));
    return along;
  }

  /// The narrow side at the place that reaches `column` of the wide one with
  /// the tap of `step`; zero if none does.
  void lookUpNarrow(CallWriter &text, const Named &narrow,
                    ArrayRef<std::string> column,
                    ArrayRef<std::string> step) const {
    openFactor(text, /*isLeft=*/false, /*isAlongK=*/false);
    Indices o;
    std::string outside;
    for (size_t axis = 0; axis < p.taps().size(); ++axis) {
      std::string name = "x" + std::to_string(axis);
      std::string stride = std::to_string(p.stride[axis]);
      text.line("      const int " + name + " = " + column[axis + 1] + " + " +
                std::to_string(p.padding[axis]) + " - (" + step[axis + 1] +
                ") * " + std::to_string(p.dilation[axis]) + ";");
      outside += (outside.empty() ? "" : " || ") + name + " < 0 || ";
      if (p.stride[axis] > 1)
        outside += name + " % " + stride + " != 0 || ";
      outside += name + " >= " +
                 std::to_string(p.narrowPlaces()[axis] * p.stride[axis]);
      o.push_back(p.stride[axis] > 1 ? name + " / " + stride : name);
    }
    text.line("      if (" + outside + ")");
    text.line("        return " + zero() + ";");
    text.line(
        "      return " +
        factor(narrow.tensor, narrow.name,
               tensorIndices(column[0], channel(step[0], p.narrowGroup()), o)) +
        ";");
    closeFactor(text);
  }
  /// One product a phase, in blocks of its own.
  void writePhases(CallWriter &text, const Named &narrow, Value out,
                   ArrayRef<ConvolutionPhase> phases,
                   const std::string &product) const {
    std::string c = channel("i", p.wideGroup());
    for (auto [number, phase] : llvm::enumerate(phases)) {
      SmallVector<std::string> column =
          indicesOf("j", with(p.images(), phase.count));
      SmallVector<std::string> step =
          indicesOf("k", with(p.narrowGroup(), phase.taps));
      Place ofColumn = {column[0], "", {}};
      Place ofStep = {"", channel(step[0], p.narrowGroup()), {}};
      Indices taps, places;
      for (size_t axis = 0; axis < phase.first.size(); ++axis) {
        auto scaled = [&](const std::string &index, int64_t factor,
                          int64_t more) {
          return times(index, factor) +
                 (more ? " + " + std::to_string(more) : "");
        };
        const std::string &q = column[axis + 1], &u = step[axis + 1];
        ofColumn.along.push_back(scaled(q, 1, phase.base[axis]));
        ofStep.along.push_back(times(u, -phase.reach[axis]));
        taps.push_back(scaled(u, phase.everyTap[axis], phase.firstTap[axis]));
        places.push_back(scaled(q, p.stride[axis], phase.first[axis]));
      }
      if (phases.size() > 1)
        text.line("if (blockIdx.y == " + std::to_string(number) + ")");
      text.line(product + callSizes(p.wideGroup(),
                                    p.images() * productOf(phase.count),
                                    p.narrowGroup() * productOf(phase.taps)));
      writeLeft(text, {p.weight, "weight"},
                tensorIndices("", "i", Indices(taps.size())),
                tensorIndices(ofStep.channel, "", taps),
                layoutOf(p.weight, /*line=*/1, phase.taps, phase.firstTap,
                         phase.everyTap));
      lookUpWindows(text, narrow, /*isAlongK=*/false, ofColumn, ofStep);
      store(text, out, tensorIndices("", c, Indices(places.size())),
            tensorIndices(column[0], "", places),
            layoutOf(out, /*line=*/1, phase.count, phase.first, p.stride),
            withBias(c));
    }
  }

  void describe(CallWriter &text, int64_t products) const {
    text.comment("[" + sizesText(sizesOf(p.input)) + "] by [" +
                 sizesText(sizesOf(p.weight)) + "], " +
                 std::to_string(2 * p.groups * products) + " FLOPs");
    if (p.groups > 1)
      text.line("const int group = blockIdx.z;");
  }
  static std::string callSizes(int64_t m, int64_t n, int64_t k) {
    return "(" + std::to_string(m) + ", " + std::to_string(n) + ", " +
           std::to_string(k) + ",";
  }
  void open(CallWriter &text, int64_t m, int64_t n, int64_t k) const {
    describe(text, m * n * k);
    if (!onTiles()) {
      text.line(shapeScalars(text, m, n, 1, p.groups, sum()) +
                callSizes(m, n, k));
      return;
    }
    int64_t tile = tileProductOf(m, n, p.groups);
    text.line("tileProduct<" + std::to_string(tile) + ">" + callSizes(m, n, k));
    shapeTiles(text, m, n, p.groups, tile);
  }
  /// Results lie where the indices of a line and of a column name.
  /// `places`: where these lie, columns as steps.
  void store(CallWriter &text, Value out, ArrayRef<std::string> line,
             ArrayRef<std::string> column, const FactorLayout &places,
             const std::string &result) const {
    std::string take = "[=](int i, int j, " + sum() + " sum) {";
    std::string value = "to<" + elementTypeText(out) + ">(" + result + ");";
    if (onTiles()) {
      Indices all;
      for (auto [ofLine, ofColumn] : llvm::zip_equal(line, column))
        all.push_back(ofLine + ofColumn);
      text.line("    putEach(" + take);
      text.line("      " + CallWriter::element(out, "result", all) + " = " +
                value);
      text.line("    }));");
      return;
    }
    text.line("    results<" + std::to_string(places.wideResults()) +
              ">(result,");
    text.line("        " + placeText(out, "i", line, true));
    text.line("        " + placeText(out, "j", column, false));
    text.line("        " + take + " return " + value + " }));");
  }

  std::string withBias(const std::string &channel) const {
    return p.bias ? "sum + " + value(p.bias, "bias", {channel}) : "sum";
  }

  //===--- Kernels --------------------------------------------------------===//

  /// `out` is the narrow side, or its gradient; `wide` what it is made of.
  CallKernel writeNarrow(const char *suffix, const Named &wide, Value out) {
    CallWriter text = begin(suffix);
    text.read(wide.tensor, wide.name);
    text.read(p.weight, "weight");
    if (p.bias)
      text.read(p.bias, "bias");
    text.write(out, "result");
    open(text, p.narrowGroup(), p.images() * productOf(p.narrowPlaces()),
         p.wideGroup() * productOf(p.taps()));
    SmallVector<std::string> column =
        indicesOf("j", with(p.images(), p.narrowPlaces()));
    SmallVector<std::string> step =
        indicesOf("k", with(p.wideGroup(), p.taps()));
    ArrayRef<std::string> places = ArrayRef<std::string>(column).drop_front();
    ArrayRef<std::string> taps = ArrayRef<std::string>(step).drop_front();
    std::string c = channel("i", p.narrowGroup());
    writeLeft(text, {p.weight, "weight"},
              tensorIndices(c, "", Indices(taps.size())),
              tensorIndices("", step[0], taps),
              layoutOf(p.weight, /*line=*/0, p.taps()));
    if (onTiles()) {
      openFactor(text, /*isLeft=*/false, /*isAlongK=*/false);
      lookUpWide(text, wide, places, taps, column[0], step[0]);
      closeFactor(text);
    } else {
      lookUpWindows(text, wide, /*isAlongK=*/false,
                    {column[0], "", alongOf(places)},
                    {"", channel(step[0], p.wideGroup()), alongOfTaps(taps)});
    }
    store(text, out, tensorIndices("", c, Indices(places.size())),
          tensorIndices(column[0], "", places),
          layoutOf(out, /*line=*/1, p.narrowPlaces()), withBias(c));
    text.kernel().precompiled = description.narrow(wide.tensor, out);
    return text.take();
  }

  /// `out` is the wide side, or its gradient; `narrow` what it is made of.
  CallKernel writeWide(const char *suffix, const Named &narrow, Value out) {
    CallWriter text = begin(suffix);
    text.read(narrow.tensor, narrow.name);
    text.read(p.weight, "weight");
    if (p.bias)
      text.read(p.bias, "bias");
    text.write(out, "result");
    SmallVector<ConvolutionPhase, 8> all = p.phases();
    text.kernel().precompiled = description.wide(narrow.tensor, out, all);
    if (!onTiles() && !all.empty() &&
        productOf(p.stride) <= kMostPhasesOfText) {
      int64_t products = 0, columns = 0;
      for (const ConvolutionPhase &phase : all) {
        int64_t n = p.images() * productOf(phase.count);
        products += n * p.narrowGroup() * productOf(phase.taps);
        columns = std::max(columns, n);
      }
      describe(text, p.wideGroup() * products);
      writePhases(text, narrow, out, all,
                  shapeScalars(text, p.wideGroup(), columns,
                               int64_t(all.size()), p.groups, sum()));
      return text.take();
    }
    open(text, p.wideGroup(), p.images() * productOf(p.widePlaces()),
         p.narrowGroup() * productOf(p.taps()));
    SmallVector<std::string> column =
        indicesOf("j", with(p.images(), p.widePlaces()));
    SmallVector<std::string> step =
        indicesOf("k", with(p.narrowGroup(), p.taps()));
    ArrayRef<std::string> taps = ArrayRef<std::string>(step).drop_front();
    writeLeft(text, {p.weight, "weight"},
              tensorIndices("", "i", Indices(taps.size())),
              tensorIndices(channel(step[0], p.narrowGroup()), "", taps),
              layoutOf(p.weight, /*line=*/1, p.taps()));
    lookUpNarrow(text, narrow, column, step);
    std::string c = channel("i", p.wideGroup());
    store(text, out, tensorIndices("", c, Indices(taps.size())),
          tensorIndices(column[0], "",
                        ArrayRef<std::string>(column).drop_front()),
          layoutOf(out, /*line=*/1, p.widePlaces()), withBias(c));
    return text.take();
  }

  /// One of the two is the input, the other the output's gradient.
  CallKernel writeWeightGradient(const Named &narrow, const Named &wide) {
    CallWriter text = begin("_weight_gradient");
    text.read(narrow.tensor, narrow.name);
    text.read(wide.tensor, wide.name);
    Value out = op->getResult(1);
    text.write(out, "result");
    open(text, p.narrowGroup(), p.wideGroup() * productOf(p.taps()),
         p.images() * productOf(p.narrowPlaces()));
    SmallVector<std::string> column =
        indicesOf("j", with(p.wideGroup(), p.taps()));
    SmallVector<std::string> step =
        indicesOf("k", with(p.images(), p.narrowPlaces()));
    ArrayRef<std::string> places = ArrayRef<std::string>(step).drop_front();
    ArrayRef<std::string> taps = ArrayRef<std::string>(column).drop_front();
    writeLeft(text, narrow,
              tensorIndices("", channel("i", p.narrowGroup()),
                            Indices(places.size())),
              tensorIndices(step[0], "", places),
              layoutOf(narrow.tensor, /*line=*/1, p.narrowPlaces()));
    if (onTiles()) {
      openFactor(text, /*isLeft=*/false, /*isAlongK=*/true);
      lookUpWide(text, wide, places, taps, step[0], column[0]);
      closeFactor(text);
    } else {
      lookUpWindows(text, wide, /*isAlongK=*/true,
                    {"", channel(column[0], p.wideGroup()), alongOfTaps(taps)},
                    {step[0], "", alongOf(places)});
    }
    store(
        text, out,
        tensorIndices(channel("i", p.narrowGroup()), "", Indices(taps.size())),
        tensorIndices("", column[0], taps), layoutOf(out, /*line=*/0, p.taps()),
        "sum");
    text.kernel().precompiled =
        description.weightGradient(narrow.tensor, wide.tensor, out);
    return text.take();
  }

  /// The indices of place `o` of an image; where these lie as one axis, the
  /// layout gets that.
  static SmallVector<std::string> placesOf(Layout &layout) {
    ArrayRef<int64_t> sizes = ArrayRef<int64_t>(layout.sizes).drop_front(2);
    bool isOne = true;
    for (size_t axis = 2; axis + 1 < layout.sizes.size(); ++axis)
      isOne &= layout.strides[axis] ==
               layout.strides[axis + 1] * layout.sizes[axis + 1];
    if (!isOne)
      return indicesOf("o", sizes);
    int64_t stride = layout.strides.back(), places = productOf(sizes);
    layout.sizes.resize(2);
    layout.strides.resize(2);
    layout.sizes.push_back(places);
    layout.strides.push_back(stride);
    return {"o"};
  }
  CallKernel writeBiasGradient() {
    CallWriter text = begin("_bias_gradient");
    Value out = op->getResult(2);
    ArrayRef<int64_t> sizes = sizesOf(p.output);
    int64_t channels = sizes[1];
    text.comment("[" + std::to_string(channels) + "] of [" + sizesText(sizes) +
                 "]");
    text.read(p.output, "gradient");
    text.write(out, "result");
    text.openRows(channels, /*columns=*/1);
    Layout layout = kernel::locate(p.output).layout;
    std::string element = CallWriter::element(
        layout, "gradient", tensorIndices("n", "row", placesOf(layout)));
    text.line("sumPlaces<" + sum() + ">(" + std::to_string(p.images()) + ", " +
              std::to_string(productOf(sizes.drop_front(2))) + ",");
    text.line("    [=](int n, int o) { return toFloat(" + element + "); },");
    text.line("    [=](" + sum() + " sum) { " +
              CallWriter::element(out, "result", {"row"}) + " = to<" +
              elementTypeText(out) + ">(sum); });");
    text.kernel().precompiled = description.biasGradient(out);
    return text.take();
  }

  aten::CallOp op;
  aten::CallReader call;
  const CallOptions options;
  ConvolutionProblem p;
  const ConvolutionDescription description{p};
};

} // namespace

CallResult cuda::writeConvolutionCall(aten::CallOp op, CallOptions options) {
  return ConvolutionWriter(op, options).run();
}
