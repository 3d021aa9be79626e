// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More second names of ops, and small ops that PyTorch writes in terms of
// others: powers in double, prelu, differences and trapezoids along a
// dimension.
//
// A second name runs the kernel of the first: both have the same parameters.
// Programs have none of these names behind decomposition, joint texts may;
// names that both know stand in SecondNames.h.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static double ldexp(double x, double y) { return x * std::exp2(y); }
static double xlog1py(double x, double y) {
  if (std::isnan(y))
    return y;
  return x == 0 ? 0 : x * std::log1p(y);
}

/// Result 0 = fn(argument 0, argument 1), in double.
template <double (*fn)(double, double)>
static LogicalResult elementwise(const KernelCall &call) {
  Tensor a = call.tensor(0), b = call.tensor(1);
  Sizes sizes = broadcastSizes(a.sizes, b.sizes);
  std::vector<double> x = a.expand(sizes).doubles();
  for (auto [u, v] : llvm::zip_equal(x, b.expand(sizes).doubles()))
    u = fn(u, v);
  put(call, 0, sizes, x);
  return success();
}

/// Mantissas from 0.5 to 1 and exponents of 2. Of what is not finite, the
/// exponent is 0.
static LogicalResult frexp(const KernelCall &call) {
  Tensor self = call.tensor("self");
  std::vector<double> mantissas = self.doubles();
  std::vector<int64_t> exponents;
  for (double &value : mantissas) {
    int exponent = 0;
    value = std::frexp(value, &exponent);
    exponents.push_back(std::isfinite(value) ? exponent : 0);
  }
  put(call, 0, self.sizes, mantissas);
  call.make(1, self.sizes).assign(ArrayRef<int64_t>(exponents));
  return success();
}

static double power(double x, double y) { return std::pow(x, y); }

static LogicalResult floatPower(const KernelCall &call) {
  if (!isComplex(call.resultType()))
    return elementwise<power>(call);
  Tensor a = call.tensor(0), b = call.tensor(1);
  Sizes sizes = broadcastSizes(a.sizes, b.sizes);
  std::vector<Complex> x = a.expand(sizes).complexes();
  for (auto [u, v] : llvm::zip_equal(x, b.expand(sizes).complexes()))
    u = u == Complex(0) && v == Complex(0) ? Complex(1) : std::pow(u, v);
  store<Complex>(call.make(0, sizes), x);
  return success();
}

/// One slope for all elements, or one a channel (dimension 1).
static LogicalResult prelu(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<double> x = self.doubles(), slopes = doubles(call, "weight");
  int64_t plane = self.rank() < 2
                      ? 1
                      : product(ArrayRef<int64_t>(self.sizes).drop_front(2));
  auto channels = static_cast<int64_t>(slopes.size());
  if (channels != 1 && failed(checkCount(call, "weight", channels,
                                         self.rank() < 2 ? 1 : self.sizes[1])))
    return failure();
  if (channels == 0 && !x.empty())
    return checkCount(call, "weight", 0, 1);
  for (auto [i, value] : llvm::enumerate(x))
    if (value <= 0)
      value *= slopes[static_cast<int64_t>(i) / std::max<int64_t>(plane, 1) %
                      channels];
  put(call, 0, self.sizes, x);
  return success();
}

//===----------------------------------------------------------------------===//
// Neighbours along a dimension
//===----------------------------------------------------------------------===//

/// Differences of neighbours, `n` times, of prepend, self and append joined.
static LogicalResult diff(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t dim = wrapped(call.integer("dim", -1), self.rank());
  std::vector<Tensor> parts;
  bool isNone = call.integer("n", 1) == 0; // then nothing is joined
  for (const char *name : {"prepend", "self", "append"})
    if (!isNone || name == StringRef("self"))
      if (std::optional<Tensor> part = call.optionalTensor(name))
        parts.push_back(*part);
  Sizes sizes(self.sizes);
  sizes[dim] = 0;
  for (const Tensor &part : parts)
    sizes[dim] += part.sizes[dim];
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    Along all(sizes, dim);
    std::vector<T> values(product(sizes));
    int64_t begin = 0;
    for (const Tensor &part : parts) {
      Along own(part.sizes, dim);
      std::vector<T> from = load<T>(part);
      for (int64_t o = 0; o < own.outer; ++o)
        std::copy(from.begin() + own.at(o, 0, 0),
                  from.begin() + own.at(o + 1, 0, 0),
                  values.begin() + all.at(o, begin, 0));
      begin += own.length;
    }
    for (int64_t round = 0; round < call.integer("n", 1) && sizes[dim] > 0;
         ++round) {
      Along wide(sizes, dim);
      --sizes[dim];
      Along narrow(sizes, dim);
      std::vector<T> next(product(sizes));
      for (int64_t o = 0; o < narrow.outer; ++o)
        for (int64_t i = 0; i < narrow.length; ++i)
          for (int64_t k = 0; k < narrow.inner; ++k)
            next[narrow.at(o, i, k)] =
                values[wide.at(o, i + 1, k)] - values[wide.at(o, i, k)];
      values = std::move(next);
    }
    store<T>(call.make(0, sizes), values);
    return success();
  });
}

/// The width of step `i` at (o, k): `dx`, or differences of `x`, which has the
/// shape of y or is a vector along `dim`.
static std::vector<double> stepWidths(const KernelCall &call,
                                      ArrayRef<int64_t> sizes, int64_t dim) {
  Along along(sizes, dim);
  std::vector<double> widths(product(sizes), call.number(optional("dx"), 1));
  if (call.isNone(optional("x")))
    return widths;
  Tensor x = call.tensor(optional("x"));
  if (x.rank() == 1) {
    Sizes column(sizes.size(), 1), strides(sizes.size(), 0);
    column[dim] = x.sizes[0];
    strides[dim] = x.strides[0];
    x.sizes.assign(column.begin(), column.end());
    x.strides.assign(strides.begin(), strides.end());
  }
  std::vector<double> at = x.expand(sizes).doubles();
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i = 0; i + 1 < along.length; ++i)
      for (int64_t k = 0; k < along.inner; ++k)
        widths[along.at(o, i, k)] =
            at[along.at(o, i + 1, k)] - at[along.at(o, i, k)];
  return widths;
}

/// Sums of width * (y[i] + y[i + 1]) / 2, all of them if `cumulative`.
template <bool cumulative>
static LogicalResult trapezoid(const KernelCall &call) {
  Tensor y = call.dense("y");
  int64_t dim = wrapped(call.integer("dim", -1), y.rank());
  std::vector<double> widths = stepWidths(call, y.sizes, dim);
  std::vector<double> values = y.doubles(), result;
  Along along(y.sizes, dim);
  Sizes sizes(y.sizes);
  if (cumulative)
    sizes[dim] = std::max<int64_t>(sizes[dim] - 1, 0);
  else
    sizes.erase(sizes.begin() + dim);
  result.resize(product(sizes));
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t k = 0; k < along.inner; ++k) {
      double sum = 0;
      for (int64_t i = 0; i + 1 < along.length; ++i) {
        int64_t at = along.at(o, i, k), next = along.at(o, i + 1, k);
        sum += widths[at] * (values[at] + values[next]) / 2;
        if (cumulative)
          result[(o * (along.length - 1) + i) * along.inner + k] = sum;
      }
      if (!cumulative)
        result[o * along.inner + k] = sum;
    }
  put(call, 0, sizes, result);
  return success();
}

const KernelFn kernels::ldexp = elementwise<::ldexp>;
const KernelFn kernels::frexp = ::frexp;
const KernelFn kernels::specialXlog1py = elementwise<xlog1py>;
const KernelFn kernels::floatPower = ::floatPower;
const KernelFn kernels::prelu = ::prelu;
const KernelFn kernels::diff = ::diff;
const KernelFn kernels::trapezoid = ::trapezoid<false>;
const KernelFn kernels::cumulativeTrapezoid = ::trapezoid<true>;
