// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that only arrange elements: stacking, rotating, diagonals, blocks,
// channels.
//
// Bits are copied, so every element type is exact. What turns or takes a
// diagonal reads its operand with other strides; results are new tensors all
// the same, as their schemas say.

#include "Kernels.h"
#include "Places.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// `tensor` as a contiguous one of other sizes.
static Tensor reshaped(const Tensor &tensor, ArrayRef<int64_t> sizes) {
  Tensor result = tensor.contiguous();
  result.sizes.assign(sizes.begin(), sizes.end());
  Sizes strides = rowMajor(sizes);
  result.strides.assign(strides.begin(), strides.end());
  return result;
}

/// At least `rank` dimensions, as `atleast_*d` adds them.
static Sizes atLeast(ArrayRef<int64_t> given, size_t rank) {
  Sizes sizes(given);
  if (sizes.empty())
    sizes.push_back(1);
  if (rank >= 2 && sizes.size() == 1)
    sizes.insert(sizes.begin(), 1);
  if (rank >= 3 && sizes.size() == 2)
    sizes.push_back(1);
  return sizes;
}

/// Result 0: the tensors one behind the other along `dim`.
static LogicalResult join(const KernelCall &call, ArrayRef<Tensor> tensors,
                          int64_t dim) {
  Sizes sizes(tensors.front().sizes);
  sizes[dim] = 0;
  for (const Tensor &tensor : tensors)
    sizes[dim] += tensor.sizes[dim];
  Tensor result = call.make(0, sizes);
  Along all(sizes, dim);
  int64_t begin = 0;
  for (const Tensor &tensor : tensors) {
    Along own(tensor.sizes, dim);
    if (own.outer != all.outer || own.inner != all.inner)
      return call.error("tensors differ beside dimension " + Twine(dim) +
                        ", along which they are joined");
    for (int64_t o = 0; o < own.outer; ++o)
      copyRun(tensor, own.at(o, 0, 0), result, all.at(o, begin, 0),
              own.length * own.inner);
    begin += own.length;
  }
  return success();
}

/// hstack, vstack, dstack: at least `rank` dimensions, then joined along `dim`
/// (vectors along 0).
template <size_t rank, int64_t dim>
static LogicalResult stackAlong(const KernelCall &call) {
  std::vector<Tensor> tensors = call.tensors(0);
  for (Tensor &tensor : tensors)
    tensor = reshaped(tensor, atLeast(tensor.sizes, rank));
  return join(call, tensors, std::min(dim, tensors.front().rank() - 1));
}

/// Vectors are columns.
static LogicalResult columnStack(const KernelCall &call) {
  std::vector<Tensor> tensors = call.tensors(0);
  for (Tensor &tensor : tensors)
    if (tensor.rank() < 2)
      tensor = reshaped(tensor, {tensor.numel(), 1});
  return join(call, tensors, 1);
}

/// Of one tensor, or of each in a list.
template <size_t rank>
static LogicalResult atLeastDims(const KernelCall &call) {
  for (auto [i, tensor] : llvm::enumerate(call.tensors(0))) {
    Tensor result = call.make(i, atLeast(tensor.sizes, rank));
    copyRun(tensor, 0, result, 0, tensor.numel());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Turning
//===----------------------------------------------------------------------===//

/// `self` read with other strides from another first element.
static LogicalResult readAs(const KernelCall &call, const Tensor &self,
                            const Sizes &sizes, const Sizes &strides,
                            int64_t first) {
  Places places{sizes, offsetsOf(sizes, strides)};
  for (int64_t &at : places.at)
    at += first;
  return pick(call, self, places);
}

template <int64_t dim> static LogicalResult flip(const KernelCall &call) {
  Tensor self = call.dense("self");
  Sizes strides = rowMajor(self.sizes);
  int64_t first = (self.sizes[dim] - 1) * strides[dim];
  strides[dim] = -strides[dim];
  return readAs(call, self, Sizes(self.sizes), strides, first);
}

/// k quarter turns from the first towards the second dimension.
static LogicalResult rot90(const KernelCall &call) {
  Tensor self = call.dense("self");
  SmallVector<int64_t> dims = call.integers("dims");
  int64_t a = wrapped(dims[0], self.rank()), b = wrapped(dims[1], self.rank());
  int64_t turns = ((call.integer("k", 1) % 4) + 4) % 4;
  Sizes sizes(self.sizes), strides = rowMajor(self.sizes);
  int64_t first = 0;
  auto reverse = [&](int64_t dim) {
    first += (sizes[dim] - 1) * strides[dim];
    strides[dim] = -strides[dim];
  };
  if (turns == 1 || turns == 2)
    reverse(b);
  if (turns == 2 || turns == 3)
    reverse(a);
  if (turns % 2 == 1) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return readAs(call, self, sizes, strides, first);
}

/// [N, groups, C, ...] to [N, C, groups, ...].
static LogicalResult channelShuffle(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t groups = call.integer("groups"), channels = self.sizes[1];
  if (failed(checkGroups(call, channels, groups)))
    return failure();
  int64_t plane = product(ArrayRef<int64_t>(self.sizes).drop_front(2));
  Tensor result = call.make(0, self.sizes);
  for (int64_t n = 0; n < self.sizes[0]; ++n)
    for (int64_t c = 0; c < channels; ++c) {
      int64_t from = c % groups * (channels / groups) + c / groups;
      copyRun(self, (n * channels + from) * plane, result,
              (n * channels + c) * plane, plane);
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Diagonals and blocks
//===----------------------------------------------------------------------===//

/// The diagonal of the matrices of dimensions `dim1` and `dim2`, as the last
/// dimension.
static LogicalResult takeDiagonal(const KernelCall &call, const Tensor &self,
                                  int64_t offset, int64_t dim1, int64_t dim2) {
  dim1 = wrapped(dim1, self.rank());
  dim2 = wrapped(dim2, self.rank());
  Sizes natural = rowMajor(self.sizes), sizes, strides;
  for (int64_t d = 0; d < self.rank(); ++d)
    if (d != dim1 && d != dim2) {
      sizes.push_back(self.sizes[d]);
      strides.push_back(natural[d]);
    }
  int64_t down = std::max<int64_t>(-offset, 0);
  int64_t right = std::max<int64_t>(offset, 0);
  int64_t length = std::min(self.sizes[dim1] - down, self.sizes[dim2] - right);
  sizes.push_back(std::max<int64_t>(length, 0));
  strides.push_back(natural[dim1] + natural[dim2]);
  return readAs(call, self, sizes, strides,
                down * natural[dim1] + right * natural[dim2]);
}

/// Zeros with the last dimension of `self` on the diagonal of dimensions
/// `dim1` and `dim2`.
static LogicalResult putDiagonal(const KernelCall &call, const Tensor &self,
                                 int64_t offset, int64_t dim1, int64_t dim2) {
  dim1 = wrapped(dim1, self.rank() + 1);
  dim2 = wrapped(dim2, self.rank() + 1);
  int64_t length = self.sizes.back(), size = length + std::abs(offset);
  Sizes sizes(ArrayRef<int64_t>(self.sizes).drop_back());
  sizes.insert(sizes.begin() + std::min(dim1, dim2), size);
  sizes.insert(sizes.begin() + std::max(dim1, dim2), size);
  Tensor result = call.make(0, sizes);
  Sizes natural = rowMajor(sizes), strides;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
    if (d != dim1 && d != dim2)
      strides.push_back(natural[d]);
  strides.push_back(natural[dim1] + natural[dim2]);
  int64_t first = std::max<int64_t>(-offset, 0) * natural[dim1] +
                  std::max<int64_t>(offset, 0) * natural[dim2];
  for (auto [from, to] : llvm::enumerate(offsetsOf(self.sizes, strides)))
    copyRun(self, static_cast<int64_t>(from), result, first + to);
  return success();
}

static LogicalResult diag(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t offset = call.integer("diagonal");
  return self.rank() == 2 ? takeDiagonal(call, self, offset, 0, 1)
                          : putDiagonal(call, self, offset, 0, 1);
}

static LogicalResult diagflat(const KernelCall &call) {
  Tensor self = call.dense("self");
  return putDiagonal(call, reshaped(self, {self.numel()}),
                     call.integer("offset"), 0, 1);
}

static LogicalResult diagEmbed(const KernelCall &call) {
  return putDiagonal(call, call.dense("self"), call.integer("offset"),
                     call.integer("dim1", -2), call.integer("dim2", -1));
}

static LogicalResult linalgDiagonal(const KernelCall &call) {
  return takeDiagonal(call, call.dense("A"), call.integer("offset"),
                      call.integer("dim1", -2), call.integer("dim2", -1));
}

/// Vectors are rows.
static LogicalResult blockDiag(const KernelCall &call) {
  std::vector<Tensor> tensors = call.tensors(0);
  Sizes sizes = {0, 0};
  for (Tensor &tensor : tensors) {
    tensor = reshaped(tensor, atLeast(tensor.sizes, 2));
    sizes[0] += tensor.sizes[0];
    sizes[1] += tensor.sizes[1];
  }
  Tensor result = call.make(0, sizes);
  int64_t row = 0, column = 0;
  for (const Tensor &tensor : tensors) {
    // Tensors of another type are converted.
    Tensor own = Tensor::zeros(result.type, tensor.sizes);
    copyElements(tensor, own);
    int64_t width = own.sizes[1];
    for (int64_t i = 0; i < own.sizes[0]; ++i)
      copyRun(own, i * width, result, (row + i) * sizes[1] + column, width);
    row += own.sizes[0];
    column += width;
  }
  return success();
}

/// All combinations of one element of each vector; of one vector, itself.
static LogicalResult cartesianProd(const KernelCall &call) {
  std::vector<Tensor> tensors = call.tensors(0);
  Sizes lengths;
  for (const Tensor &tensor : tensors)
    lengths.push_back(tensor.numel());
  int64_t rows = product(lengths), columns = tensors.size();
  Tensor result =
      call.make(0, columns == 1 ? Sizes{rows} : Sizes{rows, columns});
  Sizes index(tensors.size(), 0);
  for (int64_t row = 0; row < rows; ++row) {
    for (auto [i, tensor] : llvm::enumerate(tensors))
      copyRun(tensor, index[i], result,
              row * columns + static_cast<int64_t>(i));
    advance(index, lengths);
  }
  return success();
}

const KernelFn kernels::hstack = stackAlong<1, 1>;
const KernelFn kernels::vstack = stackAlong<2, 0>;
const KernelFn kernels::dstack = stackAlong<3, 2>;
const KernelFn kernels::columnStack = ::columnStack;
const KernelFn kernels::atleast1d = atLeastDims<1>;
const KernelFn kernels::atleast2d = atLeastDims<2>;
const KernelFn kernels::atleast3d = atLeastDims<3>;
const KernelFn kernels::flipud = ::flip<0>;
const KernelFn kernels::fliplr = ::flip<1>;
const KernelFn kernels::rot90 = ::rot90;
const KernelFn kernels::channelShuffle = ::channelShuffle;
const KernelFn kernels::diag = ::diag;
const KernelFn kernels::diagflat = ::diagflat;
const KernelFn kernels::diagEmbed = ::diagEmbed;
const KernelFn kernels::linalgDiagonal = ::linalgDiagonal;
const KernelFn kernels::blockDiag = ::blockDiag;
const KernelFn kernels::cartesianProd = ::cartesianProd;
