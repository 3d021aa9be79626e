// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds of cuts under limits: on small random networks against all cuts there
// are, and against prices from a grid.

#include "cutback/Partition/MaxFlow/MomentPrices.h"

#include "SampleNetworks.h"
#include "TestNetworks.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::samples;

namespace {

struct Sample {
  FlowNetwork network;
  std::vector<LimitedMoment> moments;
};

/// Of `n` vertices between source and sink, with a finite cut.
Sample makeSample(Random &random, uint32_t n, size_t numMoments) {
  Sample sample;
  sample.network.clear(n + 2);
  for (VertexId v = 2; v < n + 2; ++v) {
    sample.network.addArc(kSource, v, random.below(40));
    sample.network.addArc(v, kSink, random.below(40));
    if (VertexId to = 2 + random.below(n); to != v)
      sample.network.addArc(v, to,
                            random.percent(20) ? kInf : random.below(40));
  }
  EXPECT_EQ(sample.network.finish(), std::nullopt);
  for (size_t t = 0; t < numMoments; ++t) {
    LimitedMoment &moment = sample.moments.emplace_back();
    int64_t all = 0;
    for (ArcId arc = 0; arc < sample.network.numArcs(); ++arc)
      if (!sample.network.arc(arc).isInfinite() && random.percent(40)) {
        moment.charges.push_back({arc, 1 + random.below(30)});
        all += moment.charges.back().bytes;
      }
    moment.room = all * random.below(60) / 100;
  }
  return sample;
}

/// The least capacity of all cuts that fit, if one does.
std::optional<int64_t> findBest(const Sample &sample) {
  const FlowNetwork &network = sample.network;
  std::optional<int64_t> best;
  for (uint32_t set = 0; set < (1U << (network.numVertices() - 2)); ++set) {
    auto onSink = [&](VertexId v) {
      return v == kSink || (v != kSource && (set >> (v - 2) & 1));
    };
    auto isCut = [&](ArcId arc) {
      return !onSink(network.arc(arc).from) && onSink(network.arc(arc).to);
    };
    int64_t capacity = 0;
    bool isPossible = true;
    for (ArcId arc = 0; arc < network.numArcs(); ++arc)
      if (isCut(arc)) {
        isPossible &= !network.arc(arc).isInfinite();
        capacity += network.arc(arc).capacity;
      }
    for (const LimitedMoment &moment : sample.moments) {
      int64_t bytes = 0;
      for (const LimitedMoment::Charge &charge : moment.charges)
        bytes += isCut(charge.arc) ? charge.bytes : 0;
      isPossible &= bytes <= moment.room;
    }
    if (isPossible && (!best || capacity < *best))
      best = capacity;
  }
  return best;
}

TEST(MomentPrices, NoCutThatFitsIsBelowTheBound) {
  unsigned fitting = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Sample sample = makeSample(random, 3 + seed % 6, 1 + seed % 4);
    MomentPrices prices(sample.network, sample.moments);
    unsigned seen = 0;
    auto found = prices.maximize({}, [&](const PricedCut &) { ++seen; });
    EXPECT_EQ(found.flows, seen);
    PricedCut again;
    ASSERT_EQ(prices.evaluate(found.prices, again), std::nullopt);
    EXPECT_EQ(found.bound, std::max<int64_t>(0, again.bound));
    if (std::optional<int64_t> best = findBest(sample)) {
      ++fitting;
      EXPECT_LE(found.bound, *best);
    }
  }
  EXPECT_GT(fitting, 20u);
}

TEST(MomentPrices, TheBoundIsThatOfTheBestPrices) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed + 1000);
    Sample sample = makeSample(random, 6, 2);
    // In a unit of which rounding is a small part.
    std::vector<FlowArc> arcs = sample.network.arcs();
    for (FlowArc &arc : arcs)
      if (!arc.isInfinite())
        arc.capacity *= 1'000'000;
    FlowNetwork network = makeNetwork(sample.network.numVertices(), arcs);
    if (!findBest(sample))
      continue;
    MomentPrices prices(network, sample.moments);
    MomentSearch search;
    search.maxFlows = 100;
    int64_t found = prices.maximize(search).bound;
    int64_t best = 0;
    for (int a = 0; a <= 20; ++a)
      for (int b = 0; b <= 20; ++b) {
        PricedCut priced;
        ASSERT_EQ(prices.evaluate({a * 2e5, b * 2e5}, priced), std::nullopt);
        best = std::max(best, priced.bound);
      }
    EXPECT_GE(found, best - 1000 - best / 1000);
  }
}

TEST(MomentPrices, ACutThatFitsIsTheBest) {
  FlowNetwork network = makeNetwork(3, {{0, 2, 5}, {2, 1, 3}});
  MomentPrices prices(network, {{10, {{1, 10}}}});
  MomentPrices::Result found = prices.maximize({});
  EXPECT_EQ(found.flows, 1u);
  EXPECT_EQ(found.prices, std::vector<double>{0});
  // Rounded down.
  EXPECT_GE(found.bound, 2);
  EXPECT_LE(found.bound, 3);
}

TEST(MomentPrices, NoRoomAtAllRaisesTheBoundWithoutEnd) {
  FlowNetwork network = makeNetwork(3, {{0, 2, 5}, {2, 1, 3}});
  MomentPrices prices(network, {{-1, {}}});
  EXPECT_GT(prices.maximize({}).bound, 1'000'000);
}

} // namespace
