// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// QR factors by Householder reflections, with LAPACK's signs; eigenvalues of
// symmetric matrices by Jacobi's rotations of two rows and columns, singular
// values by rotations of two columns (one-sided), and exponentials by a Taylor
// series of a matrix that was halved often enough and is squared as often.
//
// Rotations go on until nothing changes beyond rounding; they converge
// quadratically, in a handful of sweeps of n^3. The sign of a vector is free,
// and not LAPACK's.

#include "Kernels.h"
#include "Matrix.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static constexpr int kSweeps = 60;

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

namespace {
/// 1 - tau v v^T, which leaves the elements before the k-th as they are.
struct Reflection {
  double tau = 0;
  std::vector<double> v;
};
} // namespace

/// Makes column k zero below the diagonal, and gives the reflection.
static Reflection reflectColumn(Matrix &r, int64_t k) {
  Reflection made;
  made.v.resize(r.rows);
  made.v[k] = 1;
  double norm = 0;
  for (int64_t i = k; i < r.rows; ++i)
    norm = std::hypot(norm, r(i, k));
  bool isDone = true;
  for (int64_t i = k + 1; i < r.rows; ++i)
    isDone &= r(i, k) == 0;
  if (isDone)
    return made;
  double beta = r(k, k) > 0 ? -norm : norm, scale = r(k, k) - beta;
  made.tau = (beta - r(k, k)) / beta;
  for (int64_t i = k + 1; i < r.rows; ++i)
    made.v[i] = r(i, k) / scale;
  for (int64_t j = 0; j < r.columns; ++j) {
    double sum = 0;
    for (int64_t i = k; i < r.rows; ++i)
      sum += made.v[i] * r(i, j);
    for (int64_t i = k; i < r.rows; ++i)
      r(i, j) -= made.tau * made.v[i] * sum;
  }
  for (int64_t i = k + 1; i < r.rows; ++i)
    r(i, k) = 0;
  return made;
}

/// Makes `r` upper triangular from the left; gives the product of the
/// reflections, [rows, rows].
static Matrix triangularize(Matrix &r) {
  Matrix q = identity(r.rows);
  for (int64_t k = 0; k < std::min(r.rows - 1, r.columns); ++k) {
    Reflection turn = reflectColumn(r, k);
    for (int64_t i = 0; turn.tau != 0 && i < q.rows; ++i) {
      double sum = 0;
      for (int64_t j = k; j < q.rows; ++j)
        sum += q(i, j) * turn.v[j];
      for (int64_t j = k; j < q.rows; ++j)
        q(i, j) -= turn.tau * turn.v[j] * sum;
    }
  }
  return q;
}

/// The triangle, below it the vectors of the reflections, and their factors.
static LogicalResult geqrf(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "self");
  if (failed(batch))
    return failure();
  int64_t size = std::min(batch->rows, batch->columns);
  BatchResult factors, taus;
  for (int64_t m = 0; m < batch->count(); ++m) {
    Matrix r = batch->at(m), vectors(batch->rows, batch->columns);
    for (int64_t k = 0; k < size; ++k) {
      Reflection turn = reflectColumn(r, k);
      taus.add(turn.tau);
      for (int64_t i = k + 1; i < r.rows; ++i)
        vectors(i, k) = turn.v[i];
    }
    for (int64_t k = 0; k < size; ++k)
      for (int64_t i = k + 1; i < r.rows; ++i)
        r(i, k) = vectors(i, k);
    factors.add(r);
  }
  factors.put(call, 0, batch->dims, {batch->rows, batch->columns});
  taus.put(call, 1, batch->dims, {size});
  return success();
}

/// The first rows and columns.
static Matrix corner(const Matrix &matrix, int64_t rows, int64_t columns) {
  Matrix result(rows, columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result(i, j) = matrix(i, j);
  return result;
}

static LogicalResult qr(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "A");
  if (failed(batch))
    return failure();
  bool complete = call.string("mode") == "complete";
  int64_t size = complete ? batch->rows : std::min(batch->rows, batch->columns);
  BatchResult factors, triangles;
  for (int64_t m = 0; m < batch->count(); ++m) {
    Matrix r = batch->at(m), q = triangularize(r);
    factors.add(corner(q, batch->rows, size));
    triangles.add(corner(r, size, batch->columns));
  }
  if (call.string("mode") == "r")
    call.make(0, {0});
  else
    factors.put(call, 0, batch->dims, {batch->rows, size});
  triangles.put(call, 1, batch->dims, {size, batch->columns});
  return success();
}

//===----------------------------------------------------------------------===//
// Eigenvalues
//===----------------------------------------------------------------------===//

namespace {
/// Cosine and sine of the angle that makes the off-diagonal of [[a, b], [b, c]]
/// zero.
struct Rotation {
  Rotation(double a, double b, double c) {
    if (b == 0)
      return;
    double theta = (c - a) / (2 * b);
    double t = (theta < 0 ? -1 : 1) /
               (std::fabs(theta) + std::sqrt(theta * theta + 1));
    cosine = 1 / std::sqrt(t * t + 1);
    sine = t * cosine;
  }
  double cosine = 1, sine = 0;

  /// Turns columns i and j.
  void columns(Matrix &m, int64_t i, int64_t j) const {
    for (int64_t k = 0; k < m.rows; ++k) {
      double x = m(k, i), y = m(k, j);
      m(k, i) = cosine * x - sine * y;
      m(k, j) = sine * x + cosine * y;
    }
  }
};
} // namespace

/// 0, 1, ... in the order of `values`.
static std::vector<int64_t> orderOf(const std::vector<double> &values,
                                    bool descending) {
  std::vector<int64_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return descending ? values[a] > values[b] : values[a] < values[b];
  });
  return order;
}

static Matrix pickColumns(const Matrix &matrix, ArrayRef<int64_t> order) {
  Matrix result(matrix.rows, static_cast<int64_t>(order.size()));
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < result.columns; ++j)
      result(i, j) = matrix(i, order[j]);
  return result;
}

static bool isFinite(const Matrix &matrix) {
  return llvm::all_of(matrix.values, [](double x) { return std::isfinite(x); });
}

/// Ascending eigenvalues of a symmetric matrix, and its eigenvectors.
static std::vector<double> diagonalize(Matrix a, Matrix &vectors) {
  int64_t n = a.rows;
  vectors = identity(n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        double size = std::sqrt(std::fabs(a(i, i) * a(j, j)));
        if (std::fabs(a(i, j)) <= 1e-17 * size || std::fabs(a(i, j)) < 1e-300)
          continue;
        changed = true;
        Rotation turn(a(i, i), a(i, j), a(j, j));
        turn.columns(a, i, j);
        a = a.transposed();
        turn.columns(a, i, j);
        a(i, j) = a(j, i) = 0;
        turn.columns(vectors, i, j);
      }
    if (!changed)
      break;
  }
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(a(i, i));
  std::vector<int64_t> order = orderOf(values, /*descending=*/false);
  vectors = pickColumns(vectors, order);
  llvm::sort(values);
  return values;
}

static LogicalResult eigh(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "A");
  if (failed(batch))
    return failure();
  bool upper = call.string("UPLO").starts_with_insensitive("u");
  int64_t n = batch->rows;
  BatchResult values, vectors;
  for (int64_t m = 0; m < batch->count(); ++m) {
    Matrix a = batch->at(m), own(n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j)
        (upper ? a(i, j) : a(j, i)) = upper ? a(j, i) : a(i, j);
    if (!isFinite(a))
      return call.error("the matrix has elements that are not finite");
    for (double value : diagonalize(a, own))
      values.add(value);
    vectors.add(own);
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
struct Svd {
  Matrix u, v;           ///< [rows, columns] and [columns, columns]
  std::vector<double> s; ///< descending
};
} // namespace

/// Of a matrix with no fewer rows than columns: turns its columns until each
/// two of them are orthogonal.
static Svd decompose(Matrix a) {
  int64_t n = a.columns;
  Matrix v = identity(n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        double x = 0, y = 0, xy = 0;
        for (int64_t k = 0; k < a.rows; ++k) {
          x += a(k, i) * a(k, i);
          y += a(k, j) * a(k, j);
          xy += a(k, i) * a(k, j);
        }
        if (std::fabs(xy) <= 1e-16 * std::sqrt(x * y) || xy == 0)
          continue;
        changed = true;
        Rotation turn(x, xy, y);
        turn.columns(a, i, j);
        turn.columns(v, i, j);
      }
    if (!changed)
      break;
  }
  std::vector<double> s(n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < a.rows; ++k)
      s[j] = std::hypot(s[j], a(k, j));
    for (int64_t k = 0; s[j] > 0 && k < a.rows; ++k)
      a(k, j) /= s[j];
  }
  std::vector<int64_t> order = orderOf(s, /*descending=*/true);
  llvm::sort(s, std::greater<double>());
  return {pickColumns(a, order), pickColumns(v, order), s};
}

/// Columns that are zero, and more until there are `count`, become orthogonal
/// to all others.
static Matrix complete(const Matrix &given, int64_t count) {
  Matrix basis(given.rows, count);
  for (int64_t i = 0; i < given.rows; ++i)
    for (int64_t j = 0; j < std::min(count, given.columns); ++j)
      basis(i, j) = given(i, j);
  auto lengthOf = [&](int64_t j) {
    double length = 0;
    for (int64_t i = 0; i < basis.rows; ++i)
      length = std::hypot(length, basis(i, j));
    return length;
  };
  int64_t next = 0;
  for (int64_t j = 0; j < count; ++j)
    for (; lengthOf(j) < 0.5 && next < basis.rows; ++next) {
      for (int64_t i = 0; i < basis.rows; ++i)
        basis(i, j) = i == next;
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t k = 0; k < count; ++k) {
          double along = 0;
          for (int64_t i = 0; k != j && i < basis.rows; ++i)
            along += basis(i, k) * basis(i, j);
          for (int64_t i = 0; k != j && i < basis.rows; ++i)
            basis(i, j) -= along * basis(i, k);
        }
      double length = lengthOf(j);
      bool isNew = length > 1e-3;
      for (int64_t i = 0; i < basis.rows; ++i)
        basis(i, j) = isNew ? basis(i, j) / length : 0;
    }
  return basis;
}

static LogicalResult svd(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "A");
  if (failed(batch))
    return failure();
  bool full = call.boolean("full_matrices");
  int64_t rows = batch->rows, columns = batch->columns;
  int64_t size = std::min(rows, columns);
  int64_t left = full ? rows : size, right = full ? columns : size;
  BatchResult us, values, vs;
  for (int64_t m = 0; m < batch->count(); ++m) {
    Matrix a = batch->at(m);
    if (!isFinite(a))
      return call.error("the matrix has elements that are not finite");
    bool wide = rows < columns;
    Svd parts = decompose(wide ? a.transposed() : a);
    if (wide)
      std::swap(parts.u, parts.v);
    us.add(complete(parts.u, left));
    vs.add(complete(parts.v, right).transposed());
    for (double value : parts.s)
      values.add(value);
  }
  values.put(call, 1, batch->dims, {size});
  if (!call.boolean("compute_uv", true)) {
    call.make(0, {0});
    call.make(2, {0});
    return success();
  }
  us.put(call, 0, batch->dims, {rows, left});
  vs.put(call, 2, batch->dims, {right, columns});
  return success();
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

static Matrix exponential(Matrix a) {
  double norm = 0;
  for (double value : a.values)
    norm += std::fabs(value);
  int halvings = norm > 0.25 && std::isfinite(norm)
                     ? int(std::ceil(std::log2(norm / 0.25)))
                     : 0;
  for (double &value : a.values)
    value = std::ldexp(value, -halvings);
  Matrix result = identity(a.rows), term = identity(a.rows);
  for (int k = 1; k < 24; ++k) {
    term = multiply(term, a);
    for (auto [sum, value] : llvm::zip_equal(result.values, term.values)) {
      value /= k;
      sum += value;
    }
  }
  for (; halvings > 0; --halvings)
    result = multiply(result, result);
  return result;
}

static LogicalResult matrixExp(const KernelCall &call) {
  FailureOr<Batch> batch = batchOf(call, "self");
  if (failed(batch))
    return failure();
  BatchResult results;
  for (int64_t m = 0; m < batch->count(); ++m)
    results.add(exponential(batch->at(m)));
  results.put(call, 0, batch->dims, {batch->rows, batch->columns});
  return success();
}

//===----------------------------------------------------------------------===//
// Pseudo-inverses
//===----------------------------------------------------------------------===//

/// A tolerance a matrix, or none.
static FailureOr<std::vector<double>>
tolerances(const KernelCall &call, const char *name, const Batch &batch) {
  std::optional<Tensor> given = call.optionalTensor(name);
  if (!given)
    return std::vector<double>();
  if (broadcastSizes(given->sizes, batch.dims) != batch.dims)
    return call.error("a tolerance for each matrix, not of other sizes");
  return given->expand(batch.dims).doubles();
}

/// V diag(1/S) U^T of the singular values above `bound` times the largest, or
/// above `least`.
static Matrix pseudoInverse(const Matrix &a, double bound, double least) {
  bool wide = a.rows < a.columns;
  Svd parts = decompose(wide ? a.transposed() : a);
  if (wide)
    std::swap(parts.u, parts.v);
  if (!parts.s.empty())
    bound = std::max(bound * parts.s.front(), least);
  for (size_t j = 0; j < parts.s.size(); ++j)
    for (int64_t i = 0; i < parts.v.rows; ++i)
      parts.v(i, j) = parts.s[j] > bound ? parts.v(i, j) / parts.s[j] : 0;
  return multiply(parts.v, parts.u.transposed());
}

/// The matrices of `self`; complex ones as [Re -Im; Im Re], whose
/// pseudo-inverse is that of the matrix in the same form.
static FailureOr<Batch> realForms(const KernelCall &call) {
  Tensor self = call.dense("self");
  if (!isComplex(self.type))
    return batchOf(call, "self");
  Batch batch;
  batch.dims.assign(self.sizes.begin(), self.sizes.end() - 2);
  int64_t rows = self.sizes[self.rank() - 2], columns = self.sizes.back();
  batch.rows = 2 * rows;
  batch.columns = 2 * columns;
  std::vector<std::complex<double>> values = self.complexes();
  for (int64_t m = 0; m < batch.count(); ++m)
    for (int64_t i = 0; i < batch.rows; ++i)
      for (int64_t j = 0; j < batch.columns; ++j) {
        auto z = values[(m * rows + i % rows) * columns + j % columns];
        bool isBelow = i >= rows, isRight = j >= columns;
        batch.values.push_back(isBelow == isRight ? z.real()
                               : isBelow          ? z.imag()
                                                  : -z.imag());
      }
  return batch;
}

/// The right upper part of a symmetric or Hermitian matrix from the left lower.
static void mirror(Matrix &a, bool isForm) {
  int64_t size = isForm ? a.rows / 2 : a.rows;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      a(j, i) = a(i, j);
      if (!isForm)
        continue;
      double imaginary = i == j ? 0 : a(i + size, j);
      a(i + size, j + size) = a(j + size, i + size) = a(i, j);
      a(i + size, j) = a(j, i + size) = imaginary;
      a(i, j + size) = a(j + size, i) = -imaginary;
    }
}

/// Result 0 from real forms.
static void putComplex(const KernelCall &call, ArrayRef<Matrix> forms,
                       ArrayRef<int64_t> dims, int64_t rows, int64_t columns) {
  std::vector<std::complex<double>> values;
  for (const Matrix &form : forms)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        values.emplace_back(form(i, j), form(i + rows, j));
  Sizes sizes(dims.begin(), dims.end());
  sizes.append({rows, columns});
  call.make(0, sizes).assign(ArrayRef<std::complex<double>>(values));
}

static LogicalResult pinv(const KernelCall &call) {
  FailureOr<Batch> batch = realForms(call);
  if (failed(batch))
    return failure();
  DType type = call.tensor("self").type;
  bool isComplexMatrix = isComplex(type);
  int64_t parts = isComplexMatrix ? 2 : 1;
  auto absolute = tolerances(call, "atol", *batch);
  auto relative = tolerances(call, "rtol", *batch);
  if (failed(absolute) || failed(relative))
    return failure();
  bool isHermitian = call.boolean("hermitian");
  if (isHermitian && batch->rows != batch->columns)
    return call.error("a symmetric matrix is square");
  int64_t size = std::max(batch->rows, batch->columns) / parts;
  double epsilon =
      (type == DType::F64 || type == DType::C128 ? 0x1p-52 : 0x1p-23) *
      static_cast<double>(size);
  std::vector<Matrix> results;
  for (int64_t m = 0; m < batch->count(); ++m) {
    Matrix a = batch->at(m);
    if (isHermitian)
      mirror(a, isComplexMatrix);
    if (!isFinite(a))
      return call.error("the matrix has elements that are not finite");
    double least = absolute->empty() ? 0 : (*absolute)[m];
    double bound = !relative->empty() ? (*relative)[m]
                   : least > 0        ? 0
                                      : epsilon;
    results.push_back(pseudoInverse(a, bound, least));
  }
  if (isComplexMatrix) {
    putComplex(call, results, batch->dims, batch->columns / 2, batch->rows / 2);
    return success();
  }
  BatchResult real;
  for (const Matrix &matrix : results)
    real.add(matrix);
  real.put(call, 0, batch->dims, {batch->columns, batch->rows});
  return success();
}

ArrayRef<KernelEntry> interpreter::spectrumKernels() {
  static constexpr KernelEntry entries[] = {
      {"aten.linalg_qr.default", qr},
      {"aten.geqrf.default", geqrf},
      {"aten._linalg_eigh.default", eigh},
      {"aten._linalg_svd.default", svd},
      {"aten.linalg_matrix_exp.default", matrixExp},
      {"aten.linalg_pinv.atol_rtol_tensor", pinv},
  };
  return entries;
}
