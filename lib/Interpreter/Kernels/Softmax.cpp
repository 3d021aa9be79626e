// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax, its logarithm, and their gradients.
//
// The largest element of a row is taken away first. A row of nothing but
// -infinity is NaN, and 0 for `_safe_softmax`. With y the output and g its
// gradient: softmax's is y * (g - sum(g * y)), log_softmax's is
// g - exp(y) * sum(g).

#include "Kernels.h"
#include "Values.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Applies `fn(elements of a row)` in place to all rows along `dim`.
template <typename Fn>
static void forRows(std::vector<double> &values, ArrayRef<int64_t> sizes,
                    int64_t dim, Fn fn) {
  Along along(sizes, dim);
  std::vector<double> row(along.length);
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      for (int64_t i = 0; i < along.length; ++i)
        row[i] = values[along.at(o, i, n)];
      fn(row);
      for (int64_t i = 0; i < along.length; ++i)
        values[along.at(o, i, n)] = row[i];
    }
}

static double largest(ArrayRef<double> row) {
  double result = -std::numeric_limits<double>::infinity();
  for (double value : row)
    result = value > result || std::isnan(value) ? value : result;
  return result;
}

static void softmaxRow(std::vector<double> &row) {
  double top = largest(row), sum = 0;
  for (double &value : row)
    sum += value = std::exp(value - top);
  for (double &value : row)
    value /= sum;
}

static void safeSoftmaxRow(std::vector<double> &row) {
  if (largest(row) == -std::numeric_limits<double>::infinity())
    row.assign(row.size(), 0);
  else
    softmaxRow(row);
}

static void logSoftmaxRow(std::vector<double> &row) {
  double top = largest(row), sum = 0;
  for (double value : row)
    sum += std::exp(value - top);
  for (double &value : row)
    value = value - top - std::log(sum);
}

template <void (*fn)(std::vector<double> &)>
static LogicalResult forward(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<double> values = load<double>(self);
  // A `dtype` means that the input is converted first.
  DType type = call.resultType();
  if (!call.isNone(optional("dtype")) && type != self.type) {
    Tensor converted = Tensor::zeros(type, self.sizes);
    store<double>(converted, values);
    values = load<double>(converted);
  }
  forRows(values, self.sizes, call.integer("dim"), fn);
  put(call, 0, self.sizes, values);
  return success();
}

template <bool logarithm>
static LogicalResult backward(const KernelCall &call) {
  Tensor output = call.dense("output");
  std::vector<double> g = doubles(call, "grad_output", output.numel());
  std::vector<double> y = load<double>(output), result(y.size());
  Along along(output.sizes, call.integer("dim"));
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      double sum = 0;
      for (int64_t i = 0; i < along.length; ++i) {
        int64_t at = along.at(o, i, n);
        sum += logarithm ? g[at] : g[at] * y[at];
      }
      for (int64_t i = 0; i < along.length; ++i) {
        int64_t at = along.at(o, i, n);
        result[at] =
            logarithm ? g[at] - std::exp(y[at]) * sum : y[at] * (g[at] - sum);
      }
    }
  put(call, 0, output.sizes, result);
  return success();
}

const KernelFn kernels::softmax = forward<softmaxRow>;
const KernelFn kernels::safeSoftmax = forward<safeSoftmaxRow>;
const KernelFn kernels::logSoftmax = forward<logSoftmaxRow>;
const KernelFn kernels::softmaxBackwardData = backward<false>;
const KernelFn kernels::logSoftmaxBackwardData = backward<true>;
