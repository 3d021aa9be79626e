// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, means, variances, norms, extremes: one number from many, accumulated
// in double precision (integers in int64_t, which wraps around) in row-major
// order. Variances take two passes. A reduction of nothing gives the neutral
// element where there is one, and an error where there is none (`amax`).

#include "Reduce.h"

#include "Kernels.h"
#include "Parts.h"
#include "Pointwise.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

Tensor interpreter::moveBehind(const Tensor &tensor,
                               const llvm::SmallBitVector &last) {
  Tensor moved = tensor;
  moved.sizes.clear();
  moved.strides.clear();
  for (bool isLast : {false, true})
    for (int64_t dim = 0; dim < tensor.rank(); ++dim)
      if (last.test(dim) == isLast) {
        moved.sizes.push_back(tensor.sizes[dim]);
        moved.strides.push_back(tensor.strides[dim]);
      }
  return moved;
}

Reduction::Reduction(const KernelCall &call, bool emptyIsAll) : call(call) {
  Tensor self = call.tensor("self");
  SmallVector<int64_t> dims = call.integers(optional("dim"));
  bool all = call.isNone(optional("dim")) || (dims.empty() && emptyIsAll);
  llvm::SmallBitVector reduced(self.rank(), all);
  for (int64_t dim : dims)
    if (self.rank() > 0)
      reduced.set(aten::wrapDim(dim, self.rank()));
  bool keep = call.boolean(optional("keepdim"));
  for (int64_t dim = 0; dim < self.rank(); ++dim) {
    if (reduced.test(dim)) {
      perResult *= self.sizes[dim];
      if (keep)
        resultSizes.push_back(1);
    } else {
      numResults *= self.sizes[dim];
      resultSizes.push_back(self.sizes[dim]);
    }
  }
  source = moveBehind(self, reduced);
}

namespace {

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

template <typename V> V sumOf(ArrayRef<V> values) {
  V sum = V(0);
  for (V value : values)
    sum = plus(sum, value);
  return sum;
}

template <typename V> V productOf(ArrayRef<V> values) {
  V product = V(1);
  for (V value : values)
    product = times(product, value);
  return product;
}

LogicalResult sum(const KernelCall &call) {
  Reduction reduction(call);
  switch (domainOf(call.resultType())) {
  case Domain::Integer:
    return reduction.reduce<int64_t>(sumOf<int64_t>);
  case Domain::Real:
    return reduction.reduce<double>(sumOf<double>);
  case Domain::Complex:
    break;
  }
  return reduction.reduce<Complex>(sumOf<Complex>);
}

LogicalResult product(const KernelCall &call) {
  Reduction reduction(call);
  switch (domainOf(call.resultType())) {
  case Domain::Integer:
    return reduction.reduce<int64_t>(productOf<int64_t>);
  case Domain::Real:
    return reduction.reduce<double>(productOf<double>);
  case Domain::Complex:
    break;
  }
  return reduction.reduce<Complex>(productOf<Complex>);
}

LogicalResult nanSum(const KernelCall &call) {
  if (!isFloating(call.resultType()))
    return sum(call);
  return Reduction(call).reduce<double>([](ArrayRef<double> values) {
    double sum = 0;
    for (double value : values)
      sum += std::isnan(value) ? 0 : value;
    return sum;
  });
}

template <typename V> V meanOf(ArrayRef<V> values) {
  return sumOf(values) / static_cast<double>(values.size());
}

LogicalResult mean(const KernelCall &call) {
  Reduction reduction(call);
  return isComplex(call.resultType())
             ? reduction.reduce<Complex>(meanOf<Complex>)
             : reduction.reduce<double>(meanOf<double>);
}

LogicalResult nanMean(const KernelCall &call) {
  return Reduction(call).reduce<double>([](ArrayRef<double> values) {
    double sum = 0, count = 0;
    for (double value : values) {
      sum += std::isnan(value) ? 0 : value;
      count += !std::isnan(value);
    }
    return sum / count;
  });
}

LogicalResult countNonzero(const KernelCall &call) {
  return Reduction(call).reduce<Complex>([](ArrayRef<Complex> values) {
    return static_cast<int64_t>(values.size()) -
           llvm::count(values, Complex(0));
  });
}

/// Exclusive or of the bits that elements have as 64-bit numbers.
LogicalResult hashOfBits(const KernelCall &call) {
  if (call.integer("mode") != 0)
    return call.error("runs in mode 0 only");
  Reduction reduction(call);
  if (isIntegral(reduction.type()))
    return reduction.reduce<int64_t>([](ArrayRef<int64_t> values) {
      return std::accumulate(values.begin(), values.end(), int64_t(0),
                             std::bit_xor<int64_t>());
    });
  return reduction.reduce<double>([](ArrayRef<double> values) {
    int64_t hash = 0;
    for (double value : values)
      hash ^= llvm::bit_cast<int64_t>(value);
    return hash;
  });
}

template <typename V> void traceIn(const KernelCall &call) {
  Tensor diagonal = diagonalPart(call.tensor("self"), 0, 0, 1);
  std::vector<V> values(diagonal.numel());
  ElementCursor(diagonal).read(values.data(), diagonal.numel());
  call.make(0, {}).assign(ArrayRef<V>(sumOf(ArrayRef<V>(values))));
}

LogicalResult trace(const KernelCall &call) {
  if (isIntegral(call.resultType()))
    traceIn<int64_t>(call);
  else if (isComplex(call.resultType()))
    traceIn<Complex>(call);
  else
    traceIn<double>(call);
  return success();
}

/// Adds up what was broadcast: the sizes stand at the end of those of `self`.
LogicalResult sumToSize(const KernelCall &call) {
  Tensor self = call.tensor("self");
  SmallVector<int64_t> sizes = call.integers("size");
  Tensor result = call.make(0, sizes);
  // Places of the result, one for each element of `self`.
  std::vector<int64_t> numbers(result.numel());
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int64_t>(i);
  Tensor places = Tensor::zeros(DType::I64, sizes);
  places.assign(ArrayRef<int64_t>(numbers));
  std::vector<Complex> sums(numbers.size()), values = self.complexes();
  for (auto [value, place] :
       llvm::zip_equal(values, places.expand(self.sizes).ints()))
    sums[place] += value;
  result.assign(ArrayRef<Complex>(sums));
  return success();
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

/// The least or greatest value; NaN if there is one.
template <bool least, typename V> V extreme(ArrayRef<V> values) {
  V best = values.front();
  for (V value : values) {
    if (value != value)
      return value;
    if (least ? value < best : best < value)
      best = value;
  }
  return best;
}

LogicalResult checkNotEmpty(const KernelCall &call,
                            const Reduction &reduction) {
  if (reduction.count() == 0 && reduction.results() > 0)
    return call.error("nothing has no greatest and no least element");
  return success();
}

template <bool least> LogicalResult extremes(const KernelCall &call) {
  Reduction reduction(call);
  if (failed(checkNotEmpty(call, reduction)))
    return failure();
  if (isIntegral(reduction.type()))
    return reduction.reduce<int64_t>(extreme<least, int64_t>);
  return reduction.reduce<double>(extreme<least, double>);
}

template <typename V>
void bothExtremes(const KernelCall &call, const Reduction &reduction) {
  std::vector<V> low(reduction.results()), high(reduction.results());
  reduction.each<V>([&](int64_t i, ArrayRef<V> values) {
    low[i] = extreme<true>(values);
    high[i] = extreme<false>(values);
  });
  call.make(0, reduction.sizes()).assign(ArrayRef<V>(low));
  call.make(1, reduction.sizes()).assign(ArrayRef<V>(high));
}

LogicalResult aminmax(const KernelCall &call) {
  Reduction reduction(call);
  if (failed(checkNotEmpty(call, reduction)))
    return failure();
  if (isIntegral(reduction.type()))
    bothExtremes<int64_t>(call, reduction);
  else
    bothExtremes<double>(call, reduction);
  return success();
}

//===----------------------------------------------------------------------===//
// Variances
//===----------------------------------------------------------------------===//

/// Elements that do not count: `correction`, or 1 if `unbiased`.
double correctionOf(const KernelCall &call) {
  if (!call.isNone(optional("correction")))
    return call.number(optional("correction"));
  return call.boolean(optional("unbiased"), true) ? 1 : 0;
}

template <typename V> double varianceOf(ArrayRef<V> values, double correction) {
  V mean = meanOf(values);
  double sum = 0;
  for (V value : values)
    sum += std::norm(value - mean);
  return sum / std::max(0.0, static_cast<double>(values.size()) - correction);
}

template <typename V, bool root, bool withMean>
LogicalResult varianceIn(const KernelCall &call, const Reduction &reduction) {
  double correction = correctionOf(call);
  std::vector<double> variances(reduction.results());
  std::vector<V> means(reduction.results());
  reduction.each<V>([&](int64_t i, ArrayRef<V> values) {
    double variance = varianceOf(values, correction);
    variances[i] = root ? std::sqrt(variance) : variance;
    means[i] = meanOf(values);
  });
  call.make(0, reduction.sizes()).assign(ArrayRef<double>(variances));
  if (withMean)
    call.make(1, reduction.sizes()).assign(ArrayRef<V>(means));
  return success();
}

template <bool root, bool withMean>
LogicalResult variance(const KernelCall &call) {
  Reduction reduction(call);
  return isComplex(reduction.type())
             ? varianceIn<Complex, root, withMean>(call, reduction)
             : varianceIn<double, root, withMean>(call, reduction);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

double normOf(ArrayRef<double> values, double order) {
  double norm = order < 0 && std::isinf(order)
                    ? std::numeric_limits<double>::infinity()
                    : 0;
  for (double value : values) {
    double size = std::fabs(value);
    if (std::isinf(order)) {
      if (std::isnan(size) || std::isnan(norm))
        norm = std::numeric_limits<double>::quiet_NaN();
      else
        norm = order > 0 ? std::max(norm, size) : std::min(norm, size);
    } else if (order == 0) {
      norm += size != 0;
    } else if (order == 2) {
      norm += size * size;
    } else {
      norm += order == 1 ? size : std::pow(size, order);
    }
  }
  if (order == 2)
    return std::sqrt(norm);
  return order == 0 || order == 1 || std::isinf(order)
             ? norm
             : std::pow(norm, 1 / order);
}

LogicalResult normOfOrder(const KernelCall &call, double order) {
  Reduction reduction(call);
  if (!isComplex(reduction.type()))
    return reduction.reduce<double>(
        [=](ArrayRef<double> values) { return normOf(values, order); });
  return reduction.reduce<Complex>([=](ArrayRef<Complex> values) {
    std::vector<double> sizes;
    for (Complex value : values)
      sizes.push_back(std::abs(value));
    return normOf(sizes, order);
  });
}

LogicalResult vectorNorm(const KernelCall &call) {
  return normOfOrder(call, call.number(optional("ord"), 2));
}
LogicalResult norm(const KernelCall &call) {
  return normOfOrder(call, call.number(optional("p"), 2));
}

/// The norm of a difference.
LogicalResult distance(const KernelCall &call) {
  Tensor self = call.tensor("self"), other = call.tensor("other");
  SmallVector<int64_t> sizes(self.sizes.begin(), self.sizes.end());
  for (int64_t k = 1; k <= other.rank(); ++k) {
    if (k > static_cast<int64_t>(sizes.size()))
      sizes.insert(sizes.begin(), 1);
    int64_t &size = sizes[sizes.size() - k];
    size = size == 1 ? other.sizes[other.rank() - k] : size;
  }
  std::vector<double> values = self.expand(sizes).doubles();
  for (auto [x, y] : llvm::zip_equal(values, other.expand(sizes).doubles()))
    x -= y;
  call.make(0, {}).set(0, normOf(values, call.number("p", 2)));
  return success();
}

/// Norms of matrices that need no singular values: the root of all squares,
/// and the greatest or least sum of a column (1) or a row (infinity).
LogicalResult matrixNorm(const KernelCall &call) {
  Tensor self = call.tensor("self");
  SmallVector<int64_t> dims = call.integers(optional("dim"));
  double order = call.number("ord");
  llvm::SmallBitVector matrix(self.rank());
  for (int64_t &dim : dims)
    matrix.set(dim = aten::wrapDim(dim, self.rank()));
  if (matrix.count() != 2 || (std::fabs(order) != 1 && !std::isinf(order)))
    return call.error("norms of matrices other than of order 1 and infinity "
                      "need singular values");
  // Rows last where columns are added up, and the other way round.
  Tensor moved = moveBehind(self, matrix);
  bool columns = std::fabs(order) == 1;
  if ((dims[0] < dims[1]) == columns) {
    std::swap(moved.sizes[self.rank() - 1], moved.sizes[self.rank() - 2]);
    std::swap(moved.strides[self.rank() - 1], moved.strides[self.rank() - 2]);
  }
  int64_t inner = moved.sizes.back(), lines = moved.sizes[self.rank() - 2];
  std::vector<double> norms, sums;
  std::vector<Complex> values = moved.complexes();
  for (size_t i = 0; i < values.size(); i += inner) {
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += std::abs(values[i + k]);
    sums.push_back(sum);
    if (static_cast<int64_t>(sums.size()) == lines) {
      norms.push_back(order > 0 ? extreme<false>(ArrayRef<double>(sums))
                                : extreme<true>(ArrayRef<double>(sums)));
      sums.clear();
    }
  }
  SmallVector<int64_t> sizes;
  for (int64_t dim = 0; dim < self.rank(); ++dim)
    if (!matrix.test(dim) || call.boolean("keepdim"))
      sizes.push_back(matrix.test(dim) ? 1 : self.sizes[dim]);
  call.make(0, sizes).assign(ArrayRef<double>(norms));
  return success();
}

LogicalResult logSumExp(const KernelCall &call) {
  return Reduction(call).reduce<double>([](ArrayRef<double> values) {
    if (values.empty())
      return -std::numeric_limits<double>::infinity();
    double high = extreme<false>(values);
    double shift = std::isinf(high) ? 0 : high;
    double sum = 0;
    for (double value : values)
      sum += std::exp(value - shift);
    return std::log(sum) + shift;
  });
}

} // namespace

const KernelFn kernels::sum = ::sum;
const KernelFn kernels::product = ::product;
const KernelFn kernels::nanSum = ::nanSum;
const KernelFn kernels::mean = ::mean;
const KernelFn kernels::amax = extremes<false>;
const KernelFn kernels::amin = extremes<true>;
const KernelFn kernels::aminmax = ::aminmax;
const KernelFn kernels::var = variance<false, false>;
const KernelFn kernels::std = variance<true, false>;
const KernelFn kernels::varMean = variance<false, true>;
const KernelFn kernels::stdMean = variance<true, true>;
const KernelFn kernels::vectorNorm = ::vectorNorm;
const KernelFn kernels::norm = ::norm;
const KernelFn kernels::matrixNorm = ::matrixNorm;
const KernelFn kernels::distance = ::distance;
const KernelFn kernels::nanMean = ::nanMean;
const KernelFn kernels::hashOfBits = ::hashOfBits;
const KernelFn kernels::countNonzero = ::countNonzero;
const KernelFn kernels::trace = ::trace;
const KernelFn kernels::sumToSize = ::sumToSize;
const KernelFn kernels::logSumExp = ::logSumExp;
