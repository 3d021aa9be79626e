// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Discrete Fourier transforms by their definition: n^2 products a line, with
// angles reduced to one turn before sine and cosine are taken.
//
// Normalization: 0 none, 1 by the root of the number of elements transformed,
// 2 by that number. A real transform keeps elements 0 to n / 2 of its last
// dimension; the way back fills in the conjugates of the others, and takes the
// elements that are their own conjugates as real.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// exp(sign * 2 pi i * k / n) for all k.
static std::vector<Complex> roots(int64_t n, double sign) {
  constexpr double turn = 6.283185307179586476925286766559;
  std::vector<Complex> result;
  for (int64_t k = 0; k < n; ++k)
    result.push_back(std::polar(1.0, sign * turn * static_cast<double>(k) /
                                         static_cast<double>(n)));
  return result;
}

/// Transforms all lines along `dim` in place.
static void transform(std::vector<Complex> &values, ArrayRef<int64_t> sizes,
                      int64_t dim, bool forward) {
  Along along(sizes, dim);
  std::vector<Complex> unit = roots(along.length, forward ? -1 : 1);
  std::vector<Complex> line(along.length);
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      for (int64_t k = 0; k < along.length; ++k) {
        line[k] = 0;
        for (int64_t i = 0; i < along.length; ++i)
          line[k] += values[along.at(o, i, n)] * unit[i * k % along.length];
      }
      for (int64_t k = 0; k < along.length; ++k)
        values[along.at(o, k, n)] = line[k];
    }
}

/// What the sums are multiplied by; `sizes` are those of the full transform.
static double factorOf(const KernelCall &call, ArrayRef<int64_t> sizes) {
  double count = 1;
  for (int64_t dim : call.integers("dim"))
    count *= static_cast<double>(
        sizes[wrapped(dim, static_cast<int64_t>(sizes.size()))]);
  switch (call.integer("normalization")) {
  case 1:
    return 1 / std::sqrt(count);
  case 2:
    return 1 / count;
  default:
    return 1;
  }
}

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

static LogicalResult complexTransform(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<Complex> values = self.complexes();
  for (int64_t dim : call.integers("dim"))
    transform(values, self.sizes, dim, call.boolean("forward"));
  double factor = factorOf(call, self.sizes);
  for (Complex &value : values)
    value *= factor;
  call.make(0, self.sizes).assign(ArrayRef<Complex>(values));
  return success();
}

static LogicalResult realTransform(const KernelCall &call) {
  Tensor self = call.dense("self");
  Sizes sizes(self.sizes);
  std::vector<Complex> values = self.complexes();
  SmallVector<int64_t> dims = call.integers("dim");
  for (int64_t dim : dims)
    transform(values, sizes, dim, /*forward=*/true);
  double factor = factorOf(call, sizes);
  for (Complex &value : values)
    value *= factor;
  if (call.boolean("onesided")) {
    int64_t last = wrapped(dims.back(), self.rank());
    int64_t half = sizes[last] / 2 + 1;
    values = cut(values, sizes, last, half);
    sizes[last] = half;
  }
  call.make(0, sizes).assign(ArrayRef<Complex>(values));
  return success();
}

static LogicalResult inverseTransform(const KernelCall &call) {
  Tensor self = call.dense("self");
  Sizes sizes(self.sizes);
  std::vector<Complex> values = self.complexes();
  SmallVector<int64_t> dims = call.integers("dim");
  int64_t last = wrapped(dims.back(), self.rank());
  for (int64_t dim : ArrayRef<int64_t>(dims).drop_back())
    transform(values, sizes, dim, /*forward=*/false);
  // The last dimension: real sums of what is there and its conjugates.
  Along half(sizes, last);
  int64_t length = call.integer("last_dim_size");
  sizes[last] = length;
  Along whole(sizes, last);
  std::vector<Complex> unit = roots(length, 1);
  std::vector<double> result(product(sizes));
  double factor = factorOf(call, sizes);
  for (int64_t o = 0; o < whole.outer; ++o)
    for (int64_t n = 0; n < whole.inner; ++n)
      for (int64_t k = 0; k < length; ++k) {
        double sum = 0;
        for (int64_t i = 0; i <= length / 2 && i < half.length; ++i) {
          Complex value = values[half.at(o, i, n)];
          bool own = i == 0 || 2 * i == length;
          sum += own ? value.real() * unit[i * k % length].real()
                     : 2 * (value * unit[i * k % length]).real();
        }
        result[whole.at(o, k, n)] = sum * factor;
      }
  put(call, 0, sizes, result);
  return success();
}

ArrayRef<KernelEntry> interpreter::fftKernels() {
  static const KernelEntry entries[] = {
      {"aten._fft_c2c.default", complexTransform},
      {"aten._fft_r2c.default", realTransform},
      {"aten._fft_c2r.default", inverseTransform},
  };
  return entries;
}
