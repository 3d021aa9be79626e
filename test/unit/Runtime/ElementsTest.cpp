// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 16 bits as doubles: all patterns there and back, and rounding
// between neighbors.

#include "cutback/Runtime/Elements.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace cutback;

namespace {

class ElementsTest : public testing::TestWithParam<const char *> {};

double valueOf(uint16_t bits, const char *type) {
  return Elements(&bits, sizeof bits, type)[0];
}
uint16_t bitsOf(double value, const char *type) {
  uint16_t bits = 0;
  Elements(&bits, sizeof bits, type).set(0, value);
  return bits;
}

TEST_P(ElementsTest, EachPatternComesBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    double value = valueOf(static_cast<uint16_t>(bits), GetParam());
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(valueOf(bitsOf(value, GetParam()), GetParam())));
    else
      ASSERT_EQ(bitsOf(value, GetParam()), bits) << value;
  }
}

TEST_P(ElementsTest, WhatLiesBetweenGoesToTheNearestTiesToEven) {
  for (unsigned bits = 0; bits < 0x7fff; ++bits) {
    auto low = static_cast<uint16_t>(bits);
    auto high = static_cast<uint16_t>(bits + 1);
    double a = valueOf(low, GetParam()), b = valueOf(high, GetParam());
    if (!std::isfinite(a) || !std::isfinite(b))
      continue;
    double middle = a + (b - a) / 2, step = (b - a) / 64;
    ASSERT_EQ(bitsOf(middle - step, GetParam()), low);
    ASSERT_EQ(bitsOf(middle + step, GetParam()), high);
    ASSERT_EQ(bitsOf(middle, GetParam()), low % 2 ? high : low);
    ASSERT_EQ(bitsOf(-middle - step, GetParam()), 0x8000 | high);
  }
}

TEST_P(ElementsTest, WhatIsTooLargeIsInfinite) {
  EXPECT_TRUE(std::isinf(valueOf(bitsOf(1e300, GetParam()), GetParam())));
  EXPECT_LT(valueOf(bitsOf(-HUGE_VAL, GetParam()), GetParam()), 0);
}

INSTANTIATE_TEST_SUITE_P(Types, ElementsTest, testing::Values("bf16", "f16"));

TEST(Elements, OfWiderTypesAreThemselves) {
  double wide[] = {0.1, -2};
  Elements of64(wide, sizeof wide, "f64");
  EXPECT_EQ(of64.count(), 2);
  of64.set(1, of64[0] * 3);
  EXPECT_EQ(wide[1], 0.1 * 3);
  float narrow[] = {0.5F, 1.F, 2.F};
  Elements of32(narrow, sizeof narrow, "f32");
  EXPECT_EQ(of32.count(), 3);
  of32.set(2, 0.1);
  EXPECT_EQ(narrow[2], 0.1F);
  EXPECT_TRUE(Elements::isKnown("bf16"));
  EXPECT_FALSE(Elements::isKnown("i64"));
}

} // namespace
