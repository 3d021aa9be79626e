// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of scalars against double precision, in units in the last
// place, and the rounding of half precision against all of its values.

#include "cutback_cuda_host.h"

#include "cutback_cuda.cuh"

#include "gtest/gtest.h"

#include <climits>
#include <cstring>

namespace {

/// The largest error over [low, high].
template <typename Fn, typename Exact>
double worstUlp(Fn function, Exact exact, float low, float high) {
  constexpr int count = 400000;
  double worst = 0;
  for (int i = 0; i <= count; ++i) {
    float x = low + (high - low) * (float(i) / count);
    double expected = exact(double(x));
    float magnitude = std::fabs(float(expected));
    double ulp = std::nextafter(magnitude, INFINITY) - magnitude;
    worst = std::max(worst, std::fabs(function(x) - expected) / ulp);
  }
  return worst;
}

#define WORST(name, own, low, high)                                            \
  worstUlp([](float x) { return own(x); },                                     \
           [](double x) { return std::name(x); }, low, high)

TEST(DeviceMathTest, ErrorsAreThoseThatAreStated) {
  EXPECT_LE(WORST(exp, expOf, -87, 88), 1.0);
  EXPECT_LE(WORST(exp, expOf, -103, -87), 1.0); // subnormal
  EXPECT_LE(WORST(log, logOf, 1e-3f, 100), 1.0);
  EXPECT_LE(WORST(log, logOf, 1e-40f, 1e-38f), 1.0);
  EXPECT_LE(WORST(tanh, tanhOf, -10, 10), 2.1);
  EXPECT_LE(WORST(erf, erfOf, -5, 5), 1.3);
  EXPECT_LE(WORST(sin, sinOf, -3.1f, 3.1f), 1.5);
  EXPECT_LE(WORST(sin, sinOf, 1e6f, 1e8f), 1.5);
  EXPECT_LE(WORST(sin, sinOf, 1e14f, 1e15f), 1.5);
  EXPECT_LE(WORST(cos, cosOf, 1e17f, 3e38f), 1.5);
  EXPECT_LE(WORST(cos, cosOf, -100, 100), 1.5);
}

TEST(DeviceMathTest, EdgesAreThoseOfTheFunctions) {
  EXPECT_EQ(expOf(INFINITY), INFINITY);
  EXPECT_EQ(expOf(-INFINITY), 0.0f);
  EXPECT_EQ(expOf(100.0f), INFINITY);
  EXPECT_EQ(logOf(INFINITY), INFINITY);
  EXPECT_EQ(logOf(0.0f), -INFINITY);
  EXPECT_EQ(tanhOf(INFINITY), 1.0f);
  EXPECT_EQ(erfOf(-INFINITY), -1.0f);
  for (float x : {expOf(NAN), logOf(NAN), logOf(-1.0f), tanhOf(NAN), erfOf(NAN),
                  sinOf(INFINITY), cosOf(NAN)})
    EXPECT_TRUE(std::isnan(x));
}

TEST(DeviceMathTest, HalfPrecisionRoundsToNearest) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    f16 half{static_cast<unsigned short>(bits)};
    float x = toFloat(half);
    if (x == x) {
      ASSERT_EQ(toF16(x).bits, bits);
      // Between it and the next one: the even one of two at equal distance.
      float next = toFloat(f16{static_cast<unsigned short>(bits + 1)});
      if ((bits & 0x7FFF) < 0x7BFF) {
        ASSERT_EQ(toF16((x + next) / 2).bits, bits + (bits & 1)) << x;
      }
    }
    bf16 brain{static_cast<unsigned short>(bits)};
    if (float y = toFloat(brain); y == y) {
      ASSERT_EQ(toBf16(y).bits, bits);
    }
  }
  EXPECT_EQ(toF16(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(toF16(65520.0f).bits, 0x7C00);
  EXPECT_TRUE(std::isnan(toFloat(toF16(NAN))));
  EXPECT_TRUE(std::isnan(toFloat(toBf16(NAN))));
}

TEST(DeviceMathTest, IntegersWrapAround) {
  EXPECT_EQ(divide<int>(7, 0), 0);
  EXPECT_EQ(divide<long long>(LLONG_MIN, -1), LLONG_MIN);
  EXPECT_EQ(remainderOf<int>(-7, 3), -1);
  EXPECT_EQ(floorDivide<int>(-7, 3), -3);
  EXPECT_EQ(floorRemainder<int>(-7, 3), 2);
  EXPECT_EQ(power<int>(3, 5), 243);
  EXPECT_EQ(shiftLeft<int>(1, 64), 0);
  EXPECT_EQ(toInteger(NAN), LLONG_MIN);
  EXPECT_EQ(toInteger(-2.9), -2);
  alignas(8) int problem[kMarkWords] = {};
  EXPECT_EQ(checked(3, 4, problem), 3);
  EXPECT_EQ(problem[0], 0);
  EXPECT_EQ(checked(4, 5, problem), 4);
  EXPECT_EQ(wrapped(-4, 4, problem), 0);
  EXPECT_EQ(problem[0], 0);
  EXPECT_EQ(wrapped(-5, 4, problem), 0);
  EXPECT_EQ(problem[0], kWrongIndex);
  long long told[2];
  std::memcpy(told, problem + 2, sizeof told);
  EXPECT_EQ(told[0], -5);
  EXPECT_EQ(told[1], 4);
}

TEST(DeviceMathTest, PhiloxGivesTheKnownAnswers) {
  // Salmon et al., the distribution's kat_vectors: counter and key of zeros, of
  // ones, and of digits of pi.
  const unsigned known[3][4] = {
      {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  const PhiloxWords given[3] = {philox(0, 0, 0), philox(~0ull, ~0ull, ~0ull),
                                philox(0x299f31d0a4093822,
                                       streamOfRound(0x13198a2e, 0x03707344),
                                       0x85a308d3243f6a88)};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(given[k].word[i], known[k][i]) << k << ", word " << i;
}

} // namespace
