// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two thousand random problems against all their solutions; problems that hold
// a vertex cover, where alternation may stop; conditions under which one cut is
// the optimum; bounds, and bounds that were damaged. A failure prints its seed.
//
// CUTBACK_RANDOM_GRAPHS sets how many problems (2000).

#include "SampleProblems.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace cutback;
using namespace cutback::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// At most 11 ops, so that all solutions can be tried.
Sizes smallSizes(uint64_t seed) {
  return {1 + unsigned(seed % 3), 2 + unsigned(seed / 3 % 4),
          1 + unsigned(seed / 12 % 3), 1 + unsigned(seed / 36 % 3)};
}

TEST(ThreeWayCutTest, AlmostAllSmallProblemsAreSolvedToTheOptimum) {
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 2000), solved = 0,
           missed = 0, missedAlone = 0, tight = 0, branched = 0;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    ThreeWayProblem problem = SampleProblem(seed, smallSizes(seed)).problem;
    ASSERT_EQ(problem.check(), "") << "seed " << seed;
    ThreeWaySolution best;
    ThreeWayCut cut;
    bool hasSolution = solveByEnumeration(problem, best);
    std::string fault = solveThreeWay(problem, cut);
    ASSERT_EQ(fault.empty(), hasSolution) << "seed " << seed << ": " << fault;
    if (!hasSolution)
      continue;
    ++solved;
    ASSERT_EQ(verify(problem, cut.solution), "") << "seed " << seed;
    ASSERT_EQ(checkBound(problem, cut.bound), "") << "seed " << seed;
    ASSERT_LE(cut.bound.value, best.cost) << "seed " << seed;
    ASSERT_GE(cut.solution.cost, best.cost) << "seed " << seed;
    ASSERT_LE(cut.solution.cost * 20, best.cost * 21) << "seed " << seed;
    missed += cut.solution.cost != best.cost;
    ThreeWayCut alone;
    ThreeWayCutOptions withoutBound;
    withoutBound.bounds = false;
    ASSERT_EQ(solveThreeWay(problem, alone, withoutBound), "");
    missedAlone += alone.solution.cost != best.cost;
    tight += cut.bound.value == best.cost;
    branched += cut.bound.nodes.size() > 1;
  }
  printf(
      "%llu problems with a solution, optimum missed %llu times (by "
      "alternation alone %llu), bound tight %llu times, branched %llu times\n",
      (unsigned long long)solved, (unsigned long long)missed,
      (unsigned long long)missedAlone, (unsigned long long)tight,
      (unsigned long long)branched);
  EXPECT_GT(solved, count * 3 / 4);
  EXPECT_LE(missed * 200, solved);
  EXPECT_LE(missedAlone * 50, solved);
  EXPECT_GT(branched, 0u);
}

using Edges = std::vector<std::pair<unsigned, unsigned>>;

Edges completeGraph(unsigned n) {
  Edges edges;
  for (unsigned a = 0; a < n; ++a)
    for (unsigned b = a + 1; b < n; ++b)
      edges.emplace_back(a, b);
  return edges;
}
Edges petersenGraph() {
  Edges edges;
  for (unsigned i = 0; i < 5; ++i) {
    edges.emplace_back(i, (i + 1) % 5);
    edges.emplace_back(i, i + 5);
    edges.emplace_back(5 + i, 5 + (i + 2) % 5);
  }
  return edges;
}

TEST(ThreeWayCutTest, VertexCoverIsInTheProblem) {
  struct Case {
    unsigned vertices;
    Edges edges;
    int64_t cover, half; ///< least cover, and of halves, rounded up
  };
  const Case kCases[] = {{2, {{0, 1}}, 1, 1},
                         {3, {{0, 1}, {1, 2}}, 1, 1},
                         {3, completeGraph(3), 2, 2},
                         {5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 3, 3},
                         {4, completeGraph(4), 3, 2},
                         {5, completeGraph(5), 4, 3},
                         {10, petersenGraph(), 6, 5}};
  for (const Case &graph : kCases) {
    ThreeWayProblem problem = makeCoverProblem(graph.vertices, graph.edges);
    ASSERT_EQ(problem.check(), "");
    EXPECT_EQ(findOneCutReason(problem), OneCutReason::None);
    ThreeWayCut cut;
    ASSERT_EQ(solveThreeWay(problem, cut), "");
    EXPECT_EQ(checkBound(problem, cut.bound), "");
    EXPECT_EQ(cut.solution.cost, graph.cover) << graph.vertices;
    // Without branches the bound is that of halves.
    ThreeWayCutOptions options;
    options.maxBranches = 0;
    options.rootSteps = 400;
    ASSERT_EQ(solveThreeWay(problem, cut, options), "");
    EXPECT_EQ(cut.bound.value, graph.half) << graph.vertices;
  }
}

TEST(ThreeWayCutTest, OneCutIsTheOptimumUnderItsConditions) {
  uint64_t byReading = 0, byInput = 0;
  for (uint64_t seed = 1; seed <= 900; ++seed) {
    ThreeWayProblem problem = SampleProblem(seed, smallSizes(seed)).problem;
    std::vector<uint8_t> isRead(problem.numOps(), 0);
    for (uint32_t op = 0; op < problem.numOps(); ++op)
      if (problem.ops[op].kind == Kind::Input)
        for (uint32_t value : problem.operands(op))
          if (uint32_t def = problem.values[value].definer; def != kNone)
            isRead[def] = 1;
    for (uint32_t op = 0; op < problem.numOps(); ++op) {
      if (problem.ops[op].kind != Kind::Forward)
        continue;
      if (seed % 3 == 0 || (seed % 3 == 1 && !isRead[op]))
        problem.ops[op].againInWeight = kNever;
      if (seed % 3 == 2)
        problem.ops[op].againInInput = kNever;
    }
    ThreeWaySolution best;
    OneCutReason reason = findOneCutReason(problem);
    if (!solveByEnumeration(problem, best) || reason == OneCutReason::None)
      continue;
    ++(reason == OneCutReason::ReadByInput ? byReading : byInput);
    ThreeWayCut cut;
    ASSERT_EQ(solveThreeWay(problem, cut), "") << "seed " << seed;
    EXPECT_EQ(cut.solution.cost, best.cost) << "seed " << seed;
    EXPECT_EQ(cut.bound.value, best.cost) << "seed " << seed;
    EXPECT_EQ(checkBound(problem, cut.bound), "") << "seed " << seed;
    EXPECT_LE(cut.flows, 20u) << "seed " << seed;
    // The same bound by other means is none here.
    cut.bound.value += 1;
    EXPECT_NE(checkBound(problem, cut.bound), "") << "seed " << seed;
  }
  EXPECT_GT(byReading, 200u);
  EXPECT_GT(byInput, 200u);
}

TEST(ThreeWayCutTest, DamagedBoundsAreRefused) {
  uint64_t refused = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    ThreeWayProblem problem = SampleProblem(seed, {3, 12, 6, 6}).problem;
    ThreeWayCut cut;
    if (!solveThreeWay(problem, cut).empty() || cut.bound.nodes.empty() ||
        cut.bound.value == 0)
      continue;
    const ThreeWayBound &bound = cut.bound;
    ASSERT_EQ(checkBound(problem, bound), "") << "seed " << seed;
    std::mt19937_64 random(seed);
    auto refuses = [&](const ThreeWayBound &damaged) {
      bool isRefused = !checkBound(problem, damaged).empty();
      refused += isRefused;
      return isRefused;
    };
    ThreeWayBound damaged = bound;
    damaged.value += 1 + random() % 100;
    EXPECT_TRUE(refuses(damaged)) << "seed " << seed;
    damaged = bound;
    damaged.nodes[0].branch = problem.numValues();
    EXPECT_TRUE(refuses(damaged)) << "seed " << seed;
    damaged = bound;
    damaged.scale = 0;
    EXPECT_TRUE(refuses(damaged)) << "seed " << seed;
    damaged = bound;
    damaged.reason = OneCutReason::ReadByInput;
    EXPECT_TRUE(refuses(damaged)) << "seed " << seed;
    if (bound.nodes.size() > 1) {
      damaged = bound;
      damaged.nodes[0].ifPresent = damaged.nodes[0].ifAbsent;
      EXPECT_TRUE(refuses(damaged)) << "seed " << seed;
    }
    // A multiplier that is another one proves less, or as much.
    for (size_t node = 0; node < bound.nodes.size(); ++node)
      for (size_t i = 0; i < bound.nodes[node].multipliers.size(); ++i) {
        damaged = bound;
        auto &[value, multiplier] = damaged.nodes[node].multipliers[i];
        multiplier = random() % 2 ? -multiplier : multiplier + 50 * bound.scale;
        bool isNegative = multiplier < 0;
        EXPECT_TRUE(refuses(damaged) || !isNegative) << "seed " << seed;
      }
  }
  EXPECT_GT(refused, 1500u);
}

TEST(ThreeWayCutTest, LargerProblemsAreCloseToTheirBound) {
  double gaps = 0;
  unsigned solved = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ThreeWayProblem problem = SampleProblem(seed, {6, 60, 30, 30}).problem;
    ThreeWayCut cut;
    if (!solveThreeWay(problem, cut).empty())
      continue;
    EXPECT_EQ(checkBound(problem, cut.bound), "") << "seed " << seed;
    ASSERT_GT(cut.bound.value, 0) << "seed " << seed;
    ++solved;
    double gap =
        double(cut.solution.cost - cut.bound.value) / double(cut.bound.value);
    EXPECT_LE(gap, 0.05) << "seed " << seed;
    gaps += gap;
  }
  printf("mean gap of %u problems: %.4f\n", solved, gaps / solved);
  EXPECT_LE(gaps, 0.01 * solved);
}

TEST(ThreeWayCutTest, ProblemsThatAreNoneAreNamed) {
  ThreeWayProblem problem;
  uint32_t argument = problem.addValue(kNone, 1, 1);
  uint32_t tangent = problem.addValue(problem.addOp({Kind::Input}, {}), 0, 1);
  EXPECT_EQ(problem.check(), "");
  ThreeWayProblem wrong = problem;
  wrong.addOp({Kind::Forward, 1, 1}, {tangent});
  EXPECT_EQ(wrong.check(), "op 1 reads what a later phase computes");
  wrong = problem;
  wrong.addOp({Kind::Weight, kNever, kNever, 1}, {7});
  EXPECT_EQ(wrong.check(), "op 1 reads what comes later");
  wrong = problem;
  wrong.values[argument].toInput = -2;
  EXPECT_EQ(wrong.check(), "has a cost or a number that is out of range");
  wrong.values[argument].toInput = ThreeWayProblem::kLargestSum;
  wrong.values[argument].toWeight = ThreeWayProblem::kLargestSum;
  EXPECT_EQ(wrong.check(), "has a cost or a number that is out of range");
}

TEST(ThreeWayCutTest, SolutionsThatAreNoneAreNamed) {
  ThreeWayProblem problem;
  uint32_t x = problem.addValue(kNone, 4, 2);
  uint32_t f = problem.addOp({Kind::Forward, 3, kNever}, {x});
  uint32_t a = problem.addValue(f, kNever, kNever);
  uint32_t i = problem.addOp({Kind::Input, kNever, 1}, {a});
  uint32_t dx = problem.addValue(i, 0, 1);
  uint32_t w = problem.addOp({Kind::Weight, kNever, kNever, kNever}, {dx});
  ThreeWaySolution solution{{1, 1, 0}, {0, 0, 1}, 8};
  EXPECT_EQ(verify(problem, solution), "");
  ThreeWayCut cut;
  ASSERT_EQ(solveThreeWay(problem, cut), "");
  EXPECT_EQ(cut.solution.cost, 8);
  solution.cost = 7;
  EXPECT_EQ(verify(problem, solution), "costs 8, not 7");
  solution.inInput[f] = 0;
  EXPECT_EQ(verify(problem, solution), "value 1 crosses the first border");
  solution = {{1, 1, 0}, {1, 0, 1}, 0};
  EXPECT_EQ(verify(problem, solution), "op 0 runs again in the third phase");
  solution = {{1, 0, 0}, {0, 0, 1}, 0};
  EXPECT_EQ(verify(problem, solution), "op 1 does not run");
  solution = {{1, 1, 1}, {0, 0, 1}, 0};
  EXPECT_EQ(verify(problem, solution), "op 2 runs in none or both");
  solution.inWeight[w] = 0;
  EXPECT_EQ(verify(problem, solution), "op 2 runs in the second phase");
  solution.inWeight.pop_back();
  EXPECT_EQ(verify(problem, solution), "is of another number of ops");
  problem.values[dx].toWeight = kNever;
  EXPECT_EQ(verify(problem, {{1, 1, 0}, {0, 0, 1}, 8}),
            "value 2 crosses the second border");
  problem.values[x].toInput = kNever;
  EXPECT_EQ(solveThreeWay(problem, cut), "has no solution of finite cost");
}

} // namespace
