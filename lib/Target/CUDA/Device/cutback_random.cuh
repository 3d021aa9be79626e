// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element `number` of a random stream: Philox-4x32-10 (Salmon et al., SC 2011).
// The seed is the key; the counter holds the number and the stream.
#pragma once

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
/// How many waits fit into a time of `rate`; element `i` of a stream.
__device__ inline double randomPoisson(long long seed, long long stream,
                                       unsigned long long i, double rate) {
  const long long most = 1ll << 24;
  double time = 0;
  long long events = -1;
  while (time <= rate && ++events < most)
    time -= log(1 - randomUniform(seed, stream, i * most + events, true));
  return events < 0 ? 0.0 : double(events);
}
