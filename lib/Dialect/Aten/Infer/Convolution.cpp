// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions.
//
// Weights are [out, in / groups, window...], of transposed convolutions
// [in, out / groups, window...]. With s stride, p padding, d dilation, k the
// window, q output padding, a size n becomes
//
//   forward      (n + 2p - d (k - 1) - 1) / s + 1, rounded down
//   transposed   (n - 1) s - 2p + d (k - 1) + q + 1
//
// The surface ops (conv2d, ...) take inputs without a batch dimension too.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

namespace {

/// The window's parameters, one value a spatial dimension.
struct Window {
  Dims stride, padding, dilation, outputPadding;
  int64_t groups = 1;
  bool transposed = false;
  bool same = false; ///< `padding` is "same": sizes stay
};

} // namespace

static LogicalResult getWindow(const InferCall &call, unsigned spatial,
                               Window &window) {
  if (failed(getInts(call, "stride", spatial, {1}, window.stride)) ||
      failed(getInts(call, "dilation", spatial, {1}, window.dilation)) ||
      failed(getInts(call, optional("output_padding"), spatial, {0},
                     window.outputPadding)) ||
      failed(call.integer("groups", window.groups)) ||
      failed(call.boolean(optional("transposed"), window.transposed)))
    return failure();
  int param = call.getSchema().find("padding");
  if (param < 0 || call.getSchema().params[param].kind != ParamKind::Str) {
    if (failed(getInts(call, "padding", spatial, {0}, window.padding)))
      return failure();
  } else {
    StringRef name;
    if (failed(call.string("padding", name)))
      return failure();
    if (name != "same" && name != "valid")
      return call.error("padding '", name, "' is neither 'same' nor 'valid'");
    window.same = name == "same";
    window.padding.assign(spatial, 0);
  }
  for (int64_t value : window.stride)
    if (value != kUnknown && value <= 0)
      return call.error("the stride must be positive, not ", value);
  if (window.groups != kUnknown && window.groups <= 0)
    return call.error("groups must be positive, not ", window.groups);
  return success();
}

static int64_t negate(int64_t value) {
  return value == kUnknown ? kUnknown : -value;
}

/// d (k - 1): what a window spans beyond its first element.
static int64_t windowReach(int64_t size, int64_t dilation) {
  return mulSizes(dilation, addSizes(size, -1));
}

static LogicalResult convolveSize(const InferCall &call, const Window &window,
                                  unsigned dim, int64_t kernel, int64_t &size) {
  if (window.same)
    return success();
  int64_t reach = windowReach(kernel, window.dilation[dim]);
  int64_t padding = mulSizes(2, window.padding[dim]);
  if (window.transposed) {
    int64_t spread = mulSizes(addSizes(size, -1), window.stride[dim]);
    size = addSizes(addSizes(spread, negate(padding)),
                    addSizes(addSizes(reach, window.outputPadding[dim]), 1));
    return success();
  }
  int64_t room = addSizes(addSizes(size, padding), negate(addSizes(reach, 1)));
  if (room != kUnknown && room < 0)
    return call.error("a window that reaches over ", addSizes(reach, 1),
                      " elements does not fit in ", addSizes(size, padding));
  size = addSizes(floorDivSize(room, window.stride[dim]), 1);
  return success();
}

/// Checks channels and gives the number of output channels.
static LogicalResult convolveChannels(const InferCall &call,
                                      const Window &window,
                                      const TensorShape &weight,
                                      int64_t &channels) {
  int64_t expected = window.transposed
                         ? weight.dims[0]
                         : mulSizes(weight.dims[1], window.groups);
  if (failed(
          checkSame(call, "channels of input and weight", channels, expected)))
    return failure();
  channels = window.transposed ? mulSizes(weight.dims[1], window.groups)
                               : weight.dims[0];
  if (channels != kUnknown && window.groups != kUnknown &&
      channels % window.groups != 0)
    return call.error(channels, " output channels cannot be divided in ",
                      window.groups, " groups");
  return success();
}

static LogicalResult convolve(const InferCall &call, Results &results,
                              bool transposed) {
  TensorShape input, weight;
  std::optional<TensorShape> bias;
  Window window;
  if (failed(call.tensor("input", input)) ||
      failed(call.tensor("weight", weight)) ||
      failed(call.optionalTensor("bias", bias)))
    return failure();
  if (weight.rank() < 3 ||
      (input.rank() != weight.rank() && input.rank() != weight.rank() - 1))
    return call.error("input of rank ", input.rank(), " and window of rank ",
                      weight.rank(), " are not a convolution");
  if (input.element != weight.element)
    return call.error("element types of input and weight differ: ",
                      input.element, " and ", weight.element);
  unsigned spatial = static_cast<unsigned>(weight.rank() - 2);
  if (failed(getWindow(call, spatial, window)))
    return failure();
  window.transposed |= transposed;
  size_t channel = input.rank() == weight.rank() ? 1 : 0;
  if (failed(convolveChannels(call, window, weight, input.dims[channel])))
    return failure();
  if (bias &&
      (bias->rank() != 1 || !mayEqual(bias->dims[0], input.dims[channel])))
    return call.error("the bias does not have ", input.dims[channel],
                      " elements, one an output channel");
  for (unsigned i = 0; i < spatial; ++i)
    if (failed(convolveSize(call, window, i, weight.dims[2 + i],
                            input.dims[channel + 1 + i])))
      return failure();
  return push(call, results, input);
}

/// What the models call is taken apart (Decompose); kernels are real.
static LogicalResult checkReal(const InferCall &call) {
  TensorShape weight;
  if (failed(call.tensor("weight", weight)))
    return failure();
  return isComplex(weight.element)
             ? call.error("complex numbers are convolved by their parts: take "
                          "the convolutions of real() and imag()")
             : success();
}

LogicalResult infer::convolution(const InferCall &call, Results &results) {
  if (failed(checkReal(call)))
    return failure();
  return convolve(call, results, /*transposed=*/false);
}

LogicalResult infer::convNd(const InferCall &call, Results &results) {
  return convolve(call, results, /*transposed=*/false);
}

LogicalResult infer::convTransposeNd(const InferCall &call, Results &results) {
  return convolve(call, results, /*transposed=*/true);
}

LogicalResult infer::convolutionBackward(const InferCall &call,
                                         Results &results) {
  TensorShape gradient, input, weight, bias;
  if (failed(call.tensor("grad_output", gradient)) ||
      failed(call.tensor("input", input)) ||
      failed(call.tensor("weight", weight)) || failed(checkReal(call)))
    return failure();
  if (gradient.rank() < 2)
    return call.error("the gradient has rank ", gradient.rank(),
                      ", but needs channels");
  bias.dims = {gradient.dims[1]};
  bias.element = weight.element;
  return pushMasked(call, results, {input, weight, bias});
}

//===----------------------------------------------------------------------===//
// Steps, batch, channels
//===----------------------------------------------------------------------===//

LogicalResult infer::stepConvolution(const InferCall &call, Results &results) {
  TensorShape input, weight, bias;
  bool isBackward = call.getSchema().find("input") >= 0;
  int64_t pad = 0;
  if (failed(getOfRank(call, isBackward ? "input" : "self", 3, input)) ||
      failed(getOfRank(call, "weight", 3, weight)) ||
      failed(getOfRank(call, "bias", 1, bias)) ||
      failed(call.integer("pad", pad)) ||
      failed(checkSame(call, "channels of input and weight", input.dims[2],
                       weight.dims[1])))
    return failure();
  if (isBackward)
    return failure(failed(push(call, results, input)) ||
                   failed(push(call, results, weight)) ||
                   failed(push(call, results, bias)));
  int64_t steps = addSizes(addSizes(input.dims[0], mulSizes(2, pad)), 1);
  if (weight.dims[0] == kUnknown)
    steps = kUnknown;
  else
    steps = addSizes(steps, -weight.dims[0]);
  return push(call, results, {steps, input.dims[1], weight.dims[2]},
              input.element);
}
