// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bound: that what the weight phase takes of the forward's values is there
// in the input phase (taken ≤ there, by value) is priced with a multiplier in
// place of being demanded. Then the two cuts are independent, and their sum is
// below every solution, whatever the multipliers.
//
//   1. Subgradient steps at the root: where a value is taken and not there, its
//      multiplier rises. Each weight phase on the way is a start for the
//      search.
//   2. Where the gap stays, the leaf with the lowest bound is split by one
//   value
//      on which the two cuts disagree.
//   3. The check: two flows a leaf, each proved by checkFlow; the bound is the
//      least of all leaves. Multipliers are whole numbers, so it is exact.

#include "ThreeWaySearch.h"

#include "cutback/Partition/MaxFlow/FlowCheck.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace cutback;
using namespace cutback::threeway;

namespace {

constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::max();

/// What a leaf demands: the terms of both cuts.
struct LeafTerms {
  InputTerms input;
  WeightTerms weight;
};

LeafTerms makeTerms(const std::vector<Presence> &presence,
                    const std::vector<int64_t> &multipliers) {
  LeafTerms terms;
  terms.input.presence = presence;
  terms.input.reward = multipliers;
  terms.weight.price = multipliers;
  for (size_t value = 0; value < presence.size(); ++value) {
    if (presence[value] == Presence::Open)
      continue;
    terms.input.reward[value] = 0;
    terms.weight.price[value] =
        presence[value] == Presence::Absent ? kInfiniteCapacity : 0;
  }
  return terms;
}

/// ⌈a / b⌉ of a bound in units: costs are whole numbers.
int64_t roundUp(int64_t units, int64_t scale) {
  return units <= 0 ? 0 : (units + scale - 1) / scale;
}

//===----------------------------------------------------------------------===//
// Raise
//===----------------------------------------------------------------------===//

struct Leaf {
  uint32_t node = 0;
  std::vector<Presence> presence;
  std::vector<int64_t> multipliers; ///< the best so far
  int64_t value = -1;               ///< in units; kInfeasible
  /// By value, at the best: taken and there.
  std::vector<uint8_t> taken, there;
};

class Raiser {
public:
  Raiser(const ThreeWayProblem &problem, Search &search,
         const ThreeWayCutOptions &options)
      : problem(problem), search(search), options(options),
        scale(search.scale()),
        mostMultiplier((int64_t(1) << 60) / (problem.numValues() + 1)) {}

  ThreeWayBound run() {
    // About as many looks at arcs for each problem.
    uint64_t mostFlows = std::clamp<uint64_t>(
        40'000'000 / std::max<uint64_t>(search.numArcs(), 1), 16, 20'000);
    flowLimit = search.flows() + static_cast<unsigned>(mostFlows);
    bound.scale = scale;
    bound.nodes.emplace_back();
    Leaf root;
    root.presence.assign(problem.numValues(), Presence::Open);
    root.multipliers.assign(problem.numValues(), 0);
    raise(root, options.rootSteps);
    leaves.push_back(std::move(root));
    for (unsigned i = 0; i < options.maxBranches && branch(); ++i)
      ;
    for (const Leaf &leaf : leaves)
      store(leaf);
    bound.value = roundUp(lowest(), scale);
    return std::move(bound);
  }

private:
  int64_t lowest() const {
    int64_t value = kInfeasible;
    for (const Leaf &leaf : leaves)
      value = std::min(value, leaf.value);
    // Every solution is below what all leaves exclude.
    return value == kInfeasible ? search.best().cost * scale : value;
  }

  bool isClose(int64_t units, double gap) const {
    if (units == kInfeasible)
      return true;
    int64_t cost = search.best().cost, proved = roundUp(units, scale);
    return cost <= proved || static_cast<double>(cost - proved) <=
                                 gap * static_cast<double>(proved);
  }

  /// Subgradient steps from the leaf's multipliers.
  void raise(Leaf &leaf, unsigned steps) {
    std::vector<int64_t> at = leaf.multipliers;
    double length = 1;
    unsigned stalled = 0;
    for (unsigned step = 0; step < steps && search.flows() < flowLimit;
         ++step) {
      std::vector<uint8_t> taken, there;
      int64_t value = look(leaf, at, taken, there);
      if (value == kInfeasible) {
        leaf.value = value;
        return;
      }
      if (value > leaf.value) {
        leaf.value = value;
        leaf.multipliers = at;
        leaf.taken = taken;
        leaf.there = there;
        stalled = 0;
      } else if (++stalled >= 8) {
        length /= 2;
        stalled = 0;
        at = leaf.multipliers;
        taken = leaf.taken;
        there = leaf.there;
        value = leaf.value;
      }
      if (isClose(leaf.value, options.gap) || length < 1e-4 ||
          !move(leaf, value, length, taken, there, at))
        return;
    }
  }

  /// Value of both cuts; the weight phase is a start for the search.
  int64_t look(const Leaf &leaf, const std::vector<int64_t> &at,
               std::vector<uint8_t> &taken, std::vector<uint8_t> &there) {
    LeafTerms terms = makeTerms(leaf.presence, at);
    std::vector<uint8_t> inInput;
    std::optional<int64_t> input =
        search.cutInput(terms.input, inInput, &there);
    ThreeWaySolution weight;
    std::optional<int64_t> late;
    if (input)
      late = search.cutWeight(terms.weight, weight);
    if (!late)
      return kInfeasible;
    taken = search.networks().findTaken(weight);
    search.improve(weight);
    return *input + *late;
  }

  /// One step along the subgradient; false where it is 0.
  bool move(const Leaf &leaf, int64_t value, double length,
            const std::vector<uint8_t> &taken,
            const std::vector<uint8_t> &there, std::vector<int64_t> &at) const {
    double norm = 0;
    auto slope = [&](uint32_t v) {
      return leaf.presence[v] == Presence::Open ? int(taken[v]) - int(there[v])
                                                : 0;
    };
    // A multiplier that is 0 does not fall.
    auto counts = [&](uint32_t v) {
      return slope(v) > 0 || (slope(v) < 0 && at[v] > 0);
    };
    for (uint32_t v = 0; v < problem.numValues(); ++v)
      norm += counts(v);
    if (norm == 0)
      return false;
    double missing =
        static_cast<double>(search.best().cost * scale) - double(value);
    auto step = static_cast<int64_t>(
        std::max(1.0, std::round(length * std::max(missing, 1.0) / norm)));
    for (uint32_t v = 0; v < problem.numValues(); ++v)
      if (counts(v))
        at[v] = std::clamp<int64_t>(at[v] + slope(v) * step, 0, mostMultiplier);
    return true;
  }

  /// Splits the leaf with the lowest bound, unless that is close.
  bool branch() {
    auto worst = std::min_element(
        leaves.begin(), leaves.end(),
        [](const Leaf &a, const Leaf &b) { return a.value < b.value; });
    if (isClose(worst->value, options.branchGap) || search.flows() >= flowLimit)
      return false;
    uint32_t value = chooseValue(*worst);
    if (value == ThreeWayProblem::kNone)
      return false;
    Leaf parent = std::move(*worst);
    leaves.erase(worst);
    ThreeWayBound::Node &node = bound.nodes[parent.node];
    node.branch = value;
    node.ifAbsent = static_cast<uint32_t>(bound.nodes.size());
    node.ifPresent = node.ifAbsent + 1;
    bound.nodes.resize(bound.nodes.size() + 2);
    for (Presence presence : {Presence::Absent, Presence::Present}) {
      Leaf child;
      child.node = bound.nodes.size() - (presence == Presence::Absent ? 2 : 1);
      child.presence = parent.presence;
      child.presence[value] = presence;
      child.multipliers = parent.multipliers;
      raise(child, options.branchSteps);
      leaves.push_back(std::move(child));
    }
    return true;
  }

  /// The value that the cuts disagree on whose multiplier is largest.
  uint32_t chooseValue(const Leaf &leaf) const {
    uint32_t best = ThreeWayProblem::kNone;
    for (uint32_t v = 0; v < problem.numValues(); ++v)
      if (!leaf.taken.empty() && leaf.presence[v] == Presence::Open &&
          leaf.taken[v] != leaf.there[v] &&
          (best == ThreeWayProblem::kNone ||
           leaf.multipliers[v] > leaf.multipliers[best]))
        best = v;
    return best;
  }

  void store(const Leaf &leaf) {
    for (uint32_t v = 0; v < problem.numValues(); ++v)
      if (leaf.multipliers[v] > 0 && leaf.presence[v] == Presence::Open)
        bound.nodes[leaf.node].multipliers.emplace_back(v, leaf.multipliers[v]);
  }

  const ThreeWayProblem &problem;
  Search &search;
  const ThreeWayCutOptions &options;
  int64_t scale, mostMultiplier;
  unsigned flowLimit = 0;
  ThreeWayBound bound;
  std::vector<Leaf> leaves;
};

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(const ThreeWayProblem &problem, const ThreeWayBound &bound)
      : problem(problem), bound(bound), builder(problem, bound.scale),
        presence(problem.numValues(), Presence::Open),
        isVisited(bound.nodes.size(), 0) {}

  std::string run() {
    int64_t value = kInfeasible;
    std::string fault = bound.reason == OneCutReason::None ? visit(0, value)
                                                           : checkOneCut(value);
    if (!fault.empty())
      return fault;
    if (value != kInfeasible && bound.value > roundUp(value, bound.scale))
      return "claims " + std::to_string(bound.value) + ", proves " +
             std::to_string(roundUp(value, bound.scale));
    return "";
  }

private:
  std::string checkOneCut(int64_t &value) {
    if (bound.reason != findOneCutReason(problem))
      return "is said to be one cut, which is not exact here";
    Network network;
    if (bound.reason == OneCutReason::ReadByInput) {
      builder.buildOne(network);
      return flowOf(network, value);
    }
    builder.buildInput({}, network);
    int64_t input = 0, weight = 0;
    std::string fault = flowOf(network, input);
    if (!fault.empty())
      return fault;
    builder.buildWeight(builder.pricesOfAbsent(builder.readByInput()), network);
    fault = flowOf(network, weight);
    if (input != kInfeasible && weight != kInfeasible)
      value = input + weight;
    return fault;
  }

  /// Takes the least bound of the leaves below `number` into `least`.
  std::string visit(uint32_t number, int64_t &least) {
    if (number >= bound.nodes.size() || isVisited[number])
      return "node " + std::to_string(number) + " is missing, or there twice";
    isVisited[number] = 1;
    const ThreeWayBound::Node &node = bound.nodes[number];
    if (node.branch == ThreeWayProblem::kNone)
      return checkLeaf(node, least);
    if (node.branch >= problem.numValues() ||
        !problem.isOfForward(node.branch) ||
        presence[node.branch] != Presence::Open)
      return "node " + std::to_string(number) + " has a wrong branch";
    for (bool isThere : {false, true}) {
      presence[node.branch] = isThere ? Presence::Present : Presence::Absent;
      std::string fault =
          visit(isThere ? node.ifPresent : node.ifAbsent, least);
      if (!fault.empty())
        return fault;
    }
    presence[node.branch] = Presence::Open;
    return "";
  }

  std::string checkLeaf(const ThreeWayBound::Node &node, int64_t &least) {
    std::vector<int64_t> multipliers(problem.numValues(), 0);
    for (const auto &[value, multiplier] : node.multipliers) {
      if (value >= problem.numValues() || multiplier < 0 ||
          !problem.isOfForward(value))
        return "has a multiplier that is none";
      multipliers[value] = multiplier;
    }
    LeafTerms terms = makeTerms(presence, multipliers);
    int64_t input = 0, weight = 0;
    Network network;
    builder.buildInput(terms.input, network);
    std::string fault = flowOf(network, input);
    if (fault.empty() && input != kInfeasible) {
      builder.buildWeight(terms.weight, network);
      fault = flowOf(network, weight);
    }
    if (fault.empty() && input != kInfeasible && weight != kInfeasible)
      least = std::min(least, input + weight);
    return fault;
  }

  std::string flowOf(const Network &network, int64_t &value) {
    value = kInfeasible;
    if (!network.error.empty())
      return network.error;
    if (!network.isFeasible)
      return "";
    MinCut cut;
    if (solver.solve(network.flow, cut) == MinCutStatus::Unbounded)
      return checkPath(network.flow, solver.unboundedPath());
    if (FlowError error = checkFlow(network.flow, cut))
      return *error;
    value = cut.value + network.constant;
    return "";
  }

  /// That all cuts are infinite shows a path of infinite arcs.
  static std::string checkPath(const FlowNetwork &flow,
                               const std::vector<VertexId> &path) {
    bool isPath =
        path.size() >= 2 && path.front() == kSource && path.back() == kSink;
    for (size_t i = 1; isPath && i < path.size(); ++i)
      isPath = std::any_of(flow.arcs().begin(), flow.arcs().end(),
                           [&](const FlowArc &arc) {
                             return arc.from == path[i - 1] &&
                                    arc.to == path[i] && arc.isInfinite();
                           });
    return isPath ? "" : "has no path of infinite arcs";
  }

  const ThreeWayProblem &problem;
  const ThreeWayBound &bound;
  NetworkBuilder builder;
  MaxFlowSolver solver;
  std::vector<Presence> presence;
  std::vector<uint8_t> isVisited;
};

} // namespace

ThreeWayBound cutback::threeway::raiseBound(const ThreeWayProblem &problem,
                                            Search &search,
                                            const ThreeWayCutOptions &options) {
  return Raiser(problem, search, options).run();
}

std::string cutback::checkBound(const ThreeWayProblem &problem,
                                const ThreeWayBound &bound) {
  if (bound.scale < 1 || bound.scale > chooseScale(problem))
    return "has a scale that is out of range";
  return Checker(problem, bound).run();
}
