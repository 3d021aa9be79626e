// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems of three phases from seeds, and from graphs of which a vertex cover
// is asked.
#ifndef CUTBACK_TEST_UNIT_PARTITION_THREEWAY_SAMPLEPROBLEMS_H
#define CUTBACK_TEST_UNIT_PARTITION_THREEWAY_SAMPLEPROBLEMS_H

#include "cutback/Partition/ThreeWay/ThreeWayCut.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace cutback::test {

using Kind = ThreeWayProblem::Kind;
inline constexpr int64_t kNever = ThreeWayProblem::kNever;
inline constexpr uint32_t kNone = ThreeWayProblem::kNone;

struct Sizes {
  unsigned arguments, forward, input, weight;
};

/// A graph with a tangent, costs from 0 to 9, and some that are infinite. Some
/// ops have two results.
class SampleProblem {
public:
  SampleProblem(uint64_t seed, const Sizes &sizes) : random(seed) {
    for (unsigned i = 0; i < sizes.arguments; ++i)
      of[0].push_back(
          problem.addValue(kNone, crossing(pick(3)), crossing(pick(3))));
    for (unsigned i = 0; i < sizes.forward; ++i)
      addForward();
    addResults(problem.addOp({Kind::Input}, {}), Kind::Input);
    for (unsigned i = 0; i < sizes.input; ++i)
      addLater(Kind::Input);
    for (unsigned i = 0; i < sizes.weight; ++i)
      addLater(Kind::Weight);
  }
  ThreeWayProblem problem;

private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  int64_t crossing(unsigned kind) { return kind < 2 ? 0 : 1 + pick(9); }

  void addResults(uint32_t op, Kind kind) {
    for (unsigned i = 0, n = pick(6) == 0 ? 2 : 1; i < n; ++i)
      of[size_t(kind)].push_back(problem.addValue(
          op, pick(12) ? pick(10) : kNever, pick(12) ? pick(10) : kNever));
  }
  std::vector<uint32_t> someOf(const std::vector<uint32_t> &values,
                               unsigned count) {
    std::vector<uint32_t> some;
    for (unsigned i = 0; i < count && !values.empty(); ++i)
      some.push_back(values[pick(values.size())]);
    return some;
  }

  void addForward() {
    static const int64_t kCosts[] = {0, 1, 2, 3, 5, 8, kNever};
    int64_t cost = kCosts[pick(7)];
    ThreeWayProblem::Op op{Kind::Forward, cost, cost, kNever};
    if (cost != kNever && pick(2))
      op.againInInput *= 1 + pick(3) / 2;
    addResults(problem.addOp(op, someOf(of[0], 1 + pick(3))), Kind::Forward);
  }
  void addLater(Kind kind) {
    static const int64_t kAgain[] = {0, 1, 2, 3, 5, kNever};
    static const int64_t kEarly[] = {0, 1, 2, 4, 8, 100, kNever};
    std::vector<uint32_t> from = of[1];
    if (kind == Kind::Weight)
      from.insert(from.end(), of[2].begin(), of[2].end());
    std::vector<uint32_t> operands = someOf(from, 1);
    for (uint32_t value : someOf(of[0], pick(3)))
      operands.push_back(value);
    ThreeWayProblem::Op op{kind};
    if (kind == Kind::Input)
      op.againInWeight = kAgain[pick(6)];
    else
      op.early = kEarly[pick(7)];
    addResults(problem.addOp(op, operands), kind);
  }

  std::mt19937_64 random;
  std::vector<uint32_t> of[3]; ///< values by kind, arguments with the first
};

/// A problem whose optimum is the least vertex cover of a graph: the choice is
/// whether vertex i's value is there in the input phase, and each edge asks for
/// one of its ends (docs/Rationale/ThreeWayCut.md).
inline ThreeWayProblem
makeCoverProblem(unsigned numVertices,
                 const std::vector<std::pair<unsigned, unsigned>> &edges) {
  constexpr int64_t kMuch = 1000;
  ThreeWayProblem problem;
  std::vector<uint32_t> u, y, big;
  auto add = [&](const ThreeWayProblem::Op &op,
                 const std::vector<uint32_t> &operands, int64_t toInput,
                 int64_t toWeight) {
    return problem.addValue(problem.addOp(op, operands), toInput, toWeight);
  };
  for (unsigned i = 0; i < numVertices; ++i) {
    uint32_t z = problem.addValue(kNone, 0, 0);
    big.push_back(problem.addValue(kNone, 0, kMuch));
    u.push_back(add({Kind::Forward, 1, 0}, {z}, kMuch, kMuch));
    uint32_t t = add({Kind::Forward, 0, 0}, {u[i], big[i]}, kMuch, 0);
    y.push_back(add({Kind::Forward, kMuch, 0}, {t}, 0, kMuch));
  }
  std::vector<uint32_t> ends;
  for (auto [a, b] : edges)
    ends.push_back(add({Kind::Forward, 0, 0}, {y[a], u[b]}, kMuch, 0));
  uint32_t tangent = add({Kind::Input}, {}, 0, 0);
  for (unsigned i = 0; i < numVertices; ++i)
    add({Kind::Input}, {tangent, y[i], big[i]}, 0, 0);
  for (uint32_t end : ends)
    add({Kind::Weight, kNever, kNever, 10 * kMuch}, {tangent, end}, 0, 0);
  return problem;
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PARTITION_THREEWAY_SAMPLEPROBLEMS_H
