// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pooling over windows, and its gradients.
//
// A tensor is planes of 1, 2 or 3 dimensions. Window o of a dimension begins at
// o * stride - padding and has `kernel` elements `dilation` apart; those
// outside of the plane do not count. `ceil_mode` adds a window for what is left
// over, if it begins inside of the plane or its left padding.
//   average  divides by the window with its padding (count_include_pad; what
//            goes beyond the right padding never counts), by the elements
//            inside, or by divisor_override
//   maximum  the first largest element, or the last NaN; indices are positions
//            in the plane
//   adaptive window o of n covers [floor(o * size / n), ceil((o + 1) * size /
//   n))
//   fractional  window o begins at floor((o + u) a) - floor(u a), where u is a
//   random number of the plane and a = (size - kernel) / (n - 1); the last one
//   ends at the end of the plane
// Gradients go back to the elements that a window has read.

#include "Kernels.h"
#include "Values.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// One window in one dimension.
struct Span {
  int64_t begin, end, step = 1;
  /// Elements with padding.
  int64_t padded = 0;
};

/// The windows of all dimensions of a plane; planes lie behind each other.
struct Windows {
  int64_t planes;
  Sizes plane, result;
  SmallVector<SmallVector<Span>, 3> spans;

  /// Sizes of a tensor with a window an element.
  Sizes resultSizes(ArrayRef<int64_t> input) const {
    Sizes sizes(input.drop_back(plane.size()));
    sizes.append(result);
    return sizes;
  }
};

/// Window `index`: positions of its elements in the plane, in row-major order,
/// and its size with padding.
struct Window {
  std::vector<int64_t> positions;
  int64_t padded = 1;
};

} // namespace

static Window windowAt(const Windows &windows, ArrayRef<int64_t> index) {
  Window window;
  window.positions = {0};
  for (auto [i, spans, size] :
       llvm::zip_equal(index, windows.spans, windows.plane)) {
    const Span &span = spans[i];
    std::vector<int64_t> next;
    for (int64_t position : window.positions)
      for (int64_t at = span.begin; at < span.end; at += span.step)
        next.push_back(position * size + at);
    window.positions = std::move(next);
    window.padded *= span.padded;
  }
  return window;
}

/// Calls fn(element of the result, first element of the plane, window).
template <typename Fn> static void forWindows(const Windows &windows, Fn fn) {
  int64_t plane = product(windows.plane), count = product(windows.result);
  Sizes index(windows.result.size(), 0);
  for (int64_t o = 0; o < count; ++o) {
    Window window = windowAt(windows, index);
    for (int64_t p = 0; p < windows.planes; ++p)
      fn(p * count + o, p * plane, window);
    advance(index, windows.result);
  }
}

static Windows planesOf(ArrayRef<int64_t> input, size_t rank) {
  Windows windows;
  windows.plane = Sizes(input.take_back(rank));
  windows.planes = product(input.drop_back(rank));
  return windows;
}

/// The windows of a call with kernel_size, stride, padding and, if it has one,
/// dilation.
static Windows slidingWindows(const KernelCall &call, const Tensor &input,
                              size_t rank) {
  Windows windows = planesOf(input.sizes, rank);
  Sizes kernel = perDim(call.integers("kernel_size"), rank);
  Sizes stride = perDim(call.integers("stride"), rank);
  Sizes padding = perDim(call.integers("padding"), rank);
  Sizes dilation = perDim(call.integers(optional("dilation")), rank);
  bool ceil = call.boolean("ceil_mode");
  for (size_t d = 0; d < rank; ++d) {
    int64_t size = windows.plane[d], pad = padding[d];
    int64_t step = dilation.empty() ? 1 : dilation[d];
    int64_t jump = stride.empty() ? kernel[d] : stride[d];
    int64_t reach = step * (kernel[d] - 1) + 1;
    int64_t count = (size + 2 * pad - reach + (ceil ? jump - 1 : 0)) / jump + 1;
    if (ceil && (count - 1) * jump >= size + pad)
      --count;
    SmallVector<Span> spans;
    for (int64_t o = 0; o < count; ++o) {
      int64_t begin = o * jump - pad, end = begin + reach;
      int64_t padded = std::min(end, size + pad) - begin;
      while (begin < 0)
        begin += step;
      spans.push_back({begin, std::min(end, size), step, padded});
    }
    windows.spans.push_back(spans);
    windows.result.push_back(count);
  }
  return windows;
}

static Windows adaptiveWindows(ArrayRef<int64_t> input,
                               ArrayRef<int64_t> output) {
  Windows windows = planesOf(input, output.size());
  windows.result = Sizes(output);
  for (auto [size, count] : llvm::zip_equal(windows.plane, windows.result)) {
    SmallVector<Span> spans;
    for (int64_t o = 0; o < count; ++o)
      spans.push_back(
          {o * size / count, ((o + 1) * size + count - 1) / count, 1, 0});
    windows.spans.push_back(spans);
  }
  return windows;
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

/// What the sum of a window is divided by.
static double divisorOf(const KernelCall &call, const Window &window) {
  if (!call.isNone(optional("divisor_override")))
    return call.number(optional("divisor_override"));
  bool padded = call.boolean(optional("count_include_pad"), false);
  return static_cast<double>(
      padded ? window.padded : static_cast<int64_t>(window.positions.size()));
}

static LogicalResult averages(const KernelCall &call, const Tensor &input,
                              const Windows &windows) {
  std::vector<double> x = input.doubles();
  std::vector<double> y(windows.planes * product(windows.result));
  forWindows(windows, [&](int64_t out, int64_t plane, const Window &window) {
    for (int64_t position : window.positions)
      y[out] += x[plane + position];
    if (!window.positions.empty())
      y[out] /= divisorOf(call, window);
  });
  put(call, 0, windows.resultSizes(input.sizes), y);
  return success();
}

static LogicalResult averageGradients(const KernelCall &call,
                                      const Tensor &input,
                                      const Windows &windows) {
  std::vector<double> dx(input.numel());
  std::vector<double> g =
      doubles(call, "grad_output", windows.planes * product(windows.result));
  forWindows(windows, [&](int64_t out, int64_t plane, const Window &window) {
    for (int64_t position : window.positions)
      dx[plane + position] += g[out] / divisorOf(call, window);
  });
  put(call, 0, input.sizes, dx);
  return success();
}

template <size_t rank> static LogicalResult avgPool(const KernelCall &call) {
  Tensor input = call.dense("self");
  return averages(call, input, slidingWindows(call, input, rank));
}

template <size_t rank>
static LogicalResult avgPoolBackward(const KernelCall &call) {
  Tensor input = call.dense("self");
  return averageGradients(call, input, slidingWindows(call, input, rank));
}

template <size_t rank>
static LogicalResult adaptiveAvgPool(const KernelCall &call) {
  Tensor input = call.dense("self");
  Sizes output = perDim(call.integers("output_size"), rank);
  return averages(call, input, adaptiveWindows(input.sizes, output));
}

template <size_t rank>
static LogicalResult adaptiveAvgPoolBackward(const KernelCall &call) {
  Tensor input = call.dense("self");
  Sizes gradient(call.tensor("grad_output").sizes);
  ArrayRef<int64_t> output = ArrayRef<int64_t>(gradient).take_back(rank);
  return averageGradients(call, input, adaptiveWindows(input.sizes, output));
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

namespace {
struct Maxima {
  std::vector<double> values;
  std::vector<int64_t> positions;
};
} // namespace

/// Adds the maxima of the planes of `windows` that follow element `first`.
static void addMaxima(ArrayRef<double> x, int64_t first, const Windows &windows,
                      Maxima &maxima) {
  size_t done = maxima.values.size();
  size_t size = done + windows.planes * product(windows.result);
  maxima.values.resize(size);
  maxima.positions.resize(size);
  forWindows(windows, [&](int64_t out, int64_t plane, const Window &window) {
    double best = -std::numeric_limits<double>::infinity();
    int64_t at = window.positions.empty() ? 0 : window.positions[0];
    for (int64_t position : window.positions) {
      double value = x[first + plane + position];
      if (value > best || std::isnan(value)) {
        best = value;
        at = position;
      }
    }
    maxima.values[done + out] = best;
    maxima.positions[done + out] = at;
  });
}

/// Result 0 and, if declared, 1: the position of each maximum.
static LogicalResult putMaxima(const KernelCall &call, ArrayRef<int64_t> sizes,
                               const Maxima &maxima) {
  put(call, 0, sizes, maxima.values);
  if (call.wants(1))
    call.make(1, sizes).assign(ArrayRef<int64_t>(maxima.positions));
  return success();
}

static LogicalResult maxima(const KernelCall &call, const Tensor &input,
                            const Windows &windows) {
  Maxima found;
  addMaxima(input.doubles(), 0, windows, found);
  return putMaxima(call, windows.resultSizes(input.sizes), found);
}

template <size_t rank> static LogicalResult maxPool(const KernelCall &call) {
  Tensor input = call.dense("self");
  return maxima(call, input, slidingWindows(call, input, rank));
}

template <size_t rank>
static LogicalResult adaptiveMaxPool(const KernelCall &call) {
  Tensor input = call.dense("self");
  Sizes output = perDim(call.integers("output_size"), rank);
  return maxima(call, input, adaptiveWindows(input.sizes, output));
}

/// Where `count` windows begin. The numbers are rounded as those of the samples
/// are: which window an element is in depends on it.
static SmallVector<Span> fractionalSpans(const Tensor &samples, double sample,
                                         int64_t size, int64_t count,
                                         int64_t kernel) {
  auto round = [&](double x) {
    return samples.type == DType::F64
               ? x
               : static_cast<double>(static_cast<float>(x));
  };
  SmallVector<Span> spans;
  double step = count > 1 ? round(static_cast<double>(size - kernel) /
                                  static_cast<double>(count - 1))
                          : 0;
  auto place = [&](double at) {
    double where = round(round(at) * step);
    // Whatever the samples hold; towards 0, as PyTorch does.
    return std::isnan(where)
               ? int64_t(0)
               : static_cast<int64_t>(std::clamp(where, -1e15, 1e15));
  };
  for (int64_t o = 0; o < count; ++o) {
    int64_t begin =
        o + 1 == count ? size - kernel
                       : place(static_cast<double>(o) + sample) - place(sample);
    begin = std::clamp<int64_t>(begin, 0, size - kernel);
    spans.push_back({begin, begin + kernel, 1, kernel});
  }
  return spans;
}

/// Random numbers of a plane: of its depth, height, width; of two dimensions
/// the width's first.
template <size_t rank>
static LogicalResult fractionalMaxPool(const KernelCall &call) {
  Tensor input = call.dense("self"), samples = call.dense("random_samples");
  Sizes kernel = perDim(call.integers("kernel_size"), rank);
  Sizes output = perDim(call.integers("output_size"), rank);
  Windows windows = planesOf(input.sizes, rank);
  int64_t planes = windows.planes, plane = product(windows.plane);
  if (failed(checkCount(call, "random_samples", samples.numel(),
                        planes * static_cast<int64_t>(rank))))
    return failure();
  for (size_t d = 0; d < rank; ++d)
    if (windows.plane[d] < kernel[d] + output[d] - 1)
      return call.error("has more windows than places for them");
  std::vector<double> x = input.doubles(), random = samples.doubles();
  windows.planes = 1;
  windows.result = output;
  Maxima found;
  for (int64_t p = 0; p < planes; ++p) {
    windows.spans.clear();
    for (size_t d = 0; d < rank; ++d)
      windows.spans.push_back(
          fractionalSpans(samples, random[p * rank + (rank == 2 ? 1 - d : d)],
                          windows.plane[d], output[d], kernel[d]));
    addMaxima(x, p * plane, windows, found);
  }
  return putMaxima(call, windows.resultSizes(input.sizes), found);
}

/// Each gradient goes where the index of its maximum says.
template <size_t rank>
static LogicalResult maxPoolBackward(const KernelCall &call) {
  Tensor input = call.dense("self"), indices = call.dense("indices");
  int64_t plane = product(ArrayRef<int64_t>(input.sizes).take_back(rank));
  int64_t count = product(ArrayRef<int64_t>(indices.sizes).take_back(rank));
  std::vector<double> g = doubles(call, "grad_output", indices.numel());
  std::vector<double> dx(input.numel());
  if (failed(checkCount(call, "indices", indices.numel(),
                        plane == 0 ? 0 : input.numel() / plane * count)))
    return failure();
  for (auto [i, at] : llvm::enumerate(indices.ints())) {
    if (failed(checkIndex(call, at, plane)))
      return failure();
    dx[static_cast<int64_t>(i) / count * plane + at] += g[i];
  }
  put(call, 0, input.sizes, dx);
  return success();
}

const KernelFn kernels::avgPool1d = avgPool<1>;
const KernelFn kernels::avgPool2d = avgPool<2>;
const KernelFn kernels::avgPool3d = avgPool<3>;
const KernelFn kernels::avgPool2dBackward = avgPoolBackward<2>;
const KernelFn kernels::avgPool3dBackward = avgPoolBackward<3>;
const KernelFn kernels::adaptiveAvgPool1d = adaptiveAvgPool<1>;
const KernelFn kernels::adaptiveAvgPool2d = adaptiveAvgPool<2>;
const KernelFn kernels::adaptiveAvgPool3d = adaptiveAvgPool<3>;
const KernelFn kernels::adaptiveAvgPool2dBackward = adaptiveAvgPoolBackward<2>;
const KernelFn kernels::adaptiveAvgPool3dBackward = adaptiveAvgPoolBackward<3>;
const KernelFn kernels::maxPool1d = ::maxPool<1>;
const KernelFn kernels::maxPool2d = ::maxPool<2>;
const KernelFn kernels::maxPool3d = ::maxPool<3>;
const KernelFn kernels::maxPool2dBackward = maxPoolBackward<2>;
const KernelFn kernels::maxPool3dBackward = maxPoolBackward<3>;
const KernelFn kernels::fractionalMaxPool2d = fractionalMaxPool<2>;
const KernelFn kernels::fractionalMaxPool3d = fractionalMaxPool<3>;
const KernelFn kernels::adaptiveMaxPool1d = adaptiveMaxPool<1>;
const KernelFn kernels::adaptiveMaxPool2d = adaptiveMaxPool<2>;
const KernelFn kernels::adaptiveMaxPool3d = adaptiveMaxPool<3>;
