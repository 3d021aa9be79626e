// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two cuts that are coupled at one place: what the weight phase takes of the
// forward's values has to be there in the input phase.
//
//   1. Given what is taken, the best input phase is a minimum cut; given what
//   is
//      there, the best weight phase is. Each is exact, so alternation never
//      rises, and ends after a few rounds.
//   2. Starts: the input phase as if nothing were taken; the weight phase as if
//      all were there; the weight phase that pays for what the input phase does
//      not read by itself. And whatever the bound's iterates propose.
//   3. Where one cut is exact (findOneCutReason) it is the solution.
//
// A few dozen maximum flows, each near linear. The alternation is not exact:
// the problem contains vertex cover (docs/Rationale/ThreeWayCut.md); the bound
// says how far it can be off.

#include "ThreeWaySearch.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::threeway;
using Kind = ThreeWayProblem::Kind;

int64_t cutback::threeway::chooseScale(const ThreeWayProblem &problem) {
  int64_t total = 1;
  auto add = [&](int64_t cost) { total += std::max<int64_t>(cost, 0); };
  for (const ThreeWayProblem::Value &value : problem.values) {
    add(value.toInput);
    add(value.toWeight);
  }
  for (const ThreeWayProblem::Op &op : problem.ops) {
    add(op.againInInput);
    add(op.againInWeight);
    add(op.early);
  }
  int64_t scale = 1;
  while (scale < 1024 && total * scale * 2 <= int64_t(1) << 57)
    scale *= 2;
  return scale;
}

Search::Search(const ThreeWayProblem &problem)
    : problem(problem), units(chooseScale(problem)), builder(problem, units) {}

std::optional<int64_t> Search::solve() {
  if (!network.isFeasible || !network.error.empty())
    return std::nullopt;
  ++numFlows;
  arcsSeen = std::max(arcsSeen, network.flow.numArcs());
  if (solver.solve(network.flow, cut) != MinCutStatus::Solved)
    return std::nullopt;
  return cut.value + network.constant;
}

void Search::readInput(std::vector<uint8_t> &inInput) const {
  inInput.assign(problem.numOps(), 0);
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    inInput[op] =
        problem.ops[op].kind == Kind::Input ||
        (network.input[op] != kNoVertex && cut.onSinkSide[network.input[op]]);
}

/// What is early of the ops of the weight phase goes into `inInput`, whose
/// other entries stay.
void Search::readWeight(ThreeWaySolution &solution) const {
  solution.inInput.resize(problem.numOps(), 0);
  solution.inWeight.assign(problem.numOps(), 0);
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    bool isIn = cut.onSinkSide[network.weight[op]] != 0;
    solution.inWeight[op] = isIn;
    if (problem.ops[op].kind == Kind::Weight)
      solution.inInput[op] = !isIn;
  }
}

std::optional<int64_t> Search::cutInput(const InputTerms &terms,
                                        std::vector<uint8_t> &inInput,
                                        std::vector<uint8_t> *there) {
  builder.buildInput(terms, network);
  std::optional<int64_t> value = solve();
  if (!value)
    return value;
  readInput(inInput);
  if (there) {
    there->assign(problem.numValues(), 0);
    for (uint32_t v = 0; v < problem.numValues(); ++v)
      (*there)[v] = network.there[v] != kNoVertex &&
                    cut.onSinkSide[network.there[v]] != 0;
  }
  return value;
}

std::optional<int64_t> Search::cutWeight(const WeightTerms &terms,
                                         ThreeWaySolution &solution) {
  builder.buildWeight(terms, network);
  std::optional<int64_t> value = solve();
  if (value)
    readWeight(solution);
  return value;
}

bool Search::stepInput(ThreeWaySolution &solution,
                       std::vector<uint8_t> &there) {
  InputTerms terms;
  terms.demanded = builder.findTaken(solution);
  std::vector<uint8_t> inInput;
  if (!cutInput(terms, inInput, &there))
    return false;
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    if (problem.ops[op].kind != Kind::Weight)
      solution.inInput[op] = inInput[op];
  return true;
}

bool Search::stepWeight(const std::vector<uint8_t> &there,
                        ThreeWaySolution &solution) {
  return cutWeight(builder.pricesOfAbsent(there), solution).has_value();
}

/// Leaves out what runs again for no reader.
void Search::prune(ThreeWaySolution &solution) const {
  std::vector<uint8_t> inInput(problem.numValues(), 0),
      inWeight(problem.numValues(), 0);
  std::vector<uint8_t> isWanted(problem.numOps(), 0);
  // The weight phase first: what it takes, the input phase has to have.
  for (uint32_t op = problem.numOps(); op-- > 0;) {
    bool isOwn = problem.ops[op].kind == Kind::Weight;
    solution.inWeight[op] &= isOwn || isWanted[op];
    if (solution.inWeight[op])
      for (uint32_t value : problem.operands(op)) {
        inWeight[value] = 1;
        if (uint32_t def = problem.values[value].definer;
            def != ThreeWayProblem::kNone)
          isWanted[def] = 1;
      }
  }
  std::fill(isWanted.begin(), isWanted.end(), 0);
  for (uint32_t value = 0; value < problem.numValues(); ++value)
    if (uint32_t def = problem.values[value].definer;
        def != ThreeWayProblem::kNone && inWeight[value] &&
        !solution.inWeight[def])
      isWanted[def] = 1;
  for (uint32_t op = problem.numOps(); op-- > 0;) {
    solution.inInput[op] &=
        problem.ops[op].kind != Kind::Forward || isWanted[op];
    if (solution.inInput[op])
      for (uint32_t value : problem.operands(op))
        if (uint32_t def = problem.values[value].definer;
            def != ThreeWayProblem::kNone)
          isWanted[def] = 1;
  }
}

void Search::keep(ThreeWaySolution solution) {
  prune(solution);
  ThreeWayCrossings crossings;
  if (!evaluate(problem, solution, crossings).empty())
    return;
  solution.cost = crossings.cost;
  if (isAny && solution.cost >= bestSolution.cost)
    return;
  isAny = true;
  bestSolution = std::move(solution);
}

void Search::improve(ThreeWaySolution solution) {
  constexpr unsigned kMostRounds = 50;
  solution.inInput.resize(problem.numOps(), 0);
  std::vector<uint8_t> there;
  std::optional<int64_t> last;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    std::vector<uint8_t> phase(solution.inWeight);
    if (!seen.insert(std::move(phase)).second || !stepInput(solution, there))
      return;
    keep(solution);
    if (!stepWeight(there, solution))
      return;
    ThreeWayCrossings crossings;
    if (!evaluate(problem, solution, crossings).empty() ||
        (last && crossings.cost >= *last))
      return;
    last = crossings.cost;
    keep(solution);
  }
}

void Search::tryStarts() {
  ThreeWaySolution start;
  std::vector<uint8_t> there;
  if (cutInput({}, start.inInput, &there) && stepWeight(there, start))
    improve(start);
  start = {};
  if (cutWeight({}, start))
    improve(start);
  start = {};
  if (cutWeight(builder.pricesOfAbsent(builder.readByInput()), start))
    improve(start);
}

void Search::tryOneCut() {
  builder.buildOne(network);
  ThreeWaySolution solution;
  if (!solve())
    return;
  readInput(solution.inInput);
  readWeight(solution);
  keep(solution);
  improve(solution);
}

//===----------------------------------------------------------------------===//
// Solve
//===----------------------------------------------------------------------===//

OneCutReason cutback::findOneCutReason(const ThreeWayProblem &problem) {
  NetworkBuilder builder(problem, 1);
  bool nothingInInput = true, readByInput = true;
  for (const ThreeWayProblem::Op &op : problem.ops)
    nothingInInput &=
        op.kind != Kind::Forward || op.againInInput == ThreeWayProblem::kNever;
  for (uint32_t value = 0; value < problem.numValues(); ++value) {
    uint32_t def = problem.values[value].definer;
    if (def == ThreeWayProblem::kNone || !problem.isOfForward(value))
      continue;
    readByInput &= problem.ops[def].againInWeight == ThreeWayProblem::kNever ||
                   builder.readByInput()[value] != 0;
  }
  return nothingInInput ? OneCutReason::NothingAgainInInput
         : readByInput  ? OneCutReason::ReadByInput
                        : OneCutReason::None;
}

std::string cutback::solveThreeWay(const ThreeWayProblem &problem,
                                   ThreeWayCut &result,
                                   const ThreeWayCutOptions &options) {
  Search search(problem);
  OneCutReason reason = findOneCutReason(problem);
  if (reason == OneCutReason::ReadByInput)
    search.tryOneCut();
  else
    search.tryStarts();
  if (!search.hasBest())
    search.tryOneCut();
  if (!search.hasBest())
    return "has no solution of finite cost";
  result.bound = {};
  if (reason != OneCutReason::None) {
    result.bound.reason = reason;
    result.bound.value = search.best().cost;
  } else if (options.bounds) {
    result.bound = raiseBound(problem, search, options);
  }
  result.solution = search.best();
  result.flows = search.flows();
  return verify(problem, result.solution);
}
