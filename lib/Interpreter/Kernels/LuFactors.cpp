// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LU factors with partial pivoting, of matrices of any two sizes, and the
// permutation that their pivots name; a batch of matrices one after another, in
// double. The factors share one matrix, L below the diagonal; pivot i is the
// row, counted from 1, that row i was swapped with.
//
// By hand, in a loop: Eigen's PartialPivLU takes square matrices alone, and
// compares complex pivots by their absolute values, LAPACK by the sum of those
// of their parts.

#include "Matrix.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static double sizeOf(double x) { return std::fabs(x); }
static double sizeOf(Complex x) {
  return std::fabs(x.real()) + std::fabs(x.imag());
}

template <typename S> Lu<S>::Lu(MatrixOf<S> a) : lu(std::move(a)) {
  for (int64_t k = 0; k < std::min(lu.rows(), lu.cols()); ++k) {
    int64_t best = k, rows = lu.rows() - k - 1, columns = lu.cols() - k - 1;
    for (int64_t i = k + 1; i < lu.rows(); ++i)
      if (sizeOf(lu(i, k)) > sizeOf(lu(best, k)))
        best = i;
    pivots.push_back(best);
    if (best != k) {
      sign = -sign;
      lu.row(k).swap(lu.row(best));
    }
    if (lu(k, k) == S(0)) {
      singular = singular ? singular : k + 1;
      continue;
    }
    lu.col(k).tail(rows) /= lu(k, k);
    lu.bottomRightCorner(rows, columns) -=
        lu.col(k).tail(rows) * lu.row(k).tail(columns);
  }
}

template <typename S> MatrixOf<S> Lu<S>::solve(MatrixOf<S> right) const {
  for (auto [k, pivot] : llvm::enumerate(pivots))
    right.row(static_cast<int64_t>(k)).swap(right.row(pivot));
  lu.template triangularView<Eigen::UnitLower>().solveInPlace(right);
  lu.template triangularView<Eigen::Upper>().solveInPlace(right);
  return right;
}

template struct interpreter::Lu<double>;
template struct interpreter::Lu<Complex>;

template <typename S> static LogicalResult factorize(const KernelCall &call) {
  Batch<S> batch = batchOf<S>(call, "A");
  BatchResult<S> factors;
  BatchResult<double> pivots, info;
  for (int64_t i = 0; i < batch.count(); ++i) {
    Lu<S> own(batch.at(i));
    info.add(static_cast<double>(own.singular));
    factors.add(own.lu);
    for (int64_t pivot : own.pivots)
      pivots.add(static_cast<double>(pivot + 1));
  }
  factors.put(call, 0, batch.dims, {batch.rows, batch.columns});
  pivots.put(call, 1, batch.dims, {std::min(batch.rows, batch.columns)});
  info.put(call, 2, batch.dims);
  return success();
}

LogicalResult interpreter::luFactor(const KernelCall &call) {
  return either<factorize<double>, factorize<Complex>>(call);
}

/// The matrix P of P L U: row i of L U is row `order[i]` of the product.
template <typename S>
static FailureOr<MatrixOf<S>> permutation(const KernelCall &call, int64_t rows,
                                          ArrayRef<int64_t> pivots) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rows; ++i)
    order.push_back(i);
  for (auto [i, pivot] : llvm::enumerate(pivots)) {
    if (pivot < 1 || pivot > rows)
      return call.error("pivot " + Twine(pivot) + " of " + Twine(rows) +
                        " rows");
    std::swap(order[i], order[pivot - 1]);
  }
  MatrixOf<S> result = MatrixOf<S>::Zero(rows, rows);
  for (int64_t i = 0; i < rows; ++i)
    result(order[i], i) = 1;
  return result;
}

template <typename S> static LogicalResult unpack(const KernelCall &call) {
  Batch<S> batch = batchOf<S>(call, "LU_data");
  int64_t rows = batch.rows, columns = batch.columns;
  int64_t size = std::min(rows, columns);
  std::vector<int64_t> pivots = ints(call, "LU_pivots", batch.count() * size);
  if (call.failed())
    return failure();
  BatchResult<S> permutations, lowers, uppers;
  for (int64_t i = 0; i < batch.count(); ++i) {
    FailureOr<MatrixOf<S>> p =
        permutation<S>(call, rows, ArrayRef(pivots).slice(i * size, size));
    if (failed(p))
      return failure();
    MatrixOf<S> a = batch.at(i);
    permutations.add(*p);
    lowers.add(a.leftCols(size).template triangularView<Eigen::UnitLower>());
    uppers.add(a.topRows(size).template triangularView<Eigen::Upper>());
  }
  if (call.boolean("unpack_pivots", true))
    permutations.put(call, 0, batch.dims, {rows, rows});
  else
    put(call, 0, {0}, {});
  if (!call.boolean("unpack_data", true)) {
    put(call, 1, {0}, {});
    put(call, 2, {0}, {});
    return success();
  }
  lowers.put(call, 1, batch.dims, {rows, size});
  uppers.put(call, 2, batch.dims, {size, columns});
  return success();
}

LogicalResult interpreter::luUnpack(const KernelCall &call) {
  return either<unpack<double>, unpack<Complex>>(call);
}
