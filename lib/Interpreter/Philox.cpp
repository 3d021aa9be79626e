// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ten rounds, and numbers made of their words. A block of four words is
// kept until another is asked for, so numbers in order cost a quarter of it.
// Multipliers and key increments are those of the paper (table 2 and section
// 3.3); the known answer for key and counter zero is in the tests.

#include "Philox.h"

#include <cmath>

using namespace cutback;
using namespace cutback::interpreter;

const Philox::Words &Philox::block(uint64_t number) {
  if (number == cached)
    return words;
  cached = number;
  auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  Words c = {low(number), high(number), low(stream), high(stream)};
  uint32_t key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    c = {high(b) ^ c[1] ^ key0, low(b), high(a) ^ c[3] ^ key1, low(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  words = c;
  return words;
}

uint32_t Philox::word(uint64_t i) { return block(i / 4)[i % 4]; }

uint64_t Philox::word64(uint64_t i) {
  const Words &four = block(i / 2);
  return uint64_t(four[2 * (i % 2) + 1]) << 32 | four[2 * (i % 2)];
}

double Philox::normal(DType type, uint64_t i) {
  constexpr double pi = 3.14159265358979323846;
  // 1 - u is in (0, 1], where the logarithm is finite.
  double length = std::sqrt(-2 * std::log(1 - uniform(type, i & ~1ull)));
  double angle = 2 * pi * uniform(type, i | 1);
  return length * (i % 2 ? std::sin(angle) : std::cos(angle));
}
