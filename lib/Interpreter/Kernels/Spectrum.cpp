// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// QR factors, eigenvalues of symmetric and Hermitian matrices, singular values,
// pseudo-inverses and exponentials by Eigen, whose Householder reflections have
// LAPACK's signs. A batch of matrices, real or complex, one after another, in
// double.
//
// Eigenvalues ascend, singular values descend. The first component of a
// Hermitian matrix's eigenvector is real, the last one where the upper half is
// read, as LAPACK has them. The signs of eigenvectors and of pairs of singular
// vectors are free: those of two LAPACKs differ, too.
//
// The exponential is that of Eigen's unsupported part, which every package of
// Eigen has.

#include "Kernels.h"
#include "Matrix.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <unsupported/Eigen/MatrixFunctions>

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// The triangle, below it the vectors of the reflections, and their factors,
/// which LAPACK applies to the left as conjugates.
template <typename S> static LogicalResult geqrf(const KernelCall &call) {
  Batch<S> batch = batchOf<S>(call, "self");
  int64_t size = std::min(batch.rows, batch.columns);
  BatchResult<S> factors, taus;
  for (int64_t m = 0; m < batch.count(); ++m) {
    Eigen::HouseholderQR<MatrixOf<S>> own(batch.at(m));
    factors.add(own.matrixQR());
    taus.add(own.hCoeffs().conjugate());
  }
  factors.put(call, 0, batch.dims, {batch.rows, batch.columns});
  taus.put(call, 1, batch.dims, {size});
  return success();
}

template <typename S> static LogicalResult qr(const KernelCall &call) {
  Batch<S> batch = batchOf<S>(call, "A");
  bool complete = call.string("mode") == "complete";
  int64_t rows = batch.rows;
  int64_t size = complete ? rows : std::min(rows, batch.columns);
  BatchResult<S> factors, triangles;
  for (int64_t m = 0; m < batch.count(); ++m) {
    Eigen::HouseholderQR<MatrixOf<S>> own(batch.at(m));
    MatrixOf<S> q = MatrixOf<S>::Identity(rows, size);
    q.applyOnTheLeft(own.householderQ());
    factors.add(q);
    triangles.add(
        own.matrixQR().topRows(size).template triangularView<Eigen::Upper>());
  }
  if (call.string("mode") == "r")
    call.make(0, {0});
  else
    factors.put(call, 0, batch.dims, {rows, size});
  triangles.put(call, 1, batch.dims, {size, batch.columns});
  return success();
}

//===----------------------------------------------------------------------===//
// Eigenvalues
//===----------------------------------------------------------------------===//

template <typename S> static LogicalResult eigh(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "A");
  if (failed(batch))
    return failure();
  bool upper = call.string("UPLO").starts_with_insensitive("u");
  int64_t n = batch->rows;
  BatchResult<double> values;
  BatchResult<S> vectors;
  for (int64_t m = 0; n > 0 && m < batch->count(); ++m) {
    MatrixOf<S> a = batch->at(m);
    if (!a.allFinite())
      return call.error("the matrix has elements that are not finite");
    // Eigen reads the lower half: that of the matrix back to front.
    if (upper)
      a = a.reverse().eval();
    Eigen::SelfAdjointEigenSolver<MatrixOf<S>> own(a);
    for (double value : own.eigenvalues())
      values.add(value);
    if (upper)
      vectors.add(own.eigenvectors().colwise().reverse());
    else
      vectors.add(own.eigenvectors());
  }
  values.put(call, 0, batch->dims, {n});
  if (call.boolean("compute_v", true))
    vectors.put(call, 1, batch->dims, {n, n});
  else
    call.make(1, {0});
  return success();
}

//===----------------------------------------------------------------------===//
// Singular values
//===----------------------------------------------------------------------===//

namespace {
template <typename S> struct Svd {
  MatrixOf<S> u, v;
  Eigen::VectorXd s; ///< descending
};
} // namespace

/// With as many columns of U and V as there are singular values, or all.
template <typename S>
static Svd<S> decompose(const MatrixOf<S> &a, bool full = false) {
  int64_t rows = a.rows(), columns = a.cols(), size = std::min(rows, columns);
  if (size == 0) {
    auto basis = [&](int64_t n) {
      return MatrixOf<S>::Identity(n, full ? n : 0);
    };
    return {basis(rows), basis(columns), Eigen::VectorXd()};
  }
  Eigen::JacobiSVD<MatrixOf<S>> own(
      a, full ? Eigen::ComputeFullU | Eigen::ComputeFullV
              : Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {own.matrixU(), own.matrixV(), own.singularValues()};
}

template <typename S> static LogicalResult svd(const KernelCall &call) {
  Batch<S> batch = batchOf<S>(call, "A");
  bool full = call.boolean("full_matrices");
  int64_t rows = batch.rows, columns = batch.columns;
  int64_t size = std::min(rows, columns);
  int64_t left = full ? rows : size, right = full ? columns : size;
  BatchResult<S> us, vs;
  BatchResult<double> values;
  for (int64_t m = 0; m < batch.count(); ++m) {
    MatrixOf<S> a = batch.at(m);
    if (!a.allFinite())
      return call.error("the matrix has elements that are not finite");
    Svd<S> parts = decompose(a, full);
    us.add(parts.u);
    vs.add(parts.v.adjoint());
    for (double value : parts.s)
      values.add(value);
  }
  values.put(call, 1, batch.dims, {size});
  if (!call.boolean("compute_uv", true)) {
    call.make(0, {0});
    call.make(2, {0});
    return success();
  }
  us.put(call, 0, batch.dims, {rows, left});
  vs.put(call, 2, batch.dims, {right, columns});
  return success();
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

template <typename S> static LogicalResult matrixExp(const KernelCall &call) {
  FailureOr<Batch<S>> batch = squareOf<S>(call, "self");
  if (failed(batch))
    return failure();
  BatchResult<S> results;
  for (int64_t m = 0; batch->rows > 0 && m < batch->count(); ++m) {
    MatrixOf<S> a = batch->at(m);
    results.add(a.allFinite()
                    ? MatrixOf<S>(a.exp())
                    : MatrixOf<S>::Constant(a.rows(), a.cols(), kNaN));
  }
  results.put(call, 0, batch->dims, {batch->rows, batch->columns});
  return success();
}

//===----------------------------------------------------------------------===//
// Pseudo-inverses
//===----------------------------------------------------------------------===//

/// A tolerance a matrix, or none.
static FailureOr<std::vector<double>>
tolerances(const KernelCall &call, const char *name, const Sizes &dims) {
  std::optional<Tensor> given = call.optionalTensor(name);
  if (!given)
    return std::vector<double>();
  if (broadcastSizes(given->sizes, dims) != dims)
    return call.error("a tolerance for each matrix, not of other sizes");
  return given->expand(dims).doubles();
}

/// V diag(1/S) U^H of the singular values above `bound` times the largest, or
/// above `least`.
template <typename S>
static MatrixOf<S> pseudoInverse(const MatrixOf<S> &a, double bound,
                                 double least) {
  Svd<S> parts = decompose(a);
  if (parts.s.size() > 0)
    bound = std::max(bound * parts.s[0], least);
  for (double &value : parts.s)
    value = value > bound ? 1 / value : 0;
  return parts.v * parts.s.asDiagonal() * parts.u.adjoint();
}

template <typename S> static LogicalResult pinv(const KernelCall &call) {
  Batch<S> batch = batchOf<S>(call, "self");
  DType type = call.tensor("self").type;
  auto absolute = tolerances(call, "atol", batch.dims);
  auto relative = tolerances(call, "rtol", batch.dims);
  if (failed(absolute) || failed(relative))
    return failure();
  bool isHermitian = call.boolean("hermitian");
  if (isHermitian && batch.rows != batch.columns)
    return call.error("a symmetric matrix is square");
  double epsilon =
      (type == DType::F64 || type == DType::C128 ? 0x1p-52 : 0x1p-23) *
      static_cast<double>(std::max(batch.rows, batch.columns));
  BatchResult<S> results;
  for (int64_t m = 0; m < batch.count(); ++m) {
    MatrixOf<S> a = batch.at(m);
    if (isHermitian)
      a = MatrixOf<S>(a.template selfadjointView<Eigen::Lower>());
    if (!a.allFinite())
      return call.error("the matrix has elements that are not finite");
    double least = absolute->empty() ? 0 : (*absolute)[m];
    double bound = !relative->empty() ? (*relative)[m]
                   : least > 0        ? 0
                                      : epsilon;
    results.add(pseudoInverse(a, bound, least));
  }
  results.put(call, 0, batch.dims, {batch.columns, batch.rows});
  return success();
}

const KernelFn kernels::linalgQr = ::either<qr<double>, qr<Complex>>;
const KernelFn kernels::geqrf = ::either<::geqrf<double>, ::geqrf<Complex>>;
const KernelFn kernels::linalgEigh = ::either<eigh<double>, eigh<Complex>>;
const KernelFn kernels::linalgSvd = ::either<svd<double>, svd<Complex>>;
const KernelFn kernels::linalgMatrixExp =
    ::either<matrixExp<double>, matrixExp<Complex>>;
const KernelFn kernels::linalgPinv = ::either<pinv<double>, pinv<Complex>>;
