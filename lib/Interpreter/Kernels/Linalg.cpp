// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inverses, equations and determinants by LU factorization with partial
// pivoting, Cholesky factors, and triangular equations; a batch of matrices
// one after another, in double. n^3 each.
//
// A singular matrix is an error where PyTorch raises one (`info` is not 0):
// a model that goes on with such an inverse has nothing to compare with.

#include "Kernels.h"
#include "Matrix.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Matrix interpreter::identity(int64_t size) {
  Matrix result(size, size);
  for (int64_t i = 0; i < size; ++i)
    result(i, i) = 1;
  return result;
}

Matrix interpreter::multiply(const Matrix &a, const Matrix &b) {
  Matrix result(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0; j < b.columns; ++j)
        result(i, j) += a(i, k) * b(k, j);
  return result;
}

Matrix Batch::at(int64_t i) const {
  Matrix result(rows, columns);
  std::copy_n(values.begin() + i * rows * columns, rows * columns,
              result.values.begin());
  return result;
}

FailureOr<Batch> interpreter::batchOf(const KernelCall &call,
                                      aten::ParamRef param) {
  Tensor tensor = call.dense(param);
  if (isComplex(tensor.type))
    return call.error("runs on real matrices only");
  Batch batch;
  batch.dims.assign(tensor.sizes.begin(), tensor.sizes.end() - 2);
  batch.rows = tensor.sizes[tensor.rank() - 2];
  batch.columns = tensor.sizes.back();
  batch.values = tensor.doubles();
  return batch;
}

/// The same, of matrices with as many rows as columns.
static FailureOr<Batch> squareOf(const KernelCall &call, aten::ParamRef param) {
  FailureOr<Batch> batch = batchOf(call, param);
  if (succeeded(batch) && batch->rows != batch->columns)
    return call.error("runs on square matrices only");
  return batch;
}

void BatchResult::put(const KernelCall &call, unsigned i,
                      ArrayRef<int64_t> dims, ArrayRef<int64_t> more) const {
  Sizes sizes(dims.begin(), dims.end());
  sizes.append(more.begin(), more.end());
  if (call.wants(i))
    interpreter::put(call, i, sizes, values);
}

//===----------------------------------------------------------------------===//
// LU factors
//===----------------------------------------------------------------------===//

Lu::Lu(Matrix matrix) : lu(std::move(matrix)) {
  int64_t n = lu.rows;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(lu(i, k)) > std::fabs(lu(best, k)))
        best = i;
    pivots.push_back(best);
    if (best != k) {
      sign = -sign;
      for (int64_t j = 0; j < n; ++j)
        std::swap(lu(k, j), lu(best, j));
    }
    if (lu(k, k) == 0) {
      singular = singular ? singular : k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      lu(i, k) /= lu(k, k);
      for (int64_t j = k + 1; j < n; ++j)
        lu(i, j) -= lu(i, k) * lu(k, j);
    }
  }
}

Matrix Lu::solve(Matrix right) const {
  int64_t n = lu.rows;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; pivots[k] != k && j < right.columns; ++j)
      std::swap(right(k, j), right(pivots[k], j));
  for (int64_t j = 0; j < right.columns; ++j) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < i; ++k)
        right(i, j) -= lu(i, k) * right(k, j);
    for (int64_t i = n - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < n; ++k)
        right(i, j) -= lu(i, k) * right(k, j);
      right(i, j) /= lu(i, i);
    }
  }
  return right;
}

static LogicalResult checkRegular(const KernelCall &call, const Lu &factors) {
  if (!factors.singular)
    return success();
  return call.error("the matrix is singular");
}

/// What factorizations give beside their answer.
struct LuResults {
  BatchResult lu, pivots, info;
  void add(const Lu &factors) {
    lu.add(factors.lu);
    for (int64_t pivot : factors.pivots)
      pivots.add(static_cast<double>(pivot + 1));
    info.add(static_cast<double>(factors.singular));
  }
  void put(const KernelCall &call, unsigned first, const Batch &batch) const {
    lu.put(call, first, batch.dims, {batch.rows, batch.rows});
    pivots.put(call, first + 1, batch.dims, {batch.rows});
  }
};

static LogicalResult invert(const KernelCall &call) {
  FailureOr<Batch> batch = squareOf(call, "A");
  if (failed(batch))
    return failure();
  BatchResult results, info;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Lu factors(batch->at(i));
    if (failed(checkRegular(call, factors)))
      return failure();
    results.add(factors.solve(identity(batch->rows)));
    info.add(0);
  }
  results.put(call, 0, batch->dims, {batch->rows, batch->rows});
  info.put(call, 1, batch->dims);
  return success();
}

/// A X = B, or X A = B as A^T X^T = B^T.
static LogicalResult solve(const KernelCall &call) {
  FailureOr<Batch> matrices = squareOf(call, "A");
  if (failed(matrices))
    return failure();
  Tensor b = call.dense("B");
  Tensor a = call.tensor("A");
  bool left = call.boolean("left", true);
  bool isVector =
      b.rank() == 1 ||
      (b.rank() == a.rank() - 1 &&
       llvm::equal(b.sizes, ArrayRef<int64_t>(a.sizes).drop_back()));
  Batch rights;
  rights.values = b.doubles();
  Sizes sizes(b.sizes.begin(), b.sizes.end());
  if (isVector)
    sizes.push_back(1);
  rights.columns = sizes.pop_back_val();
  rights.rows = sizes.pop_back_val();
  rights.dims = sizes;
  if ((left ? rights.rows : rights.columns) != matrices->rows)
    return call.error("operands of sizes that do not fit");
  Sizes dims = broadcastSizes(matrices->dims, rights.dims);
  std::vector<int64_t> ofMatrix = matrices->mapTo(dims),
                       ofRight = rights.mapTo(dims);
  BatchResult results;
  LuResults factorsOfAll;
  std::vector<Lu> factors;
  for (int64_t i = 0; i < matrices->count(); ++i) {
    factors.emplace_back(matrices->at(i));
    if (failed(checkRegular(call, factors.back())))
      return failure();
    factorsOfAll.add(factors.back());
    if (!left)
      factors.back() = Lu(matrices->at(i).transposed());
  }
  for (auto [m, r] : llvm::zip_equal(ofMatrix, ofRight)) {
    Matrix right = rights.at(r);
    results.add(left ? factors[m].solve(right)
                     : factors[m].solve(right.transposed()).transposed());
  }
  if (isVector)
    results.put(call, 0, dims, {rights.rows});
  else
    results.put(call, 0, dims, {rights.rows, rights.columns});
  factorsOfAll.put(call, 1, *matrices);
  factorsOfAll.info.put(call, 3, matrices->dims);
  return success();
}

static LogicalResult determinant(const KernelCall &call) {
  FailureOr<Batch> batch = squareOf(call, "A");
  if (failed(batch))
    return failure();
  BatchResult results;
  LuResults factorsOfAll;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Lu factors(batch->at(i));
    double value = factors.sign;
    for (int64_t k = 0; k < batch->rows; ++k)
      value *= factors.lu(k, k);
    results.add(value);
    factorsOfAll.add(factors);
  }
  results.put(call, 0, batch->dims);
  factorsOfAll.put(call, 1, *batch);
  return success();
}

static LogicalResult logDeterminant(const KernelCall &call) {
  FailureOr<Batch> batch = squareOf(call, "A");
  if (failed(batch))
    return failure();
  BatchResult signs, logarithms;
  LuResults factorsOfAll;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Lu factors(batch->at(i));
    double sign = factors.sign, logarithm = 0;
    for (int64_t k = 0; k < batch->rows; ++k) {
      double pivot = factors.lu(k, k);
      sign *= pivot < 0 ? -1 : pivot > 0;
      logarithm += std::log(std::fabs(pivot));
    }
    signs.add(sign);
    logarithms.add(logarithm);
    factorsOfAll.add(factors);
  }
  signs.put(call, 0, batch->dims);
  logarithms.put(call, 1, batch->dims);
  factorsOfAll.put(call, 2, *batch);
  return success();
}

//===----------------------------------------------------------------------===//
// Triangular matrices
//===----------------------------------------------------------------------===//

static LogicalResult cholesky(const KernelCall &call) {
  FailureOr<Batch> batch = squareOf(call, "self");
  if (failed(batch))
    return failure();
  bool upper = call.boolean("upper");
  BatchResult results, info;
  int64_t n = batch->rows;
  for (int64_t m = 0; m < batch->count(); ++m) {
    Matrix a = batch->at(m), factor(n, n);
    if (upper)
      a = a.transposed();
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        double sum = a(i, j);
        for (int64_t k = 0; k < j; ++k)
          sum -= factor(i, k) * factor(j, k);
        if (i == j && !(sum > 0))
          return call.error("the matrix is not positive definite");
        factor(i, j) = i == j ? std::sqrt(sum) : sum / factor(j, j);
      }
    results.add(upper ? factor.transposed() : factor);
    info.add(0);
  }
  results.put(call, 0, batch->dims, {n, n});
  info.put(call, 1, batch->dims);
  return success();
}

/// `matrix` X = right, by substitution from its first row or its last.
static Matrix substitute(const Matrix &matrix, Matrix right, bool upper,
                         bool unit) {
  int64_t n = matrix.rows;
  for (int64_t j = 0; j < right.columns; ++j)
    for (int64_t step = 0; step < n; ++step) {
      int64_t i = upper ? n - 1 - step : step;
      for (int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
        right(i, j) -= matrix(i, k) * right(k, j);
      if (!unit)
        right(i, j) /= matrix(i, i);
    }
  return right;
}

static LogicalResult solveTriangular(const KernelCall &call) {
  FailureOr<Batch> matrices = squareOf(call, "self");
  FailureOr<Batch> rights = batchOf(call, "B");
  if (failed(matrices) || failed(rights))
    return failure();
  bool upper = call.boolean("upper"), left = call.boolean("left", true);
  bool unit = call.boolean("unitriangular");
  if ((left ? rights->rows : rights->columns) != matrices->rows)
    return call.error("operands of sizes that do not fit");
  Sizes dims = broadcastSizes(matrices->dims, rights->dims);
  BatchResult results;
  for (auto [m, r] :
       llvm::zip_equal(matrices->mapTo(dims), rights->mapTo(dims))) {
    Matrix matrix = matrices->at(m), right = rights->at(r);
    results.add(
        left ? substitute(matrix, right, upper, unit)
             : substitute(matrix.transposed(), right.transposed(), !upper, unit)
                   .transposed());
  }
  results.put(call, 0, dims, {rights->rows, rights->columns});
  return success();
}

ArrayRef<KernelEntry> interpreter::linalgKernels() {
  static constexpr KernelEntry entries[] = {
      {"aten.linalg_inv_ex.default", invert},
      {"aten._linalg_solve_ex.default", solve},
      {"aten._linalg_det.default", determinant},
      {"aten._linalg_slogdet.default", logDeterminant},
      {"aten.linalg_cholesky_ex.default", cholesky},
      {"aten.linalg_solve_triangular.default", solveTriangular},
      {"aten.linalg_lu_factor_ex.default", luFactor},
      {"aten.lu_unpack.default", luUnpack},
  };
  return entries;
}
