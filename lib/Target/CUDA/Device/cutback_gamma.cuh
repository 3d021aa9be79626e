// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a draw from a gamma distribution changes with its shape while it keeps
// its quantile: -(dP/da) / p, in double precision, which neither sum cancels.
#pragma once

#include "cutback_math.cuh"

/// The logarithmic derivative of the gamma function, for x > 0: the series in
/// 1 / x^2 from 10 on, below by psi(x) = psi(x + 1) - 1 / x.
__device__ inline double digammaOf(double x) {
  double below = 0;
  for (; x < 10; x += 1)
    below += 1 / x;
  const double s = 1 / (x * x);
  double sum = 1.0 / 12;
  sum = sum * s - 691.0 / 32760;
  sum = sum * s + 1.0 / 132;
  sum = sum * s - 1.0 / 240;
  sum = sum * s + 1.0 / 252;
  sum = sum * s - 1.0 / 120;
  sum = sum * s + 1.0 / 12;
  return log(x) - 0.5 / x - sum * s - below;
}

/// Up to a + 1: the sum over n >= 0 of
/// (psi(a + n + 1) - log x) x^(n + 1) / (a (a + 1) .. (a + n)).
__device__ inline double gammaSlopeNear(double a, double x) {
  const double logarithm = log(x);
  double term = x / a, psi = digammaOf(a + 1), sum = 0;
  for (int n = 1; n < 1000000; ++n) {
    sum += term * (psi - logarithm);
    if (fabs(term) * (1 + fabs(psi)) < 1e-17 * fabs(sum))
      break;
    term *= x / (a + double(n));
    psi += 1 / (a + double(n));
  }
  return sum;
}

/// Beyond: the integral over u >= 0 of
/// (log(x + u) - psi(a)) (1 + u / x)^(a - 1) exp(-u)
/// by the trapezoidal rule in t, u = exp(t - exp(-t)).
__device__ inline double gammaSlopeBeyond(double a, double x) {
  const double step = 1.0 / 32, psi = digammaOf(a);
  double sum = 0, most = 0;
  for (int i = -160; i < 2000; ++i) {
    const double t = step * double(i), u = exp(t - exp(-t));
    const double weight = (a - 1) * log1p(u / x) - u;
    const double part =
        (log(x + u) - psi) * exp(weight) * u * (1 + exp(-t));
    sum += part;
    most = fmax(most, part);
    if (u > 1 && part < 1e-18 * most)
      break;
  }
  return step * sum;
}

__device__ inline double gammaSlope(double a, double x) {
  if (!(a > 0) || !(x >= 0) || x - x != 0)
    return double(notANumber());
  if (x == 0)
    return 0;
  return x < a + 1 ? gammaSlopeNear(a, x) : gammaSlopeBeyond(a, x);
}
