// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem of three phases on MLIR values. Views and literals cost nothing
// and are never handed over, so they are left out: an op that reads one reads,
// in the problem, what the view shows, however many views lie between. Of the
// forward's ops only those are in it that the backward can want; tangents and
// seeds are an op of the input phase without operands; the gradients are read
// by one op at the end of each phase.
//
// Costs are picoseconds; where their sum would not fit, all are divided by one
// number. Linear, but for values that show many others (a view by sizes of
// many tensors).

#include "cutback/Partition/PhaseProblem.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using Kind = ThreeWayProblem::Kind;

PhaseCosts PhaseCosts::compute(const GraphView &view, const GraphSets &sets,
                               const ValueSizes &sizes, const Device &device,
                               const RooflineCosts &given) {
  // Prices of ops of the backward are those that they had in the forward.
  GraphSets all;
  all.ops.assign(view.numOps(), GraphSet::Forward);
  all.values.assign(view.numValues(), GraphSet::Forward);
  RooflineCosts alone = RooflineCosts::compute(view, all, sizes, device);
  PhaseCosts costs;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    int64_t ps = sets.ops[op] == GraphSet::Backward ? alone.recomputePs[op]
                                                    : given.recomputePs[op];
    costs.opPs.push_back(std::max<int64_t>(ps, 0));
  }
  for (uint32_t value = 0; value < view.numValues(); ++value) {
    bool isBackward = sets.values[value] == GraphSet::Backward;
    costs.savePs.push_back(isBackward ? alone.savePs[value]
                                      : given.savePs[value]);
    costs.bytes.push_back(isBackward ? alone.saveBytes[value]
                                     : given.saveBytes[value]);
    double bytes = static_cast<double>(costs.bytes.back());
    costs.readPs.push_back(static_cast<int64_t>(
        std::min(std::ceil(bytes / device.bandwidth), 1e15)));
  }
  return costs;
}

PhaseProblem::PhaseProblem(const GraphView &view, const GraphSets &sets,
                           const PhaseKinds &kinds, const PhaseCosts &costs,
                           const std::vector<OpPolicy> &policies,
                           const PhasePrices &prices)
    : view(view), sets(sets), kinds(kinds), costs(costs), policies(policies),
      prices(prices), wanted(view.numOps(), 0), roots(view.numValues()),
      numberOfOp(view.numOps(), ThreeWayProblem::kNone) {
  findWanted();
  addArguments();
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (wanted[op])
      addOp(op);
  addResults();
  roundCosts();
}

/// Nothing to compute, and never handed over.
bool PhaseProblem::isFree(uint32_t op) const {
  const OpTraits &traits = view.traits[op];
  bool isPinned = kinds.pinned[op] || kinds.notInWeight[op];
  return (traits.view || traits.literal) && traits.recomputable &&
         !traits.ordered && !isPinned;
}

/// Ops of the backward, and what they could be computed from.
void PhaseProblem::findWanted() {
  auto want = [&](uint32_t value) {
    if (uint32_t def = view.definer[value]; def != GraphView::kNone)
      wanted[def] = 1;
  };
  for (uint32_t value : view.gradients())
    want(value);
  for (uint32_t op = view.numOps(); op-- > 0;) {
    bool isBackward = kinds.ops[op] != PhaseKind::Forward;
    wanted[op] |= isBackward;
    if (isBackward || (wanted[op] && view.traits[op].recomputable))
      for (uint32_t value : view.operands(op))
        want(value);
  }
}

std::vector<uint32_t> PhaseProblem::rootsOf(ArrayRef<uint32_t> values) const {
  std::vector<uint32_t> all;
  for (uint32_t value : values)
    all.insert(all.end(), roots[value].begin(), roots[value].end());
  llvm::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void PhaseProblem::addValue(uint32_t value, uint32_t definer) {
  roots[value] = {made.addValue(definer, 0, 0)};
  graphValues.push_back(value);
  valueCosts.push_back(priceValue(value));
}

void PhaseProblem::addArguments() {
  uint32_t given = made.addOp({Kind::Input}, {});
  opCosts.emplace_back();
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    addValue(arg, sets.values[arg] == GraphSet::Backward
                      ? given
                      : ThreeWayProblem::kNone);
}

void PhaseProblem::addOp(uint32_t op) {
  std::vector<uint32_t> operands = rootsOf(view.operands(op));
  if (isFree(op)) {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      roots[r] = operands;
    return;
  }
  static constexpr Kind kKinds[] = {Kind::Forward, Kind::Input, Kind::Weight};
  // What runs once is handed over: what it is computed from does not matter.
  bool isGiven = kinds.ops[op] == PhaseKind::Forward && kinds.pinned[op] &&
                 !kinds.notInWeight[op];
  numberOfOp[op] = made.addOp({kKinds[static_cast<size_t>(kinds.ops[op])]},
                              isGiven ? std::vector<uint32_t>() : operands);
  opCosts.push_back(priceOp(op));
  for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
    addValue(r, numberOfOp[op]);
}

void PhaseProblem::addResults() {
  auto add = [&](Kind kind, ArrayRef<uint32_t> gradients) {
    std::vector<uint32_t> values;
    for (uint32_t i : gradients)
      values.push_back(view.gradients()[i]);
    made.addOp({kind}, rootsOf(values));
    opCosts.emplace_back();
  };
  add(Kind::Input, kinds.inputGradients);
  add(Kind::Weight, kinds.weightGradients);
}

PhaseProblem::OpCosts PhaseProblem::priceOp(uint32_t op) const {
  OpCosts priced;
  const OpTraits &traits = view.traits[op];
  auto time = static_cast<double>(costs.opPs[op]);
  if (kinds.ops[op] == PhaseKind::Weight) {
    if (!kinds.pinned[op] && !traits.computeIntensive && hasInputPhase())
      priced.early = prices.critical * time;
    return priced;
  }
  if (kinds.pinned[op] || (kinds.ops[op] == PhaseKind::Forward &&
                           policies[op] == OpPolicy::MustSave))
    return priced;
  bool isUnclaimed = kinds.ops[op] == PhaseKind::Forward &&
                     sets.ops[op] == GraphSet::Unclaimed;
  if (kinds.ops[op] == PhaseKind::Forward && hasInputPhase())
    priced.againInInput =
        (isUnclaimed ? prices.critical : 1 + prices.critical) * time;
  if (!kinds.notInWeight[op])
    priced.againInWeight = isUnclaimed ? 0 : time;
  return priced;
}

PhaseProblem::ValueCosts PhaseProblem::priceValue(uint32_t value) const {
  ValueCosts priced;
  uint32_t op = view.definer[value];
  if (op == GraphView::kNone) {
    joint::GraphOp graph = view.graph;
    if (outlivesStep(graph.getRole(value)))
      return {0, 0};
  }
  auto bytes = static_cast<double>(costs.bytes[value]);
  // What may run once is handed over, view or not.
  bool isBound = op != GraphView::kNone && isa<ShapedType>(view.types[value]) &&
                 (kinds.pinned[op] || kinds.notInWeight[op]);
  bool isNever = costs.savePs[value] == RooflineCosts::kNever;
  if (isNever && !isBound)
    return priced;
  int64_t saved = isNever ? costs.readPs[value] : costs.savePs[value];
  priced.toInput = static_cast<double>(saved) + prices.toInputBytePs * bytes;
  priced.toWeight =
      static_cast<double>(costs.readPs[value]) + prices.toWeightBytePs * bytes;
  // A tag cannot make an op run twice that must run once: it is saved.
  if (op != GraphView::kNone && policies[op] == OpPolicy::MustRecompute &&
      kinds.ops[op] == PhaseKind::Forward && !isBound)
    priced.toInput = -1;
  return priced;
}

void PhaseProblem::roundCosts() {
  double sum = 0;
  auto add = [&](double cost) { sum += std::max(cost, 0.0); };
  for (const OpCosts &op : opCosts) {
    add(op.againInInput);
    add(op.againInWeight);
    add(op.early);
  }
  for (const ValueCosts &value : valueCosts) {
    add(value.toInput);
    add(value.toWeight);
  }
  double count = 3.0 * static_cast<double>(opCosts.size()) +
                 2.0 * static_cast<double>(valueCosts.size());
  double most = static_cast<double>(ThreeWayProblem::kLargestSum) / 2 - count;
  // Picoseconds of a unit of the problem.
  double unit = std::max(1.0, sum / most);
  auto round = [&](double cost) {
    return cost < 0 ? ThreeWayProblem::kNever
                    : static_cast<int64_t>(std::ceil(cost / unit));
  };
  for (auto [op, priced] : llvm::zip_equal(made.ops, opCosts)) {
    op.againInInput = round(priced.againInInput);
    op.againInWeight = round(priced.againInWeight);
    op.early = round(priced.early);
  }
  for (auto [value, priced] : llvm::zip_equal(made.values, valueCosts)) {
    value.toInput = round(priced.toInput);
    value.toWeight = round(priced.toWeight);
  }
}

PhasePlan PhaseProblem::plan(const ThreeWaySolution &solution) const {
  PhasePlan plan;
  plan.toInput.assign(view.numValues(), 0);
  plan.toWeight.assign(view.numValues(), 0);
  ThreeWayCrossings crossings;
  if (!evaluate(made, solution, crossings).empty())
    return plan;
  for (auto [value, number] : llvm::enumerate(graphValues)) {
    plan.toInput[number] = crossings.toInput[value];
    plan.toWeight[number] = crossings.toWeight[value];
  }
  return plan;
}

ThreeWaySolution PhaseProblem::solutionOf(const Phases &phases) const {
  ThreeWaySolution solution;
  solution.inInput.assign(made.numOps(), 0);
  solution.inWeight.assign(made.numOps(), 0);
  for (uint32_t op = 0; op < made.numOps(); ++op) {
    solution.inInput[op] = made.ops[op].kind == Kind::Input;
    solution.inWeight[op] = made.ops[op].kind == Kind::Weight;
  }
  for (uint32_t op : phases.weightOps)
    if (uint32_t number = numberOfOp[op]; number != ThreeWayProblem::kNone)
      solution.inWeight[number] = 1;
  for (uint32_t op : phases.inputOps)
    if (uint32_t number = numberOfOp[op]; number != ThreeWayProblem::kNone) {
      solution.inInput[number] = 1;
      if (made.ops[number].kind == Kind::Weight)
        solution.inWeight[number] = 0;
    }
  return solution;
}
