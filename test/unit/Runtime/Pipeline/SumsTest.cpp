// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums against doubles that are rounded once, element by element.

#include "cutback/Runtime/Pipeline/Sums.h"

#include "cutback/Runtime/Elements.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

constexpr const char *kTypes[] = {"f64", "f32", "bf16", "f16"};

std::vector<char> randomElements(const char *type, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<char> bytes(8 * 37);
  Elements elements(bytes.data(), bytes.size(), type);
  std::normal_distribution<double> value(0, 3);
  for (int64_t i = 0; i < elements.count(); ++i)
    elements.set(i, value(random));
  elements.set(0, -0.0);
  return bytes;
}

TEST(SumsTest, EachElementIsRoundedOnce) {
  for (const char *type : kTypes) {
    std::vector<char> a = randomElements(type, 7), was = a;
    std::vector<char> b = randomElements(type, 8), expected = a;
    addTo(type, a.data(), b.data(), a.size());
    Elements left(was.data(), was.size(), type);
    Elements right(b.data(), b.size(), type);
    Elements sums(expected.data(), expected.size(), type);
    for (int64_t i = 0; i < sums.count(); ++i)
      sums.set(i, left[i] + right[i]);
    EXPECT_EQ(a, expected) << type;
    EXPECT_NE(a, was) << type;
  }
}

TEST(SumsTest, CountsAreAddedAsIntegers) {
  std::vector<int64_t> sum = {(int64_t(1) << 53) + 1, -3}, more = {2, 1};
  addTo("i64", reinterpret_cast<char *>(sum.data()),
        reinterpret_cast<char *>(more.data()), 16);
  EXPECT_EQ(sum, (std::vector<int64_t>{(int64_t(1) << 53) + 3, -2}));
  int32_t small = 7, one = -8;
  addTo("i32", reinterpret_cast<char *>(&small), reinterpret_cast<char *>(&one),
        4);
  EXPECT_EQ(small, -1);
  EXPECT_TRUE(isAddedAsInteger("i64"));
  EXPECT_FALSE(isAddedAsInteger("i1"));
  EXPECT_EQ(componentOf("complex<f32>"), "f32");
  EXPECT_EQ(componentOf("bf16"), "bf16");
}

TEST(SumsTest, AFactorIsOfTheType) {
  float third = 3;
  scale("f32", reinterpret_cast<char *>(&third), 1. / 3, sizeof third);
  EXPECT_EQ(third, 3.f * float(1. / 3));
  uint16_t half = 0x3C00; // 1 as f16
  scale("f16", reinterpret_cast<char *>(&half), 0.5, sizeof half);
  EXPECT_EQ(half, 0x3800);
  float ten = 10;
  divide("f32", reinterpret_cast<char *>(&ten), 3, sizeof ten);
  EXPECT_EQ(ten, 10.f / 3);
  double seven = 7;
  divide("f64", reinterpret_cast<char *>(&seven), 3, sizeof seven);
  EXPECT_EQ(seven, 7. / 3);
  divide("f16", reinterpret_cast<char *>(&half), 2, sizeof half);
  EXPECT_EQ(half, 0x3400);
}

TEST(SumsTest, ANaNIsTheLargest) {
  for (const char *type : kTypes) {
    std::vector<char> a = randomElements(type, 11);
    std::vector<char> b = randomElements(type, 12);
    Elements left(a.data(), a.size(), type), right(b.data(), b.size(), type);
    left.set(1, NAN);
    right.set(2, NAN);
    double expected = std::max(left[3], right[3]);
    maximize(type, a.data(), b.data(), a.size());
    EXPECT_TRUE(std::isnan(left[1]) && std::isnan(left[2])) << type;
    EXPECT_EQ(left[3], expected) << type;
  }
}

} // namespace
