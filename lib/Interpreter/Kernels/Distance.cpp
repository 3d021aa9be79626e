// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances of points: the p-norm of the difference of each row of x1
// [..., P, M] to each row of x2 [..., R, M]; p = 0 counts differences, p =
// infinity takes the largest. The gradient in x1 is, with d = x1 - x2 and D
// the distance, g * sign(d) * (|d| / D)^(p - 1); for p = infinity g * sign(d)
// where |d| = D, for p = 0 and where D is 0 it is 0.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static double norm(const double *a, const double *b, int64_t width, double p) {
  double result = 0;
  for (int64_t i = 0; i < width; ++i) {
    double apart = std::abs(a[i] - b[i]);
    if (p == 0)
      result += apart != 0;
    else if (std::isinf(p))
      result = std::max(result, apart);
    else
      result += p == 1 ? apart : (p == 2 ? apart * apart : std::pow(apart, p));
  }
  if (p == 0 || p == 1 || std::isinf(p))
    return result;
  return p == 2 ? std::sqrt(result) : std::pow(result, 1 / p);
}

static ArrayRef<int64_t> batchOf(const Tensor &tensor) {
  return ArrayRef<int64_t>(tensor.sizes).drop_back(2);
}

static LogicalResult distances(const KernelCall &call) {
  Tensor a = call.dense(0), b = call.dense(1);
  double p = call.number(optional("p"), 2);
  int64_t rows = a.sizes[a.rank() - 2], columns = b.sizes[b.rank() - 2];
  int64_t width = a.sizes.back();
  Sizes sizes = broadcastSizes(batchOf(a), batchOf(b));
  std::vector<int64_t> mapA = broadcastMap(batchOf(a), sizes);
  std::vector<int64_t> mapB = broadcastMap(batchOf(b), sizes);
  std::vector<double> x = a.doubles(), y = b.doubles(), z;
  for (auto [left, right] : llvm::zip_equal(mapA, mapB))
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        z.push_back(norm(x.data() + (left * rows + i) * width,
                         y.data() + (right * columns + j) * width, width, p));
  sizes.push_back(rows);
  sizes.push_back(columns);
  put(call, 0, sizes, z);
  return success();
}

/// The derivative of the distance `whole` in one coordinate of x1.
static double slope(double apart, double whole, double p) {
  if (p == 0 || whole == 0 || apart == 0)
    return 0;
  double sign = apart > 0 ? 1 : (apart < 0 ? -1 : 0);
  if (std::isinf(p))
    return std::abs(apart) == whole ? sign : 0;
  return p == 1 ? sign : sign * std::pow(std::abs(apart) / whole, p - 1);
}

/// The largest difference itself, which the distance that was handed over is
/// rounded from.
static void unround(double &whole, const double *a, const double *b,
                    int64_t width, double p) {
  if (std::isinf(p))
    whole = norm(a, b, width, p);
}

/// (grad, x1, x2, p, cdist); the result has the batch of both points, but the
/// shape of x1 where there is nothing to add up.
static LogicalResult distancesBackward(const KernelCall &call) {
  Tensor a = call.dense("x1"), b = call.dense("x2");
  double p = call.number("p", 2);
  int64_t rows = a.sizes[a.rank() - 2], columns = b.sizes[b.rank() - 2];
  int64_t width = a.sizes.back();
  Sizes sizes = broadcastSizes(batchOf(a), batchOf(b));
  std::vector<int64_t> mapA = broadcastMap(batchOf(a), sizes);
  std::vector<int64_t> mapB = broadcastMap(batchOf(b), sizes);
  int64_t batch = mapA.size(), pairs = batch * rows * columns;
  if (pairs * width == 0) {
    call.make(0, a.sizes);
    return success();
  }
  std::vector<double> g = doubles(call, "grad", pairs);
  std::vector<double> whole = doubles(call, "cdist", pairs);
  std::vector<double> x = a.doubles(), y = b.doubles();
  std::vector<double> dx(batch * rows * width);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t at = (n * rows + i) * columns + j;
        const double *from = x.data() + (mapA[n] * rows + i) * width;
        const double *to = y.data() + (mapB[n] * columns + j) * width;
        unround(whole[at], from, to, width, p);
        for (int64_t e = 0; e < width; ++e)
          dx[(n * rows + i) * width + e] +=
              g[at] * slope(from[e] - to[e], whole[at], p);
      }
  sizes.push_back(rows);
  sizes.push_back(width);
  put(call, 0, sizes, dx);
  return success();
}

/// Calls `fn` with the rows of each pair and its place: (0, 1), (0, 2), ...
template <typename Fn> static void forEachPair(int64_t rows, Fn fn) {
  int64_t at = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j)
      fn(i, j, at++);
}

/// The points of a call, one a row.
static FailureOr<Tensor> readPoints(const KernelCall &call) {
  Tensor self = call.dense("self");
  if (self.rank() != 2)
    return call.error("runs on a matrix of points, not on " +
                      Twine(self.rank()) + " dimensions");
  return self;
}

/// Of each row to those behind it.
static LogicalResult distancesWithin(const KernelCall &call) {
  FailureOr<Tensor> points = readPoints(call);
  if (failed(points))
    return failure();
  const Tensor &self = *points;
  int64_t rows = self.sizes[0], width = self.sizes[1];
  double p = call.number("p", 2);
  std::vector<double> x = self.doubles(), z;
  forEachPair(rows, [&](int64_t i, int64_t j, int64_t) {
    z.push_back(norm(x.data() + i * width, x.data() + j * width, width, p));
  });
  put(call, 0, {static_cast<int64_t>(z.size())}, z);
  return success();
}

static LogicalResult distancesWithinBackward(const KernelCall &call) {
  FailureOr<Tensor> points = readPoints(call);
  if (failed(points))
    return failure();
  const Tensor &self = *points;
  int64_t rows = self.sizes[0], width = self.sizes[1];
  double p = call.number("p", 2);
  int64_t pairs = rows * (rows - 1) / 2;
  std::vector<double> g = doubles(call, "grad", pairs);
  std::vector<double> whole = doubles(call, "pdist", pairs);
  std::vector<double> x = self.doubles(), dx(x.size());
  forEachPair(rows, [&](int64_t i, int64_t j, int64_t at) {
    unround(whole[at], x.data() + i * width, x.data() + j * width, width, p);
    for (int64_t e = 0; e < width; ++e) {
      double apart = x[i * width + e] - x[j * width + e];
      double part = g[at] * slope(apart, whole[at], p);
      dx[i * width + e] += part;
      dx[j * width + e] -= part;
    }
  });
  put(call, 0, self.sizes, dx);
  return success();
}

const KernelFn kernels::distances = ::distances;
const KernelFn kernels::distancesBackward = ::distancesBackward;
const KernelFn kernels::distancesWithin = ::distancesWithin;
const KernelFn kernels::distancesWithinBackward = ::distancesWithinBackward;
