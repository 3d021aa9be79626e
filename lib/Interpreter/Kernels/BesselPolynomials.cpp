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

const KernelFn kernels::specialBesselJ0 = bessel<::besselJ, 0>;
const KernelFn kernels::specialBesselJ1 = bessel<::besselJ, 1>;
const KernelFn kernels::specialBesselY0 = bessel<::besselY, 0>;
const KernelFn kernels::specialBesselY1 = bessel<::besselY, 1>;
const KernelFn kernels::specialModifiedBesselK0 = besselOfThirdKind<0, false>;
const KernelFn kernels::specialModifiedBesselK1 = besselOfThirdKind<1, false>;
const KernelFn kernels::specialScaledModifiedBesselK0 =
    besselOfThirdKind<0, true>;
const KernelFn kernels::specialScaledModifiedBesselK1 =
    besselOfThirdKind<1, true>;
const KernelFn kernels::specialSphericalBesselJ0 = ofX<spherical>;
const KernelFn kernels::specialAiryAi = ofX<::airyAi>;
const KernelFn kernels::specialChebyshevPolynomialT = chebyshev<1, false>;
const KernelFn kernels::specialChebyshevPolynomialU = chebyshev<2, false>;
const KernelFn kernels::specialChebyshevPolynomialV = chebyshev<3, false>;
const KernelFn kernels::specialChebyshevPolynomialW = chebyshev<4, false>;
const KernelFn kernels::specialShiftedChebyshevPolynomialT = chebyshev<1, true>;
const KernelFn kernels::specialShiftedChebyshevPolynomialU = chebyshev<2, true>;
const KernelFn kernels::specialShiftedChebyshevPolynomialV = chebyshev<3, true>;
const KernelFn kernels::specialShiftedChebyshevPolynomialW = chebyshev<4, true>;
const KernelFn kernels::specialHermitePolynomialH = hermite<2>;
const KernelFn kernels::specialHermitePolynomialHe = hermite<1>;
const KernelFn kernels::laguerre = ::laguerre;
const KernelFn kernels::legendre = ::legendre;
