// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions by Boost.Math, which computes here in double and reports
// no errors: poles, and what lies outside of a domain, are looked at first.
//
// Ours, since Boost 1.74 has none:
//   Hurwitz's zeta    the formula of Euler and Maclaurin from 12 + 2 s on;
//   below
//                     zero, for a whole s, as a difference of two
//   exp(x^2) erfc(x)  with the rounding error of x^2; for large x by the
//                     asymptotic series, since erfc underflows
//   scaled I and K    for large x by their asymptotic series, since I overflows
//                     and K underflows
//
// The only file that includes Boost.Math: it takes long to compile.

#include "SpecialFunctions.h"

#include "Values.h"

#include <boost/math/special_functions/airy.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>

#include <cmath>

using namespace cutback;
using namespace cutback::interpreter;
namespace math = boost::math;

namespace {

namespace policies = boost::math::policies;
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>,
    policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>,
    policies::promote_double<false>>;

constexpr double kPi = 3.14159265358979323846;
constexpr double kEuler = 0.57721566490153286061;
constexpr double kLog2 = 0.69314718055994530942;

bool isWhole(double x) { return x == std::floor(x); }

} // namespace

//===----------------------------------------------------------------------===//
// Gamma and zeta
//===----------------------------------------------------------------------===//

double interpreter::logGamma(double x) {
  if (std::isnan(x) || std::isinf(x))
    return std::fabs(x);
  return x <= 0 && isWhole(x) ? kInfinity : math::lgamma(x, Quiet());
}

double interpreter::digamma(double x) {
  if (x == 0)
    return std::copysign(kInfinity, -x);
  if (std::isnan(x) || (x < 0 && isWhole(x)))
    return kNaN;
  return std::isinf(x) ? x : math::digamma(x, Quiet());
}

double interpreter::polygamma(double n, double x) {
  if (n == 0)
    return digamma(x);
  double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  if (std::isnan(x) || std::isinf(x))
    return x > 0 ? sign * 0.0 : kNaN;
  if (x <= 0 && isWhole(x))
    return sign * kInfinity;
  if (n > 170) // the factorial overflows, in PyTorch too
    return sign * kInfinity * hurwitzZeta(n + 1, x);
  double value = math::polygamma(static_cast<int>(n), x, Quiet());
  // It overflows near a pole alone: with the sign that it has on this side.
  return std::isfinite(value)
             ? value
             : sign * std::pow(x - std::round(x), -n - 1) * kInfinity;
}

/// For s > 1 and q > 0.
static double zetaAbove(double s, double q) {
  double sum = 0, x = q;
  while (x < 12 + 2 * s) {
    double term = std::pow(x, -s);
    sum += term;
    if (term <= 1e-18 * sum)
      return sum;
    x += 1;
  }
  // B(2j) / (2j)!
  constexpr double series[] = {1.0 / 12,          -1.0 / 720,
                               1.0 / 30240,       -1.0 / 1209600,
                               1.0 / 47900160,    -691.0 / 1307674368000,
                               1.0 / 74724249600, -3617.0 / 10670622842880000};
  double power = std::pow(x, -s);
  sum += power * x / (s - 1) + power / 2;
  double term = s * power / x;
  for (int j = 0; j < 8; ++j) {
    sum += series[j] * term;
    term *= (s + 2 * j + 1) * (s + 2 * j + 2) / (x * x);
  }
  return sum;
}

double interpreter::hurwitzZeta(double s, double q) {
  if (s == 1)
    return kInfinity;
  if (!(s > 1) || std::isnan(q))
    return kNaN;
  if (q > 0)
    return std::isinf(q) ? 0 : zetaAbove(s, q);
  if (isWhole(q))
    return kInfinity;
  if (!isWhole(s))
    return kNaN;
  // Terms of negative numbers end `rest` before zero.
  double rest = std::ceil(q) - q;
  double below = zetaAbove(s, rest) - zetaAbove(s, 1 - q);
  rest = 1 - rest;
  return (std::fmod(s, 2) == 0 ? below : -below) + zetaAbove(s, rest);
}

/// What is known of both parts without computing: that below x is 1 (true) or
/// 0.
static std::optional<bool> allBelow(double a, double x) {
  if (a == 0 || std::isinf(x))
    return true;
  if (x == 0 || std::isinf(a))
    return false;
  return std::nullopt;
}

static bool hasNoParts(double a, double x) {
  return !(a >= 0) || !(x >= 0) || (a == 0 && x == 0) ||
         (std::isinf(a) && std::isinf(x));
}

double interpreter::gammaBelow(double a, double x) {
  if (hasNoParts(a, x))
    return kNaN;
  if (std::optional<bool> known = allBelow(a, x))
    return *known ? 1 : 0;
  return math::gamma_p(a, x, Quiet());
}

double interpreter::gammaAbove(double a, double x) {
  if (hasNoParts(a, x))
    return kNaN;
  if (std::optional<bool> known = allBelow(a, x))
    return *known ? 0 : 1;
  return math::gamma_q(a, x, Quiet());
}

//===----------------------------------------------------------------------===//
// Error functions
//===----------------------------------------------------------------------===//

double interpreter::inverseErf(double y) {
  if (std::fabs(y) == 1)
    return std::copysign(kInfinity, y);
  return std::fabs(y) < 1 ? math::erf_inv(y, Quiet()) : kNaN;
}

double interpreter::scaledErfc(double x) {
  if (x < 25) {
    double square = x * x, rest = std::fma(x, x, -square);
    double value = std::exp(square) * std::erfc(x);
    return std::isfinite(value) ? value + value * rest : value;
  }
  double z = 1 / (2 * x * x), series = 1;
  for (int odd = 13; odd > 0; odd -= 2)
    series = 1 - odd * z * series;
  return series / std::sqrt(kPi) / x;
}

double interpreter::normalBelow(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

double interpreter::logNormalBelow(double x) {
  return x < -1 ? std::log(scaledErfc(-x / std::sqrt(2.0)) / 2) - x * x / 2
                : std::log1p(-std::erfc(x / std::sqrt(2.0)) / 2);
}

double interpreter::normalQuantile(double p) {
  if (p == 0 || p == 1)
    return std::copysign(kInfinity, p - 0.5);
  return p > 0 && p < 1 ? -std::sqrt(2.0) * math::erfc_inv(2 * p, Quiet())
                        : kNaN;
}

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

double interpreter::besselJ(int order, double x) {
  return std::isinf(x) ? kNaN : math::cyl_bessel_j(order, x, Quiet());
}

double interpreter::besselY(int order, double x) {
  if (!(x > 0))
    return x == 0 ? -kInfinity : kNaN;
  if (x < 1e-300)
    return order == 0 ? 2 / kPi * (std::log(x) - kLog2 + kEuler) : -2 / kPi / x;
  return std::isinf(x) ? kNaN : math::cyl_neumann(order, x, Quiet());
}

/// The series in 1 / x that I (sign -1) and K (1) of large x have as a factor.
static double largeSeries(int order, double sign, double x) {
  double term = 1, sum = 0;
  for (int k = 1; k < 12; ++k) {
    sum += term;
    double odd = 2 * k - 1;
    term *= sign * (4.0 * order * order - odd * odd) / (8 * k * x);
  }
  return sum;
}

static constexpr double kLarge = 700;

double interpreter::besselI(int order, bool isScaled, double x) {
  double size = std::fabs(x), sign = order % 2 && x < 0 ? -1 : 1;
  if (size < kLarge || std::isnan(x)) {
    double value = sign * math::cyl_bessel_i(order, size, Quiet());
    return isScaled ? value * std::exp(-size) : value;
  }
  double scaled = sign * largeSeries(order, -1, size) / std::sqrt(2 * kPi) /
                  std::sqrt(size);
  // In two steps: one exponential may overflow before the root divides.
  return isScaled ? scaled : scaled * std::exp(size / 2) * std::exp(size / 2);
}

double interpreter::besselK(int order, bool isScaled, double x) {
  if (!(x > 0))
    return x == 0 ? kInfinity : kNaN;
  if (x < kLarge) {
    double value = math::cyl_bessel_k(order, x, Quiet());
    return isScaled ? value * std::exp(x) : value;
  }
  double scaled = largeSeries(order, 1, x) * std::sqrt(kPi / 2) / std::sqrt(x);
  return isScaled ? scaled : scaled * std::exp(-x);
}

double interpreter::airyAi(double x) {
  if (!std::isfinite(x))
    return kNaN;
  if (std::fabs(x) < 1e-20)
    return 0.355028053887817239260;
  return x > 110 ? 0 : math::airy_ai(x, Quiet());
}
