// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resampling of planes of 1, 2 or 3 dimensions, and its gradients.
//
// Every mode is separable: in each dimension, an element of the result is a
// weighted sum of 1 (nearest), 2 (linear) or 4 (cubic) elements, and the
// weights of the dimensions multiply. The gradient is the transposed map. With
// the ratio r = in / out, or 1 / scale where a scale is given, element o lies
// at
//   nearest        floor(o * r) in float arithmetic, as PyTorch computes it
//   nearest exact  floor((o + 0.5) * r), also in float
//   others         r * (o + 0.5) - 0.5, not below 0 unless cubic
//   aligned        o * (in - 1) / (out - 1)
// Cubic weights are those of Keys with a = -0.75; positions outside are those
// of the border. The smooth (anti-aliased) modes widen the filter by r where r
// is above 1, take a = -0.5, and normalize the weights of what is inside.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

enum class Mode {
  Nearest,
  NearestExact,
  Linear,
  Cubic,
  SmoothLinear,
  SmoothCubic
};

struct Tap {
  int64_t at;
  double weight;
};
/// For each element of the result of one dimension, what it reads.
using Taps = std::vector<SmallVector<Tap, 4>>;

/// One dimension of a call. `scale` 0: none is given.
struct Axis {
  int64_t in, out;
  double scale = 0;
  bool aligned = false;
};

} // namespace

static SmallVector<Tap, 4> nearestTap(const Axis &axis, int64_t o, bool exact) {
  float ratio = axis.scale > 0 ? static_cast<float>(1.0 / axis.scale)
                               : static_cast<float>(axis.in) /
                                     static_cast<float>(axis.out);
  float place = static_cast<float>(o);
  auto at = static_cast<int64_t>(
      std::floor(exact ? (place + 0.5F) * ratio : place * ratio));
  if (!exact && axis.out == axis.in)
    at = o;
  else if (!exact && axis.out == 2 * axis.in)
    at = o / 2;
  return {{std::min(at, axis.in - 1), 1.0}};
}

/// Where element `o` of the result lies in the input.
static double placeOf(const Axis &axis, int64_t o) {
  auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  if (axis.aligned)
    return axis.out > 1 ? static_cast<double>(o) * (in - 1) / (out - 1) : 0;
  double ratio = axis.scale > 0 ? 1 / axis.scale : in / out;
  return ratio * (static_cast<double>(o) + 0.5) - 0.5;
}

static SmallVector<Tap, 4> linearTaps(const Axis &axis, int64_t o) {
  if (axis.in == axis.out)
    return {{o, 1.0}};
  double place = std::max(placeOf(axis, o), 0.0);
  int64_t first = std::min(static_cast<int64_t>(place), axis.in - 1);
  int64_t second = std::min(first + 1, axis.in - 1);
  double part = std::min(place - static_cast<double>(first), 1.0);
  return {{first, 1 - part}, {second, part}};
}

static SmallVector<Tap, 4> cubicTaps(const Axis &axis, int64_t o) {
  constexpr double a = -0.75;
  auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [&](double x) {
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  };
  double place = placeOf(axis, o), floor = std::floor(place);
  double t = place - floor;
  double weights[] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
  SmallVector<Tap, 4> taps;
  for (auto [i, weight] : llvm::enumerate(weights)) {
    int64_t at = static_cast<int64_t>(floor) - 1 + static_cast<int64_t>(i);
    taps.push_back({std::min(std::max<int64_t>(at, 0), axis.in - 1), weight});
  }
  return taps;
}

static double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }
static double keys(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static SmallVector<Tap, 4> smoothTaps(const Axis &axis, int64_t o, bool cubic) {
  auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  double ratio = axis.scale > 0 ? 1 / axis.scale : in / out;
  if (axis.aligned)
    ratio = axis.out > 1 ? (in - 1) / (out - 1) : 0;
  double wide = std::max(ratio, 1.0), reach = (cubic ? 2 : 1) * wide;
  double centre = ratio * (static_cast<double>(o) + 0.5), sum = 0;
  // Elements whose centres the filter reaches.
  double low = centre - reach + 0.5, high = centre + reach + 0.5;
  auto first = std::max<int64_t>(static_cast<int64_t>(low), 0);
  auto end = std::min(static_cast<int64_t>(high), axis.in);
  SmallVector<Tap, 4> taps;
  for (int64_t at = first; at < end; ++at) {
    double x = (static_cast<double>(at) - centre + 0.5) / wide;
    taps.push_back({at, cubic ? keys(x) : triangle(x)});
    sum += taps.back().weight;
  }
  for (Tap &tap : taps)
    tap.weight /= sum != 0 ? sum : 1;
  return taps;
}

static Taps tapsOf(const Axis &axis, Mode mode) {
  Taps taps;
  for (int64_t o = 0; o < axis.out; ++o)
    switch (mode) {
    case Mode::Nearest:
    case Mode::NearestExact:
      taps.push_back(nearestTap(axis, o, mode == Mode::NearestExact));
      break;
    case Mode::Linear:
      taps.push_back(linearTaps(axis, o));
      break;
    case Mode::Cubic:
      taps.push_back(cubicTaps(axis, o));
      break;
    case Mode::SmoothLinear:
    case Mode::SmoothCubic:
      taps.push_back(smoothTaps(axis, o, mode == Mode::SmoothCubic));
      break;
    }
  return taps;
}

/// Calls fn(element of the result, element of the input, weight) for one plane.
template <typename Fn>
static void forTaps(ArrayRef<Axis> axes, ArrayRef<Taps> taps, Fn fn) {
  Sizes sizes;
  for (const Axis &axis : axes)
    sizes.push_back(axis.out);
  Sizes index(sizes.size(), 0);
  for (int64_t o = 0, n = product(sizes); o < n; ++o) {
    SmallVector<Tap> reads = {{0, 1.0}};
    for (auto [d, axis] : llvm::enumerate(axes)) {
      SmallVector<Tap> next;
      for (const Tap &read : reads)
        for (const Tap &tap : taps[d][index[d]])
          next.push_back(
              {read.at * axis.in + tap.at, read.weight * tap.weight});
      reads = std::move(next);
    }
    for (const Tap &read : reads)
      fn(o, read.at, read.weight);
    advance(index, sizes);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The axes of a plane of sizes `in`. Scales are a list (`.vec` overloads) or
/// one parameter a dimension.
static SmallVector<Axis, 3> axesOf(const KernelCall &call,
                                   ArrayRef<int64_t> in) {
  SmallVector<double> scales = call.numbers(optional("scale_factors"));
  SmallVector<int64_t> out = call.integers("output_size");
  static constexpr const char *names[] = {"scales_d", "scales_h", "scales_w"};
  SmallVector<Axis, 3> axes;
  for (auto [d, size] : llvm::enumerate(in)) {
    Axis axis{size, 0};
    const char *name = in.size() == 1 ? "scales" : names[3 - in.size() + d];
    axis.scale = scales.empty() ? call.number(optional(name)) : scales[d];
    axis.aligned = call.boolean(optional("align_corners"));
    axis.out = out.empty() ? static_cast<int64_t>(std::floor(
                                 static_cast<double>(size) * axis.scale))
                           : out[d];
    axes.push_back(axis);
  }
  return axes;
}

template <Mode mode> static LogicalResult upsample(const KernelCall &call) {
  Tensor input = call.dense(0);
  ArrayRef<int64_t> plane = ArrayRef<int64_t>(input.sizes).drop_front(2);
  SmallVector<Axis, 3> axes = axesOf(call, plane);
  Sizes sizes = {input.sizes[0], input.sizes[1]};
  SmallVector<Taps> taps;
  for (const Axis &axis : axes) {
    sizes.push_back(axis.out);
    taps.push_back(tapsOf(axis, mode));
  }
  if (input.numel() == 0 && product(sizes) != 0)
    return call.error("nothing to interpolate between");
  std::vector<double> x = input.doubles(), y(product(sizes));
  int64_t planes = sizes[0] * sizes[1], inPlane = product(plane);
  int64_t outPlane = product(ArrayRef<int64_t>(sizes).drop_front(2));
  forTaps(axes, taps, [&](int64_t o, int64_t at, double weight) {
    for (int64_t p = 0; p < planes; ++p)
      y[p * outPlane + o] += weight * x[p * inPlane + at];
  });
  put(call, 0, sizes, y);
  return success();
}

template <Mode mode>
static LogicalResult upsampleBackward(const KernelCall &call) {
  Sizes sizes(call.integers("input_size"));
  ArrayRef<int64_t> plane = ArrayRef<int64_t>(sizes).drop_front(2);
  SmallVector<Axis, 3> axes = axesOf(call, plane);
  SmallVector<Taps> taps;
  int64_t outPlane = 1;
  for (const Axis &axis : axes) {
    outPlane *= axis.out;
    taps.push_back(tapsOf(axis, mode));
  }
  int64_t planes = sizes[0] * sizes[1], inPlane = product(plane);
  std::vector<double> g = doubles(call, "grad_output", planes * outPlane);
  std::vector<double> dx(product(sizes));
  if (dx.empty() && !g.empty())
    return call.error("nothing to interpolate between");
  forTaps(axes, taps, [&](int64_t o, int64_t at, double weight) {
    for (int64_t p = 0; p < planes; ++p)
      dx[p * inPlane + at] += weight * g[p * outPlane + o];
  });
  put(call, 0, sizes, dx);
  return success();
}

const KernelFn kernels::upsampleNearest = upsample<Mode::Nearest>;
const KernelFn kernels::upsampleNearestExact = upsample<Mode::NearestExact>;
const KernelFn kernels::upsampleLinear = upsample<Mode::Linear>;
const KernelFn kernels::upsampleCubic = upsample<Mode::Cubic>;
const KernelFn kernels::upsampleSmoothLinear = upsample<Mode::SmoothLinear>;
const KernelFn kernels::upsampleSmoothCubic = upsample<Mode::SmoothCubic>;
const KernelFn kernels::upsampleNearestBackward =
    upsampleBackward<Mode::Nearest>;
const KernelFn kernels::upsampleNearestExactBackward =
    upsampleBackward<Mode::NearestExact>;
const KernelFn kernels::upsampleLinearBackward = upsampleBackward<Mode::Linear>;
const KernelFn kernels::upsampleCubicBackward = upsampleBackward<Mode::Cubic>;
const KernelFn kernels::upsampleSmoothLinearBackward =
    upsampleBackward<Mode::SmoothLinear>;
const KernelFn kernels::upsampleSmoothCubicBackward =
    upsampleBackward<Mode::SmoothCubic>;
