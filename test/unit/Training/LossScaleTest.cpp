// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scale of a loss from step to step, and steps under one.

#include "cutback/Training/LossScale.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace cutback;
using interpreter::DType;

TEST(LossScaleTest, ItGrowsBehindGoodStepsAndIsHalvedBehindOthers) {
  LossScale scale;
  for (int step = 0; step < 1999; ++step)
    EXPECT_EQ(scale.count(false), "");
  EXPECT_EQ(scale.scale, 65536);
  EXPECT_EQ(scale.count(false), "");
  EXPECT_EQ(scale.scale, 131072);
  for (int step = 0; step < 1000; ++step)
    EXPECT_EQ(scale.count(false), "");
  EXPECT_EQ(scale.count(true), "");
  EXPECT_EQ(scale.scale, 65536);
  EXPECT_EQ(scale.good, 0);
  EXPECT_EQ(scale.skipped, 1);
  scale.limit(32768);
  EXPECT_EQ(scale.scale, 32768);
  scale.limit(65536);
  EXPECT_EQ(scale.scale, 32768);
}

TEST(LossScaleTest, ATrainingThatNeverHasFiniteGradientsEnds) {
  LossScale scale;
  int steps = 1;
  while (scale.count(true).empty())
    ASSERT_LT(++steps, 100);
  EXPECT_EQ(scale.count(true),
            "gradients are not finite at a loss scale of 1.53e-05");
  EXPECT_EQ(steps, 33);
}

TEST(LossScaleTest, AStaticOneStays) {
  auto scale = LossScale::parse("128");
  ASSERT_TRUE(scale);
  EXPECT_FALSE(scale->isDynamic);
  for (int step = 0; step < 3000; ++step)
    EXPECT_EQ(scale->count(step % 2), "");
  EXPECT_EQ(scale->scale, 128);
  EXPECT_EQ(scale->skipped, 1500);
}

TEST(LossScaleTest, WhatIsReadAsOne) {
  ASSERT_TRUE(LossScale::parse("dynamic"));
  EXPECT_TRUE(LossScale::parse("dynamic")->isDynamic);
  for (const char *text : {"", "0", "-1", "nan", "inf", "1x", "Dynamic"})
    EXPECT_FALSE(LossScale::parse(text)) << text;
}

TEST(LossScaleTest, TheGreatestOfATypeIsOneOfItsNumbers) {
  EXPECT_EQ(greatestScale(DType::F16), 32768);
  EXPECT_EQ(greatestScale(DType::F32), std::ldexp(1.0, 127));
  EXPECT_EQ(greatestScale(DType::BF16), std::ldexp(1.0, 127));
  EXPECT_EQ(greatestScale(DType::F64), std::ldexp(1.0, 1023));
}

TEST(LossSeedsTest, EachIsScaledFromWhatWasGivenLast) {
  using interpreter::Tensor;
  LossSeeds seeds;
  EXPECT_EQ(seeds.greatest(), greatestScale(DType::F64));
  Tensor one = Tensor::zeros(DType::F32, {}),
         two = Tensor::zeros(DType::F16, {2});
  one.set(0, 1);
  two.set(1, 3);
  seeds.add(4, one);
  seeds.add(7, two);
  EXPECT_EQ(seeds.greatest(), 32768);
  one.set(0, 9); // it has its own copy
  auto scaled = [&](double scale) {
    std::map<size_t, std::vector<double>> all;
    seeds.forEach(scale, [&](size_t argument, const Tensor &seed) {
      all[argument] = seed.doubles();
    });
    return all;
  };
  using All = std::map<size_t, std::vector<double>>;
  EXPECT_EQ(scaled(4), (All{{4, {4}}, {7, {0, 12}}}));
  seeds.replace(4, one);
  seeds.replace(5, one); // no seed
  EXPECT_EQ(scaled(2), (All{{4, {18}}, {7, {0, 6}}}));
}
