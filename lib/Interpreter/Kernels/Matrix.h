// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of doubles, for the kernels of linear algebra.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_MATRIX_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_MATRIX_H

#include "Values.h"

namespace cutback::interpreter {

/// A row-major matrix.
struct Matrix {
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(rows * columns) {}

  int64_t rows, columns;
  std::vector<double> values;

  double &operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  double operator()(int64_t i, int64_t j) const {
    return values[i * columns + j];
  }
  Matrix transposed() const {
    Matrix result(columns, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result(j, i) = (*this)(i, j);
    return result;
  }
};

Matrix identity(int64_t size);
Matrix multiply(const Matrix &a, const Matrix &b);

/// A batch of real matrices: the last two dimensions of a tensor. Fails for
/// complex numbers.
struct Batch {
  Sizes dims; ///< of the batch
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  int64_t count() const { return product(dims); }
  Matrix at(int64_t i) const;
  /// For each matrix of the broadcast batch `to`, the one of this.
  std::vector<int64_t> mapTo(llvm::ArrayRef<int64_t> to) const {
    return broadcastMap(dims, to);
  }
};
mlir::FailureOr<Batch> batchOf(const KernelCall &call, aten::ParamRef param);

/// The matrices of a result that are made one after another.
class BatchResult {
public:
  void add(const Matrix &matrix) {
    values.insert(values.end(), matrix.values.begin(), matrix.values.end());
  }
  void add(double value) { values.push_back(value); }
  /// Result `i`, of sizes `dims` and then `more`.
  void put(const KernelCall &call, unsigned i, llvm::ArrayRef<int64_t> dims,
           llvm::ArrayRef<int64_t> more = {}) const;

private:
  std::vector<double> values;
};

/// P A = L U by columns with the largest pivot; L below the diagonal of `lu`.
struct Lu {
  explicit Lu(Matrix matrix);
  Matrix lu;
  std::vector<int64_t> pivots; ///< row that row i was swapped with
  int sign = 1;                ///< of the permutation
  /// 1 + the first column without a pivot, 0 if there is none.
  int64_t singular = 0;

  /// A^-1 right.
  Matrix solve(Matrix right) const;
};

/// linalg_lu_factor_ex and lu_unpack (LuFactors.cpp).
mlir::LogicalResult luFactor(const KernelCall &call);
mlir::LogicalResult luUnpack(const KernelCall &call);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_MATRIX_H
