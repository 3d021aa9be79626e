// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eigenvalues and eigenvectors of matrices that need not be symmetric.
//
// In complex numbers: rotations of two rows and columns make the matrix zero
// below its first subdiagonal, then QR steps with Wilkinson's shift make it
// triangular, an eigenvalue at a time from the last one on; eigenvectors follow
// by substitution. A vector has length 1 and a largest component that is real
// and positive. The order is that of the triangle's diagonal, of a conjugate
// pair the one above the axis first; LAPACK's may differ. What does not
// converge is NaN. Cost: about 20 n^3.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr double kEpsilon = 2.3e-16;

/// T of A = Q T Q^H, on its way to be a triangle, and Q.
class Schur {
public:
  Schur(std::vector<Complex> matrix, int64_t n) : n(n), t(std::move(matrix)) {
    q.resize(n * n);
    for (int64_t i = 0; i < n; ++i)
      q[i * n + i] = 1;
    makeHessenberg();
    converged = makeTriangle();
  }

  bool converged = false;
  Complex value(int64_t k) const { return t[k * n + k]; }
  std::vector<Complex> vector(int64_t k) const;

private:
  /// [c, s; -conj(s), c], which turns (a, b) to (r, 0).
  struct Rotation {
    Rotation(Complex a, Complex b) {
      double length = std::hypot(std::abs(a), std::abs(b));
      if (length == 0)
        return;
      Complex phase = a == Complex(0) ? Complex(1) : a / std::abs(a);
      c = std::abs(a) / length;
      s = phase * std::conj(b) / length;
    }
    double c = 1;
    Complex s = 0;
  };

  Complex &at(int64_t i, int64_t j) { return t[i * n + j]; }
  void turnRows(const Rotation &r, int64_t i, int64_t from) {
    for (int64_t j = from; j < n; ++j) {
      Complex x = at(i, j), y = at(i + 1, j);
      at(i, j) = r.c * x + r.s * y;
      at(i + 1, j) = -std::conj(r.s) * x + r.c * y;
    }
  }
  void turnColumns(std::vector<Complex> &m, const Rotation &r, int64_t j,
                   int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i) {
      Complex x = m[i * n + j], y = m[i * n + j + 1];
      m[i * n + j] = r.c * x + std::conj(r.s) * y;
      m[i * n + j + 1] = -r.s * x + r.c * y;
    }
  }
  void makeHessenberg();
  bool makeTriangle();
  Complex shiftAt(int64_t high, int64_t round);
  void step(int64_t low, int64_t high, Complex shift);

  int64_t n;
  std::vector<Complex> t, q;
};

} // namespace

void Schur::makeHessenberg() {
  for (int64_t k = 0; k + 2 < n; ++k)
    for (int64_t i = n - 2; i > k; --i) {
      Rotation turn(at(i, k), at(i + 1, k));
      turnRows(turn, i, k);
      at(i + 1, k) = 0;
      turnColumns(t, turn, i, n);
      turnColumns(q, turn, i, n);
    }
}

/// The eigenvalue of the last two rows that is nearer to the last element; now
/// and then another number, where that leads in a circle.
Complex Schur::shiftAt(int64_t high, int64_t round) {
  Complex a = at(high - 1, high - 1), b = at(high - 1, high);
  Complex c = at(high, high - 1), d = at(high, high);
  if (round % 11 == 10)
    return d + std::abs(c);
  Complex half = (a - d) / 2.0, root = std::sqrt(half * half + b * c);
  if (std::real(std::conj(half) * root) < 0)
    root = -root;
  Complex sum = half + root;
  return sum == Complex(0) ? d : d - b * c / sum;
}

void Schur::step(int64_t low, int64_t high, Complex shift) {
  for (int64_t i = low; i <= high; ++i)
    at(i, i) -= shift;
  std::vector<Rotation> turns;
  for (int64_t i = low; i < high; ++i) {
    turns.emplace_back(at(i, i), at(i + 1, i));
    turnRows(turns.back(), i, i);
    at(i + 1, i) = 0;
  }
  for (int64_t i = low; i < high; ++i) {
    turnColumns(t, turns[i - low], i, i + 2);
    turnColumns(q, turns[i - low], i, n);
  }
  for (int64_t i = low; i <= high; ++i)
    at(i, i) += shift;
}

bool Schur::makeTriangle() {
  int64_t high = n - 1;
  for (int64_t round = 1; high > 0; ++round) {
    int64_t low = high;
    for (; low > 0; --low) {
      double size = std::abs(at(low, low)) + std::abs(at(low - 1, low - 1));
      if (std::abs(at(low, low - 1)) <= kEpsilon * size ||
          std::abs(at(low, low - 1)) < 1e-300)
        break;
    }
    if (low > 0)
      at(low, low - 1) = 0;
    if (low == high) {
      --high;
      round = 0;
    } else if (round > 300) {
      return false;
    } else {
      step(low, high, shiftAt(high, round));
    }
  }
  return true;
}

std::vector<Complex> Schur::vector(int64_t k) const {
  std::vector<Complex> own(n), result(n);
  double size = 0;
  for (Complex x : t)
    size = std::max(size, std::abs(x));
  own[k] = 1;
  for (int64_t i = k - 1; i >= 0; --i) {
    Complex sum = 0, apart = t[i * n + i] - value(k);
    for (int64_t j = i + 1; j <= k; ++j)
      sum += t[i * n + j] * own[j];
    // Equal eigenvalues have no other vector, or any.
    if (std::abs(apart) < kEpsilon * size)
      apart = kEpsilon * std::max(size, 1e-290);
    own[i] = -sum / apart;
  }
  double length = 0;
  Complex largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= k; ++j)
      result[i] += q[i * n + j] * own[j];
    length = std::hypot(length, std::abs(result[i]));
    if (std::abs(result[i]) > std::abs(largest) * (1 + 1e-12))
      largest = result[i];
  }
  for (Complex &x : result)
    x *= std::conj(largest) / std::abs(largest) / length;
  return result;
}

/// 0, 1, ..., with the one above the axis first in pairs of a real matrix; what
/// is imaginary by rounding alone becomes real.
static std::vector<int64_t> orderOf(std::vector<Complex> &values, bool isReal,
                                    double size) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < values.size(); ++i)
    order.push_back(static_cast<int64_t>(i));
  if (!isReal)
    return order;
  double noise = 1e-14 * size * static_cast<double>(values.size());
  for (Complex &value : values)
    if (std::fabs(value.imag()) < noise)
      value = value.real();
  for (size_t i = 0; i + 1 < values.size(); ++i)
    if (values[i].imag() < 0 &&
        std::abs(std::conj(values[i]) - values[i + 1]) < 1e-6 * size) {
      std::swap(values[i], values[i + 1]);
      std::swap(order[i], order[i + 1]);
      ++i;
    } else if (values[i].imag() > 0) {
      ++i;
    }
  return order;
}

static LogicalResult eig(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t n = self.sizes.back();
  Sizes dims(self.sizes.begin(), self.sizes.end() - 1);
  std::vector<Complex> all = self.complexes(), values;
  std::vector<Complex> vectors(all.size());
  for (size_t first = 0; first < all.size(); first += n * n) {
    std::vector<Complex> matrix(all.begin() + first,
                                all.begin() + first + n * n);
    double size = 0;
    for (Complex x : matrix) {
      if (!std::isfinite(x.real()) || !std::isfinite(x.imag()))
        return call.error("the matrix has elements that are not finite");
      size = std::max(size, std::abs(x));
    }
    Schur schur(std::move(matrix), n);
    std::vector<Complex> own;
    for (int64_t k = 0; k < n; ++k)
      own.push_back(schur.converged ? schur.value(k) : kNaN);
    std::vector<int64_t> order = orderOf(own, !isComplex(self.type), size);
    values.insert(values.end(), own.begin(), own.end());
    for (int64_t k = 0; k < n; ++k)
      for (auto [i, x] : llvm::enumerate(schur.vector(order[k])))
        vectors[first + i * n + k] = x;
  }
  store<Complex>(call.make(0, dims), values);
  store<Complex>(call.make(1, self.sizes), vectors);
  return success();
}

ArrayRef<KernelEntry> interpreter::eigenKernels() {
  static constexpr KernelEntry entries[] = {
      {"aten.linalg_eig.default", eig},
  };
  return entries;
}
