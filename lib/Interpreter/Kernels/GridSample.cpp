// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// grid_sampler (and affine grids): reads a tensor [N, C, (D,) H, W] at places
// that a grid [N, (d,) h, w, 2 or 3] gives, last coordinate first, from -1
// to 1.
//
// 1. A coordinate x becomes ((x + 1) * size - 1) / 2, or (x + 1) / 2 *
//    (size - 1) where corners are aligned.
// 2. Padding: 0 zeros outside, 1 border (clamped), 2 reflection at the centres
//    of the outermost elements (aligned) or at their edges, then clamped. For
//    cubic, each element that is read is padded instead of the place.
// 3. Interpolation: 0 linear, 1 nearest (ties to even), 2 cubic (a = -0.75).
// In each dimension that gives taps with weights and their derivatives in x;
// the gradient of the input is the transposed map, that of the grid the sum
// over taps of derivative times element.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

enum Padding : int64_t { Zeros, Border, Reflection };
enum Mode : int64_t { Linear, Nearest, Cubic };

struct Sampler {
  int64_t mode, padding;
  bool aligned;
};

/// A place in one dimension and its derivative in the grid's coordinate.
struct Place {
  double at, slope;
};

/// `at` -1: outside, reads 0.
struct Tap {
  int64_t at;
  double weight, slope;
};
using Taps = SmallVector<Tap, 4>;

} // namespace

static Place reflected(Place place, double low, double high) {
  double span = high - low;
  if (span == 0)
    return {0, 0};
  double x = place.at - low, slope = x < 0 ? -place.slope : place.slope;
  x = std::abs(x);
  double rest = std::fmod(x, span);
  bool even = std::fmod(std::floor(x / span), 2) == 0;
  return even ? Place{rest + low, slope} : Place{span - rest + low, -slope};
}

static Place clamped(Place place, double size) {
  if (place.at <= 0)
    return {0, 0};
  return place.at >= size - 1 ? Place{size - 1, 0} : place;
}

static Place padded(const Sampler &s, Place place, double size) {
  if (s.padding == Border)
    return clamped(place, size);
  if (s.padding == Reflection) {
    place = s.aligned ? reflected(place, 0, size - 1)
                      : reflected(place, -0.5, size - 0.5);
    return clamped(place, size);
  }
  return place;
}

static Place placeOf(const Sampler &s, double x, double size) {
  if (s.aligned)
    return {(x + 1) / 2 * (size - 1), (size - 1) / 2};
  return {((x + 1) * size - 1) / 2, size / 2};
}

static int64_t inside(double at, double size) {
  return at >= 0 && at < size ? static_cast<int64_t>(at) : -1;
}

static Taps cubicTaps(const Sampler &s, Place place, double size) {
  constexpr double a = -0.75;
  double floor = std::floor(place.at), t = place.at - floor;
  Taps taps;
  for (int i = -1; i <= 2; ++i) {
    double x = std::abs(t - i), sign = t >= i ? 1 : -1;
    double weight = x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                           : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    double slope = x <= 1 ? (3 * (a + 2) * x - 2 * (a + 3)) * x
                          : (3 * a * x - 10 * a) * x + 8 * a;
    Place read = padded(s, {floor + i, 0}, size);
    taps.push_back({inside(read.at, size), weight, sign * slope * place.slope});
  }
  return taps;
}

static Taps tapsOf(const Sampler &s, double x, int64_t length) {
  auto size = static_cast<double>(length);
  Place place = placeOf(s, x, size);
  if (s.mode == Cubic)
    return cubicTaps(s, place, size);
  place = padded(s, place, size);
  if (s.mode == Nearest)
    return {{inside(std::nearbyint(place.at), size), 1, 0}};
  double floor = std::floor(place.at), part = place.at - floor;
  return {{inside(floor, size), 1 - part, -place.slope},
          {inside(floor + 1, size), part, place.slope}};
}

namespace {

/// An element that a place reads, its weight, and the derivative of the weight
/// in each coordinate (in the order of the grid).
struct Read {
  int64_t at;
  double weight;
  SmallVector<double, 3> slopes;
};

} // namespace

/// Reads of the place with the given coordinates in a plane.
static SmallVector<Read> readsOf(const Sampler &s, const double *coordinates,
                                 ArrayRef<int64_t> plane) {
  SmallVector<Read> reads = {{0, 1, {}}};
  for (auto [d, size] : llvm::enumerate(plane)) {
    SmallVector<Read> next;
    for (const Tap &tap : tapsOf(s, coordinates[plane.size() - 1 - d], size)) {
      if (tap.at < 0)
        continue;
      for (const Read &read : reads) {
        Read more{read.at * size + tap.at, read.weight * tap.weight, {}};
        // Dimensions stand in the grid from the last to the first.
        more.slopes.push_back(read.weight * tap.slope);
        for (double slope : read.slopes)
          more.slopes.push_back(slope * tap.weight);
        next.push_back(std::move(more));
      }
    }
    reads = std::move(next);
  }
  return reads;
}

namespace {

struct Problem {
  Tensor input, grid;
  Sampler sampler;
  std::vector<double> x, coordinates;
  Sizes plane;
  int64_t batch, channels, inPlane, outPlane, rank;

  explicit Problem(const KernelCall &call)
      : input(call.dense("input")), grid(call.dense("grid")),
        sampler{call.integer("interpolation_mode"),
                call.integer("padding_mode"), call.boolean("align_corners")},
        x(input.doubles()), plane(ArrayRef<int64_t>(input.sizes).drop_front(2)),
        batch(input.sizes[0]), channels(input.sizes[1]),
        inPlane(product(plane)), rank(static_cast<int64_t>(plane.size())) {
    outPlane = product(ArrayRef<int64_t>(grid.sizes).drop_front().drop_back());
    coordinates = doubles(call, "grid", batch * outPlane * rank);
  }
  Sizes resultSizes() const {
    Sizes sizes = {batch, channels};
    sizes.append(Sizes(ArrayRef<int64_t>(grid.sizes).drop_front().drop_back()));
    return sizes;
  }
};

} // namespace

static LogicalResult gridSampler(const KernelCall &call) {
  Problem p(call);
  std::vector<double> y(p.batch * p.channels * p.outPlane);
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t o = 0; o < p.outPlane; ++o) {
      const double *at = p.coordinates.data() + (n * p.outPlane + o) * p.rank;
      for (const Read &read : readsOf(p.sampler, at, p.plane))
        for (int64_t c = n * p.channels; c < (n + 1) * p.channels; ++c)
          y[c * p.outPlane + o] += read.weight * p.x[c * p.inPlane + read.at];
    }
  put(call, 0, p.resultSizes(), y);
  return success();
}

static LogicalResult gridSamplerBackward(const KernelCall &call) {
  Problem p(call);
  std::vector<double> g =
      doubles(call, "grad_output", p.batch * p.channels * p.outPlane);
  std::vector<double> dx(p.x.size()), dGrid(p.coordinates.size());
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t o = 0; o < p.outPlane; ++o) {
      int64_t place = (n * p.outPlane + o) * p.rank;
      for (const Read &read :
           readsOf(p.sampler, p.coordinates.data() + place, p.plane))
        for (int64_t c = n * p.channels; c < (n + 1) * p.channels; ++c) {
          double gradient = g[c * p.outPlane + o];
          dx[c * p.inPlane + read.at] += read.weight * gradient;
          for (int64_t d = 0; d < p.rank; ++d)
            dGrid[place + d] +=
                read.slopes[d] * p.x[c * p.inPlane + read.at] * gradient;
        }
    }
  if (call.wants(0))
    put(call, 0, p.input.sizes, dx);
  if (call.wants(1))
    put(call, 1, p.grid.sizes, dGrid);
  return success();
}

/// theta [N, 2, 3] or [N, 3, 4] times the places (x, y, (z,) 1) of a grid from
/// -1 to 1; without aligned corners it ends at the centres of the elements.
static LogicalResult affineGrid(const KernelCall &call) {
  SmallVector<int64_t> size = call.integers("size");
  bool aligned = call.boolean("align_corners");
  Sizes plane(ArrayRef<int64_t>(size).drop_front(2)), index(plane.size(), 0);
  auto rank = static_cast<int64_t>(plane.size());
  std::vector<double> theta =
      doubles(call, "theta", size[0] * rank * (rank + 1));
  std::vector<double> result;
  for (int64_t n = 0; n < size[0]; ++n)
    for (int64_t o = 0, count = product(plane); o < count; ++o) {
      SmallVector<double> place(rank + 1, 1);
      for (int64_t d = 0; d < rank; ++d) {
        auto length = static_cast<double>(plane[d]);
        double at = static_cast<double>(index[d]);
        // A single element lies in the middle.
        double x = length <= 1 ? 0 : 2 * at / (length - 1) - 1;
        place[rank - 1 - d] = aligned ? x : x * (length - 1) / length;
      }
      for (int64_t row = 0; row < rank; ++row) {
        double sum = 0;
        for (int64_t d = 0; d <= rank; ++d)
          sum += theta[(n * rank + row) * (rank + 1) + d] * place[d];
        result.push_back(sum);
      }
      advance(index, plane);
    }
  Sizes sizes = {size[0]};
  sizes.append(plane);
  sizes.push_back(rank);
  put(call, 0, sizes, result);
  return success();
}

const KernelFn kernels::affineGrid = ::affineGrid;
const KernelFn kernels::gridSampler = ::gridSampler;
const KernelFn kernels::gridSamplerBackward = ::gridSamplerBackward;
