// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows as columns and back (im2col, col2im), and blocks of pixels as
// channels and back (pixel_shuffle).
//
// im2col: [N, C, H, W] becomes [N, C * kh * kw, L], one column a window of the
// padded plane; col2im adds the columns back to where they are from.

#include "Kernels.h"
#include "Values.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Planes of `height` x `width` and their windows.
struct Grid {
  int64_t height, width;
  SmallVector<int64_t> kernel, dilation, padding, stride;
  int64_t rows, columns; ///< windows

  Grid(const KernelCall &call, int64_t height, int64_t width)
      : height(height), width(width), kernel(call.integers("kernel_size", 2)),
        dilation(call.integers("dilation", 2)),
        padding(call.integers("padding", 2)),
        stride(call.integers("stride", 2)) {
    auto count = [&](int64_t size, int d) {
      return (size + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) /
                 stride[d] +
             1;
    };
    rows = count(height, 0);
    columns = count(width, 1);
  }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t windows() const { return rows * columns; }

  /// The pixel of tap `k` of window `w`; -1 in the padding.
  int64_t pixel(int64_t k, int64_t w) const {
    int64_t y =
        w / columns * stride[0] - padding[0] + k / kernel[1] * dilation[0];
    int64_t x =
        w % columns * stride[1] - padding[1] + k % kernel[1] * dilation[1];
    bool inside = y >= 0 && y < height && x >= 0 && x < width;
    return inside ? y * width + x : -1;
  }
};

} // namespace

static LogicalResult im2col(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t rank = self.rank();
  Grid grid(call, self.sizes[rank - 2], self.sizes[rank - 1]);
  int64_t plane = grid.height * grid.width;
  Sizes sizes(self.sizes);
  sizes.pop_back();
  int64_t planes = product(sizes) / grid.height;
  sizes[rank - 3] *= grid.taps();
  sizes[rank - 2] = grid.windows();
  Tensor result = call.make(0, sizes);
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t k = 0; k < grid.taps(); ++k)
      for (int64_t w = 0; w < grid.windows(); ++w)
        if (int64_t at = grid.pixel(k, w); at >= 0)
          copyRun(self, p * plane + at, result,
                  (p * grid.taps() + k) * grid.windows() + w);
  return success();
}

static LogicalResult col2im(const KernelCall &call) {
  Tensor self = call.dense("self");
  SmallVector<int64_t> output = call.integers("output_size", 2);
  Grid grid(call, output[0], output[1]);
  Sizes sizes(self.sizes);
  size_t channel = sizes.size() - 2;
  sizes[channel] /= grid.taps();
  sizes[channel + 1] = output[0];
  sizes.push_back(output[1]);
  int64_t plane = grid.height * grid.width;
  int64_t planes = plane == 0 ? 0 : product(sizes) / plane;
  std::vector<double> x =
      doubles(call, "self", planes * grid.taps() * grid.windows());
  std::vector<double> y(product(sizes));
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t k = 0; k < grid.taps(); ++k)
      for (int64_t w = 0; w < grid.windows(); ++w)
        if (int64_t at = grid.pixel(k, w); at >= 0)
          y[p * plane + at] += x[(p * grid.taps() + k) * grid.windows() + w];
  put(call, 0, sizes, y);
  return success();
}

/// [.., C * f * f, H, W] and [.., C, H * f, W * f] hold the same elements; f is
/// at least 1.
template <bool shuffle> static LogicalResult pixels(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t f = call.integer(shuffle ? "upscale_factor" : "downscale_factor");
  Sizes small(self.sizes), large(self.sizes);
  size_t rank = small.size();
  Sizes &other = shuffle ? large : small;
  int64_t factor = f;
  auto scale = [&](int64_t &size, int64_t by, bool up) {
    size = up ? size * by : size / by;
  };
  scale(other[rank - 3], factor * factor, !shuffle);
  scale(other[rank - 2], factor, shuffle);
  scale(other[rank - 1], factor, shuffle);
  int64_t height = small[rank - 2], width = small[rank - 1];
  int64_t planes = product(ArrayRef<int64_t>(large).drop_back(2));
  Tensor result = call.make(0, other);
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t y = 0; y < height * f; ++y)
      for (int64_t x = 0; x < width * f; ++x) {
        int64_t channel = (p * f + y % f) * f + x % f;
        int64_t inSmall = (channel * height + y / f) * width + x / f;
        int64_t inLarge = (p * height * f + y) * width * f + x;
        copyRun(self, shuffle ? inSmall : inLarge, result,
                shuffle ? inLarge : inSmall);
      }
  return success();
}

const KernelFn kernels::im2col = ::im2col;
const KernelFn kernels::col2im = ::col2im;
const KernelFn kernels::pixelShuffle = pixels<true>;
const KernelFn kernels::pixelUnshuffle = pixels<false>;
