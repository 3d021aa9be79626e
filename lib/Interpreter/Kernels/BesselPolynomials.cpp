// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bessel functions, the Airy function and orthogonal polynomials.
//
// J and Y are those of the C library. K_v(x) is the integral over t >= 0 of
// exp(-x cosh t) cosh(v t), by the trapezoidal rule, which converges faster
// than any power of its step; the step is a part of the width of the peak.
// Polynomials go up their recurrence
//   chebyshev  p[k+1] = 2 x p[k] - p[k-1]      p[0] = 1
//   hermite    p[k+1] = 2 x p[k] - 2 k p[k-1]  he: x p[k] - k p[k-1]
//   laguerre   (k+1) p[k+1] = (2 k + 1 - x) p[k] - k p[k-1]
//   legendre   (k+1) p[k+1] = (2 k + 1) x p[k] - k p[k-1]
// A negative degree gives 0. Cost: the degree, which is cut off where the
// values are no numbers any more.

#include "Kernels.h"
#include "Pointwise.h"
#include "Values.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

/// exp(x) K_order(x).
static double scaledK(double order, double x) {
  if (std::isnan(x) || x < 0)
    return kNaN;
  if (x == 0)
    return kInfinity;
  double step = std::min(1.0 / 16, 0.5 / std::sqrt(x));
  double sum = 0.5;
  for (int64_t i = 1; i < 1000000; ++i) {
    double t = step * static_cast<double>(i);
    double sinh = std::sinh(t / 2);
    double term = std::exp(order * t - 2 * x * sinh * sinh) *
                  (1 + std::exp(-2 * order * t)) / 2;
    sum += term;
    if (term < sum * 1e-18 && 2 * x * sinh * sinh > 1)
      break;
  }
  return step * sum;
}

static double yZero(double x) {
  return x == 0 ? -kInfinity : x < 0 ? kNaN : ::y0(x);
}

static double yOne(double x) {
  return x == 0 ? -kInfinity : x < 0 ? kNaN : ::y1(x);
}

/// sin(x) / x.
static double spherical(double x) {
  return std::isinf(x) ? 0 : x == 0 ? 1 : std::sin(x) / x;
}

/// The first `terms` of the power series around `x` of a solution of y'' = x y
/// with `value` and `slope` there; moves both by `step`.
static void airyStep(long double x, long double step, int terms,
                     long double &value, long double &slope) {
  long double before = 0, now = value, next = slope; // c[k-1], c[k], c[k+1]
  long double sum = 0, rise = 0, power = 1;          // power = step^k
  for (int k = 0; k < terms; ++k) {
    sum += now * power;
    rise += next * static_cast<long double>(k + 1) * power;
    long double after =
        (x * now + before) / static_cast<long double>((k + 1) * (k + 2));
    before = now;
    now = next;
    next = after;
    power *= step;
  }
  value = sum;
  slope = rise;
}

/// Below -20, by the asymptotic series of a phase z.
static double airyFar(double x) {
  constexpr double pi = 3.14159265358979323846;
  double z = 2.0 / 3 * x * std::sqrt(x), term = 1, even = 0, odd = 0;
  for (int k = 0; k < 24; ++k) {
    (k % 2 ? odd : even) += k % 4 < 2 ? term : -term;
    term *= (6.0 * k + 5) * (6.0 * k + 1) / (72.0 * (k + 1) * z);
  }
  double phase = z + pi / 4;
  return (std::sin(phase) * even - std::cos(phase) * odd) /
         (std::sqrt(pi) * std::pow(x, 0.25));
}

/// The Airy function Ai: from 1 on by K_1/3, else by power series, from 0 in
/// steps.
static double airy(double x) {
  constexpr double pi = 3.14159265358979323846;
  if (std::isnan(x) || std::isinf(x))
    return kNaN;
  if (x > 1) {
    double z = 2.0 / 3 * x * std::sqrt(x);
    return std::sqrt(x / 3) / pi * scaledK(1.0 / 3, z) * std::exp(-z);
  }
  if (x < -20)
    return airyFar(-x);
  long double value = 0.355028053887817239260063186004183177L;
  long double slope = -0.258819403792806798405183560189203963L;
  long double at = 0, end = x;
  while (at != end) {
    long double step = std::clamp(end - at, -0.5L, 0.5L);
    airyStep(at, step, 40, value, slope);
    at += step;
  }
  return static_cast<double>(value);
}

template <double (*function)(double)>
static LogicalResult bessel(const KernelCall &call) {
  return Elementwise(call, {"self"}).real<1>(function);
}

template <int order, bool isScaled>
static LogicalResult besselK(const KernelCall &call) {
  return Elementwise(call, {isScaled ? "x" : "self"}).real<1>([](double x) {
    double value = scaledK(order, x);
    return isScaled ? value : value * std::exp(-x);
  });
}

template <double (*function)(double)>
static LogicalResult ofX(const KernelCall &call) {
  return Elementwise(call, {"x"}).real<1>(function);
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// p[n], where p[0] = 1, p[1] = `first` and `next` gives p[k + 1] of k, p[k]
/// and p[k - 1].
template <typename Next>
static double climb(double degree, double first, Next next) {
  if (std::isnan(degree))
    return kNaN;
  auto n = static_cast<int64_t>(std::clamp(degree, -1.0, 1e9));
  if (n <= 0)
    return n < 0 ? 0 : 1;
  double before = 1, now = first;
  for (int64_t k = 1; k < n && !std::isnan(now); ++k) {
    double after = next(static_cast<double>(k), now, before);
    before = now;
    now = after;
  }
  return now;
}

/// Kinds 1 to 4 are T, U, V and W.
template <int kind, bool isShifted>
static LogicalResult chebyshev(const KernelCall &call) {
  return Elementwise(call, {"x", "n"}).real<2>([](double x, double n) {
    double at = isShifted ? 2 * x - 1 : x;
    double first = kind == 1   ? at
                   : kind == 2 ? 2 * at
                   : kind == 3 ? 2 * at - 1
                               : 2 * at + 1;
    return climb(n, first, [=](double, double now, double before) {
      return 2 * at * now - before;
    });
  });
}

/// As physicists (2) or statisticians (1) write it.
template <int factor> static LogicalResult hermite(const KernelCall &call) {
  return Elementwise(call, {"x", "n"}).real<2>([](double x, double n) {
    return climb(n, factor * x, [=](double k, double now, double before) {
      return factor * (x * now - k * before);
    });
  });
}

static LogicalResult laguerre(const KernelCall &call) {
  return Elementwise(call, {"x", "n"}).real<2>([](double x, double n) {
    return climb(n, 1 - x, [=](double k, double now, double before) {
      return ((2 * k + 1 - x) * now - k * before) / (k + 1);
    });
  });
}

static LogicalResult legendre(const KernelCall &call) {
  return Elementwise(call, {"x", "n"}).real<2>([](double x, double n) {
    return climb(n, x, [=](double k, double now, double before) {
      return ((2 * k + 1) * x * now - k * before) / (k + 1);
    });
  });
}

ArrayRef<KernelEntry> interpreter::besselKernels() {
  static constexpr KernelEntry entries[] = {
      {"aten.special_bessel_j0.default", bessel<::j0>},
      {"aten.special_bessel_j1.default", bessel<::j1>},
      {"aten.special_bessel_y0.default", bessel<yZero>},
      {"aten.special_bessel_y1.default", bessel<yOne>},
      {"aten.special_modified_bessel_k0.default", besselK<0, false>},
      {"aten.special_modified_bessel_k1.default", besselK<1, false>},
      {"aten.special_scaled_modified_bessel_k0.default", besselK<0, true>},
      {"aten.special_scaled_modified_bessel_k1.default", besselK<1, true>},
      {"aten.special_spherical_bessel_j0.default", ofX<spherical>},
      {"aten.special_airy_ai.default", ofX<airy>},
      {"aten.special_chebyshev_polynomial_t.default", chebyshev<1, false>},
      {"aten.special_chebyshev_polynomial_u.default", chebyshev<2, false>},
      {"aten.special_chebyshev_polynomial_v.default", chebyshev<3, false>},
      {"aten.special_chebyshev_polynomial_w.default", chebyshev<4, false>},
      {"aten.special_shifted_chebyshev_polynomial_t.default",
       chebyshev<1, true>},
      {"aten.special_shifted_chebyshev_polynomial_u.default",
       chebyshev<2, true>},
      {"aten.special_shifted_chebyshev_polynomial_v.default",
       chebyshev<3, true>},
      {"aten.special_shifted_chebyshev_polynomial_w.default",
       chebyshev<4, true>},
      {"aten.special_hermite_polynomial_h.default", hermite<2>},
      {"aten.special_hermite_polynomial_he.default", hermite<1>},
      {"aten.special_laguerre_polynomial_l.default", laguerre},
      {"aten.special_legendre_polynomial_p.default", legendre},
  };
  return entries;
}
