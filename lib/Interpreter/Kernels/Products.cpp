// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that PyTorch writes in terms of matrix products: sums of them,
// chains, contractions of chosen dimensions, Kronecker and vector products.
//
// Sums are in double, int64_t or complex; a chain is multiplied from the left,
// without rounding between its products.

#include "Kernels.h"
#include "Matmul.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Result 0 = beta * self + alpha * z, where `self` broadcasts to z.
template <typename T>
static LogicalResult addScaled(const KernelCall &call, const Sizes &sizes,
                               std::vector<T> z) {
  Tensor self = call.dense("self");
  auto alpha = static_cast<T>(call.number("alpha", 1));
  auto beta = static_cast<T>(call.number("beta", 1));
  std::vector<T> added = load<T>(self);
  for (auto [value, at] : llvm::zip_equal(z, broadcastMap(self.sizes, sizes))) {
    value *= alpha;
    if (beta != T(0))
      value += beta * added[at];
  }
  store<T>(call.make(0, sizes), z);
  return success();
}

/// The products of a batch, added up.
static LogicalResult addbmm(const KernelCall &call) {
  Tensor a = call.dense("batch1"), b = call.dense("batch2");
  int64_t rows = a.sizes[1], inner = a.sizes[2], columns = b.sizes[2];
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> x = load<T>(a), y = load<T>(b), z(rows * columns, zero);
    for (int64_t n = 0; n < a.sizes[0]; ++n)
      multiply(x.data() + n * rows * inner, y.data() + n * inner * columns,
               z.data(), rows, inner, columns);
    return addScaled<T>(call, {rows, columns}, std::move(z));
  });
}

static LogicalResult addr(const KernelCall &call) {
  Tensor a = call.dense("vec1"), b = call.dense("vec2");
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> z(a.numel() * b.numel(), zero);
    multiply(load<T>(a).data(), load<T>(b).data(), z.data(), a.numel(), 1,
             b.numel());
    return addScaled<T>(call, {a.numel(), b.numel()}, std::move(z));
  });
}

/// Matrices one after the other; the first and the last may be vectors.
static LogicalResult chain(const KernelCall &call) {
  std::vector<Tensor> tensors = call.tensors(0);
  bool row = tensors.front().rank() == 1, column = tensors.back().rank() == 1;
  int64_t rows = row ? 1 : tensors.front().sizes[0];
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> z = load<T>(tensors.front());
    int64_t inner = tensors.front().sizes.back();
    for (const Tensor &tensor : ArrayRef<Tensor>(tensors).drop_front()) {
      int64_t columns = tensor.rank() == 1 ? 1 : tensor.sizes[1];
      std::vector<T> next(rows * columns, zero);
      multiply(z.data(), load<T>(tensor).data(), next.data(), rows, inner,
               columns);
      z = std::move(next);
      inner = columns;
    }
    Sizes sizes;
    if (!row)
      sizes.push_back(rows);
    if (!column || tensors.size() == 1)
      sizes.push_back(inner);
    store<T>(call.make(0, sizes), z);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {

/// Offsets of the dimensions that are kept and of those that are summed over.
struct Factor {
  std::vector<int64_t> kept, summed;
};

} // namespace

/// `common` are the sizes that are summed over: 1 broadcasts to them.
static Factor factorOf(const Tensor &tensor, ArrayRef<int64_t> dims,
                       ArrayRef<int64_t> common, Sizes &kept) {
  Sizes natural = rowMajor(tensor.sizes), strides, own, summed;
  for (int64_t dim : dims)
    summed.push_back(tensor.sizes[dim] == 1 ? 0 : natural[dim]);
  for (int64_t dim = 0; dim < tensor.rank(); ++dim)
    if (!llvm::is_contained(dims, dim)) {
      own.push_back(tensor.sizes[dim]);
      strides.push_back(natural[dim]);
    }
  kept.append(own);
  return {offsetsOf(own, strides), offsetsOf(common, summed)};
}

static LogicalResult contract(const KernelCall &call, const Tensor &a,
                              const Tensor &b, Sizes dimsA, Sizes dimsB) {
  Sizes common, sizes;
  for (auto [x, y] : llvm::zip_equal(dimsA, dimsB)) {
    x = wrapped(x, a.rank());
    y = wrapped(y, b.rank());
    common.push_back(std::max(a.sizes[x], b.sizes[y]));
  }
  Factor left = factorOf(a, dimsA, common, sizes);
  Factor right = factorOf(b, dimsB, common, sizes);
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> x = load<T>(a), y = load<T>(b), z;
    z.reserve(left.kept.size() * right.kept.size());
    for (int64_t i : left.kept)
      for (int64_t j : right.kept) {
        T sum = zero;
        for (auto [k, l] : llvm::zip_equal(left.summed, right.summed))
          sum += x[i + k] * y[j + l];
        z.push_back(sum);
      }
    store<T>(call.make(0, sizes), z);
    return success();
  });
}

static LogicalResult tensordot(const KernelCall &call) {
  return contract(call, call.dense("self"), call.dense("other"),
                  Sizes(call.integers("dims_self")),
                  Sizes(call.integers("dims_other")));
}

/// Over the last dimensions; with a scalar, the product.
static LogicalResult inner(const KernelCall &call) {
  Tensor a = call.dense("self"), b = call.dense("other");
  bool scalar = a.rank() == 0 || b.rank() == 0;
  Sizes last = scalar ? Sizes() : Sizes{-1};
  return contract(call, a, b, last, last);
}

/// x1[.., i] * weight[o, i, j] * x2[.., j] + bias[o].
static LogicalResult bilinear(const KernelCall &call) {
  Tensor a = call.dense("input1"), b = call.dense("input2");
  Tensor weight = call.dense("weight");
  int64_t n = weight.sizes[1], m = weight.sizes[2], outs = weight.sizes[0];
  Sizes sizes(a.sizes);
  sizes.back() = outs;
  int64_t rows = product(ArrayRef<int64_t>(sizes).drop_back());
  std::vector<double> x = a.doubles(), y = b.doubles(), w = weight.doubles();
  std::vector<double> bias = doubles(call.optionalTensor("bias"));
  std::vector<double> z(rows * outs);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < outs; ++o) {
      double &sum = z[r * outs + o];
      sum = bias.empty() ? 0 : bias[o];
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < m; ++j)
          sum += x[r * n + i] * w[(o * n + i) * m + j] * y[r * m + j];
    }
  put(call, 0, sizes, z);
  return success();
}

//===----------------------------------------------------------------------===//
// Elements with elements
//===----------------------------------------------------------------------===//

/// Every element of `self` times all of `other`, in blocks.
static LogicalResult kron(const KernelCall &call) {
  Tensor a = call.dense("self"), b = call.dense("other");
  size_t rank = std::max(a.sizes.size(), b.sizes.size());
  Sizes outer(rank - a.sizes.size(), 1), block(rank - b.sizes.size(), 1);
  outer.append(a.sizes);
  block.append(b.sizes);
  // Coordinates (i, k) of both tensors, dimension by dimension.
  Sizes sizes, pairs, stridesA, stridesB;
  Sizes naturalA = rowMajor(outer), naturalB = rowMajor(block);
  for (size_t d = 0; d < rank; ++d) {
    sizes.push_back(outer[d] * block[d]);
    pairs.append({outer[d], block[d]});
    stridesA.append({naturalA[d], 0});
    stridesB.append({0, naturalB[d]});
  }
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> x = load<T>(a), y = load<T>(b), z;
    for (auto [i, k] : llvm::zip_equal(offsetsOf(pairs, stridesA),
                                       offsetsOf(pairs, stridesB)))
      z.push_back(x[i] * y[k]);
    store<T>(call.make(0, sizes), z);
    return success();
  });
}

/// Both operands, broadcast.
template <typename T>
static std::pair<std::vector<T>, std::vector<T>>
broadcastPair(const Tensor &a, const Tensor &b, ArrayRef<int64_t> sizes) {
  return {load<T>(a.expand(sizes)), load<T>(b.expand(sizes))};
}

/// Along `dim`; without it, along the first dimension of size 3.
static LogicalResult cross(const KernelCall &call) {
  Tensor a = call.tensor("self"), b = call.tensor("other");
  Sizes sizes = broadcastSizes(a.sizes, b.sizes);
  int64_t dim = llvm::find(sizes, 3) - sizes.begin();
  if (!call.isNone("dim"))
    dim = call.integer("dim");
  dim = wrapped(dim, static_cast<int64_t>(sizes.size()));
  if (dim >= static_cast<int64_t>(sizes.size()) || sizes[dim] != 3)
    return call.error("no dimension of size 3");
  Along along(sizes, dim);
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    auto [x, y] = broadcastPair<T>(a, b, sizes);
    std::vector<T> z(x.size());
    for (int64_t o = 0; o < along.outer; ++o)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t n = 0; n < along.inner; ++n) {
          int64_t j = along.at(o, (i + 1) % 3, n);
          int64_t k = along.at(o, (i + 2) % 3, n);
          z[along.at(o, i, n)] = x[j] * y[k] - x[k] * y[j];
        }
    store<T>(call.make(0, sizes), z);
    return success();
  });
}

/// Sums of conj(x) * y along a dimension.
static LogicalResult vecdot(const KernelCall &call) {
  Tensor a = call.tensor("x"), b = call.tensor("y");
  Sizes sizes = broadcastSizes(a.sizes, b.sizes), kept = sizes;
  int64_t dim =
      wrapped(call.integer("dim"), static_cast<int64_t>(sizes.size()));
  kept.erase(kept.begin() + dim);
  Along along(sizes, dim);
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    auto [x, y] = broadcastPair<T>(a, b, sizes);
    std::vector<T> z(product(kept));
    for (int64_t o = 0; o < along.outer; ++o)
      for (int64_t i = 0; i < along.length; ++i)
        for (int64_t n = 0; n < along.inner; ++n) {
          T left = x[along.at(o, i, n)];
          if constexpr (std::is_same_v<T, Complex>)
            left = std::conj(left);
          z[o * along.inner + n] += left * y[along.at(o, i, n)];
        }
    store<T>(call.make(0, kept), z);
    return success();
  });
}

const KernelFn kernels::addbmm = ::addbmm;
const KernelFn kernels::addr = ::addr;
const KernelFn kernels::chain = ::chain;
const KernelFn kernels::tensordot = ::tensordot;
const KernelFn kernels::inner = ::inner;
const KernelFn kernels::bilinear = ::bilinear;
const KernelFn kernels::kron = ::kron;
const KernelFn kernels::cross = ::cross;
const KernelFn kernels::vecdot = ::vecdot;
