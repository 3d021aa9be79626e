// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions of a convolution's products, for the functions that were
// compiled with Cutback.
//
// A line, a column or a step of a product is a number that stands for an image
// or a channel, and for a place or a tap along each axis. Each of the two
// factors has windows for its numbers: where along an axis number w lies. A
// group's products are those of the first group, so many elements further.

#include "Convolution.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

SmallVector<int64_t, 5> cuda::with(int64_t front, ArrayRef<int64_t> back) {
  SmallVector<int64_t, 5> all = {front};
  all.append(back.begin(), back.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Of phase `first` along an axis.
static void addAxis(const ConvolutionProblem &p, ConvolutionPhase &phase,
                    size_t axis, int64_t first) {
  int64_t stride = p.stride[axis], dilation = p.dilation[axis];
  int64_t every = stride / std::gcd(stride, dilation);
  int64_t tap = 0;
  while (tap < every && (first + p.padding[axis] - tap * dilation) % stride)
    ++tap;
  int64_t taps = std::max<int64_t>(0, p.taps()[axis] - tap + every - 1);
  auto add = [](SmallVectorImpl<int64_t> &list, int64_t number) {
    list.insert(list.begin(), number);
  };
  add(phase.first, first);
  add(phase.count,
      std::max<int64_t>(0, p.widePlaces()[axis] - first + stride - 1) / stride);
  add(phase.firstTap, tap);
  add(phase.everyTap, every);
  add(phase.taps, tap == every ? 0 : taps / every);
  add(phase.base, (first + p.padding[axis] - tap * dilation) / stride);
  add(phase.reach, every * dilation / stride);
}

SmallVector<ConvolutionPhase, 8> ConvolutionProblem::phases() const {
  SmallVector<ConvolutionPhase, 8> all;
  if (productOf(stride) > kMostPhases)
    return all;
  for (int64_t number = 0; number < productOf(stride); ++number) {
    ConvolutionPhase phase;
    int64_t rest = number;
    for (size_t axis = stride.size(); axis-- > 0;) {
      addAxis(*this, phase, axis, rest % stride[axis]);
      rest /= stride[axis];
    }
    if (productOf(phase.count))
      all.push_back(std::move(phase));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

static Layout layoutOf(Value tensor) { return kernel::locate(tensor).layout; }

/// Parameter `operand`, of which a group has `channels` of dimension `dim`.
precompiled::Tensor ConvolutionDescription::grouped(Value tensor,
                                                    int64_t operand, size_t dim,
                                                    int64_t channels) const {
  return describeTensor(
      tensor, operand,
      p.groups > 1 ? channels * strideOf(layoutOf(tensor), dim) : 0);
}

SmallVector<int64_t, 3>
ConvolutionDescription::onEachAxis(int64_t number) const {
  return SmallVector<int64_t, 3>(p.taps().size(), number);
}

SmallVector<int64_t, 3> ConvolutionDescription::withoutPadding() const {
  SmallVector<int64_t, 3> shift;
  for (int64_t padding : p.padding)
    shift.push_back(-padding);
  return shift;
}

namespace {
/// Numbers of an image or a channel and of windows: along an axis, window w is
/// at scale * w + shift.
struct Windows {
  SmallVector<int64_t, 5> sizes;
  SmallVector<int64_t, 3> scale, shift;
};
} // namespace

/// The left factor: lines are dimension `line` of the tensor, steps the other
/// one of its first two, and windows.
static void describeLeft(precompiled::Product &product,
                         precompiled::Tensor described, Value tensor,
                         size_t line, const Windows &step) {
  Layout layout = layoutOf(tensor);
  product.steps = productOf(step.sizes);
  product.a.tensor = described;
  product.a.line = describeIndex(layout, line);
  product.a.step =
      describeWindows(layout, 1 - line, step.sizes, step.scale, step.shift);
}

/// The right factor: columns are dimension `line` and windows, steps the other
/// one and windows; zero outside of the tensor.
static void describeRight(precompiled::Product &product,
                          precompiled::Tensor described, Value tensor,
                          size_t line, const Windows &column,
                          const Windows &step) {
  Layout layout = layoutOf(tensor);
  product.columns = productOf(column.sizes);
  product.b.tensor = described;
  product.b.line =
      describeWindows(layout, line, column.sizes, column.scale, column.shift);
  product.b.step =
      describeWindows(layout, 1 - line, step.sizes, step.scale, step.shift);
  ArrayRef<int64_t> places = sizesOf(tensor).drop_front(2);
  product.b.numAxes = static_cast<int64_t>(places.size());
  llvm::copy(places, product.b.sizes);
}

/// The result, with the bias in front of it.
void ConvolutionDescription::describeResult(precompiled::Product &product,
                                            Value out, int64_t channels) const {
  product.rows = channels;
  if (p.bias) {
    product.self = grouped(p.bias, 2, 0, channels);
    product.selfRow = describeIndex(layoutOf(p.bias), 0);
  }
  product.out = grouped(out, p.bias ? 3 : 2, 1, channels);
  product.outRow = describeIndex(layoutOf(out), 1);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<PrecompiledCall>
ConvolutionDescription::describeAll(ArrayRef<precompiled::Product> products,
                                    Value out) const {
  SmallVector<Value> tensors = {out, p.input, p.weight, p.output};
  if (p.bias)
    tensors.push_back(p.bias);
  return describeProducts(products, p.groups, tensors);
}

precompiled::Product
ConvolutionDescription::describePhase(Value narrow, Value out,
                                      const ConvolutionPhase &phase) const {
  precompiled::Product product;
  SmallVector<int64_t, 3> back;
  for (int64_t reach : phase.reach)
    back.push_back(-reach);
  auto step = with(p.narrowGroup(), phase.taps);
  auto column = with(p.images(), phase.count);
  describeLeft(product, grouped(p.weight, 1, 0, p.narrowGroup()), p.weight,
               /*line=*/1, {step, phase.everyTap, phase.firstTap});
  describeRight(product, grouped(narrow, 0, 1, p.narrowGroup()), narrow,
                /*line=*/0, {column, onEachAxis(1), phase.base},
                {step, back, onEachAxis(0)});
  describeResult(product, out, p.wideGroup());
  product.outColumn =
      describeWindows(layoutOf(out), 0, column, p.stride, phase.first);
  return product;
}

std::optional<PrecompiledCall>
ConvolutionDescription::wide(Value narrow, Value out,
                             ArrayRef<ConvolutionPhase> phases) const {
  if (phases.empty())
    return std::nullopt;
  SmallVector<precompiled::Product, 8> products;
  for (const ConvolutionPhase &phase : phases)
    products.push_back(describePhase(narrow, out, phase));
  return describeAll(products, out);
}

std::optional<PrecompiledCall> ConvolutionDescription::narrow(Value wide,
                                                              Value out) const {
  precompiled::Product product;
  auto step = with(p.wideGroup(), p.taps());
  auto column = with(p.images(), p.narrowPlaces());
  describeLeft(product, grouped(p.weight, 1, 0, p.narrowGroup()), p.weight,
               /*line=*/0, {step, onEachAxis(1), onEachAxis(0)});
  describeRight(product, grouped(wide, 0, 1, p.wideGroup()), wide,
                /*line=*/0, {column, p.stride, withoutPadding()},
                {step, p.dilation, onEachAxis(0)});
  describeResult(product, out, p.narrowGroup());
  product.outColumn =
      describeWindows(layoutOf(out), 0, column, onEachAxis(1), onEachAxis(0));
  return describeAll(product, out);
}

std::optional<PrecompiledCall>
ConvolutionDescription::weightGradient(Value narrow, Value wide,
                                       Value out) const {
  precompiled::Product product;
  auto step = with(p.images(), p.narrowPlaces());
  auto column = with(p.wideGroup(), p.taps());
  describeLeft(product, grouped(narrow, 0, 1, p.narrowGroup()), narrow,
               /*line=*/1, {step, onEachAxis(1), onEachAxis(0)});
  describeRight(product, grouped(wide, 1, 1, p.wideGroup()), wide,
                /*line=*/1, {column, p.dilation, onEachAxis(0)},
                {step, p.stride, withoutPadding()});
  product.rows = p.narrowGroup();
  product.out = grouped(out, 2, 0, p.narrowGroup());
  product.outRow = describeIndex(layoutOf(out), 0);
  product.outColumn =
      describeWindows(layoutOf(out), 1, column, onEachAxis(1), onEachAxis(0));
  return describeAll(product, out);
}

std::optional<PrecompiledCall>
ConvolutionDescription::biasGradient(Value out) const {
  if ((elementTypeText(out) == "double") != (sumTypeText(p.input) == "double"))
    return std::nullopt;
  Layout from = layoutOf(p.output);
  precompiled::BiasGradient all;
  all.channels = sizesOf(p.output)[1];
  all.count = p.images() * productOf(sizesOf(p.output).drop_front(2));
  all.gradient = describeTensor(p.output, 0);
  all.out = describeTensor(out, 1);
  all.number = describeWindows(
      from, 0, with(p.images(), sizesOf(p.output).drop_front(2)), onEachAxis(1),
      onEachAxis(0));
  all.gradientChannel = strideOf(from, 1);
  PrecompiledCall call{"cutback_bias_gradient", ""};
  appendDescription(call.description, all);
  return call;
}
