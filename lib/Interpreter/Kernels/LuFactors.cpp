// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LU factors with partial pivoting, of matrices of any two sizes, and the
// permutation that their pivots name; a batch of matrices one after another, in
// double. The factors share one matrix, L below the diagonal; pivot i is the
// row, counted from 1, that row i was swapped with.

#include "Matrix.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Factorizes `a` in place. Gives 1 + the first column without a pivot, or 0.
static int64_t factorize(Matrix &a, std::vector<int64_t> &pivots) {
  int64_t singular = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::fabs(a(i, k)) > std::fabs(a(best, k)))
        best = i;
    pivots.push_back(best + 1);
    for (int64_t j = 0; best != k && j < a.columns; ++j)
      std::swap(a(k, j), a(best, j));
    if (a(k, k) == 0) {
      singular = singular ? singular : k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j)
        a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return singular;
}

LogicalResult interpreter::luFactor(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "A");
  if (failed(batch))
    return failure();
  BatchResult factors, pivots, info;
  for (int64_t i = 0; i < batch->count(); ++i) {
    Matrix a = batch->at(i);
    std::vector<int64_t> swaps;
    info.add(static_cast<double>(factorize(a, swaps)));
    factors.add(a);
    for (int64_t pivot : swaps)
      pivots.add(static_cast<double>(pivot));
  }
  factors.put(call, 0, batch->dims, {batch->rows, batch->columns});
  pivots.put(call, 1, batch->dims, {std::min(batch->rows, batch->columns)});
  info.put(call, 2, batch->dims);
  return success();
}

/// The matrix P of P L U: row i of L U is row `order[i]` of the product.
static FailureOr<Matrix> permutation(const KernelCall &call, int64_t rows,
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
  Matrix result(rows, rows);
  for (int64_t i = 0; i < rows; ++i)
    result(order[i], i) = 1;
  return result;
}

LogicalResult interpreter::luUnpack(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "LU_data");
  if (failed(batch))
    return failure();
  int64_t rows = batch->rows, columns = batch->columns;
  int64_t size = std::min(rows, columns);
  std::vector<int64_t> pivots = ints(call, "LU_pivots", batch->count() * size);
  if (call.failed())
    return failure();
  BatchResult permutations, lowers, uppers;
  for (int64_t i = 0; i < batch->count(); ++i) {
    FailureOr<Matrix> p =
        permutation(call, rows, ArrayRef(pivots).slice(i * size, size));
    if (failed(p))
      return failure();
    Matrix a = batch->at(i), lower(rows, size), upper(size, columns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < size; ++c)
        lower(r, c) = r == c ? 1 : r > c ? a(r, c) : 0;
    for (int64_t r = 0; r < size; ++r)
      for (int64_t c = r; c < columns; ++c)
        upper(r, c) = a(r, c);
    permutations.add(*p);
    lowers.add(lower);
    uppers.add(upper);
  }
  if (call.boolean("unpack_pivots", true))
    permutations.put(call, 0, batch->dims, {rows, rows});
  else
    put(call, 0, {0}, {});
  if (!call.boolean("unpack_data", true)) {
    put(call, 1, {0}, {});
    put(call, 2, {0}, {});
    return success();
  }
  lowers.put(call, 1, batch->dims, {rows, size});
  uppers.put(call, 2, batch->dims, {size, columns});
  return success();
}
