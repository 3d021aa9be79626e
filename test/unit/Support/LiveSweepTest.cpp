// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sweep against counting each range at each step.

#include "cutback/Support/LiveSweep.h"

#include <gtest/gtest.h>

#include <random>

using namespace cutback;

TEST(LiveSweep, rangesOfRandomStepsAddUpAsWhenCountedOneByOne) {
  std::mt19937 random(20261124);
  for (int round = 0; round < 300; ++round) {
    uint32_t numSteps = random() % 12;
    LiveSweep<3> sweep(numSteps);
    std::vector<std::array<int64_t, 3>> expected(numSteps);
    for (unsigned range = random() % 20; range-- > 0;) {
      uint32_t begin = random() % (numSteps + 1);
      uint32_t end = begin + random() % (numSteps + 1 - begin);
      int64_t bytes = random() % 1000;
      unsigned kind = random() % 3;
      sweep.add(begin, end, bytes, kind);
      for (uint32_t step = begin; step < end; ++step)
        expected[step][kind] += bytes;
    }
    EXPECT_EQ(std::move(sweep).run(), expected) << "round " << round;
  }
}

TEST(LiveSweep, aRangeThatEndsWhereItBeginsIsNeverLive) {
  LiveSweep<> sweep(2);
  sweep.add(1, 1, 100);
  sweep.add(2, 2, 100);
  sweep.add(0, 2, 7);
  EXPECT_EQ(std::move(sweep).run(),
            (std::vector<std::array<int64_t, 1>>{{7}, {7}}));
}

TEST(LiveSweep, noStepsHaveNoBytes) {
  LiveSweep<> sweep(0);
  sweep.add(0, 0, 100);
  EXPECT_TRUE(std::move(sweep).run().empty());
}
