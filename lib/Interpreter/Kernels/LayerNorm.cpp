// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer and RMS norm, and their gradients; weight norm.
//
// Rows are the elements behind the leading dimensions that are not normalized.
// With n elements a row, x' = (x - mean) * rstd (RMS norm: mean 0), the
// gradient is
//   dx = rstd * (g - mean(g) - x' * mean(g * x')),  g = dy * weight
// without the middle term for RMS norm, dw = sum dy * x', db = sum dy. The
// backward reads the statistics that it is given.

#include "Kernels.h"
#include "Values.h"
#include "WeightNorm.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// The rows of `input`, and the sizes of their statistics.
struct Rows {
  Rows(const Tensor &input, size_t normalized) : sizes(input.sizes) {
    size_t kept = input.sizes.size() - normalized;
    length = product(ArrayRef<int64_t>(input.sizes).drop_front(kept));
    count = product(ArrayRef<int64_t>(input.sizes).take_front(kept));
    for (size_t i = kept; i < sizes.size(); ++i)
      sizes[i] = 1;
  }
  int64_t count, length;
  Sizes sizes;
};

} // namespace

/// The smallest step from 1 in the arithmetic of `type`: 16-bit floats are
/// normalized in f32.
static double defaultEpsilon(DType type) {
  return type == DType::F64 ? std::numeric_limits<double>::epsilon()
                            : std::numeric_limits<float>::epsilon();
}

/// Mean (0 unless `centred`) and 1 / sqrt(variance + eps) of each row.
static void rowStatistics(ArrayRef<double> x, const Rows &rows, bool centred,
                          double eps, std::vector<double> &mean,
                          std::vector<double> &rstd) {
  mean.assign(rows.count, 0);
  rstd.assign(rows.count, 0);
  for (int64_t r = 0; r < rows.count; ++r) {
    ArrayRef<double> row = x.slice(r * rows.length, rows.length);
    double sum = 0, squares = 0;
    if (centred)
      for (double value : row)
        sum += value;
    mean[r] = sum / static_cast<double>(rows.length);
    for (double value : row)
      squares += (value - mean[r]) * (value - mean[r]);
    rstd[r] = 1 / std::sqrt(squares / static_cast<double>(rows.length) + eps);
  }
}

static std::vector<double> normalize(ArrayRef<double> x, const Rows &rows,
                                     ArrayRef<double> mean,
                                     ArrayRef<double> rstd,
                                     ArrayRef<double> weight,
                                     ArrayRef<double> bias) {
  std::vector<double> y(x.size());
  for (int64_t r = 0; r < rows.count; ++r)
    for (int64_t i = 0; i < rows.length; ++i) {
      double value = (x[r * rows.length + i] - mean[r]) * rstd[r];
      value = weight.empty() ? value : value * weight[i];
      y[r * rows.length + i] = bias.empty() ? value : value + bias[i];
    }
  return y;
}

/// Forward of all four ops; results 1 and 2 where they are declared.
static LogicalResult forward(const KernelCall &call, bool centred) {
  Tensor input = call.dense("input");
  Rows rows(input, call.integers("normalized_shape").size());
  double eps = call.number("eps", defaultEpsilon(input.type));
  std::vector<double> x = load<double>(input), mean, rstd;
  rowStatistics(x, rows, centred, eps, mean, rstd);
  put(call, 0, input.sizes,
      normalize(x, rows, mean, rstd,
                optionalDoubles(call, "weight", rows.length),
                optionalDoubles(call, optional("bias"), rows.length)));
  unsigned next = 1;
  if (centred && call.wants(next))
    put(call, next++, rows.sizes, mean);
  if (call.wants(next))
    put(call, next, rows.sizes, rstd);
  return success();
}

static LogicalResult layerNorm(const KernelCall &call) {
  return forward(call, /*centred=*/true);
}
static LogicalResult rmsNorm(const KernelCall &call) {
  return forward(call, /*centred=*/false);
}

static LogicalResult backward(const KernelCall &call, bool centred) {
  Tensor input = call.dense("input");
  Rows rows(input, call.integers("normalized_shape").size());
  std::vector<double> dy = doubles(call, "grad_out", input.numel());
  std::vector<double> x = load<double>(input);
  std::vector<double> rstd = doubles(call, "rstd", rows.count);
  std::vector<double> mean = centred
                                 ? doubles(call, optional("mean"), rows.count)
                                 : std::vector<double>(rows.count);
  std::vector<double> weight = optionalDoubles(call, "weight", rows.length);
  std::vector<double> dx(x.size()), dw(rows.length), db(rows.length);
  double n = static_cast<double>(rows.length);
  for (int64_t r = 0; r < rows.count; ++r) {
    double sum = 0, dot = 0;
    for (int64_t i = 0; i < rows.length; ++i) {
      int64_t at = r * rows.length + i;
      double unit = (x[at] - mean[r]) * rstd[r];
      double g = weight.empty() ? dy[at] : dy[at] * weight[i];
      sum += centred ? g : 0;
      dot += g * unit;
      dw[i] += dy[at] * unit;
      db[i] += dy[at];
    }
    for (int64_t i = 0; i < rows.length; ++i) {
      int64_t at = r * rows.length + i;
      double unit = (x[at] - mean[r]) * rstd[r];
      double g = weight.empty() ? dy[at] : dy[at] * weight[i];
      dx[at] = rstd[r] * (g - sum / n - unit * dot / n);
    }
  }
  Sizes affine(call.integers("normalized_shape"));
  if (call.wants(0))
    put(call, 0, input.sizes, dx);
  if (call.wants(1))
    put(call, 1, affine, dw);
  if (centred && call.wants(2))
    put(call, 2, affine, db);
  return success();
}

static LogicalResult layerNormBackward(const KernelCall &call) {
  return backward(call, /*centred=*/true);
}
static LogicalResult rmsNormBackward(const KernelCall &call) {
  return backward(call, /*centred=*/false);
}

//===----------------------------------------------------------------------===//
// Weight norm
//===----------------------------------------------------------------------===//

/// The p-norm of the slices of `v` along `dim`; of all of it for -1.
static std::vector<double> sliceNorms(ArrayRef<double> v, const Along &along,
                                      double p) {
  std::vector<double> norms(along.length);
  for (auto [i, value] : llvm::enumerate(v))
    norms[static_cast<int64_t>(i) / along.inner % along.length] +=
        std::pow(std::abs(value), p);
  for (double &norm : norms)
    norm = std::pow(norm, 1 / p);
  return norms;
}

/// The slices of a tensor along `dim`; one slice for -1.
static Along slicesOf(const Tensor &tensor, int64_t dim) {
  Along along(tensor.sizes, std::max<int64_t>(dim, 0));
  if (dim == -1) {
    along.inner = tensor.numel();
    along.outer = along.length = 1;
  }
  return along;
}

static LogicalResult normExceptDim(const KernelCall &call) {
  Tensor v = call.dense("v");
  int64_t dim = call.integer("dim");
  Sizes sizes(dim == -1 ? 0 : v.sizes.size(), 1);
  if (dim != -1)
    sizes[dim] = v.sizes[dim];
  put(call, 0, sizes,
      sliceNorms(v.doubles(), slicesOf(v, dim), call.number("pow", 2)));
  return success();
}

/// v * (g / norm of its slice).
static LogicalResult weightNorm(const KernelCall &call) {
  Tensor v = call.dense("v");
  Along along = slicesOf(v, call.integer("dim"));
  std::vector<double> x = v.doubles();
  std::vector<double> g = doubles(call, "g", along.length);
  std::vector<double> norms = sliceNorms(x, along, 2);
  for (auto [i, value] : llvm::enumerate(x)) {
    int64_t slice = static_cast<int64_t>(i) / along.inner % along.length;
    value *= g[slice] / norms[slice];
  }
  put(call, 0, v.sizes, x);
  return success();
}

const KernelFn kernels::layerNorm = ::layerNorm;
const KernelFn kernels::layerNormBackward = ::layerNormBackward;
const KernelFn kernels::rmsNorm = ::rmsNorm;
const KernelFn kernels::rmsNormBackward = ::rmsNormBackward;
const KernelFn kernels::normExceptDim = ::normExceptDim;
const KernelFn kernels::weightNorm = ::weightNorm;
const KernelFn kernels::weightAndNorms = ::weightAndNorms;
const KernelFn kernels::weightGradients = ::weightGradients;
