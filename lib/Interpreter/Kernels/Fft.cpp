// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Discrete Fourier transforms by Eigen, a line at a time (its FFT is in the
// unsupported part, which every package of Eigen has); this file is what
// dimensions, sizes and norms mean.
//
// Normalization: 0 none, 1 by the root of the number of elements transformed,
// 2 by that number. A real transform keeps elements 0 to n / 2 of its last
// dimension; the way back fills in the conjugates of the others, and takes the
// elements that are their own conjugates as real.

#include "EigenCore.h"
#include "Kernels.h"
#include "Values.h"

#include <unsupported/Eigen/FFT>

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Transforms all lines along `dim` in place.
static void transform(std::vector<Complex> &values, ArrayRef<int64_t> sizes,
                      int64_t dim, bool forward) {
  Along along(sizes, dim);
  // One element is its own transform, for which Eigen has no place.
  if (along.length < 2)
    return;
  Eigen::FFT<double> fft(Eigen::default_fft_impl<double>(),
                         Eigen::FFT<double>::Unscaled);
  std::vector<Complex> line(along.length), result(along.length);
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      for (int64_t k = 0; k < along.length; ++k)
        line[k] = values[along.at(o, k, n)];
      if (forward)
        fft.fwd(result.data(), line.data(), along.length);
      else
        fft.inv(result.data(), line.data(), along.length);
      for (int64_t k = 0; k < along.length; ++k)
        values[along.at(o, k, n)] = result[k];
    }
}

namespace {

/// A transform along `dims`; `mode` is the normalization.
struct Transform {
  SmallVector<int64_t> dims;
  int64_t mode;

  /// What the sums are multiplied by; `sizes` are those of the full transform.
  double factor(ArrayRef<int64_t> sizes) const {
    double count = 1;
    for (int64_t dim : dims)
      count *= static_cast<double>(
          sizes[wrapped(dim, static_cast<int64_t>(sizes.size()))]);
    return mode == 1 ? 1 / std::sqrt(count) : (mode == 2 ? 1 / count : 1);
  }
};

/// Elements and their sizes.
struct Values {
  Sizes sizes;
  std::vector<Complex> values;
};

} // namespace

/// Elements [0, length) along `dim`.
static std::vector<Complex> cut(const std::vector<Complex> &values,
                                ArrayRef<int64_t> sizes, int64_t dim,
                                int64_t length) {
  Along along(sizes, dim);
  std::vector<Complex> result;
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i = 0; i < length; ++i)
      for (int64_t n = 0; n < along.inner; ++n)
        result.push_back(values[along.at(o, i, n)]);
  return result;
}

static void toComplex(const Transform &t, Values &x, bool forward) {
  for (int64_t dim : t.dims)
    transform(x.values, x.sizes, dim, forward);
  double factor = t.factor(x.sizes);
  for (Complex &value : x.values)
    value *= factor;
}

/// Keeps the first half of the last dimension.
static void halve(const Transform &t, Values &x) {
  int64_t last = wrapped(t.dims.back(), static_cast<int64_t>(x.sizes.size()));
  int64_t half = x.sizes[last] / 2 + 1;
  x.values = cut(x.values, x.sizes, last, half);
  x.sizes[last] = half;
}

/// The way back to `length` real elements in the last dimension.
static std::vector<double> toReal(const Transform &t, Values &x,
                                  int64_t length) {
  int64_t last = wrapped(t.dims.back(), static_cast<int64_t>(x.sizes.size()));
  for (int64_t dim : ArrayRef<int64_t>(t.dims).drop_back())
    transform(x.values, x.sizes, dim, /*forward=*/false);
  // The last dimension: what is there and its conjugates.
  Along half(x.sizes, last);
  x.sizes[last] = length;
  Along whole(x.sizes, last);
  std::vector<Complex> all(product(x.sizes));
  for (int64_t o = 0; o < whole.outer; ++o)
    for (int64_t n = 0; n < whole.inner; ++n)
      for (int64_t i = 0; i <= length / 2 && i < half.length; ++i) {
        Complex value = x.values[half.at(o, i, n)];
        bool own = i == 0 || 2 * i == length;
        all[whole.at(o, i, n)] = own ? value.real() : value;
        if (!own)
          all[whole.at(o, length - i, n)] = std::conj(value);
      }
  transform(all, x.sizes, last, /*forward=*/false);
  std::vector<double> result;
  double factor = t.factor(x.sizes);
  for (Complex value : all)
    result.push_back(value.real() * factor);
  return result;
}

//===----------------------------------------------------------------------===//
// Kernels of one transform
//===----------------------------------------------------------------------===//

static Transform transformOf(const KernelCall &call) {
  return {call.integers("dim"), call.integer("normalization")};
}

static Values valuesOf(const KernelCall &call) {
  Tensor self = call.dense("self");
  return {Sizes(self.sizes), self.complexes()};
}

static LogicalResult complexTransform(const KernelCall &call) {
  Values x = valuesOf(call);
  toComplex(transformOf(call), x, call.boolean("forward"));
  store<Complex>(call.make(0, x.sizes), x.values);
  return success();
}

static LogicalResult realTransform(const KernelCall &call) {
  Values x = valuesOf(call);
  toComplex(transformOf(call), x, /*forward=*/true);
  if (call.boolean("onesided"))
    halve(transformOf(call), x);
  store<Complex>(call.make(0, x.sizes), x.values);
  return success();
}

static LogicalResult inverseTransform(const KernelCall &call) {
  Values x = valuesOf(call);
  std::vector<double> result =
      toReal(transformOf(call), x, call.integer("last_dim_size"));
  put(call, 0, x.sizes, result);
  return success();
}

//===----------------------------------------------------------------------===//
// torch.fft
//===----------------------------------------------------------------------===//

/// The dimensions (all, or the last ones, if none are named) and their sizes
/// (-1: as they are).
static void readDims(const KernelCall &call, int64_t rank,
                     SmallVectorImpl<int64_t> &dims,
                     SmallVectorImpl<int64_t> &sizes) {
  if (!call.isNone(optional("n")))
    sizes.push_back(call.integer(optional("n")));
  else
    sizes = call.integers(optional("s"));
  dims = call.integers("dim");
  if (dims.empty())
    for (int64_t i = sizes.empty() ? rank : sizes.size(); i > 0; --i)
      dims.push_back(rank - i);
  sizes.resize(dims.size(), -1);
}

/// Elements beyond the end are zero.
static void resize(Values &x, int64_t dim, int64_t length) {
  dim = wrapped(dim, static_cast<int64_t>(x.sizes.size()));
  Along from(x.sizes, dim);
  x.sizes[dim] = length;
  Along to(x.sizes, dim);
  std::vector<Complex> values(product(x.sizes));
  for (int64_t o = 0; o < to.outer; ++o)
    for (int64_t i = 0; i < std::min(length, from.length); ++i)
      for (int64_t n = 0; n < to.inner; ++n)
        values[to.at(o, i, n)] = x.values[from.at(o, i, n)];
  x.values = std::move(values);
}

/// norm "backward" (default) divides on the way back, "forward" on the way
/// there, "ortho" by the root on both.
static int64_t normOf(const KernelCall &call, bool forward) {
  StringRef norm = call.string("norm");
  if (norm == "ortho")
    return 1;
  return (norm == "forward") == forward ? 2 : 0;
}

enum class Kind { Complex, Half, Real };

/// fft, rfft and irfft and their inverses over one, two or n dimensions.
template <Kind kind, bool forward>
static LogicalResult surface(const KernelCall &call) {
  Values x = valuesOf(call);
  Transform t{{}, normOf(call, forward)};
  SmallVector<int64_t> sizes;
  readDims(call, static_cast<int64_t>(x.sizes.size()), t.dims, sizes);
  int64_t length = 0;
  for (auto [dim, size] : llvm::zip_equal(t.dims, sizes)) {
    bool isLast = &dim == &t.dims.back();
    int64_t now = x.sizes[wrapped(dim, static_cast<int64_t>(x.sizes.size()))];
    if (kind == Kind::Real && isLast) {
      length = size == -1 ? 2 * (now - 1) : size;
      size = length / 2 + 1;
    }
    if (size != -1 && size != now)
      resize(x, dim, size);
  }
  if (kind == Kind::Real) {
    std::vector<double> result = toReal(t, x, length);
    put(call, 0, x.sizes, result);
    return success();
  }
  toComplex(t, x, forward);
  if (kind == Kind::Half)
    halve(t, x);
  store<Complex>(call.make(0, x.sizes), x.values);
  return success();
}

/// Rolls each dimension by half its size, so that frequency 0 stands in the
/// middle, or back.
template <bool inverse> static LogicalResult shift(const KernelCall &call) {
  Tensor self = call.dense("self");
  SmallVector<int64_t> dims = call.integers("dim");
  if (call.isNone("dim"))
    for (int64_t dim = 0; dim < self.rank(); ++dim)
      dims.push_back(dim);
  Sizes by(self.sizes.size(), 0), strides = rowMajor(self.sizes);
  for (int64_t dim : dims) {
    int64_t d = wrapped(dim, self.rank());
    by[d] = (self.sizes[d] + (inverse ? 1 : 0)) / 2;
  }
  Tensor result = call.make(0, self.sizes);
  Sizes index(self.sizes.size(), 0);
  for (int64_t from = 0; from < self.numel(); ++from) {
    int64_t to = 0;
    for (auto [i, shift, size, stride] :
         llvm::zip_equal(index, by, self.sizes, strides))
      to += (i + shift) % size * stride;
    copyRun(self, from, result, to);
    advance(index, self.sizes);
  }
  return success();
}

const KernelFn kernels::complexTransform = ::complexTransform;
const KernelFn kernels::realTransform = ::realTransform;
const KernelFn kernels::inverseTransform = ::inverseTransform;
const KernelFn kernels::fft = surface<Kind::Complex, true>;
const KernelFn kernels::ifft = surface<Kind::Complex, false>;
const KernelFn kernels::rfft = surface<Kind::Half, true>;
const KernelFn kernels::irfft = surface<Kind::Real, false>;
const KernelFn kernels::fftShift = shift<false>;
const KernelFn kernels::ifftShift = shift<true>;
