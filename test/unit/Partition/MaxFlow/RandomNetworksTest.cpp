// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thousands of networks from seeds: small ones against all cuts there are,
// larger ones against Edmonds-Karp and against each other. A failure names its
// seed.

#include "SampleNetworks.h"
#include "TestNetworks.h"
#include "cutback/Partition/MaxFlow/ArcIndex.h"
#include "cutback/Partition/MaxFlow/BoostMaxFlow.h"
#include "cutback/Partition/MaxFlow/Contraction.h"
#include "cutback/Partition/MaxFlow/PushRelabel.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::samples;

/// Any shape: self loops, parallel arcs, zero and infinite capacities, cycles,
/// arcs into the source and out of the sink.
static FlowNetwork makeAny(uint64_t seed, uint32_t maxVertices,
                           uint32_t maxArcs) {
  Random random(seed);
  uint32_t n = 2 + random.below(maxVertices - 1);
  uint32_t infinitePercent = 10 * random.below(4);
  uint32_t bound = 1 + random.below(12);
  FlowNetwork network(n);
  for (uint32_t i = random.below(maxArcs + 1); i-- > 0;) {
    uint32_t from = random.percent(12) ? kSource : random.below(n);
    uint32_t to = random.percent(12) ? kSink : random.below(n);
    network.addArc(from, to,
                   random.percent(infinitePercent) ? kInfiniteCapacity
                                                   : random.below(bound));
  }
  EXPECT_EQ(network.finish(ParallelArcs(seed % 3)), std::nullopt);
  return network;
}

namespace {

/// The best of all cuts, by trying them.
struct BruteForce {
  explicit BruteForce(const FlowNetwork &network) {
    uint32_t n = network.numVertices();
    // Bit v - 2 of a set: vertex v is on the sink side.
    for (uint32_t set = 0; set < (1U << (n - 2)); ++set) {
      std::optional<int64_t> value = valueOf(network, set);
      if (!value || (bounded && *value > best))
        continue;
      // Minimum cuts are closed under intersection: the smallest sink side is
      // the common part of all.
      nearest = bounded && *value == best ? (nearest & set) : set;
      best = *value;
      bounded = true;
    }
  }

  static bool onSinkSide(uint32_t set, VertexId v) {
    return v == kSink || (v != kSource && (set >> (v - 2) & 1));
  }

  static std::optional<int64_t> valueOf(const FlowNetwork &network,
                                        uint32_t set) {
    int64_t value = 0;
    for (const FlowArc &arc : network.arcs()) {
      if (onSinkSide(set, arc.from) || !onSinkSide(set, arc.to))
        continue;
      if (arc.isInfinite())
        return std::nullopt;
      value += arc.capacity;
    }
    return value;
  }

  bool bounded = false;
  int64_t best = 0;
  uint32_t nearest = 0;
};

} // namespace

TEST(RandomNetworks, smallOnesAgreeWithAllCutsThereAre) {
  std::vector<MaxFlowSolver> solvers;
  for (MaxFlowAlgorithm algorithm : kAllAlgorithms)
    solvers.emplace_back(algorithm);
  MinCut cut;
  int bounded = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Up to 10 vertices mostly; 14 now and then, for they cost 4096 cuts.
    FlowNetwork network = makeAny(seed, seed % 16 == 0 ? 14 : 10, 40);
    BruteForce expected(network);
    bounded += expected.bounded;
    for (MaxFlowSolver &solver : solvers) {
      MinCutStatus status = solver.solve(network, cut);
      ASSERT_EQ(status == MinCutStatus::Solved, expected.bounded);
      if (!expected.bounded)
        continue;
      ASSERT_EQ(cut.value, expected.best);
      for (VertexId v = 0; v < network.numVertices(); ++v)
        ASSERT_EQ(bool(cut.onSinkSide[v]),
                  BruteForce::onSinkSide(expected.nearest, v));
      ASSERT_EQ(checkFlow(network, cut), std::nullopt);
    }
  }
  EXPECT_GT(bounded, 2000);
  EXPECT_LT(bounded, 4000);
}

TEST(RandomNetworks, unboundedPathsRunOverInfiniteArcs) {
  MaxFlowSolver solver;
  MinCut cut;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    FlowNetwork network = makeAny(seed, 30, 120);
    if (solver.solve(network, cut) != MinCutStatus::Unbounded)
      continue;
    const std::vector<VertexId> &path = solver.unboundedPath();
    ArcIndex index(network);
    ASSERT_GE(path.size(), 2U);
    ASSERT_EQ(path.front(), kSource);
    ASSERT_EQ(path.back(), kSink);
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      bool infinite = false;
      for (ArcId id : index.outArcs(path[i]))
        infinite |=
            network.arc(id).to == path[i + 1] && network.arc(id).isInfinite();
      ASSERT_TRUE(infinite) << "seed " << seed << " step " << i;
    }
  }
}

TEST(RandomNetworks, mediumOnesAgreeWithEdmondsKarp) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FlowNetwork network = makeAny(seed, 80, 400);
    MaxFlowSolver solver;
    MinCut cut;
    if (solver.solve(network, cut) == MinCutStatus::Solved)
      solveByAll(network);
  }
}

TEST(RandomNetworks, jointLikeOnesAgreeWithEdmondsKarp) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FlowNetwork network =
        makeJointLike(20 + 4 * seed, seed, 2 + 5 * (seed % 10), 10 + seed);
    ASSERT_EQ(network.finish(ParallelArcs::LastWins), std::nullopt);
    MaxFlowSolver solver;
    MinCut cut;
    if (solver.solve(network, cut) == MinCutStatus::Solved)
      solveByAll(network);
  }
}

TEST(RandomNetworks, largeJointLikeOnesAreProvedAndAgree) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    FlowNetwork network = makeJointLike(20000, seed);
    ASSERT_EQ(network.finish(), std::nullopt);
    MinCut first = solve(network);
    EXPECT_GT(first.value, 0);
    MinCut second = solve(network, MaxFlowAlgorithm::PushRelabel);
    EXPECT_EQ(first.onSinkSide, second.onSinkSide);
    EXPECT_EQ(first.cutArcs, second.cutArcs);
  }
}

/// Auto goes over to push-relabel, and cuts as `other` does.
void expectSwitch(FlowNetwork network, MaxFlowAlgorithm other) {
  ASSERT_EQ(network.finish(), std::nullopt);
  MaxFlowSolver solver;
  MinCut cut;
  ASSERT_EQ(solver.solve(network, cut), MinCutStatus::Solved);
  EXPECT_TRUE(solver.stats().switched);
  EXPECT_EQ(checkFlow(network, cut), std::nullopt);
  MinCut second = solve(network, other);
  EXPECT_EQ(cut.onSinkSide, second.onSinkSide);
}

TEST(RandomNetworks, autoLeavesBoykovKolmogorovOnDeepLadders) {
  for (uint32_t width : {8U, 32U, 128U}) {
    SCOPED_TRACE("width " + std::to_string(width));
    expectSwitch(makeLadder(5000, width, width),
                 MaxFlowAlgorithm::BoostPushRelabel);
  }
}

TEST(RandomNetworks, layeredOnesAgreeWithEdmondsKarp) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FlowNetwork network =
        makeLayered(2 + seed % 9, 1 + seed % 7, 1 + seed % 4, seed);
    ASSERT_EQ(network.finish(ParallelArcs(seed % 3)), std::nullopt);
    solveByAll(network);
  }
}

TEST(RandomNetworks, autoLeavesBoykovKolmogorovOnDeepLayers) {
  expectSwitch(makeLayered(200, 20, 3, 1), MaxFlowAlgorithm::BoykovKolmogorov);
}

/// Paths stay short there, so only the looks can tell.
TEST(RandomNetworks, autoLeavesBoykovKolmogorovOnShallowLayersWithManyWays) {
  expectSwitch(makeLayered(10, 600, 8, 1), MaxFlowAlgorithm::BoykovKolmogorov);
}

TEST(RandomNetworks, autoStaysWithBoykovKolmogorovOnJointGraphs) {
  FlowNetwork network = makeJointLike(5000, 1);
  ASSERT_EQ(network.finish(), std::nullopt);
  MaxFlowSolver solver;
  MinCut cut;
  ASSERT_EQ(solver.solve(network, cut), MinCutStatus::Solved);
  EXPECT_FALSE(solver.stats().switched);
  EXPECT_LT(solver.stats().contractedVertices, network.numVertices());
}

/// What a vertex gains by the flow that went from `before` to `after`.
static std::vector<int64_t> gains(const ResidualGraph &before,
                                  const ResidualGraph &after) {
  std::vector<int64_t> gain(before.numVertices());
  for (uint32_t v = 0; v < gain.size(); ++v) {
    gain[v] += before.sourceResidual[v] - after.sourceResidual[v];
    gain[v] -= before.sinkResidual[v] - after.sinkResidual[v];
    for (uint32_t a = before.begin[v]; a < before.begin[v + 1]; ++a)
      gain[v] -= before.arcs[a].residual - after.arcs[a].residual;
  }
  return gain;
}

static bool hasNegative(const ResidualGraph &graph) {
  auto isNegative = [](int64_t left) { return left < 0; };
  auto any = [&](const std::vector<int64_t> &left) {
    return std::any_of(left.begin(), left.end(), isNegative);
  };
  return any(graph.sourceResidual) || any(graph.sinkResidual) ||
         std::any_of(
             graph.arcs.begin(), graph.arcs.end(),
             [&](const HalfArc &arc) { return isNegative(arc.residual); });
}

/// Wherever Boost's algorithm is stopped it leaves a flow, from which another
/// goes on to the maximum.
TEST(RandomNetworks, stoppedSearchesLeaveAFlow) {
  unsigned stopped = 0, ended = 0, unfinished = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FlowNetwork network = seed % 4 ? makeAny(seed, 40, 200)
                                   : makeLadder(20 + seed % 100, 4, seed);
    if (!network.isFinished())
      ASSERT_EQ(network.finish(), std::nullopt);
    Contraction contraction;
    ResidualGraph whole;
    if (!contraction.contract(network, whole))
      continue;
    BoostBoykovKolmogorov trees;
    ResidualGraph first = whole, graph = whole;
    EXPECT_TRUE(trees.run(first, {}));
    BoostBoykovKolmogorov::Patience patience;
    if (seed % 2)
      patience.scans = seed * 7919 % 300;
    else
      patience.meanPathLength = 1 + seed % 3;
    bool isDone = trees.run(graph, patience);
    ++(isDone ? ended : stopped);
    ASSERT_FALSE(hasNegative(graph));
    ASSERT_EQ(gains(whole, graph), std::vector<int64_t>(whole.numVertices()));
    EXPECT_LE(graph.flow, first.flow);
    unfinished += graph.flow < first.flow;
    if (isDone)
      EXPECT_EQ(graph.flow, first.flow);
    PushRelabel().run(graph);
    EXPECT_EQ(graph.flow, first.flow);
  }
  EXPECT_GT(stopped, 200u);
  EXPECT_GT(unfinished, 200u);
  EXPECT_GT(ended, 200u);
}

TEST(RandomNetworks, anAnswerTwiceIsTheSameAnswer) {
  FlowNetwork network = makeLadder(3000, 16, 5);
  ASSERT_EQ(network.finish(), std::nullopt);
  MinCut first = solve(network), second = solve(network);
  EXPECT_EQ(first.flow, second.flow);
  EXPECT_EQ(first.onSinkSide, second.onSinkSide);
}
