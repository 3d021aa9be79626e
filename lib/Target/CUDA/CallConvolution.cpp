// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution and its two gradients as products of what they look up, one for
// each group (blockIdx.z). With n the image, o a place of the output, x one of
// the input, t a tap of the kernel, along each of up to three axes
// x = o * stride - padding + t * dilation:
//
//   output          rows: output channels   columns (n, o)   over (c, t)
//   input's         rows: input channels    columns (n, x)   over (output c, t)
//   weight's        rows: output channels   columns (c, t)   over (n, o)
//
// Nothing is unfolded in memory; a place outside of the input is a zero. Those
// of bf16 and f16 are on tensor cores, as matrix products are.

#include "CallText.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

using Indices = SmallVector<std::string, 5>;

struct ConvolutionProblem {
  Value input, weight, bias;
  SmallVector<int64_t, 3> stride, padding, dilation;
  int64_t groups = 1;
  /// Of the output: images, channels, places.
  SmallVector<int64_t, 5> outputSizes;

  ArrayRef<int64_t> places() const {
    return ArrayRef<int64_t>(outputSizes).drop_front(2);
  }
  ArrayRef<int64_t> taps() const { return sizesOf(weight).drop_front(2); }
  ArrayRef<int64_t> inputPlaces() const { return sizesOf(input).drop_front(2); }
  int64_t images() const { return sizesOf(input)[0]; }
  int64_t inGroup() const { return sizesOf(weight)[1]; }
  int64_t outGroup() const { return sizesOf(weight)[0] / groups; }
};

SmallVector<int64_t, 5> with(ArrayRef<int64_t> front, ArrayRef<int64_t> back) {
  SmallVector<int64_t, 5> all(front);
  all.append(back.begin(), back.end());
  return all;
}

class ConvolutionWriter {
public:
  explicit ConvolutionWriter(aten::CallOp op) : op(op), call(op) {}

  CallResult run() {
    StringRef name = op.getPacketName();
    bool isBackward = name == "aten.convolution_backward";
    if (!isBackward && name != "aten.convolution")
      return {};
    if (std::string why = readProblem(isBackward); !why.empty())
      return CallResult::failed(why);
    CallResult result;
    result.isKnown = true;
    if (!isBackward) {
      result.kernels.push_back(writeOutput());
      return result;
    }
    auto wants = [&](unsigned i) {
      return isa<RankedTensorType>(op->getResult(i).getType()) &&
             !op->getResult(i).use_empty();
    };
    if (wants(0))
      result.kernels.push_back(writeInputGradient());
    if (wants(1))
      result.kernels.push_back(writeWeightGradient());
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
    if (call.boolean("transposed").value_or(false))
      return "is a transposed convolution";
    p.groups = call.integer("groups").value_or(1);
    gradient = isBackward ? call.value("grad_output") : op->getResult(0);
    p.outputSizes.assign(sizesOf(gradient).begin(), sizesOf(gradient).end());
    return "";
  }

  //===--- Pieces of text -------------------------------------------------===//

  std::string sum() const { return sumTypeText(p.input); }
  bool onTiles() const { return isOfTiles(p.input, p.weight); }
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
  /// Lines in front of and behind what looks up an operand. `isAlongK`: which
  /// neighbours lie beside each other.
  void openFactor(CallWriter &text, bool isLeft, bool isAlongK) const {
    if (onTiles())
      text.line("    lookedUp<" + elementTypeText(p.input) +
                (isAlongK ? ", true>" : ", false>") +
                (isLeft ? "([=](int i, int k) {" : "([=](int j, int k) {"));
    else
      text.line(isLeft ? "    [=](int i, int k) {" : "    [=](int k, int j) {");
  }
  void closeFactor(CallWriter &text) const {
    text.line(onTiles() ? "    })," : "    },");
  }
  static Indices tensorIndices(const std::string &first,
                               const std::string &second,
                               ArrayRef<std::string> rest) {
    Indices all = {first, second};
    all.append(rest.begin(), rest.end());
    return all;
  }

  /// The input at output place `places` and tap `taps`; zero outside.
  void lookUpInput(CallWriter &text, ArrayRef<std::string> o,
                   ArrayRef<std::string> taps, const std::string &image,
                   const std::string &c, bool isAlongK) const {
    openFactor(text, /*isLeft=*/false, isAlongK);
    Indices x;
    std::string outside;
    for (size_t axis = 0; axis < o.size(); ++axis) {
      std::string name = "x" + std::to_string(axis);
      text.line("      const int " + name + " = (" + o[axis] + ") * " +
                std::to_string(p.stride[axis]) + " - " +
                std::to_string(p.padding[axis]) + " + (" + taps[axis] + ") * " +
                std::to_string(p.dilation[axis]) + ";");
      outside += (outside.empty() ? "" : " || ") + name + " < 0 || " + name +
                 " >= " + std::to_string(p.inputPlaces()[axis]);
      x.push_back(name);
    }
    text.line("      if (" + outside + ")");
    text.line("        return " + zero() + ";");
    text.line("      return " +
              factor(p.input, "input",
                     tensorIndices(image, channel(c, p.inGroup()), x)) +
              ";");
    closeFactor(text);
  }

  void open(CallWriter &text, int64_t m, int64_t n, int64_t k) const {
    text.comment("[" + sizesText(sizesOf(p.input)) + "] by [" +
                 sizesText(sizesOf(p.weight)) + "], " +
                 std::to_string(2 * p.groups * m * n * k) + " FLOPs");
    if (p.groups > 1)
      text.line("const int group = blockIdx.z;");
    std::string sizes = "(" + std::to_string(m) + ", " + std::to_string(n) +
                        ", " + std::to_string(k) + ",";
    if (!onTiles()) {
      text.line("product<" + sum() + ">" + sizes);
      shapeScalars(text, m, n, p.groups, sum());
      return;
    }
    int64_t tile = tileProductOf(m, n, p.groups);
    text.line("tileProduct<" + std::to_string(tile) + ">" + sizes);
    shapeTiles(text, m, n, p.groups, tile);
  }
  /// "    [=](int i, int j, float sum) { out[...] = sum; });"
  void store(CallWriter &text, Value out, ArrayRef<std::string> indices,
             const std::string &result) const {
    text.line((onTiles() ? "    putEach([=](int i, int j, "
                         : "    [=](int i, int j, ") +
              sum() + " sum) {");
    text.line("      " + CallWriter::element(out, "result", indices) +
              " = to<" + elementTypeText(out) + ">(" + result + ");");
    text.line(onTiles() ? "    }));" : "    });");
  }

  //===--- Kernels --------------------------------------------------------===//

  CallKernel writeOutput() {
    CallWriter text("convolution");
    text.read(p.input, "input");
    text.read(p.weight, "weight");
    if (p.bias)
      text.read(p.bias, "bias");
    Value out = op->getResult(0);
    text.write(out, "result");
    open(text, p.outGroup(), p.images() * productOf(p.places()),
         p.inGroup() * productOf(p.taps()));
    SmallVector<std::string> column =
        indicesOf("j", with(p.images(), p.places()));
    SmallVector<std::string> step = indicesOf("k", with(p.inGroup(), p.taps()));
    ArrayRef<std::string> places = ArrayRef<std::string>(column).drop_front();
    ArrayRef<std::string> taps = ArrayRef<std::string>(step).drop_front();
    std::string c = channel("i", p.outGroup());
    openFactor(text, /*isLeft=*/true, /*isAlongK=*/true);
    text.line("      return " +
              factor(p.weight, "weight", tensorIndices(c, step[0], taps)) +
              ";");
    closeFactor(text);
    lookUpInput(text, places, taps, column[0], step[0], /*isAlongK=*/false);
    std::string result = "sum";
    if (p.bias)
      result += " + " + value(p.bias, "bias", {c});
    store(text, out, tensorIndices(column[0], c, places), result);
    return text.take();
  }

  CallKernel writeInputGradient() {
    CallWriter text("convolution_input_gradient");
    text.read(gradient, "gradient");
    text.read(p.weight, "weight");
    Value out = op->getResult(0);
    text.write(out, "result");
    open(text, p.inGroup(), p.images() * productOf(p.inputPlaces()),
         p.outGroup() * productOf(p.taps()));
    SmallVector<std::string> column =
        indicesOf("j", with(p.images(), p.inputPlaces()));
    SmallVector<std::string> step =
        indicesOf("k", with(p.outGroup(), p.taps()));
    openFactor(text, /*isLeft=*/true, /*isAlongK=*/false);
    text.line("      return " +
              factor(p.weight, "weight",
                     tensorIndices(channel(step[0], p.outGroup()), "i",
                                   ArrayRef<std::string>(step).drop_front())) +
              ";");
    closeFactor(text);
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
      outside +=
          name + " >= " + std::to_string(p.places()[axis] * p.stride[axis]);
      o.push_back(p.stride[axis] > 1 ? name + " / " + stride : name);
    }
    text.line("      if (" + outside + ")");
    text.line("        return " + zero() + ";");
    text.line(
        "      return " +
        factor(gradient, "gradient",
               tensorIndices(column[0], channel(step[0], p.outGroup()), o)) +
        ";");
    closeFactor(text);
    store(text, out,
          tensorIndices(column[0], channel("i", p.inGroup()),
                        ArrayRef<std::string>(column).drop_front()),
          "sum");
    return text.take();
  }

  CallKernel writeWeightGradient() {
    CallWriter text("convolution_weight_gradient");
    text.read(gradient, "gradient");
    text.read(p.input, "input");
    Value out = op->getResult(1);
    text.write(out, "result");
    open(text, p.outGroup(), p.inGroup() * productOf(p.taps()),
         p.images() * productOf(p.places()));
    SmallVector<std::string> column =
        indicesOf("j", with(p.inGroup(), p.taps()));
    SmallVector<std::string> step =
        indicesOf("k", with(p.images(), p.places()));
    ArrayRef<std::string> places = ArrayRef<std::string>(step).drop_front();
    ArrayRef<std::string> taps = ArrayRef<std::string>(column).drop_front();
    openFactor(text, /*isLeft=*/true, /*isAlongK=*/true);
    text.line(
        "      return " +
        factor(gradient, "gradient",
               tensorIndices(step[0], channel("i", p.outGroup()), places)) +
        ";");
    closeFactor(text);
    lookUpInput(text, places, taps, step[0], column[0], /*isAlongK=*/true);
    store(text, out, tensorIndices(channel("i", p.outGroup()), column[0], taps),
          "sum");
    return text.take();
  }

  CallKernel writeBiasGradient() {
    CallWriter text("convolution_bias_gradient");
    Value out = op->getResult(2);
    int64_t channels = p.outputSizes[1];
    int64_t count = p.images() * productOf(p.places());
    text.comment("[" + std::to_string(channels) + "] of [" +
                 sizesText(p.outputSizes) + "]");
    text.read(gradient, "gradient");
    text.write(out, "result");
    text.line("const int lane = threadIdx.x % 32;");
    text.line("const int c = blockIdx.x * 4 + threadIdx.x / 32;");
    if (channels % 4) {
      text.line("if (c >= " + std::to_string(channels) + ")");
      text.line("  return;");
    }
    SmallVector<std::string> step =
        indicesOf("k", with(p.images(), p.places()));
    text.line(sum() + " sum = 0;");
    text.line("for (int k = lane; k < " + std::to_string(count) + "; k += 32)");
    text.line("  sum += " +
              value(gradient, "gradient",
                    tensorIndices(step[0], "c",
                                  ArrayRef<std::string>(step).drop_front())) +
              ";");
    text.line("sum = warpReduce(Sum(), sum);");
    text.line("if (lane == 0)");
    text.line("  result[c] = to<" + elementTypeText(out) + ">(sum);");
    text.shape({(channels + 3) / 4, 1, 1}, {128, 1, 1});
    text.kernel().waits = true;
    return text.take();
  }

  aten::CallOp op;
  aten::CallReader call;
  ConvolutionProblem p;
  Value gradient; ///< of the output; forward: the output
};

} // namespace

CallResult cuda::writeConvolutionCall(aten::CallOp op) {
  return ConvolutionWriter(op).run();
}
