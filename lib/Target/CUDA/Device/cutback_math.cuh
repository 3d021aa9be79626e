// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and functions of scalars. One formula each, for device and host: with
// contraction off (nvcc --fmad=false, -ffp-contract=off), IEEE division and
// root, both give the same bits. Largest errors against double precision, in
// units in the last place, over the range that is named (tests/unit/Target).
#pragma once

__device__ inline float notANumber() { return __int_as_float(0x7FC00000); }

//===--- Half precision: computed in single, rounded once an op -----------===//

struct bf16 {
  unsigned short bits;
};
struct f16 {
  unsigned short bits;
};

__device__ inline float toFloat(float x) { return x; }
__device__ inline double toFloat(double x) { return x; }
__device__ inline float toFloat(bf16 x) {
  return __int_as_float(int(unsigned(x.bits) << 16));
}
/// To nearest, ties to even; a NaN stays one.
__device__ inline bf16 toBf16(float x) {
  const unsigned bits = unsigned(__float_as_int(x));
  if (x != x)
    return {0x7FC0};
  return {(unsigned short)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}
__device__ inline float toFloat(f16 x) {
  const int sign = (x.bits & 0x8000) << 16, exponent = x.bits >> 10 & 31;
  const int fraction = x.bits & 0x3FF;
  if (exponent == 31)
    return __int_as_float(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) { // fraction * 2^-24
    const float small = float(fraction) * 5.9604644775390625e-08f;
    return sign ? -small : small;
  }
  return __int_as_float(sign | (exponent + 112) << 23 | fraction << 13);
}
__device__ inline f16 toF16(float x) {
  const unsigned bits = unsigned(__float_as_int(x));
  const unsigned sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return {(unsigned short)(sign | 0x7E00)};
  if (magnitude >= 0x477FF000) // 65520 and more
    return {(unsigned short)(sign | 0x7C00)};
  if (magnitude < 0x38800000) { // below 2^-14: a multiple of 2^-24
    const float scaled = __int_as_float(int(magnitude)) * 16777216.0f;
    return {(unsigned short)(sign | unsigned(rintf(scaled)))};
  }
  const unsigned rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return {(unsigned short)(sign | ((rounded - 0x38000000) >> 13))};
}

/// To single so that a second rounding, to 16 bits, gives what one would.
__device__ inline float roundToOdd(double x) {
  const float near = float(x);
  if (x != x || double(near) == x)
    return near;
  const int bits = __float_as_int(near);
  return __int_as_float((fabs(double(near)) > fabs(x) ? bits - 1 : bits) | 1);
}

/// `to<T>(x)`: the sum of a product in the type of its result.
template <typename T> __device__ inline T to(double x) { return T(x); }
template <typename T> __device__ inline T to(float x) { return T(x); }
template <> __device__ inline bf16 to<bf16>(float x) { return toBf16(x); }
template <> __device__ inline bf16 to<bf16>(double x) {
  return toBf16(roundToOdd(x));
}
template <> __device__ inline f16 to<f16>(double x) {
  return toF16(roundToOdd(x));
}
template <> __device__ inline f16 to<f16>(float x) { return toF16(x); }

//===--- Functions of single precision ------------------------------------===//

__device__ inline float lowest() { return __int_as_float(int(0xFF800000)); }

/// e^x: 2^n e^f with |f| about log(2) / 2 at most. 1.0 ulp; subnormal results
/// too. No branch, and no conversion, which would have no result for a NaN: the
/// low bits of `shifted` are n + 254, twice the exponent of 1.
__device__ inline float expOf(float x) {
  // Beyond these, results are 0 and infinity.
  float bounded = -104.0f > x ? -104.0f : x;
  bounded = 89.0f < bounded ? 89.0f : bounded;
  const float shifted = fmaf(bounded, 1.44269504f, 12583166.0f);
  const float n = shifted - 12583166.0f;
  float f = fmaf(n, -0.693145752f, bounded);
  f = fmaf(n, -1.42860677e-6f, f);
  float p = 1.37805939e-3f;
  p = fmaf(p, f, 8.37312452e-3f);
  p = fmaf(p, f, 4.16695364e-2f);
  p = fmaf(p, f, 1.66664720e-1f);
  p = fmaf(p, f, 4.99999851e-1f);
  p = fmaf(p, f, 1.0f);
  p = fmaf(p, f, 1.0f);
  // Each half of n has a power of two, and only the second product rounds.
  const unsigned bits = unsigned(__float_as_int(shifted));
  const unsigned both = bits << 23, half = bits >> 1 << 23;
  return p * __int_as_float(int(half)) * __int_as_float(int(both - half));
}

/// Natural logarithm: 2^n (1 + f) with 1 + f in [2/3, 4/3). 1 ulp.
__device__ inline float logOf(float x) {
  if (x != x || x < 0.0f)
    return notANumber();
  if (x == 0.0f)
    return __int_as_float(int(0xFF800000));
  if (__float_as_int(x) == 0x7F800000)
    return x;
  const bool isSmall = x < 1.17549435e-38f;
  const int bits = __float_as_int(isSmall ? x * 8388608.0f : x);
  const int e = (bits - 0x3F2AAAAB) >> 23; // of 2/3
  const float f = __int_as_float(bits - e * 8388608) - 1.0f;
  const float n = float(isSmall ? e - 23 : e);
  const float s = f * f;
  float p = -0.130310059f;
  float q = 0.140869141f;
  p = fmaf(p, s, -0.121483952f);
  q = fmaf(q, s, 0.139814854f);
  p = fmaf(p, s, -0.166846126f);
  q = fmaf(q, s, 0.200120345f);
  p = fmaf(p, s, -0.249996200f);
  p = fmaf(q, f, p);
  p = fmaf(p, f, 0.333331972f);
  p = fmaf(p, f, -0.500000000f);
  p = fmaf(p, s, f);
  return fmaf(n, 0.693147182f, p);
}

/// Hyperbolic tangent: odd polynomial below 0.55, else 1 - 2 / (e^2x + 1).
/// 2.1 ulp.
__device__ inline float tanhOf(float x) {
  const float a = fabsf(x);
  if (a < 0.55f) {
    const float s = x * x;
    float p = 1.57394409e-2f;
    p = fmaf(p, s, -5.23025431e-2f);
    p = fmaf(p, s, 1.33152977e-1f);
    p = fmaf(p, s, -3.33327681e-1f);
    return fmaf(p * s, x, x);
  }
  const float t = 1.0f - 2.0f / (expOf(2.0f * a) + 1.0f);
  return copysignf(t, x);
}

/// Error function: odd polynomial below 0.93, else 1 - e^q(|x|). 1.3 ulp.
__device__ inline float erfOf(float x) {
  const float t = fabsf(x), s = x * x;
  if (t > 0.927734375f) {
    float r = fmaf(-1.72853470e-5f, t, 3.83197126e-4f);
    const float u = fmaf(-3.88396438e-3f, t, 2.42546219e-2f);
    r = fmaf(r, s, u);
    r = fmaf(r, t, -1.06777877e-1f);
    r = fmaf(r, t, -6.34846687e-1f);
    r = fmaf(r, t, -1.28717512e-1f);
    r = fmaf(r, t, -t);
    return copysignf(1.0f - expOf(r), x);
  }
  float r = -5.96761703e-4f;
  r = fmaf(r, s, 4.99119423e-3f);
  r = fmaf(r, s, -2.67681349e-2f);
  r = fmaf(r, s, 1.12819925e-1f);
  r = fmaf(r, s, -3.76125336e-1f);
  r = fmaf(r, s, 1.28379166e-1f);
  return fmaf(r, x, x);
}

/// 2^(25 + i), less a multiple of 2 pi, in two parts.
__device__ const double angleOfPower[80][2] = {
#include "cutback_angles.cuh"
};
/// x = n pi/2 + r with |r| <= pi/4, in double; `quadrant`: n modulo 4. From 2^48
/// on the power of two in x is an angle itself.
__device__ inline float reduceAngle(float x, int &quadrant) {
  double d = double(x), rest = 0;
  if (fabsf(x) >= 281474976710656.0f) {
    const int bits = __float_as_int(x), power = (bits >> 23 & 255) - 175;
    const double digits = copysign(double((bits & 0x7FFFFF) | 0x800000), d);
    d = digits * angleOfPower[power][0];
    rest = fma(digits, angleOfPower[power][1],
               fma(digits, angleOfPower[power][0], -d));
  }
  const double n = rint(d * 0.63661977236758134);
  double r = fma(n, -1.5707963267948966, d);
  r = fma(n, -6.123233995736766e-17, r);
  quadrant = int((long long)n & 3);
  return float(r + rest);
}
__device__ inline float sinPart(float r) {
  const float s = r * r;
  float p = 2.86567956e-6f;
  p = fmaf(p, s, -1.98559923e-4f);
  p = fmaf(p, s, 8.33338592e-3f);
  p = fmaf(p, s, -1.66666672e-1f);
  return fmaf(p * s, r, r);
}
__device__ inline float cosPart(float r) {
  const float s = r * r;
  float p = 2.44677067e-5f;
  p = fmaf(p, s, -1.38877297e-3f);
  p = fmaf(p, s, 4.16666567e-2f);
  p = fmaf(p, s, -0.5f);
  return fmaf(p, s, 1.0f);
}
/// 1.5 ulp; NaN of infinity.
__device__ inline float sinOf(float x) {
  int quadrant = 0;
  if (!(fabsf(x) < INFINITY))
    return notANumber();
  const float r = reduceAngle(x, quadrant);
  const float y = quadrant & 1 ? cosPart(r) : sinPart(r);
  return quadrant & 2 ? -y : y;
}
__device__ inline float cosOf(float x) {
  int quadrant = 0;
  if (!(fabsf(x) < INFINITY))
    return notANumber();
  const float r = reduceAngle(x, quadrant);
  const float y = quadrant & 1 ? sinPart(r) : cosPart(r);
  return quadrant == 1 || quadrant == 2 ? -y : y;
}

// Double precision has the toolkit's functions.
__device__ inline double expOf(double x) { return exp(x); }
__device__ inline double logOf(double x) { return log(x); }
__device__ inline double tanhOf(double x) { return tanh(x); }
__device__ inline double erfOf(double x) { return erf(x); }
__device__ inline double sinOf(double x) { return sin(x); }
__device__ inline double cosOf(double x) { return cos(x); }

__device__ inline float absolute(float x) { return fabsf(x); }
__device__ inline double absolute(double x) { return fabs(x); }
__device__ inline float rootOf(float x) { return sqrtf(x); }
__device__ inline double rootOf(double x) { return sqrt(x); }

//===--- Choices, integers ------------------------------------------------===//

/// NaN if one is; of zeros, the positive one.
template <typename T> __device__ inline T maximumOf(T a, T b) {
  if (a != a || b != b)
    return a != a ? a : b;
  return a == b ? a + b == 0 && (signbit(a) == 0) ? a : b : a > b ? a : b;
}
template <typename T> __device__ inline T minimumOf(T a, T b) {
  if (a != a || b != b)
    return a != a ? a : b;
  return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

/// The same, of what is no NaN.
template <typename T> __device__ inline T maximumNumber(T a, T b) {
  return a != a ? b : b != b ? a : maximumOf(a, b);
}
template <typename T> __device__ inline T minimumNumber(T a, T b) {
  return a != a ? b : b != b ? a : minimumOf(a, b);
}

/// Wraps around; by 0 it is 0.
template <typename T> __device__ inline T divide(T a, T b) {
  return b == 0 ? 0 : b == T(-1) ? T(0 - (unsigned long long)a) : T(a / b);
}
template <typename T> __device__ inline T remainderOf(T a, T b) {
  return b == 0 || b == T(-1) ? 0 : T(a % b);
}
template <typename T> __device__ inline T floorDivide(T a, T b) {
  return divide(a, b) - (remainderOf(a, b) != 0 && (a < 0) != (b < 0));
}
template <typename T> __device__ inline T floorRemainder(T a, T b) {
  return a - floorDivide(a, b) * b;
}
template <typename T> __device__ inline T ceilDivide(T a, T b) {
  return divide(a, b) + (remainderOf(a, b) != 0 && (a < 0) == (b < 0));
}
template <typename T> __device__ inline T power(T base, T exponent) {
  T result = 1;
  for (; exponent > 0; exponent /= 2, base = T(base * base))
    result = exponent % 2 ? T(result * base) : result;
  return result;
}
/// By the width or more it is 0.
template <typename T> __device__ inline T shiftLeft(T a, T b) {
  return b < 0 || b > 63 ? T(0) : T((unsigned long long)a << b);
}
template <typename T> __device__ inline T shiftRight(T a, T b) {
  return b < 0 || b > 63 ? T(0) : T((long long)a >> b);
}

/// Numbers without sign.
template <typename T> __device__ inline unsigned long long naturalOf(T a) {
  return (unsigned long long)a & ~0ull >> (64 - 8 * sizeof(T));
}
template <typename T> __device__ inline T divideNatural(T a, T b) {
  return b == 0 ? T(0) : T(naturalOf(a) / naturalOf(b));
}
template <typename T> __device__ inline T remainderNatural(T a, T b) {
  return b == 0 ? T(0) : T(naturalOf(a) % naturalOf(b));
}
template <typename T> __device__ inline T shiftRightNatural(T a, T b) {
  return b < 0 || b > 63 ? T(0) : T(naturalOf(a) >> b);
}

/// Towards zero; what the type cannot hold is its least number.
__device__ inline long long toInteger(double x) {
  const bool fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
  return fits ? (long long)x : (long long)0x8000000000000000;
}
/// The same, of a number without sign below 2^64.
__device__ inline long long toNatural(double x) {
  return x >= 9223372036854775808.0 && x < 18446744073709551616.0
             ? (long long)(unsigned long long)x
             : toInteger(x);
}

/// What `problem` says; the greater of two stays. It is the first word of a
/// mark, which has a wrong index and its size from the third on.
constexpr int kWrongIndex = 1, kCheckFailed = 2, kMarkWords = 6;

/// Of several wrong indices one is kept.
__device__ inline void markIndex(long long at, long long size, int *problem) {
  if (atomicMax(problem, kWrongIndex) != 0)
    return;
  long long *told = (long long *)(problem + 2);
  told[0] = at;
  told[1] = size;
}
/// `at`, or 0 and a mark where it is outside of [0, size).
__device__ inline long long checked(long long at, long long size,
                                    int *problem) {
  if (at >= 0 && at < size)
    return at;
  markIndex(at, size, problem);
  return 0;
}
/// The same, where an index below 0 counts from the end.
__device__ inline long long wrapped(long long at, long long size,
                                    int *problem) {
  const long long place = at < 0 ? at + size : at;
  if (place >= 0 && place < size)
    return place;
  markIndex(at, size, problem);
  return 0;
}
/// An index below 0 is the first, one behind the last the last.
__device__ inline long long clamped(long long at, long long size) {
  return at < 0 ? 0 : at < size ? at : size - 1;
}
