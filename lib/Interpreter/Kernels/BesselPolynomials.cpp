// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bessel functions and the Airy function (SpecialFunctions.h), and orthogonal
// polynomials.
//
// Polynomials go up their recurrence
//   chebyshev  p[k+1] = 2 x p[k] - p[k-1]      p[0] = 1
//   hermite    p[k+1] = 2 x p[k] - 2 k p[k-1]  he: x p[k] - k p[k-1]
//   laguerre   (k+1) p[k+1] = (2 k + 1 - x) p[k] - k p[k-1]
//   legendre   (k+1) p[k+1] = (2 k + 1) x p[k] - k p[k-1]
// A negative degree gives 0. By hand: Boost.Math has these recurrences for six
// of the twelve, with degrees as unsigned numbers, which is no less code. Cost:
// the degree, which is cut off where the values are no numbers any more.

#include "Kernels.h"
#include "Pointwise.h"
#include "SpecialFunctions.h"
#include "Values.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

/// sin(x) / x.
static double spherical(double x) {
  return std::isinf(x) ? 0 : x == 0 ? 1 : std::sin(x) / x;
}

template <double (*function)(int, double), int order>
static LogicalResult bessel(const KernelCall &call) {
  return Elementwise(call, {"self"}).real<1>([](double x) {
    return function(order, x);
  });
}

template <int order, bool isScaled>
static LogicalResult besselOfThirdKind(const KernelCall &call) {
  return Elementwise(call, {isScaled ? "x" : "self"}).real<1>([](double x) {
    return besselK(order, isScaled, x);
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
      {"aten.special_bessel_j0.default", bessel<besselJ, 0>},
      {"aten.special_bessel_j1.default", bessel<besselJ, 1>},
      {"aten.special_bessel_y0.default", bessel<besselY, 0>},
      {"aten.special_bessel_y1.default", bessel<besselY, 1>},
      {"aten.special_modified_bessel_k0.default", besselOfThirdKind<0, false>},
      {"aten.special_modified_bessel_k1.default", besselOfThirdKind<1, false>},
      {"aten.special_scaled_modified_bessel_k0.default",
       besselOfThirdKind<0, true>},
      {"aten.special_scaled_modified_bessel_k1.default",
       besselOfThirdKind<1, true>},
      {"aten.special_spherical_bessel_j0.default", ofX<spherical>},
      {"aten.special_airy_ai.default", ofX<airyAi>},
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
