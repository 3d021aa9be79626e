// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and casts: the same elements at a new place, perhaps of another type.
// Views that strides allow never come here (Analysis/Layouts.h). Replacing a
// part of a tensor is a copy of the whole, then one into a strided part of it;
// the gradient of taking a part is the same into zeros. Windows that overlap
// (unfold) have gradients that add up, in double precision.

#include "Kernels.h"
#include "Parts.h"
#include "Values.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// The first tensor, as the declared type.
LogicalResult copy(const KernelCall &call) {
  Tensor from = call.tensor(0u);
  copyElements(from, call.make(0, from.sizes));
  return success();
}

/// copy(self, src): the elements of `src` in the shape and type of `self`.
LogicalResult copyInto(const KernelCall &call) {
  Tensor self = call.tensor("self");
  fill(call.make(0, self.sizes), call.tensor("src"));
  return success();
}

LogicalResult fillScalar(const KernelCall &call) {
  fill(call.make(0, call.tensor("self").sizes), call.scalar("value"));
  return success();
}

LogicalResult zero(const KernelCall &call) {
  fill(call.make(0, call.tensor("self").sizes), int64_t(0));
  return success();
}

/// The piece of `base` that as_strided's arguments name; nothing if it leaves
/// it.
std::optional<Tensor> stridedPart(const KernelCall &call, Tensor base) {
  int64_t elements = base.numel(), last = call.integer("storage_offset");
  SmallVector<int64_t> sizes = call.integers("size"),
                       strides = call.integers("stride");
  base.sizes.assign(sizes.begin(), sizes.end());
  base.strides.assign(strides.begin(), strides.end());
  base.offset += last;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    if (stride < 0)
      return std::nullopt;
    last += (size - 1) * stride;
  }
  if (base.numel() > 0 &&
      (call.integer("storage_offset") < 0 || last >= elements))
    return std::nullopt;
  return base;
}

LogicalResult leavesBase(const KernelCall &call) {
  return call.error("the strides leave the tensor");
}

LogicalResult asStridedCopy(const KernelCall &call) {
  std::optional<Tensor> part = stridedPart(call, call.dense("self"));
  if (!part)
    return leavesBase(call);
  copyElements(*part, call.make(0, part->sizes));
  return success();
}

/// A copy of `self`, part of which is replaced by `src`.
template <typename F>
LogicalResult replacePart(const KernelCall &call, F part) {
  Tensor self = call.tensor("self");
  Tensor result = call.make(0, self.sizes);
  copyElements(self, result);
  std::optional<Tensor> target = part(result);
  if (!target)
    return leavesBase(call);
  fill(*target, call.tensor("src"));
  return success();
}

LogicalResult asStridedScatter(const KernelCall &call) {
  return replacePart(
      call, [&](const Tensor &result) { return stridedPart(call, result); });
}

std::optional<Tensor> slicePartOf(const KernelCall &call, const Tensor &whole) {
  int64_t dim = call.dim("dim", whole.rank()), step = call.integer("step", 1);
  auto [first, last] = sliceBounds(call, whole.sizes[dim]);
  if (step <= 0)
    return std::nullopt;
  return slicePart(whole, dim, first, (last - first + step - 1) / step, step);
}

std::optional<Tensor> selectPartOf(const KernelCall &call,
                                   const Tensor &whole) {
  int64_t dim = call.dim("dim", whole.rank()), index = call.integer("index");
  int64_t size = whole.sizes[dim];
  index = index < 0 ? index + size : index;
  if (index < 0 || index >= size)
    return std::nullopt;
  return selectPart(whole, dim, index);
}

std::optional<Tensor> diagonalPartOf(const KernelCall &call,
                                     const Tensor &whole) {
  return diagonalPart(whole, call.integer("offset"),
                      call.dim("dim1", whole.rank()),
                      call.dim("dim2", whole.rank()));
}

using PartFn = std::optional<Tensor> (*)(const KernelCall &, const Tensor &);

template <PartFn part> LogicalResult scatterPart(const KernelCall &call) {
  return replacePart(call,
                     [&](const Tensor &result) { return part(call, result); });
}

/// The gradient of a view of a part: zeros around it.
template <PartFn part> LogicalResult partBackward(const KernelCall &call) {
  Tensor result = call.make(0, call.integers("input_sizes"));
  std::optional<Tensor> target = part(call, result);
  if (!target)
    return leavesBase(call);
  fill(*target, call.tensor("grad_output"));
  return success();
}

/// Windows overlap: their gradients add up.
LogicalResult unfoldBackward(const KernelCall &call) {
  SmallVector<int64_t> sizes = call.integers("input_sizes");
  Tensor gradient = call.dense("grad_in");
  int64_t rank = static_cast<int64_t>(sizes.size());
  int64_t dim = call.dim("dim", rank), step = call.integer("step");
  Tensor result = call.make(0, sizes);
  if (rank == 0) {
    copyElements(selectPart(gradient, 0, 0), result);
    return success();
  }
  // Place of element 0 of each window, in row-major order of the windows.
  IndexMaps maps = identityMaps(sizes);
  maps[dim].resize(gradient.sizes[dim]);
  for (auto [i, place] : llvm::enumerate(maps[dim]))
    place = static_cast<int64_t>(i) * step;
  return withAccumulator(result.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> sums(result.numel()), values = load<T>(gradient);
    int64_t width = gradient.sizes.back();
    SmallVector<int64_t> index(rank, 0);
    for (int64_t i = 0, n = gradient.numel(); i < n; i += width) {
      int64_t at = 0;
      for (int64_t d = 0; d < rank; ++d)
        at += maps[d][index[d]] * result.strides[d];
      for (int64_t k = 0; k < width; ++k)
        sums[at + k * result.strides[dim]] += values[i + k];
      for (int64_t d = rank; d-- > 0;) {
        if (++index[d] < gradient.sizes[d])
          break;
        index[d] = 0;
      }
    }
    store<T>(result, sums);
    return success();
  });
}

/// Of complex matrices; others are views.
LogicalResult adjoint(const KernelCall &call) {
  Tensor self = call.tensor("self");
  if (self.rank() > 1) {
    std::swap(self.sizes[self.rank() - 1], self.sizes[self.rank() - 2]);
    std::swap(self.strides[self.rank() - 1], self.strides[self.rank() - 2]);
  }
  std::vector<std::complex<double>> values = self.complexes();
  for (std::complex<double> &value : values)
    value = std::conj(value);
  call.make(0, self.sizes).assign(ArrayRef<std::complex<double>>(values));
  return success();
}

} // namespace

const KernelFn kernels::copy = ::copy;
const KernelFn kernels::adjoint = ::adjoint;
const KernelFn kernels::copyInto = ::copyInto;
const KernelFn kernels::fillScalar = ::fillScalar;
const KernelFn kernels::zero = ::zero;
const KernelFn kernels::asStridedCopy = ::asStridedCopy;
const KernelFn kernels::asStridedScatter = ::asStridedScatter;
const KernelFn kernels::sliceScatter = scatterPart<slicePartOf>;
const KernelFn kernels::selectScatter = scatterPart<selectPartOf>;
const KernelFn kernels::diagonalScatter = scatterPart<diagonalPartOf>;
const KernelFn kernels::sliceBackward = partBackward<slicePartOf>;
const KernelFn kernels::selectBackward = partBackward<selectPartOf>;
const KernelFn kernels::diagonalBackward = partBackward<diagonalPartOf>;
const KernelFn kernels::unfoldBackward = ::unfoldBackward;
