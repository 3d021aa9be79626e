// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions of two numbers: Hurwitz's zeta by the formula of Euler and
// Maclaurin, polygammas by it, and the incomplete gamma function by its power
// series or, where x is large, by its continued fraction (Lentz). Conjugates
// and angles too.

#include "Kernels.h"
#include "Pointwise.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Sum over k >= 0 of (q + k)^-s.
static double zeta(double s, double q) {
  if (s == 1)
    return kInfinity;
  if (!(s > 1))
    return kNaN;
  if (q <= 0) {
    if (q == std::floor(q))
      return kInfinity;
    if (s != std::floor(s))
      return kNaN;
  }
  double sum = 0, x = q;
  while (x < 12) {
    sum += std::pow(x, -s);
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

static double logGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

/// The part of the gamma function below x, from 0 to 1.
static double gammaBelow(double a, double x, bool above) {
  if (a < 0 || x < 0 || std::isnan(a) || std::isnan(x))
    return kNaN;
  if (a == 0)
    return x > 0 ? !above : kNaN;
  if (x == 0 || std::isinf(a))
    return std::isinf(a) && std::isinf(x) ? kNaN : double(above);
  if (std::isinf(x))
    return !above;
  double front = std::exp(a * std::log(x) - x - logGamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < 2000 && term > sum * 1e-17; ++k) {
      term *= x / (a + k);
      sum += term;
    }
    return above ? 1 - front * sum : front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int k = 1; k < 2000; ++k) {
    double step = -k * (k - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-16)
      break;
  }
  return above ? front * fraction : 1 - front * fraction;
}

static LogicalResult hurwitzZeta(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).real<2>(zeta);
}

static LogicalResult lowerGamma(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).real<2>([](double a, double x) {
    return gammaBelow(a, x, false);
  });
}

static LogicalResult upperGamma(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).real<2>([](double a, double x) {
    return gammaBelow(a, x, true);
  });
}

/// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x).
static LogicalResult polygamma(const KernelCall &call) {
  auto n = static_cast<double>(call.integer("n"));
  if (n < 0)
    return call.error("runs for n from 0 on");
  if (n == 0)
    return Elementwise(call, {"self"}).real<1>(digamma);
  double factor = std::tgamma(n + 1) * (std::fmod(n, 2) == 0 ? -1 : 1);
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    return factor * zeta(n + 1, x);
  });
}

static LogicalResult angle(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Complex)
    return loop.in<Complex, 1>([](Complex x) { return std::arg(x); });
  return loop.real<1>([](double x) {
    return std::isnan(x) ? x : x < 0 ? 3.14159265358979323846 : 0.0;
  });
}

static LogicalResult conjugate(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Complex)
    return loop.in<Complex, 1>([](Complex x) { return std::conj(x); });
  return loop.ordered<1>([](auto x) { return x; });
}

ArrayRef<KernelEntry> interpreter::specialKernels() {
  static constexpr KernelEntry entries[] = {
      {"aten.special_zeta.default", hurwitzZeta},
      {"aten.igamma.default", lowerGamma},
      {"aten.igammac.default", upperGamma},
      {"aten.polygamma.default", polygamma},
      {"aten.angle.default", angle},
      {"aten.conj.default", conjugate},
      {"aten._conj.default", conjugate},
      {"aten.conj_physical.default", conjugate},
      {"aten._conj_physical.default", conjugate},
  };
  return entries;
}
