// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inverses, equations and determinants by LU factors (LuFactors.cpp), and by
// Eigen Cholesky factors and triangular equations; a batch of matrices, real or
// complex, one after another, in double. n^3 each.
//
// A singular matrix is an error where PyTorch raises one (`info` is not 0):
// a model that goes on with such an inverse has nothing to compare with.

#include "Kernels.h"
#include "Matrix.h"

#include "cutback/Interpreter/Determinants.h"

#include <Eigen/Cholesky>

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Inverses, equations, determinants
//===----------------------------------------------------------------------===//

template <typename S>
static LogicalResult checkRegular(const KernelCall &call,
                                  const Lu<S> &factors) {
  if (!factors.singular)
    return success();
  return call.error("the matrix is singular");
}

/// What factorizations give beside their answer.
template <typename S> struct LuResults {
  BatchResult<S> lu;
  BatchResult<double> pivots, info;
  void add(const Lu<S> &factors) {
    lu.add(factors.lu);
    for (int64_t pivot : factors.pivots)
      pivots.add(static_cast<double>(pivot + 1));
    info.add(static_cast<double>(factors.singular));
  }
  void put(const KernelCall &call, unsigned first,
           const Batch<S> &batch) const {
    lu.put(call, first, batch.dims, {batch.rows, batch.rows});
    pivots.put(call, first + 1, batch.dims, {batch.rows});
  }
};

template <typename S> static LogicalResult invert(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "A");
  if (failed(batch))
    return failure();
  int64_t n = batch->rows;
  BatchResult<S> results;
  BatchResult<double> info;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Lu<S> factors(batch->at(i));
    if (failed(checkRegular(call, factors)))
      return failure();
    results.add(factors.solve(MatrixOf<S>::Identity(n, n)));
    info.add(0);
  }
  results.put(call, 0, batch->dims, {n, n});
  info.put(call, 1, batch->dims);
  return success();
}

/// The right sides of `solve`; a vector is a matrix of one column.
template <typename S>
static Batch<S> rightSides(const KernelCall &call, bool &isVector) {
  Tensor b = call.dense("B"), a = call.tensor("A");
  isVector = b.rank() == 1 ||
             (b.rank() == a.rank() - 1 &&
              llvm::equal(b.sizes, ArrayRef<int64_t>(a.sizes).drop_back()));
  Batch<S> rights;
  rights.values = elementsOf<S>(b);
  Sizes sizes(b.sizes.begin(), b.sizes.end());
  if (isVector)
    sizes.push_back(1);
  rights.columns = sizes.pop_back_val();
  rights.rows = sizes.pop_back_val();
  rights.dims = sizes;
  return rights;
}

/// A X = B, or X A = B as A^T X^T = B^T.
template <typename S> static LogicalResult solve(const KernelCall &call) {
  FailureOr<Batch<S>> matrices = squareOf<S>(call, "A");
  if (failed(matrices))
    return failure();
  bool left = call.boolean("left", true), isVector;
  Batch<S> rights = rightSides<S>(call, isVector);
  if ((left ? rights.rows : rights.columns) != matrices->rows)
    return call.error("operands of sizes that do not fit");
  Sizes dims = broadcastSizes(matrices->dims, rights.dims);
  BatchResult<S> results;
  LuResults<S> factorsOfAll;
  std::vector<Lu<S>> factors;
  for (int64_t i = 0; i < matrices->count(); ++i) {
    factors.emplace_back(matrices->at(i));
    if (failed(checkRegular(call, factors.back())))
      return failure();
    factorsOfAll.add(factors.back());
    if (!left)
      factors.back() = Lu<S>(matrices->at(i).transpose());
  }
  for (auto [m, r] :
       llvm::zip_equal(matrices->mapTo(dims), rights.mapTo(dims))) {
    MatrixOf<S> right = rights.at(r);
    if (left)
      results.add(factors[m].solve(right));
    else
      results.add(factors[m].solve(right.transpose()).transpose());
  }
  if (isVector)
    results.put(call, 0, dims, {rights.rows});
  else
    results.put(call, 0, dims, {rights.rows, rights.columns});
  factorsOfAll.put(call, 1, *matrices);
  factorsOfAll.info.put(call, 3, matrices->dims);
  return success();
}

/// Matrix `i` of a determinant, transposed where its factors must be.
template <typename S>
static MatrixOf<S> toFactorize(const KernelCall &call, const Batch<S> &batch,
                               int64_t i) {
  MatrixOf<S> matrix = batch.at(i);
  if (call.op.getOperation()->hasAttr(kTransposed))
    matrix.transposeInPlace();
  return matrix;
}

template <typename S> static LogicalResult determinant(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "A");
  if (failed(batch))
    return failure();
  BatchResult<S> results;
  LuResults<S> factorsOfAll;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Lu<S> factors(toFactorize(call, *batch, i));
    S value = factors.sign;
    for (int64_t k = 0; k < batch->rows; ++k)
      value *= factors.lu(k, k);
    results.add(value);
    factorsOfAll.add(factors);
  }
  results.put(call, 0, batch->dims);
  factorsOfAll.put(call, 1, *batch);
  return success();
}

template <typename S>
static LogicalResult logDeterminant(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "A");
  if (failed(batch))
    return failure();
  BatchResult<S> signs;
  BatchResult<double> logarithms;
  LuResults<S> factorsOfAll;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Lu<S> factors(toFactorize(call, *batch, i));
    S sign = factors.sign;
    double logarithm = 0;
    for (int64_t k = 0; k < batch->rows; ++k) {
      S pivot = factors.lu(k, k);
      sign *= pivot == S(0) ? S(0) : pivot / std::abs(pivot);
      logarithm += std::log(std::abs(pivot));
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

template <typename S> static LogicalResult cholesky(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "self");
  if (failed(batch))
    return failure();
  bool upper = call.boolean("upper");
  BatchResult<S> results;
  BatchResult<double> info;
  int64_t n = batch->rows;
  for (int64_t m = 0; m < batch->count(); ++m) {
    // It reads the lower half alone.
    MatrixOf<S> a = batch->at(m);
    if (upper)
      a.adjointInPlace();
    Eigen::LLT<MatrixOf<S>> own(a);
    MatrixOf<S> factor = own.matrixL();
    bool isPositive = own.info() == Eigen::Success;
    for (int64_t i = 0; i < n; ++i)
      isPositive &= std::real(factor(i, i)) > 0;
    if (!isPositive)
      return call.error("the matrix is not positive definite");
    if (upper)
      factor.adjointInPlace();
    results.add(factor);
    info.add(0);
  }
  results.put(call, 0, batch->dims, {n, n});
  info.put(call, 1, batch->dims);
  return success();
}

template <typename S>
static LogicalResult solveTriangular(const KernelCall &call) {
  FailureOr<Batch<S>> matrices = squareOf<S>(call, "self");
  if (failed(matrices))
    return failure();
  Batch<S> rights = batchOf<S>(call, "B");
  bool upper = call.boolean("upper"), left = call.boolean("left", true);
  bool unit = call.boolean("unitriangular");
  if ((left ? rights.rows : rights.columns) != matrices->rows)
    return call.error("operands of sizes that do not fit");
  Sizes dims = broadcastSizes(matrices->dims, rights.dims);
  BatchResult<S> results;
  for (auto [m, r] :
       llvm::zip_equal(matrices->mapTo(dims), rights.mapTo(dims))) {
    MatrixOf<S> matrix = matrices->at(m), right = rights.at(r);
    if (!left) {
      matrix.transposeInPlace();
      right.transposeInPlace();
    }
    if (unit)
      matrix.diagonal().setOnes();
    if (upper == left)
      matrix.template triangularView<Eigen::Upper>().solveInPlace(right);
    else
      matrix.template triangularView<Eigen::Lower>().solveInPlace(right);
    if (!left)
      right.transposeInPlace();
    results.add(right);
  }
  results.put(call, 0, dims, {rights.rows, rights.columns});
  return success();
}

const KernelFn kernels::linalgInvEx = ::either<invert<double>, invert<Complex>>;
const KernelFn kernels::linalgSolveEx = ::either<solve<double>, solve<Complex>>;
const KernelFn kernels::linalgDet =
    ::either<determinant<double>, determinant<Complex>>;
const KernelFn kernels::linalgSlogdet =
    ::either<logDeterminant<double>, logDeterminant<Complex>>;
const KernelFn kernels::linalgCholeskyEx =
    ::either<cholesky<double>, cholesky<Complex>>;
const KernelFn kernels::linalgSolveTriangular =
    ::either<solveTriangular<double>, solveTriangular<Complex>>;
const KernelFn kernels::luFactor = ::luFactor;
const KernelFn kernels::luUnpack = ::luUnpack;
const KernelFn kernels::ldlFactor = ::ldlFactor;
const KernelFn kernels::ldlSolve = ::ldlSolve;
