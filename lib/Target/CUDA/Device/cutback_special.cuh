// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the gamma and the normal distribution, in double precision
// whatever the type of the elements: poles, and what lies outside of a domain,
// give what PyTorch gives, an infinity or NaN. The C library has the logarithm
// of the gamma function and the error functions; what is made of them here:
//
//   digamma       pi / tan(pi x) carries negative numbers to positive ones
//   polygamma     n! times the sum over k >= 0 of (x + k)^-(n + 1), by Euler and
//                 Maclaurin's formula; a sum from a negative number on is one
//                 over all numbers less one from a positive number on
//   inverses      Halley's iteration from Winitzki's approximation (2008), of
//                 erfc where erf is near 1
#pragma once

#include "cutback_gamma.cuh"

__device__ inline bool isWhole(double x) { return x == floor(x); }

/// Of the absolute value. The C library's writes its sign to a variable of all
/// threads.
__device__ inline double logGamma(double x) {
#ifdef __CUDACC__
  return lgamma(x);
#else
  int sign = 0;
  return lgamma_r(x, &sign);
#endif
}

__device__ inline double digamma(double x) {
  const double pi = 3.14159265358979323846;
  if (x == 0)
    return copysign(double(INFINITY), -x);
  if (!(x < 0))
    return digammaOf(x);
  return isWhole(x) ? double(notANumber())
                    : digammaOf(1 - x) - pi / tan(pi * (x - rint(x)));
}

/// The sum over k >= 0 of (x + k)^-s, for x > 0 and a whole s > 1.
__device__ inline double powersFrom(double s, double x) {
  double sum = 0;
  for (; x < 12 + 2 * s; x += 1) {
    const double term = pow(x, -s);
    sum += term;
    if (term <= 1e-18 * sum)
      return sum;
  }
  // B(2j) / (2j)!, as how often each is less than the one before it.
  const double steps[] = {12.0,
                          -60.0,
                          -42.0,
                          -40.0,
                          -39.6,
                          -27300.0 / 691,
                          -691.0 / 17.5,
                          -142800.0 / 3617};
  const double power = pow(x, -s);
  sum += power * x / (s - 1) + power / 2;
  double term = power * s / x;
  for (int j = 0; j < 8; ++j) {
    term /= steps[j];
    sum += term;
    term *= (s + 2 * j + 1) * (s + 2 * j + 2) / (x * x);
  }
  return sum;
}

/// The n-th derivative of digamma, n >= 0.
__device__ inline double polygamma(int n, double x) {
  if (n == 0)
    return digamma(x);
  const double sign = n % 2 ? 1 : -1;
  if (x != x || x - x != 0)
    return x > 0 ? sign * 0.0 : double(notANumber());
  if (x <= 0 && isWhole(x))
    return sign * double(INFINITY);
  double factorial = 1;
  for (int i = 2; i <= n && i <= 171; ++i)
    factorial *= double(i);
  const double s = double(n) + 1;
  if (x > 0)
    return sign * factorial * powersFrom(s, x);
  const double before = ceil(x) - x,
               below = powersFrom(s, before) - powersFrom(s, 1 - x);
  return sign * factorial *
         (powersFrom(s, 1 - before) + (n % 2 ? below : -below));
}

/// Of 1 - y^2, what y of erf is about.
__device__ inline double nearInverse(double logarithm) {
  const double factor = 0.147,
               t = 2 / (3.14159265358979323846 * factor) + logarithm / 2;
  return sqrt(sqrt(t * t - logarithm / factor) - t);
}
/// A step of Halley's iteration: what the value is off, for the slope.
__device__ inline double nearer(double x, double off) {
  const double step = off * 0.886226925452758014 / exp(-x * x);
  return x - step / (1 + x * step);
}
/// For q in [0, 0.5].
__device__ inline double inverseOfSmallErfc(double q) {
  if (q == 0)
    return double(INFINITY);
  double x = nearInverse(log(q) + log1p(1 - q));
  for (int i = 0; i < 3; ++i)
    x = nearer(x, q - erfc(x));
  return x;
}
__device__ inline double inverseErf(double y) {
  const double size = fabs(y);
  if (!(size <= 1))
    return double(notANumber());
  if (size > 0.5)
    return copysign(inverseOfSmallErfc(1 - size), y);
  double x = size < 0.1 ? 0.886226925452758014 * size
                        : nearInverse(log1p(-size * size));
  for (int i = 0; i < 3; ++i)
    x = nearer(x, erf(x) - size);
  return copysign(x, y);
}

__device__ inline double normalQuantile(double p) {
  const double root = 1.41421356237309504880;
  if (!(p >= 0 && p <= 1))
    return double(notANumber());
  return p < 0.25   ? -root * inverseOfSmallErfc(2 * p)
         : p > 0.75 ? root * inverseOfSmallErfc(2 * (1 - p))
                    : root * inverseErf(2 * p - 1);
}

/// exp(x^2) erfc(x): with what x^2 is rounded by, and where erfc is too small
/// by its asymptotic series.
__device__ inline double scaledErfc(double x) {
  if (!(x >= 25)) {
    const double square = x * x, value = exp(square) * erfc(x);
    return value - value == 0 ? value + value * fma(x, x, -square) : value;
  }
  const double z = 1 / (2 * x * x);
  double series = 1;
  for (int odd = 13; odd > 0; odd -= 2)
    series = 1 - odd * z * series;
  return series * 0.564189583547756287 / x;
}
/// The logarithm of the normal distribution.
__device__ inline double logNormalBelow(double x) {
  const double root = 0.70710678118654752440;
  return x < -1 ? log(scaledErfc(-x * root) / 2) - x * x / 2
                : log1p(-erfc(x * root) / 2);
}
