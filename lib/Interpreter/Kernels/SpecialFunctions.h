// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions of real numbers. Poles and what lies outside of a domain
// give what PyTorch gives: an infinity or NaN.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_SPECIALFUNCTIONS_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_SPECIALFUNCTIONS_H

namespace cutback::interpreter {

/// The logarithm of the absolute value of the gamma function.
double logGamma(double x);
/// The derivative of logGamma.
double digamma(double x);
/// The n-th derivative of digamma, n >= 0.
double polygamma(double n, double x);
/// Sum over k >= 0 of (q + k)^-s.
double hurwitzZeta(double s, double q);
/// The part of the gamma function below x, and above, from 0 to 1.
double gammaBelow(double a, double x);
double gammaAbove(double a, double x);

double inverseErf(double y);
/// exp(x^2) erfc(x).
double scaledErfc(double x);
/// The normal distribution, its logarithm and its inverse.
double normalBelow(double x);
double logNormalBelow(double x);
double normalQuantile(double p);

double besselJ(int order, double x);
double besselY(int order, double x);
/// I and K; `isScaled` times exp(-|x|) and times exp(x).
double besselI(int order, bool isScaled, double x);
double besselK(int order, bool isScaled, double x);
double airyAi(double x);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_SPECIALFUNCTIONS_H
