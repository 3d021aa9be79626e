// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element `number` of a random stream: Philox-4x32-10 (Salmon et al., SC 2011).
// The seed is the key; the counter holds the number and the stream.
#pragma once

#include "cutback_math.cuh"

struct PhiloxWords {
  unsigned word[4];
};

__device__ inline PhiloxWords philox(unsigned long long seed,
                                     unsigned long long stream,
                                     unsigned long long number) {
  PhiloxWords c = {{unsigned(number), unsigned(number >> 32), unsigned(stream),
                    unsigned(stream >> 32)}};
  unsigned key0 = unsigned(seed), key1 = unsigned(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.word[0];
    const unsigned long long b = 0xCD9E8D57ull * c.word[2];
    c = {{unsigned(b >> 32) ^ c.word[1] ^ key0, unsigned(b),
          unsigned(a >> 32) ^ c.word[3] ^ key1, unsigned(a)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

/// Words 2 and 3 of the counter: the low halves of stream and round.
__device__ inline long long streamOfRound(long long stream, long long round) {
  return (stream & 0xFFFFFFFFll) | (long long)((unsigned long long)round << 32);
}

__device__ inline unsigned randomWord(long long seed, long long stream,
                                      unsigned long long i) {
  return philox(seed, stream, i / 4).word[i % 4];
}
__device__ inline unsigned long long
randomWord64(long long seed, long long stream, unsigned long long i) {
  const PhiloxWords w = philox(seed, stream, i / 2);
  return (unsigned long long)w.word[2 * (i % 2) + 1] << 32 |
         w.word[2 * (i % 2)];
}
/// In [0, 1): a multiple of 2^-24, or of 2^-53.
__device__ inline double randomUniform(long long seed, long long stream,
                                       unsigned long long i, bool isWide) {
  return isWide ? double(randomWord64(seed, stream, i) >> 11) *
                      1.1102230246251565e-16
                : double(randomWord(seed, stream, i) >> 8) *
                      5.9604644775390625e-08;
}
/// Box and Muller's transform of the uniform numbers 2k and 2k + 1.
__device__ inline double randomNormal(long long seed, long long stream,
                                      unsigned long long i, bool isWide) {
  const double u = randomUniform(seed, stream, i & ~1ull, isWide);
  const double length = sqrt(-2 * log(1 - u));
  const double angle =
      2 * 3.14159265358979323846 * randomUniform(seed, stream, i | 1, isWide);
  return length * (i % 2 ? sin(angle) : cos(angle));
}

//===--- Distributions
//------------------------------------------------------===//

/// low + range u; of `steps` numbers alone where that is not 0.
__device__ inline double randomBetween(long long seed, long long stream,
                                       unsigned long long i, bool isWide,
                                       double steps, double low, double range) {
  const double u = randomUniform(seed, stream, i, isWide);
  return low + range * (steps > 0 ? floor(u * steps) / steps : u);
}
__device__ inline double randomNormalOf(long long seed, long long stream,
                                        unsigned long long i, bool isWide,
                                        double mean, double deviation) {
  return mean + deviation * randomNormal(seed, stream, i, isWide);
}
__device__ inline double randomLogNormal(long long seed, long long stream,
                                         unsigned long long i, double mean,
                                         double deviation) {
  return exp(randomNormalOf(seed, stream, i, true, mean, deviation));
}
/// In (0, 1].
__device__ inline double randomPositive(long long seed, long long stream,
                                        unsigned long long i) {
  return 1 - randomUniform(seed, stream, i, true);
}
__device__ inline double randomExponential(long long seed, long long stream,
                                           unsigned long long i, double rate) {
  return -log(randomPositive(seed, stream, i)) / rate;
}
__device__ inline double randomCauchy(long long seed, long long stream,
                                      unsigned long long i, double median,
                                      double sigma) {
  const double u = randomPositive(seed, stream, i);
  return median + sigma * tan(3.14159265358979323846 * (u - 0.5));
}
/// `logOfRest`: log(1 - p).
__device__ inline double randomGeometric(long long seed, long long stream,
                                         unsigned long long i,
                                         double logOfRest) {
  return fmax(1.0, ceil(log(randomPositive(seed, stream, i)) / logOfRest));
}
/// An integer from `low` on.
__device__ inline long long randomInteger(long long seed, long long stream,
                                          unsigned long long i, long long low,
                                          unsigned long long range) {
  return low + (long long)(randomWord64(seed, stream, i) % range);
}
/// How many waits fit into a time of `rate`; element `i` of a stream.
__device__ inline double randomPoisson(long long seed, long long stream,
                                       unsigned long long i, double rate) {
  const long long most = 1ll << 24;
  double time = 0;
  long long events = -1;
  while (time <= rate && ++events < most)
    time -= log(randomPositive(seed, stream, i * most + events));
  return events < 0 ? 0.0 : double(events);
}
/// How many of `trials` succeed; element `i` of a stream.
__device__ inline double randomBinomial(long long seed, long long stream,
                                        unsigned long long i, double trials,
                                        double chance) {
  if (!(trials >= 0 && trials < 2147483648.0))
    return double(notANumber());
  long long successes = 0;
  for (unsigned long long k = 0; double(k) < trials; ++k)
    successes += randomUniform(seed, stream, i << 31 | k, true) < chance;
  return double(successes);
}
/// Marsaglia and Tsang's method; element `i` has two streams of its own.
__device__ inline double randomGamma(long long seed, long long stream,
                                     unsigned long long i, double shape) {
  const long long normals =
      (long long)((unsigned long long)stream + i * 0x9E3779B97F4A7C15ull + 1);
  const long long uniforms = (long long)((unsigned long long)normals + 1);
  double boost = 1;
  if (shape < 1) {
    boost = pow(randomPositive(seed, uniforms, 0), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (unsigned long long k = 1; k < 10000; ++k) {
    const double x = randomNormal(seed, normals, k, true);
    const double t = 1 + c * x, v = t * t * t;
    if (v > 0 && log(randomPositive(seed, uniforms, k)) <
                     x * x / 2 + d * (1 - v + log(v)))
      return boost * d * v;
  }
  return double(notANumber());
}
/// What `x` is multiplied by: 1 if it is positive.
__device__ inline double randomSlope(long long seed, long long stream,
                                     unsigned long long i, bool isDrawn,
                                     double x, double lower, double upper) {
  if (x > 0)
    return 1;
  return isDrawn
             ? lower + (upper - lower) * randomUniform(seed, stream, i, true)
             : (lower + upper) / 2;
}

//===--- Rows
//---------------------------------------------------------------===//

/// `samples` of the numbers below `count`, in proportion to `weight(number)`;
/// each once, if not `replaces`. Row `row` of a stream. A mark where there is
/// nothing left to draw.
template <typename Weight>
__device__ inline void
randomPlaces(long long seed, long long stream, int row, int samples, int count,
             bool replaces, Weight weight, long long *out, int *problem) {
  auto left = [&](int number, int drawn) -> double {
    for (int k = 0; !replaces && k < drawn; ++k)
      if (out[k] == number)
        return 0;
    return weight(number);
  };
  for (int k = 0; k < samples; ++k) {
    double total = 0;
    for (int i = 0; i < count; ++i)
      total += left(i, k);
    if (!(total > 0))
      atomicMax(problem, kCheckFailed);
    double target =
        total * randomUniform(seed, stream,
                              (unsigned long long)row * samples + k, true);
    int pick = 0;
    for (int i = 0; i < count && target >= 0; ++i) {
      const double own = left(i, k);
      pick = own > 0 ? i : pick;
      target -= own > 0 ? own : 0;
    }
    out[k] = pick;
  }
}

/// The numbers below `count` in some order (Fisher and Yates).
template <typename T>
__device__ inline void randomOrder(long long seed, long long stream, int count,
                                   T *out) {
  for (int i = 0; i < count; ++i)
    out[i] = to<T>(double(i));
  for (int i = count; i > 1; --i) {
    const int other =
        int(randomWord64(seed, stream, i) % (unsigned long long)i);
    const T last = out[i - 1];
    out[i - 1] = out[other];
    out[other] = last;
  }
}
