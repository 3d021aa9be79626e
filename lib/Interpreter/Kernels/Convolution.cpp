// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of 1, 2 and 3 dimensions, transposed ones, and all gradients.
//
// There is one relation behind all of them. A convolution has a small side
// (its output) and a big side (its input); position p of the small side and
// position k of the kernel meet the big side at p * stride - padding +
// k * dilation, and the weight is [small channels, big channels a group, k...].
// A transposed convolution is the same with the sides exchanged. So
//   forward:                    small += big * weight
//   transposed, input gradient: big += small * weight
//   weight gradient:            weight += small * big
// and each is a walk over the places where the three meet. The order of the
// walk is fixed; sums are in double.

#include "Kernels.h"
#include "Values.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

struct Geometry {
  int64_t batch, groups;
  /// Channels in one group.
  int64_t small, big;
  /// Spatial sizes.
  Sizes smallSizes, bigSizes, kernel, stride, padding, dilation;
  bool transposed;

  int64_t smallPlane() const { return product(smallSizes); }
  int64_t bigPlane() const { return product(bigSizes); }
  /// For each kernel position and each position of the small side, the
  /// position on the big side, -1 outside.
  std::vector<int64_t> meetings() const;
};

/// The three operands as a walk sees them; one of them is written.
struct Sides {
  double *small, *big, *weight;
};

} // namespace

std::vector<int64_t> Geometry::meetings() const {
  std::vector<int64_t> table;
  size_t rank = kernel.size();
  if (product(kernel) == 0 || smallPlane() == 0)
    return table;
  table.reserve(product(kernel) * smallPlane());
  Sizes k(rank, 0), p(rank, 0);
  do {
    do {
      int64_t place = 0;
      for (size_t i = 0; i < rank && place >= 0; ++i) {
        int64_t at = p[i] * stride[i] - padding[i] + k[i] * dilation[i];
        place = at >= 0 && at < bigSizes[i] ? place * bigSizes[i] + at : -1;
      }
      table.push_back(place);
    } while (advance(p, smallSizes));
  } while (advance(k, kernel));
  return table;
}

/// Calls fn(small element, big element, weight element) wherever they meet.
template <typename Fn>
static void walk(const Geometry &g, const Sides &sides, Fn fn) {
  std::vector<int64_t> table = g.meetings();
  int64_t smallPlane = g.smallPlane(), bigPlane = g.bigPlane();
  int64_t taps = product(g.kernel), channels = g.groups * g.small;
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t s = 0; s < channels; ++s)
      for (int64_t b = 0; b < g.big; ++b) {
        int64_t channel = s / g.small * g.big + b;
        double *small = sides.small + (n * channels + s) * smallPlane;
        double *big = sides.big + (n * g.groups * g.big + channel) * bigPlane;
        double *weight = sides.weight + (s * g.big + b) * taps;
        for (int64_t k = 0; k < taps; ++k)
          for (int64_t p = 0; p < smallPlane; ++p)
            if (int64_t at = table[k * smallPlane + p]; at >= 0)
              fn(small[p], big[at], weight[k]);
      }
}

static void addToSmall(const Geometry &g, const Sides &sides) {
  walk(g, sides,
       [](double &small, double &big, double &w) { small += big * w; });
}
static void addToBig(const Geometry &g, const Sides &sides) {
  walk(g, sides,
       [](double &small, double &big, double &w) { big += small * w; });
}
static void addToWeight(const Geometry &g, const Sides &sides) {
  walk(g, sides,
       [](double &small, double &big, double &w) { w += small * big; });
}

/// The parameters of a call whose input (with batch) has sizes `input`. The
/// output's spatial sizes are computed where `outputPadding` is given.
static Geometry getGeometry(const KernelCall &call, ArrayRef<int64_t> input,
                            ArrayRef<int64_t> weight, bool transposed,
                            ArrayRef<int64_t> outputPadding) {
  Geometry g;
  size_t rank = weight.size() - 2;
  g.batch = input[0];
  g.groups = call.integer("groups", 1);
  g.transposed = transposed;
  g.small = weight[0] / g.groups;
  g.big = weight[1];
  g.kernel = Sizes(weight.drop_front(2));
  g.stride = perDim(call.integers("stride"), rank);
  g.dilation = perDim(call.integers("dilation"), rank);
  Sizes extra = perDim(outputPadding, rank);
  bool named =
      !transposed && !call.isNone("padding") && !call.string("padding").empty();
  if (!named)
    g.padding = perDim(call.integers("padding"), rank);
  Sizes others;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = input[2 + i], reach = g.dilation[i] * (g.kernel[i] - 1);
    // "same" pads what the kernel takes away, the odd element behind.
    int64_t both = named ? (call.string("padding") == "same" ? reach : 0)
                         : 2 * g.padding[i];
    if (named)
      g.padding.push_back(both / 2);
    others.push_back(transposed ? (size - 1) * g.stride[i] - both + reach +
                                      extra[i] + 1
                                : (size + both - reach - 1) / g.stride[i] + 1);
  }
  g.smallSizes = g.bigSizes = Sizes(input.drop_front(2));
  (transposed ? g.bigSizes : g.smallSizes) = others;
  return g;
}

/// Result 0 from an input that may lack the batch dimension.
static LogicalResult convolve(const KernelCall &call, bool transposed,
                              ArrayRef<int64_t> outputPadding) {
  Tensor input = call.dense("input"), weight = call.dense("weight");
  bool batched = input.rank() == weight.rank();
  Sizes sizes(input.sizes);
  if (!batched)
    sizes.insert(sizes.begin(), 1);
  Geometry g =
      getGeometry(call, sizes, weight.sizes, transposed, outputPadding);
  int64_t channels = g.groups * (transposed ? g.big : g.small);
  int64_t plane = transposed ? g.bigPlane() : g.smallPlane();
  std::vector<double> x = load<double>(input), w = load<double>(weight);
  std::vector<double> y(g.batch * channels * plane);
  std::vector<double> bias = optionalDoubles(call, "bias", channels);
  if (!bias.empty())
    for (auto [i, value] : llvm::enumerate(y))
      value = bias[static_cast<int64_t>(i) / plane % channels];
  if (transposed)
    addToBig(g, {x.data(), y.data(), w.data()});
  else
    addToSmall(g, {y.data(), x.data(), w.data()});
  Sizes out = {channels};
  if (batched)
    out.insert(out.begin(), g.batch);
  out.append(transposed ? g.bigSizes : g.smallSizes);
  put(call, 0, out, y);
  return success();
}

static LogicalResult convolution(const KernelCall &call) {
  return convolve(call, call.boolean("transposed"),
                  call.integers("output_padding"));
}

static LogicalResult plainConvolution(const KernelCall &call) {
  return convolve(call, /*transposed=*/false, {0});
}

static LogicalResult transposedConvolution(const KernelCall &call) {
  return convolve(call, /*transposed=*/true, call.integers("output_padding"));
}

static LogicalResult convolutionBackward(const KernelCall &call) {
  Tensor input = call.dense("input"), weight = call.dense("weight");
  bool transposed = call.boolean("transposed");
  bool batched = input.rank() == weight.rank();
  Sizes sizes(input.sizes);
  if (!batched)
    sizes.insert(sizes.begin(), 1);
  Geometry g = getGeometry(call, sizes, weight.sizes, transposed,
                           call.integers("output_padding"));
  int64_t small = g.batch * g.groups * g.small * g.smallPlane();
  int64_t big = g.batch * g.groups * g.big * g.bigPlane();
  std::vector<double> dy =
      doubles(call, "grad_output", transposed ? big : small);
  std::vector<double> x = doubles(call, "input", transposed ? small : big);
  std::vector<double> w = load<double>(weight);
  if (call.wants(0)) {
    std::vector<double> dx(x.size());
    if (transposed)
      addToSmall(g, {dx.data(), dy.data(), w.data()});
    else
      addToBig(g, {dy.data(), dx.data(), w.data()});
    put(call, 0, input.sizes, dx);
  }
  if (call.wants(1)) {
    std::vector<double> dw(w.size());
    if (transposed)
      addToWeight(g, {x.data(), dy.data(), dw.data()});
    else
      addToWeight(g, {dy.data(), x.data(), dw.data()});
    put(call, 1, weight.sizes, dw);
  }
  if (call.wants(2)) {
    int64_t channels = g.groups * (transposed ? g.big : g.small);
    int64_t plane = transposed ? g.bigPlane() : g.smallPlane();
    std::vector<double> db(channels);
    for (auto [i, value] : llvm::enumerate(dy))
      db[static_cast<int64_t>(i) / plane % channels] += value;
    put(call, 2, {channels}, db);
  }
  return success();
}

const KernelFn kernels::convolution = ::convolution;
const KernelFn kernels::plainConvolution = ::plainConvolution;
const KernelFn kernels::transposedConvolution = ::transposedConvolution;
const KernelFn kernels::convolutionBackward = ::convolutionBackward;
