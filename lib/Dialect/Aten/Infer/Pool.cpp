// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pooling, resampling, and layouts of windows (im2col, pixel_shuffle).
//
// The number of spatial dimensions is in the op's name ("2d"), else that of
// the window; the input may lack the batch dimension. With ceil_mode a last
// window may hang over the end, but must start inside the input or the left
// padding.

#include "Common.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

/// The 2 of `avg_pool2d`; 0 without.
static unsigned spatialInName(StringRef packet) {
  for (size_t i = 0; i + 1 < packet.size(); ++i)
    if (packet[i + 1] == 'd' && packet[i] >= '1' && packet[i] <= '3')
      return static_cast<unsigned>(packet[i] - '0');
  return 0;
}

static LogicalResult checkSpatial(const InferCall &call,
                                  const TensorShape &self, unsigned spatial) {
  int64_t extra = self.rank() - static_cast<int64_t>(spatial);
  return extra == 1 || extra == 2
             ? success()
             : call.error("a tensor of rank ", self.rank(), " has not ",
                          spatial, " spatial dimensions");
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static LogicalResult poolSize(const InferCall &call, int64_t kernel,
                              int64_t stride, int64_t padding, int64_t dilation,
                              bool ceilMode, int64_t &size) {
  if (size == kUnknown || kernel == kUnknown || stride == kUnknown ||
      padding == kUnknown || dilation == kUnknown) {
    size = kUnknown;
    return success();
  }
  if (kernel <= 0 || stride <= 0 || dilation <= 0 || padding < 0)
    return call.error("a window of ", kernel, " with stride ", stride,
                      ", padding ", padding, " and dilation ", dilation);
  int64_t reach = addSizes(mulSizes(dilation, kernel - 1), 1);
  int64_t padded = addSizes(size, mulSizes(2, padding));
  int64_t room = addSizes(padded, -reach);
  if (addSizes(room, ceilMode ? stride - 1 : 0) < 0)
    return call.error("a pooling window over ", reach,
                      " elements does not fit in ", padded);
  int64_t windows = addSizes(
      ceilMode ? ceilDivSize(room, stride) : floorDivSize(room, stride), 1);
  if (ceilMode && mulSizes(windows - 1, stride) >= addSizes(size, padding))
    --windows;
  size = windows;
  return success();
}

static LogicalResult getPooled(const InferCall &call, TensorShape &self) {
  if (failed(getSelf(call, self)))
    return failure();
  Dims kernel, stride, padding, dilation;
  bool ceilMode = false;
  unsigned spatial = spatialInName(call.getSchema().packet);
  if (spatial == 0) {
    if (failed(call.integers("kernel_size", kernel)))
      return failure();
    spatial = static_cast<unsigned>(kernel.size());
  }
  if (failed(checkSpatial(call, self, spatial)) ||
      failed(getInts(call, "kernel_size", spatial, {}, kernel)) ||
      failed(getInts(call, "stride", spatial, kernel, stride)) ||
      failed(getInts(call, "padding", spatial, {0}, padding)) ||
      failed(getInts(call, optional("dilation"), spatial, {1}, dilation)) ||
      failed(call.boolean("ceil_mode", ceilMode)))
    return failure();
  size_t first = self.dims.size() - spatial;
  for (unsigned i = 0; i < spatial; ++i)
    if (failed(poolSize(call, kernel[i], stride[i], padding[i], dilation[i],
                        ceilMode, self.dims[first + i])))
      return failure();
  return success();
}

static LogicalResult pushWithIndices(const InferCall &call, Results &results,
                                     const TensorShape &pooled,
                                     unsigned width) {
  if (failed(push(call, results, pooled)))
    return failure();
  return push(call, results, pooled.dims,
              IntegerType::get(call.getContext(), width));
}

LogicalResult infer::avgPool(const InferCall &call, Results &results) {
  TensorShape self;
  return failed(getPooled(call, self)) ? failure() : push(call, results, self);
}

LogicalResult infer::maxPool(const InferCall &call, Results &results) {
  return avgPool(call, results);
}

LogicalResult infer::maxPoolWithIndices(const InferCall &call,
                                        Results &results) {
  TensorShape self;
  return failed(getPooled(call, self))
             ? failure()
             : pushWithIndices(call, results, self, 64);
}

LogicalResult infer::lowMemoryMaxPool(const InferCall &call, Results &results) {
  TensorShape self;
  return failed(getPooled(call, self))
             ? failure()
             : pushWithIndices(call, results, self, 8);
}

LogicalResult infer::offsetsToIndices(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return push(call, results, self.dims, intType(call));
}

static LogicalResult getAdaptive(const InferCall &call, TensorShape &self) {
  unsigned spatial = std::max(1u, spatialInName(call.getSchema().packet));
  Dims sizes;
  if (failed(getSelf(call, self)) ||
      failed(checkSpatial(call, self, spatial)) ||
      failed(getInts(call, "output_size", spatial, {}, sizes)))
    return failure();
  std::copy(sizes.begin(), sizes.end(), self.dims.end() - spatial);
  return success();
}

LogicalResult infer::adaptiveAvgPool(const InferCall &call, Results &results) {
  TensorShape self;
  return failed(getAdaptive(call, self)) ? failure()
                                         : push(call, results, self);
}

LogicalResult infer::adaptiveMaxPool(const InferCall &call, Results &results) {
  TensorShape self;
  return failed(getAdaptive(call, self))
             ? failure()
             : pushWithIndices(call, results, self, 64);
}

LogicalResult infer::fractionalMaxPool(const InferCall &call,
                                       Results &results) {
  TensorShape self;
  Dims output;
  unsigned spatial = spatialInName(call.getSchema().packet);
  if (failed(getSelf(call, self)) ||
      failed(checkSpatial(call, self, spatial)) ||
      failed(getInts(call, "output_size", spatial, {}, output)))
    return failure();
  self.dims.resize(self.dims.size() - spatial);
  self.dims.append(output);
  return pushWithIndices(call, results, self, 64);
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

LogicalResult infer::upsample(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (self.rank() < 3)
    return call.error("a tensor to resample needs at least 3 dimensions, not ",
                      self.rank());
  size_t spatial = self.dims.size() - 2;
  if (!call.isNone("output_size")) {
    Dims sizes;
    if (failed(getInts(call, "output_size", static_cast<unsigned>(spatial), {},
                       sizes)))
      return failure();
    std::copy(sizes.begin(), sizes.end(), self.dims.begin() + 2);
    return push(call, results, self);
  }
  SmallVector<std::optional<double>> factors;
  if (failed(call.numbers(optional("scale_factors"), factors)))
    return failure();
  if (factors.size() != spatial)
    return call.error(factors.size(), " scale factors for ", spatial,
                      " spatial dimensions");
  for (auto [i, factor] : llvm::enumerate(factors)) {
    int64_t &size = self.dims[2 + i];
    double scaled = size != kUnknown && factor
                        ? std::floor(static_cast<double>(size) * *factor)
                        : 0.0;
    if (!(scaled >= 0.0 && scaled < 9.0e18))
      return call.error("size ", size, " cannot be scaled by ", *factor);
    size =
        size == kUnknown || !factor ? kUnknown : static_cast<int64_t>(scaled);
  }
  return push(call, results, self);
}

LogicalResult infer::upsampleBackward(const InferCall &call, Results &results) {
  TensorShape gradient;
  Dims sizes;
  if (failed(call.tensor(0, gradient)) ||
      failed(getSizes(call, "input_size", sizes)))
    return failure();
  return push(call, results, sizes, gradient.element);
}

LogicalResult infer::gridSampler(const InferCall &call, Results &results) {
  TensorShape input, grid;
  if (failed(call.tensor("input", input)) || failed(call.tensor("grid", grid)))
    return failure();
  if (input.rank() < 4 || input.rank() != grid.rank())
    return call.error("input of rank ", input.rank(), " and grid of rank ",
                      grid.rank());
  Dims dims = {mergeSizes(input.dims[0], grid.dims[0]), input.dims[1]};
  dims.append(grid.dims.begin() + 1, grid.dims.end() - 1);
  if (failed(checkSame(call, "batch sizes of input and grid", input.dims[0],
                       grid.dims[0])))
    return failure();
  return push(call, results, dims, input.element);
}

//===----------------------------------------------------------------------===//
// Layouts of windows
//===----------------------------------------------------------------------===//

/// Number of windows of an image whose sizes are `image`.
static LogicalResult countWindows(const InferCall &call,
                                  ArrayRef<int64_t> image, Dims &kernel,
                                  int64_t &windows) {
  Dims dilation, padding, stride;
  if (failed(getInts(call, "kernel_size", 2, {}, kernel)) ||
      failed(getInts(call, "dilation", 2, {1}, dilation)) ||
      failed(getInts(call, "padding", 2, {0}, padding)) ||
      failed(getInts(call, "stride", 2, {1}, stride)))
    return failure();
  windows = 1;
  for (unsigned i = 0; i < 2; ++i) {
    int64_t size = image[i];
    if (failed(poolSize(call, kernel[i], stride[i], padding[i], dilation[i],
                        /*ceilMode=*/false, size)))
      return failure();
    windows = mulSizes(windows, size);
  }
  return success();
}

LogicalResult infer::im2col(const InferCall &call, Results &results) {
  TensorShape self;
  Dims kernel;
  int64_t windows = 0;
  if (failed(getSelf(call, self)) || failed(checkSpatial(call, self, 2)) ||
      failed(countWindows(call, ArrayRef<int64_t>(self.dims).take_back(2),
                          kernel, windows)))
    return failure();
  int64_t channels = self.dims[self.dims.size() - 3];
  Dims dims(ArrayRef<int64_t>(self.dims).drop_back(3));
  dims.push_back(mulSizes(channels, mulSizes(kernel[0], kernel[1])));
  dims.push_back(windows);
  return push(call, results, dims, self.element);
}

LogicalResult infer::col2im(const InferCall &call, Results &results) {
  TensorShape self;
  Dims kernel, sizes;
  int64_t windows = 0;
  if (failed(getSelf(call, self)) || failed(checkSpatial(call, self, 1)) ||
      failed(getInts(call, "output_size", 2, {}, sizes)) ||
      failed(countWindows(call, sizes, kernel, windows)) ||
      failed(checkSame(call, "numbers of windows", self.dims.back(), windows)))
    return failure();
  int64_t rows = self.dims[self.dims.size() - 2];
  int64_t perChannel = mulSizes(kernel[0], kernel[1]);
  Dims dims(ArrayRef<int64_t>(self.dims).drop_back(2));
  dims.push_back(floorDivSize(rows, perChannel));
  dims.append(sizes);
  return push(call, results, dims, self.element);
}

/// `self` [..., C, H, W] and a positive factor.
static LogicalResult getPixels(const InferCall &call, ParamRef param,
                               TensorShape &self, int64_t &factor) {
  if (failed(getSelf(call, self)) || failed(call.integer(param, factor)))
    return failure();
  if (self.rank() < 3)
    return call.error("an image needs at least 3 dimensions, not ",
                      self.rank());
  if (factor != kUnknown && (factor <= 0 || factor > 1 << 16))
    return call.error("a factor of ", factor);
  return success();
}

/// Divides `size` by `by`; it must be a multiple.
static LogicalResult divideSize(const InferCall &call, int64_t by,
                                int64_t &size) {
  if (size != kUnknown && by != kUnknown && size % by != 0)
    return call.error("size ", size, " is no multiple of ", by);
  size = floorDivSize(size, by);
  return success();
}

LogicalResult infer::pixelShuffle(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t factor = 1;
  if (failed(getPixels(call, "upscale_factor", self, factor)))
    return failure();
  int64_t *image = self.dims.end() - 3;
  if (failed(divideSize(call, mulSizes(factor, factor), image[0])))
    return failure();
  image[1] = mulSizes(image[1], factor);
  image[2] = mulSizes(image[2], factor);
  return push(call, results, self);
}

LogicalResult infer::pixelUnshuffle(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t factor = 1;
  if (failed(getPixels(call, "downscale_factor", self, factor)))
    return failure();
  int64_t *image = self.dims.end() - 3;
  image[0] = mulSizes(image[0], mulSizes(factor, factor));
  if (failed(divideSize(call, factor, image[1])) ||
      failed(divideSize(call, factor, image[2])))
    return failure();
  return push(call, results, self);
}
