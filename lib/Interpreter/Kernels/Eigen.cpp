// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eigenvalues and eigenvectors of matrices that need not be symmetric, in the
// order and with the signs of LAPACK's geev.
//
// 1. Balance: rows and columns that hold an eigenvalue alone are moved to the
//    ends, and powers of two make the others' norms alike.
// 2. A Schur form (Schur.h); blocks of conjugate pairs become triangles.
// 3. Eigenvectors by substitution, back through the balance. A vector has
//    length 1 and a real largest component, which is positive but for pairs of
//    a real matrix, where it keeps the sign of its real part if that is the
//    larger one before.
//
// What does not converge is NaN. By hand, see Schur.cpp. Cost: about 25 n^3.

#include "Kernels.h"
#include "Schur.h"
#include "Values.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;

namespace {

/// D^-1 P^T A P D: permuted, and scaled within [low, high].
template <typename S> class Balance {
public:
  explicit Balance(MatrixOf<S> &a)
      : a(a), high(a.rows() - 1), other(a.rows()), scale(a.rows(), 1) {
    permute();
    while (scaleAll()) {
    }
  }
  /// The vectors of the matrix as it was.
  void undo(MatrixXcd &vectors) const;

private:
  void swap(Index i, Index with);
  void permute();
  bool scaleAll();

  MatrixOf<S> &a;

public:
  Index low = 0, high;

private:
  std::vector<Index> other; ///< that row i was swapped with
  std::vector<double> scale;
};

} // namespace

template <typename S> void Balance<S>::swap(Index i, Index with) {
  other[with] = i;
  a.col(i).swap(a.col(with));
  a.row(i).swap(a.row(with));
}

/// Rows without another element go to the end, columns to the front.
template <typename S> void Balance<S>::permute() {
  auto isAlone = [&](Index i, bool isRow) {
    for (Index j = low; j <= high; ++j)
      if (j != i && (isRow ? a(i, j) : a(j, i)) != S(0))
        return false;
    return true;
  };
  for (Index i = high; i >= 0; --i)
    if (isAlone(i, true)) {
      swap(i, high);
      if (high-- == 0)
        break;
      i = high + 1;
    }
  for (Index i = low; i <= high; ++i)
    if (isAlone(i, false)) {
      swap(i, low);
      i = low++;
    }
  high = std::max(high, low);
}

template <typename S> bool Balance<S>::scaleAll() {
  bool changed = false;
  Index size = high - low + 1;
  for (Index i = low; i <= high; ++i) {
    double column = a.col(i).segment(low, size).stableNorm();
    double row = a.row(i).segment(low, size).stableNorm();
    if (column == 0 || row == 0)
      continue;
    int exponent = 0;
    double before = column + row;
    for (; column < row / 2 && exponent < 500; ++exponent)
      column *= 2, row /= 2;
    for (; column / 2 >= row && exponent > -500; --exponent)
      column /= 2, row *= 2;
    if (exponent == 0 || column + row >= 0.95 * before ||
        std::fabs(std::log2(scale[i]) + exponent) > 900)
      continue;
    changed = true;
    double factor = std::ldexp(1.0, exponent);
    scale[i] *= factor;
    a.row(i) /= factor;
    a.col(i) *= factor;
  }
  return changed;
}

template <typename S> void Balance<S>::undo(MatrixXcd &vectors) const {
  for (Index i = low; i <= high; ++i)
    vectors.row(i) *= scale[i];
  for (Index i = low - 1; i >= 0; --i)
    vectors.row(i).swap(vectors.row(other[i]));
  for (Index i = high + 1; i < a.rows(); ++i)
    vectors.row(i).swap(vectors.row(other[i]));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Turns the basis so that the block [a b; c a] at i becomes a triangle, its
/// upper eigenvalue first.
static void splitPair(Schur<Complex> &schur, Index i) {
  Complex b = schur.t(i, i + 1), c = schur.t(i + 1, i);
  Complex half(0, std::sqrt(std::abs(b)) * std::sqrt(std::abs(c)));
  // An eigenvector of the block.
  bool first = std::abs(b) >= std::abs(c);
  Eigen::Vector2cd x(first ? Complex(1) : half / c,
                     first ? half / b : Complex(1));
  if (!first)
    x *= Complex(0, 1);
  x.normalize();
  Eigen::Matrix2cd turn;
  turn << x[0], -std::conj(x[1]), x[1], std::conj(x[0]);
  schur.t.middleCols(i, 2) *= turn;
  schur.t.middleRows(i, 2).applyOnTheLeft(turn.adjoint());
  schur.z.middleCols(i, 2) *= turn;
  schur.t(i + 1, i) = 0;
}

/// The vector of diagonal element k. An equal element above would divide by
/// zero; a small number is taken in its place.
static VectorXcd vectorOf(const Schur<Complex> &schur, Index k) {
  constexpr double tiny = std::numeric_limits<double>::min();
  constexpr double ulp = std::numeric_limits<double>::epsilon();
  VectorXcd x = VectorXcd::Zero(k + 1);
  x[k] = 1;
  Complex value = schur.t(k, k);
  double least =
      std::max(ulp * (std::fabs(value.real()) + std::fabs(value.imag())),
               tiny * (static_cast<double>(schur.t.rows()) / ulp));
  for (Index i = k - 1; i >= 0; --i) {
    Complex sum = 0, apart = schur.t(i, i) - value;
    for (Index j = i + 1; j <= k; ++j)
      sum += schur.t(i, j) * x[j];
    if (std::fabs(apart.real()) + std::fabs(apart.imag()) < least)
      apart = least;
    // So that the quotient stays finite.
    double size = std::abs(sum), room = std::min(1.0, std::abs(apart));
    if (size > 1e100 * room) {
      double down = room / size;
      x *= down;
      sum *= down;
    }
    x[i] = -sum / apart;
  }
  return schur.z.leftCols(k + 1) * (x / x.cwiseAbs().maxCoeff());
}

/// Length 1 and a real largest component.
static void normalize(VectorXcd &x, bool isOfPair) {
  x /= x.stableNorm();
  Index k = 0;
  x.cwiseAbs2().maxCoeff(&k);
  Complex largest = x[k];
  double length = std::abs(largest);
  if (isOfPair && (std::fabs(largest.real()) > std::fabs(largest.imag())
                       ? largest.real() < 0
                       : largest.real() == 0 && largest.imag() < 0))
    length = -length;
  x *= std::conj(largest) / length;
  x[k] = x[k].real();
}

namespace {
struct Eigensystem {
  VectorXcd values;
  MatrixXcd vectors;
};
} // namespace

/// The power of two that brings a largest element into the range in which
/// geev iterates, which shows in the order of small eigenvalues.
static int exponentOf(double size) {
  int exponent = size > 0 ? std::ilogb(size) : 0;
  return exponent - std::clamp(exponent, -459, 459);
}

template <typename S> static Eigensystem eigensystem(MatrixOf<S> matrix) {
  constexpr bool isReal = std::is_same_v<S, double>;
  Index n = matrix.rows();
  int exponent = exponentOf(matrix.cwiseAbs().maxCoeff());
  // In two steps: one factor may not be a double.
  auto scale = [&](auto &x, int by) {
    x *= std::ldexp(1.0, by / 2);
    x *= std::ldexp(1.0, by - by / 2);
  };
  scale(matrix, -exponent);
  Balance<S> balance(matrix);
  Schur<S> own = schurOf(matrix, balance.low, balance.high);
  if (!own.converged)
    return {VectorXcd::Constant(n, kNaN), MatrixXcd::Constant(n, n, kNaN)};
  Schur<Complex> schur{own.t.template cast<Complex>(),
                       own.z.template cast<Complex>(), true};
  std::vector<int> place(n, 0); // in a pair: 1 or 2
  for (Index i = 0; isReal && i + 1 < n; ++i)
    if (own.t(i + 1, i) != S(0)) {
      splitPair(schur, i);
      place[i] = 1, place[i + 1] = 2;
      Complex b = own.t(i, i + 1), c = own.t(i + 1, i);
      double half = std::sqrt(std::abs(b)) * std::sqrt(std::abs(c));
      schur.t(i, i) = own.t(i, i) + Complex(0, half);
      schur.t(i + 1, i + 1) = own.t(i, i) - Complex(0, half);
    }
  Eigensystem result{schur.t.diagonal(), MatrixXcd(n, n)};
  for (Index k = 0; k < n; ++k)
    if (place[k] != 2)
      result.vectors.col(k) = vectorOf(schur, k);
  balance.undo(result.vectors);
  for (Index k = 0; k < n; ++k) {
    VectorXcd x = result.vectors.col(k);
    if (place[k] == 2)
      x = result.vectors.col(k - 1).conjugate();
    else if (isReal && place[k] == 0)
      x = x.real().normalized();
    else
      normalize(x, isReal);
    result.vectors.col(k) = x;
  }
  scale(result.values, exponent);
  return result;
}

static LogicalResult eig(const KernelCall &call) {
  Tensor self = call.dense("self");
  Index n = self.sizes.back();
  Sizes dims(self.sizes.begin(), self.sizes.end() - 1);
  std::vector<Complex> all = self.complexes(), values, vectors(all.size());
  using RowMajor =
      Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (size_t first = 0; first < all.size(); first += n * n) {
    MatrixXcd matrix = Eigen::Map<RowMajor>(all.data() + first, n, n);
    if (!matrix.allFinite())
      return call.error("the matrix has elements that are not finite");
    Eigensystem own = isComplex(self.type) ? eigensystem<Complex>(matrix)
                                           : eigensystem<double>(matrix.real());
    values.insert(values.end(), own.values.begin(), own.values.end());
    Eigen::Map<RowMajor>(vectors.data() + first, n, n) = own.vectors;
  }
  store<Complex>(call.make(0, dims), values);
  store<Complex>(call.make(1, self.sizes), vectors);
  return success();
}

const KernelFn kernels::eig = ::eig;
