// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// P L D L^T P^T factors of symmetric and Hermitian matrices that need not be
// definite, and equations that they solve; a batch of matrices one after
// another, in double. n^3 / 3 each.
//
// By hand, although Eigen has LDLT: that one takes diagonal elements alone as
// pivots, for which an indefinite matrix is not fit. These are the pivots of
// Bunch and Kaufman, which LAPACK's sytrf takes: an element of the diagonal, or
// a block of two rows. L stands below the diagonal as its rows were when each
// column was made; later swaps do not reach back. Pivot k is the row, counted
// from 1, that row k was swapped with; of a block both are the negative number
// of the row that its second one was swapped with.

#include "Kernels.h"
#include "Matrix.h"

#include <Eigen/LU>

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using Eigen::Index;

namespace {

double sizeOf(double x) { return std::fabs(x); }
double sizeOf(Complex x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

template <typename S> class Ldl {
public:
  Ldl(const MatrixOf<S> &a, bool isHermitian)
      : isHermitian(isHermitian), ld(a.template triangularView<Eigen::Lower>()),
        pivots(a.rows()) {
    for (Index k = 0; k < ld.rows(); k += size)
      eliminate(k);
  }

  S turned(S x) const { return isHermitian ? Eigen::numext::conj(x) : x; }

private:
  void choose(Index k);
  void swap(Index k, Index i);
  void eliminate(Index k);

  bool isHermitian;
  Index size = 1, row = 0; ///< of the pivot: rows, and the one to swap with

public:
  MatrixOf<S> ld;
  std::vector<int64_t> pivots;
  int64_t singular = 0; ///< 1 + the first column of zeros, 0 if there is none
};

/// The pivot of column k; none if all is zero from there on.
template <typename S> void Ldl<S>::choose(Index k) {
  static const double bound = (1 + std::sqrt(17.0)) / 8;
  Index n = ld.rows(), most = k;
  size = 1, row = k;
  double own = isHermitian ? std::fabs(std::real(ld(k, k))) : sizeOf(ld(k, k));
  double below = 0;
  for (Index i = k + 1; i < n; ++i)
    if (sizeOf(ld(i, k)) > below)
      below = sizeOf(ld(i, k)), most = i;
  if (own >= bound * below)
    return;
  double others = 0;
  for (Index i = k; i < n; ++i)
    if (i != most)
      others = std::max(others, sizeOf(i < most ? ld(most, i) : ld(i, most)));
  double corner = isHermitian ? std::fabs(std::real(ld(most, most)))
                              : sizeOf(ld(most, most));
  if (own >= bound * below * (below / others))
    return;
  row = most;
  size = corner >= bound * others ? 1 : 2;
}

/// Rows and columns k and i > k of what is left.
template <typename S> void Ldl<S>::swap(Index k, Index i) {
  Index n = ld.rows();
  ld.col(k).tail(n - i - 1).swap(ld.col(i).tail(n - i - 1));
  for (Index j = k + 1; j < i; ++j) {
    S left = ld(j, k);
    ld(j, k) = turned(ld(i, j));
    ld(i, j) = turned(left);
  }
  ld(i, k) = turned(ld(i, k));
  std::swap(ld(k, k), ld(i, i));
}

template <typename S> void Ldl<S>::eliminate(Index k) {
  choose(k);
  Index last = k + size - 1, rest = ld.rows() - last - 1;
  for (Index i = k; i <= last; ++i)
    pivots[i] = size == 1 ? row + 1 : -(row + 1);
  if (row != last) {
    swap(last, row);
    if (size == 2)
      std::swap(ld(last, k), ld(row, k));
  }
  for (Index i = k; isHermitian && i <= last; ++i)
    ld(i, i) = std::real(ld(i, i));
  MatrixOf<S> columns = ld.block(last + 1, k, rest, size), scaled = columns;
  if (size == 1) {
    if (ld(k, k) == S(0)) {
      singular = singular ? singular : k + 1;
      return;
    }
    scaled /= ld(k, k);
  } else {
    Eigen::Matrix<S, 2, 2> block;
    block << ld(k, k), turned(ld(last, k)), ld(last, k), ld(last, last);
    scaled *= block.inverse();
  }
  if (rest == 0)
    return;
  MatrixOf<S> across =
      isHermitian ? MatrixOf<S>(columns.adjoint()) : columns.transpose();
  ld.bottomRightCorner(rest, rest).template triangularView<Eigen::Lower>() -=
      scaled * across;
  ld.block(last + 1, k, rest, size) = scaled;
}

/// The matrix whose factors these are, times X, is `right`.
template <typename S>
MatrixOf<S> solveBy(const MatrixOf<S> &ld, ArrayRef<int64_t> pivots,
                    bool isHermitian, MatrixOf<S> right) {
  Index n = ld.rows();
  auto turned = [&](S x) { return isHermitian ? Eigen::numext::conj(x) : x; };
  auto sizeAt = [&](Index k) -> Index { return pivots[k] < 0 ? 2 : 1; };
  SmallVector<Index> starts;
  for (Index k = 0; k < n; k += sizeAt(k)) {
    Index size = std::min(sizeAt(k), n - k), last = k + size - 1;
    starts.push_back(k);
    right.row(last).swap(right.row(std::abs(pivots[k]) - 1));
    right.bottomRows(n - last - 1) -=
        ld.block(last + 1, k, n - last - 1, size) * right.middleRows(k, size);
    if (size == 1) {
      right.row(k) /= ld(k, k);
      continue;
    }
    Eigen::Matrix<S, 2, 2> block;
    block << ld(k, k), turned(ld(last, k)), ld(last, k), ld(last, last);
    right.middleRows(k, 2) = (block.inverse() * right.middleRows(k, 2)).eval();
  }
  for (Index k : llvm::reverse(starts)) {
    Index size = std::min(sizeAt(k), n - k), last = k + size - 1;
    MatrixOf<S> across = ld.block(last + 1, k, n - last - 1, size).transpose();
    if (isHermitian)
      across = across.conjugate().eval();
    right.middleRows(k, size) -= across * right.bottomRows(n - last - 1);
    right.row(last).swap(right.row(std::abs(pivots[k]) - 1));
  }
  return right;
}

template <typename S> LogicalResult factorize(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "self");
  if (failed(batch))
    return failure();
  BatchResult<S> factors;
  BatchResult<double> pivots, info;
  for (int64_t i = 0; i < batch->count(); ++i) {
    MatrixOf<S> matrix = batch->at(i);
    if (!matrix.allFinite())
      return call.error("the matrix has elements that are not finite");
    Ldl<S> own(matrix, call.boolean("hermitian"));
    factors.add(own.ld);
    for (int64_t pivot : own.pivots)
      pivots.add(static_cast<double>(pivot));
    info.add(static_cast<double>(own.singular));
  }
  factors.put(call, 0, batch->dims, {batch->rows, batch->rows});
  pivots.put(call, 1, batch->dims, {batch->rows});
  info.put(call, 2, batch->dims);
  return success();
}

template <typename S> LogicalResult solve(const KernelCall &call) {
  FailureOr<Batch<S>> factors = squareOf<S>(call, "LD");
  if (failed(factors))
    return failure();
  Batch<S> rights = batchOf<S>(call, "B");
  int64_t n = factors->rows;
  if (rights.rows != n)
    return call.error("operands of sizes that do not fit");
  std::vector<int64_t> pivots = ints(call, "pivots", factors->count() * n);
  if (call.failed())
    return failure();
  for (int64_t pivot : pivots)
    if (pivot == 0 || std::abs(pivot) > n)
      return call.error("pivot " + Twine(pivot) + " of " + Twine(n) + " rows");
  Sizes dims = broadcastSizes(factors->dims, rights.dims);
  BatchResult<S> results;
  for (auto [m, r] : llvm::zip_equal(factors->mapTo(dims), rights.mapTo(dims)))
    results.add(solveBy<S>(factors->at(m), ArrayRef(pivots).slice(m * n, n),
                           call.boolean("hermitian"), rights.at(r)));
  results.put(call, 0, dims, {n, rights.columns});
  return success();
}

} // namespace

LogicalResult interpreter::ldlFactor(const KernelCall &call) {
  return either<factorize<double>, factorize<Complex>>(call);
}

LogicalResult interpreter::ldlSolve(const KernelCall &call) {
  return either<solve<double>, solve<Complex>>(call);
}
