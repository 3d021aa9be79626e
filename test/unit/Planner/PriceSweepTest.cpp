// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sweep finds the corners of the front, and prices that lead back to them.

#include "../Transforms/RandomGraph.h"

#include "cutback/Planner/PriceSweep.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

void expectConvex(const std::vector<PricePoint> &points) {
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(points[0].bytePricePs, 0);
  // At price 0 the cut does not look at bytes: a smaller plan may be as fast.
  double last = -1;
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_LT(points[i].bytes, points[i - 1].bytes);
    EXPECT_GE(points[i].ps, points[i - 1].ps);
    EXPECT_GT(points[i].bytePricePs, points[i - 1].bytePricePs);
    double slope = double(points[i].ps - points[i - 1].ps) /
                   double(points[i - 1].bytes - points[i].bytes);
    EXPECT_GT(slope, last);
    last = slope;
  }
}

class PriceSweep : public ::testing::Test {
protected:
  PriceSweep() { loadDialects(context); }

  joint::GraphOp make(uint64_t seed) {
    RandomGraphOptions shape;
    shape.numForward = 60;
    shape.isChain = true;
    module = parse(context, RandomGraph(seed, shape).text());
    PhaseSeconds seconds;
    EXPECT_TRUE(succeeded(
        preparePartition(graphOf(*module), PartitionOptions(), seconds)));
    return graphOf(*module);
  }

  int64_t timeAt(joint::GraphOp graph, double price) {
    PartitionOptions options;
    options.emit = options.verify = false;
    options.bytePrice = price;
    auto result = partitionGraph(graph, options);
    EXPECT_TRUE(succeeded(result));
    return succeeded(result) ? (*result)->modelPs : -1;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(PriceSweep, FindsEveryCornerAndAPriceOfEach) {
  size_t corners = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    joint::GraphOp graph = make(seed);
    PriceSweepOptions all;
    all.maxPoints = 1000;
    all.maxSolves = 10000;
    auto front = sweepBytePrice(graph, PartitionOptions(), all);
    ASSERT_TRUE(succeeded(front)) << seed;
    EXPECT_TRUE(front->isWhole);
    expectConvex(front->corners);
    corners += front->corners.size();
    for (const PricePoint &point : front->corners)
      EXPECT_EQ(timeAt(graph, point.bytePricePs), point.ps)
          << seed << ", price " << point.bytePricePs;
  }
  EXPECT_GT(corners, 60u);
}

TEST_F(PriceSweep, StopsAtItsLimits) {
  size_t cutShort = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    joint::GraphOp graph = make(seed);
    auto whole = sweepBytePrice(graph, PartitionOptions(), {1000, 10000});
    ASSERT_TRUE(succeeded(whole));
    for (PriceSweepOptions few : {PriceSweepOptions{3, 48}, {1000, 2}}) {
      size_t most = std::min(few.maxPoints, few.maxSolves);
      auto front = sweepBytePrice(graph, PartitionOptions(), few);
      ASSERT_TRUE(succeeded(front));
      EXPECT_LE(front->corners.size(), most);
      expectConvex(front->corners);
      // It says so where corners are left out.
      if (front->corners.size() < whole->corners.size())
        EXPECT_FALSE(front->isWhole);
      cutShort += !front->isWhole;
    }
  }
  EXPECT_GT(cutShort, 10u);
}

TEST_F(PriceSweep, FailsWhereAPlanWould) {
  joint::GraphOp graph = make(1);
  PartitionOptions options;
  options.device = "no-such-device";
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(sweepBytePrice(graph, options)));
}

TEST(ShortestBetween, HasTheFewestDigits) {
  EXPECT_EQ(shortestBetween(0.0113, 0.0587), 0.02);
  EXPECT_EQ(shortestBetween(0.312, 0.34), 0.32);
  EXPECT_EQ(shortestBetween(3, 7), 3);
  EXPECT_EQ(shortestBetween(97, 210), 100);
  EXPECT_EQ(shortestBetween(1234, 1236), 1234);
  EXPECT_EQ(shortestBetween(2.5e-5, 2.6e-5), 2.5e-5);
  double low = 1.0 / 3, high = low * (1 + 1e-15);
  EXPECT_GE(shortestBetween(low, high), low);
  EXPECT_LE(shortestBetween(low, high), high);
}
