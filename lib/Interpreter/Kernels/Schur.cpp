// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schur forms by QR steps on a Hessenberg matrix, as LAPACK's dlahqr and zlahqr
// take them. By hand although Eigen has Schur forms: eigenvalues come out in
// the order in which the iteration splits them off, and Eigen's iteration,
// which takes other shifts, gives more than half of all random 8 x 8 matrices
// another order than PyTorch's.
//
// 1. Householder reflections make the matrix zero below its first subdiagonal.
// 2. The last block that no small subdiagonal element splits is worked on.
//    Small is what moves the eigenvalues by rounding alone (Ahues and Tisseur).
// 3. A real matrix takes both eigenvalues of its last two rows as shifts if
//    they are a pair, else twice the one nearer to the last element; a complex
//    one takes the nearer one. Each tenth round takes other numbers, so that
//    nothing goes in a circle.
// 4. Blocks of one are eigenvalues. Real ones of two are rotated to a triangle,
//    or to equal diagonal elements.
//
// LAPACK has another iteration from 76 rows on, whose order is not reproduced.
// Cost: about 20 n^3.

#include "Schur.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Householder>

#include <cmath>
#include <limits>

using namespace cutback;
using namespace cutback::interpreter;
using Complex = std::complex<double>;
using Eigen::Index;

namespace {

constexpr double kUlp = std::numeric_limits<double>::epsilon();

double size1(double x) { return std::fabs(x); }
double size1(Complex x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

using Rotation = Eigen::JacobiRotation<double>;

/// Makes a and d equal, whose difference is twice `p`; then c zero if the
/// eigenvalues are real for all that (LAPACK's dlanv2).
Rotation equalize(double &a, double &b, double &c, double &d) {
  double sum = b + c, length = std::hypot(sum, a - d), p = (a - d) / 2;
  double cosine = std::sqrt((1 + std::fabs(sum) / length) / 2);
  double sine = -(p / (length * cosine)) * std::copysign(1.0, sum);
  double aa = a * cosine + b * sine, bb = b * cosine - a * sine;
  double cc = c * cosine + d * sine, dd = d * cosine - c * sine;
  double mean = (aa * cosine + cc * sine + dd * cosine - bb * sine) / 2;
  b = bb * cosine + dd * sine;
  c = cc * cosine - aa * sine;
  a = d = mean;
  if (c != 0 && b == 0) {
    b = -c, c = 0;
    return {-sine, cosine};
  }
  if (c == 0 || std::signbit(b) != std::signbit(c))
    return {cosine, sine};
  double up = std::sqrt(std::fabs(b)), down = std::sqrt(std::fabs(c));
  length = std::sqrt(std::fabs(b + c));
  double further = std::copysign(up * down, c);
  a = mean + further, d = mean - further;
  b -= c, c = 0;
  return {(cosine * up - sine * down) / length,
          (cosine * down + sine * up) / length};
}

/// Makes [a b; c d] a triangle if its eigenvalues are real, else a and d equal.
Rotation rotationOf(double &a, double &b, double &c, double &d) {
  bool isAlike = std::signbit(b) == std::signbit(c);
  if (c == 0 || (b != 0 && a == d && !isAlike))
    return {1, 0};
  if (b == 0) {
    std::swap(a, d);
    b = -c, c = 0;
    return {0, 1};
  }
  double p = (a - d) / 2;
  double most = std::max(std::fabs(b), std::fabs(c));
  double least = std::min(std::fabs(b), std::fabs(c)) * (isAlike ? 1 : -1);
  double scale = std::max(std::fabs(p), most);
  double square = p / scale * p + most / scale * least;
  if (square < 4 * kUlp)
    return equalize(a, b, c, d);
  double root = p + std::copysign(std::sqrt(scale) * std::sqrt(square), p);
  double length = std::hypot(c, root);
  Rotation turn(root / length, c / length);
  a = d + root;
  d -= most / root * least;
  b -= c, c = 0;
  return turn;
}

template <typename S> class Iteration {
public:
  Iteration(MatrixOf<S> &t, MatrixOf<S> &z, Index low, Index high)
      : t(t), z(z), lowest(low), highest(high) {}
  bool run();

private:
  /// Of a real matrix two shifts go into one step, of three rows.
  static constexpr int width = std::is_same_v<S, double> ? 3 : 2;
  using Column = Eigen::Matrix<S, Eigen::Dynamic, 1, 0, width, 1>;
  struct Start {
    Index row;
    Column column;
  };

  double small() const {
    return std::numeric_limits<double>::min() *
           (static_cast<double>(highest - lowest + 1) / kUlp);
  }
  double below(Index k) const { return std::abs(t(k, k - 1)); }
  bool isSmall(Index k) const;
  bool isNegligible(Index row, Index low, const Column &v) const;
  Start startOf(Index low, Index high, int round) const;
  void step(const Start &start, Index low, Index high);
  void standardize(Index i);

  MatrixOf<S> &t, &z;
  Index lowest, highest;
};

/// Whether the element left of diagonal element k splits the matrix.
template <typename S> bool Iteration<S>::isSmall(Index k) const {
  if (below(k) <= small())
    return true;
  double sum = size1(t(k - 1, k - 1)) + size1(t(k, k));
  if (sum == 0) {
    sum += k - 2 >= lowest ? below(k - 1) : 0;
    sum += k + 1 <= highest ? below(k + 1) : 0;
  }
  if (below(k) > kUlp * sum)
    return false;
  double side = size1(t(k - 1, k)), corner = size1(t(k, k));
  double apart = size1(t(k - 1, k - 1) - t(k, k));
  double most = std::max(corner, apart), least = std::min(corner, apart);
  double scale = most + std::max(below(k), side);
  return std::min(below(k), side) * (std::max(below(k), side) / scale) <=
         std::max(small(), kUlp * (least * (most / scale)));
}

/// Whether a step may start at `row` with the column `v`, since the elements
/// that it leaves behind are small.
template <typename S>
bool Iteration<S>::isNegligible(Index row, Index low, const Column &v) const {
  if (row == low)
    return true;
  double near = size1(t(row, row)) + size1(t(row + 1, row + 1));
  if (width == 3)
    near += size1(t(row - 1, row - 1));
  double rest = 0;
  for (Index i = 1; i < v.size(); ++i)
    rest += size1(v[i]);
  return below(row) * rest <= kUlp * size1(v[0]) * near;
}

/// The sums and products of two shifts are real numbers even where these are
/// not.
template <>
Iteration<double>::Start Iteration<double>::startOf(Index low, Index high,
                                                    int round) const {
  double a, b, c, d;
  if (round % 10 == 0) {
    bool atEnd = round % 20 == 0;
    c = atEnd ? below(high) + below(high - 1) : below(low + 1) + below(low + 2);
    a = d = 0.75 * c + (atEnd ? t(high, high) : t(low, low));
    b = -0.4375 * c;
  } else {
    a = t(high - 1, high - 1), b = t(high - 1, high);
    c = t(high, high - 1), d = t(high, high);
  }
  double scale = std::fabs(a) + std::fabs(b) + std::fabs(c) + std::fabs(d);
  double first = 0, second = 0, imaginary = 0;
  if (scale != 0) {
    a /= scale, b /= scale, c /= scale, d /= scale;
    double mean = (a + d) / 2;
    double determinant = (a - mean) * (d - mean) - b * c;
    double root = std::sqrt(std::fabs(determinant));
    if (determinant >= 0) {
      first = second = mean * scale;
      imaginary = root * scale;
    } else {
      bool plus = std::fabs(mean + root - d) <= std::fabs(mean - root - d);
      first = second = (plus ? mean + root : mean - root) * scale;
    }
  }
  Start start{high - 2, Column(3)};
  for (;; --start.row) {
    Index m = start.row;
    double next = t(m + 1, m);
    scale = std::fabs(t(m, m) - second) + std::fabs(imaginary) + below(m + 1);
    next /= scale;
    start.column[0] = next * t(m, m + 1) +
                      (t(m, m) - first) * ((t(m, m) - second) / scale) +
                      imaginary * (imaginary / scale);
    start.column[1] = next * (t(m, m) + t(m + 1, m + 1) - first - second);
    start.column[2] = next * t(m + 2, m + 1);
    start.column /= start.column.lpNorm<1>();
    if (isNegligible(m, low, start.column))
      return start;
  }
}

template <>
Iteration<Complex>::Start Iteration<Complex>::startOf(Index low, Index high,
                                                      int round) const {
  Complex shift = t(high, high);
  if (round % 20 == 0) {
    shift += 0.75 * below(high);
  } else if (round % 10 == 0) {
    shift = t(low, low) + 0.75 * below(low + 1);
  } else {
    Complex u = std::sqrt(t(high - 1, high)) * std::sqrt(t(high, high - 1));
    Complex x = 0.5 * (t(high - 1, high - 1) - shift);
    double scale = std::max(size1(u), size1(x));
    if (size1(u) != 0) {
      Complex y = scale * std::sqrt((x / scale) * (x / scale) +
                                    (u / scale) * (u / scale));
      if (size1(x) > 0 && std::real(std::conj(x / size1(x)) * y) < 0)
        y = -y;
      shift -= u * (u / (x + y));
    }
  }
  Start start{high - 1, Column(2)};
  for (;; --start.row) {
    Index m = start.row;
    Complex apart = t(m, m) - shift;
    double scale = size1(apart) + below(m + 1);
    start.column << apart / scale, t(m + 1, m) / scale;
    if (isNegligible(m, low, start.column))
      return start;
  }
}

/// Reflects from both sides, so that what `start` makes of the matrix moves
/// down and out of it.
template <typename S>
void Iteration<S>::step(const Start &start, Index low, Index high) {
  Index n = t.rows();
  Eigen::Matrix<S, Eigen::Dynamic, 1> work(n);
  for (Index k = start.row; k < high; ++k) {
    Index size = std::min<Index>(width, high - k + 1);
    Column v = start.column;
    if (k > start.row)
      v = t.block(k, k - 1, size, 1);
    Column essential(size - 1);
    S tau;
    double beta;
    v.makeHouseholder(essential, tau, beta);
    if (k > start.row) {
      t(k, k - 1) = beta;
      t.block(k + 1, k - 1, size - 1, 1).setZero();
    } else if (k > low) {
      t(k, k - 1) *= S(1) - tau;
    }
    t.block(k, k, size, n - k)
        .applyHouseholderOnTheLeft(essential, tau, work.data());
    S turned = Eigen::numext::conj(tau);
    t.block(0, k, std::min(k + 3, high) + 1, size)
        .applyHouseholderOnTheRight(essential, turned, work.data());
    z.block(0, k, n, size)
        .applyHouseholderOnTheRight(essential, turned, work.data());
  }
}

template <> void Iteration<Complex>::standardize(Index) {}

/// Rotates rows and columns i and i + 1, which have small elements below them.
template <> void Iteration<double>::standardize(Index i) {
  Rotation turn =
      rotationOf(t(i, i), t(i, i + 1), t(i + 1, i), t(i + 1, i + 1));
  Index rest = t.cols() - i - 2;
  t.block(i, i + 2, 2, rest).applyOnTheLeft(0, 1, turn);
  t.block(0, i, i, 2).applyOnTheRight(0, 1, turn.transpose());
  z.applyOnTheRight(i, i + 1, turn.transpose());
}

template <typename S> bool Iteration<S>::run() {
  // Blocks of `size` are done.
  constexpr Index size = width - 1;
  const int most =
      30 * static_cast<int>(std::max<Index>(10, highest - lowest + 1));
  for (Index high = highest, low; high >= lowest; high = low - 1)
    for (int round = 0;; ++round) {
      for (low = high; low > lowest && !isSmall(low);)
        --low;
      if (low > lowest)
        t(low, low - 1) = 0;
      if (high - low < size) {
        if (high > low)
          standardize(low);
        break;
      }
      if (round == most)
        return false;
      step(startOf(low, high, round + 1), low, high);
    }
  return true;
}

template <typename S> Schur<S> makeSchur(MatrixOf<S> a, Index low, Index high) {
  Index size = high - low + 1, rest = a.rows() - high - 1;
  Schur<S> schur{std::move(a), {}};
  schur.z.setIdentity(schur.t.rows(), schur.t.rows());
  if (size > 2) {
    Eigen::HessenbergDecomposition<MatrixOf<S>> hessenberg(
        schur.t.block(low, low, size, size));
    MatrixOf<S> q = hessenberg.matrixQ();
    schur.t.block(low, low, size, size) = hessenberg.matrixH();
    schur.t.block(0, low, low, size) *= q;
    schur.t.block(low, high + 1, size, rest).applyOnTheLeft(q.adjoint());
    schur.z.block(low, low, size, size) = q;
  }
  schur.converged = Iteration<S>(schur.t, schur.z, low, high).run();
  return schur;
}

} // namespace

Schur<double> interpreter::schurOf(MatrixOf<double> a, int64_t low,
                                   int64_t high) {
  return makeSchur<double>(std::move(a), low, high);
}

Schur<Complex> interpreter::schurOf(MatrixOf<Complex> a, int64_t low,
                                    int64_t high) {
  return makeSchur<Complex>(std::move(a), low, high);
}
