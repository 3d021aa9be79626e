// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of matrices, real (S = double) or complex, for the kernels of linear
// algebra.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_MATRIX_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_MATRIX_H

#include "EigenCore.h"
#include "Values.h"

namespace cutback::interpreter {

/// Matrices as tensors hold them.
template <typename S>
using RowMajorOf =
    Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A batch of matrices: the last two dimensions of a tensor.
template <typename S> struct Batch {
  Sizes dims; ///< of the batch
  int64_t rows = 0, columns = 0;
  std::vector<S> values;

  int64_t count() const { return product(dims); }
  MatrixOf<S> at(int64_t i) const {
    return Eigen::Map<const RowMajorOf<S>>(values.data() + i * rows * columns,
                                           rows, columns);
  }
  /// For each matrix of the broadcast batch `to`, the one of this.
  std::vector<int64_t> mapTo(llvm::ArrayRef<int64_t> to) const {
    return broadcastMap(dims, to);
  }
};

/// The elements of a tensor in double.
template <typename S> std::vector<S> elementsOf(const Tensor &tensor) {
  if constexpr (std::is_same_v<S, double>)
    return tensor.doubles();
  else
    return tensor.complexes();
}

template <typename S>
Batch<S> batchOf(const KernelCall &call, aten::ParamRef param) {
  Tensor tensor = call.dense(param);
  Batch<S> batch;
  batch.dims.assign(tensor.sizes.begin(), tensor.sizes.end() - 2);
  batch.rows = tensor.sizes[tensor.rank() - 2];
  batch.columns = tensor.sizes.back();
  batch.values = elementsOf<S>(tensor);
  return batch;
}

/// The same, of matrices with as many rows as columns.
template <typename S>
mlir::FailureOr<Batch<S>> squareOf(const KernelCall &call,
                                   aten::ParamRef param) {
  Batch<S> batch = batchOf<S>(call, param);
  if (batch.rows != batch.columns)
    return call.error("runs on square matrices only");
  return batch;
}

/// The matrices of a result that are made one after another.
template <typename S> class BatchResult {
public:
  void add(const RowMajorOf<S> &matrix) {
    values.insert(values.end(), matrix.data(), matrix.data() + matrix.size());
  }
  void add(S value) { values.push_back(value); }
  /// Result `i`, of sizes `dims` and then `more`.
  void put(const KernelCall &call, unsigned i, llvm::ArrayRef<int64_t> dims,
           llvm::ArrayRef<int64_t> more = {}) const {
    Sizes sizes(dims.begin(), dims.end());
    sizes.append(more.begin(), more.end());
    if (call.wants(i))
      store<S>(call.make(i, sizes), values);
  }

private:
  std::vector<S> values;
};

/// P A = L U by columns with the largest pivot, for any two sizes; L below the
/// diagonal of `lu`.
template <typename S> struct Lu {
  explicit Lu(MatrixOf<S> a);
  MatrixOf<S> lu;
  std::vector<int64_t> pivots; ///< row that row i was swapped with
  int sign = 1;                ///< of the permutation
  /// 1 + the first column without a pivot, 0 if there is none.
  int64_t singular = 0;

  /// A^-1 right, of a square matrix.
  MatrixOf<S> solve(MatrixOf<S> right) const;
};
extern template struct Lu<double>;
extern template struct Lu<Complex>;

/// A kernel for real matrices and one for complex ones.
template <mlir::LogicalResult (*real)(const KernelCall &),
          mlir::LogicalResult (*complex)(const KernelCall &)>
mlir::LogicalResult either(const KernelCall &call) {
  return isComplex(call.tensor(0u).type) ? complex(call) : real(call);
}

/// linalg_lu_factor_ex and lu_unpack (LuFactors.cpp).
mlir::LogicalResult luFactor(const KernelCall &call);
mlir::LogicalResult luUnpack(const KernelCall &call);
/// linalg_ldl_factor_ex and linalg_ldl_solve (LdlFactors.cpp).
mlir::LogicalResult ldlFactor(const KernelCall &call);
mlir::LogicalResult ldlSolve(const KernelCall &call);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_MATRIX_H
