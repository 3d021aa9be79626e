// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Max pooling as PyTorch's backend writes it: with the offset of the greatest
// element in its window, as a byte, in place of its index in the tensor. The
// first of equal elements counts, and NaN is greater than all. Windows have one
// to three dimensions: offsets, places and indices are numbers in row-major
// order, taken apart dimension by dimension from the last one on.

#include "Kernels.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Windows of 2 or 3 dimensions; the dimensions before them are channels.
struct Windows {
  explicit Windows(const KernelCall &call)
      : kernel(call.integers("kernel_size")),
        stride(call.integers("stride", kernel.size())),
        padding(call.integers("padding", kernel.size())),
        dilation(call.integers("dilation", kernel.size())) {
    if (stride.empty())
      stride = kernel;
  }

  unsigned rank() const { return kernel.size(); }
  int64_t count() const {
    int64_t product = 1;
    for (int64_t size : kernel)
      product *= size;
    return product;
  }
  int64_t outputSize(unsigned d, int64_t size, bool ceil) const {
    int64_t span = size + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
    int64_t out = (span + (ceil ? stride[d] - 1 : 0)) / stride[d] + 1;
    // The last window must begin inside the tensor or its left padding.
    if (ceil && (out - 1) * stride[d] >= size + padding[d])
      --out;
    return out;
  }
  /// The place in a plane of sizes `sizes` that offset `offset` of the window
  /// of output `place` names; -1 in the padding.
  int64_t source(ArrayRef<int64_t> outSizes, int64_t place,
                 ArrayRef<int64_t> sizes, int64_t offset) const {
    int64_t result = 0, scale = 1;
    for (unsigned d = rank(); d-- > 0;) {
      int64_t at = place % outSizes[d] * stride[d] - padding[d] +
                   offset % kernel[d] * dilation[d];
      if (at < 0 || at >= sizes[d])
        return -1;
      result += at * scale;
      scale *= sizes[d];
      place /= outSizes[d];
      offset /= kernel[d];
    }
    return result;
  }

  SmallVector<int64_t> kernel, stride, padding, dilation;
};

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

LogicalResult maxPool(const KernelCall &call) {
  Tensor self = call.tensor("self");
  Windows windows(call);
  bool ceil = call.boolean("ceil_mode");
  ArrayRef<int64_t> all = self.sizes, planes = all.take_back(windows.rank());
  SmallVector<int64_t> outSizes(all.drop_back(windows.rank()));
  for (unsigned d = 0; d < windows.rank(); ++d)
    outSizes.push_back(windows.outputSize(d, planes[d], ceil));
  ArrayRef<int64_t> outPlanes =
      ArrayRef<int64_t>(outSizes).take_back(windows.rank());
  std::vector<double> values = self.doubles(), greatest;
  std::vector<int64_t> offsets;
  int64_t plane = product(planes), outPlane = product(outPlanes);
  for (int64_t i = 0, n = product(outSizes); i < n; ++i) {
    const double *channel = values.data() + i / outPlane * plane;
    double best = -HUGE_VAL;
    int64_t bestOffset = -1;
    for (int64_t k = 0; k < windows.count(); ++k) {
      int64_t from = windows.source(outPlanes, i % outPlane, planes, k);
      if (from < 0 || (bestOffset >= 0 && !(channel[from] > best) &&
                       !std::isnan(channel[from])))
        continue;
      best = channel[from];
      bestOffset = k;
    }
    greatest.push_back(best);
    offsets.push_back(std::max<int64_t>(bestOffset, 0));
  }
  call.make(0, outSizes).assign(ArrayRef<double>(greatest));
  call.make(1, outSizes).assign(ArrayRef<int64_t>(offsets));
  return success();
}

LogicalResult offsetsToIndices(const KernelCall &call) {
  Tensor self = call.tensor("self");
  Windows windows(call);
  SmallVector<int64_t> input = call.integers("input_size");
  ArrayRef<int64_t> planes = ArrayRef(input).take_back(windows.rank());
  ArrayRef<int64_t> outPlanes =
      ArrayRef<int64_t>(self.sizes).take_back(windows.rank());
  std::vector<int64_t> indices = self.ints();
  int64_t outPlane = product(outPlanes);
  for (auto [i, index] : llvm::enumerate(indices)) {
    int64_t from = windows.source(outPlanes, static_cast<int64_t>(i) % outPlane,
                                  planes, index);
    if (from < 0)
      return call.error("offset " + Twine(index) + " leaves the tensor");
    index = from;
  }
  call.make(0, self.sizes).assign(ArrayRef<int64_t>(indices));
  return success();
}

} // namespace

const KernelFn kernels::maxPool = ::maxPool;
const KernelFn kernels::offsetsToIndices = ::offsetsToIndices;
