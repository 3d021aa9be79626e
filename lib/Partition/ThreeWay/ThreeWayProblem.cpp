// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three phases as plain data: what is a problem, and what a solution of it
// costs. This is the definition: an op that runs in a phase has its operands
// there; a value is there if its op runs in the phase or it crossed the border
// before it; what crosses the second border is there before that. The cuts,
// their bound and the enumeration of all solutions are measured with it.
// Linear, but for the enumeration.

#include "cutback/Partition/ThreeWay/ThreeWayCut.h"

#include <limits>

using namespace cutback;
using Kind = ThreeWayProblem::Kind;

uint32_t ThreeWayProblem::addOp(const Op &op,
                                const std::vector<uint32_t> &operands) {
  ops.push_back(op);
  operandList.insert(operandList.end(), operands.begin(), operands.end());
  operandBegin.push_back(static_cast<uint32_t>(operandList.size()));
  return numOps() - 1;
}

uint32_t ThreeWayProblem::addValue(uint32_t definer, int64_t toInput,
                                   int64_t toWeight) {
  values.push_back({definer, toInput, toWeight});
  return numValues() - 1;
}

std::string ThreeWayProblem::check() const {
  int64_t sum = 0;
  bool isSound = operandBegin.size() == ops.size() + 1 &&
                 operandBegin.back() == operandList.size();
  auto add = [&](int64_t cost) {
    isSound &= cost >= kNever && cost <= kLargestSum && sum <= kLargestSum;
    if (isSound && cost > 0)
      sum += cost;
  };
  for (const Value &value : values) {
    add(value.toInput);
    add(value.toWeight);
    isSound &= value.definer == kNone || value.definer < numOps();
  }
  for (const Op &op : ops) {
    add(op.againInInput);
    add(op.againInWeight);
    add(op.early);
  }
  if (!isSound || sum > kLargestSum)
    return "has a cost or a number that is out of range";
  for (uint32_t op = 0; op < numOps(); ++op)
    for (uint32_t value : operands(op)) {
      if (value >= numValues() ||
          (values[value].definer != kNone && values[value].definer >= op))
        return "op " + std::to_string(op) + " reads what comes later";
      uint32_t definer = values[value].definer;
      if (definer != kNone && ops[definer].kind > ops[op].kind)
        return "op " + std::to_string(op) +
               " reads what a later phase computes";
    }
  return "";
}

/// Marks the values that ops marked in `runs` read.
static std::vector<uint8_t> findRead(const ThreeWayProblem &problem,
                                     const std::vector<uint8_t> &runs) {
  std::vector<uint8_t> isRead(problem.numValues(), 0);
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    if (runs[op])
      for (uint32_t value : problem.operands(op))
        isRead[value] = 1;
  return isRead;
}

static std::string checkRuns(const ThreeWayProblem &problem,
                             const ThreeWaySolution &solution, int64_t &cost) {
  auto runs = [&](uint32_t op, bool isIn, int64_t price, const char *where) {
    if (!isIn)
      return std::string();
    if (price == ThreeWayProblem::kNever)
      return "op " + std::to_string(op) + " runs " + where;
    cost += price;
    return std::string();
  };
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    const ThreeWayProblem::Op &costs = problem.ops[op];
    bool input = solution.inInput[op], weight = solution.inWeight[op];
    std::string fault;
    if (costs.kind == Kind::Input && !input)
      fault = "op " + std::to_string(op) + " does not run";
    if (costs.kind == Kind::Weight && input == weight)
      fault = "op " + std::to_string(op) + " runs in none or both";
    if (fault.empty() && costs.kind != Kind::Input)
      fault =
          runs(op, input,
               costs.kind == Kind::Forward ? costs.againInInput : costs.early,
               "in the second phase");
    if (fault.empty() && costs.kind != Kind::Weight)
      fault = runs(op, weight, costs.againInWeight, "again in the third phase");
    if (!fault.empty())
      return fault;
  }
  return "";
}

std::string cutback::evaluate(const ThreeWayProblem &problem,
                              const ThreeWaySolution &solution,
                              ThreeWayCrossings &crossings) {
  if (solution.inInput.size() != problem.numOps() ||
      solution.inWeight.size() != problem.numOps())
    return "is of another number of ops";
  crossings.cost = 0;
  std::string fault = checkRuns(problem, solution, crossings.cost);
  if (!fault.empty())
    return fault;
  crossings.toInput.assign(problem.numValues(), 0);
  crossings.toWeight.assign(problem.numValues(), 0);
  std::vector<uint8_t> inInput = findRead(problem, solution.inInput),
                       inWeight = findRead(problem, solution.inWeight);
  for (uint32_t value = 0; value < problem.numValues(); ++value) {
    const ThreeWayProblem::Value &costs = problem.values[value];
    uint32_t op = costs.definer;
    bool isMadeInInput =
        op != ThreeWayProblem::kNone && solution.inInput[op] != 0;
    bool isMadeInWeight =
        op != ThreeWayProblem::kNone && solution.inWeight[op] != 0;
    bool toWeight = inWeight[value] && !isMadeInWeight;
    bool toInput = (inInput[value] || toWeight) && !isMadeInInput;
    if (toInput && (!problem.isOfForward(value) ||
                    costs.toInput == ThreeWayProblem::kNever))
      return "value " + std::to_string(value) + " crosses the first border";
    if (toWeight && costs.toWeight == ThreeWayProblem::kNever)
      return "value " + std::to_string(value) + " crosses the second border";
    crossings.toInput[value] = toInput;
    crossings.toWeight[value] = toWeight;
    crossings.cost +=
        (toInput ? costs.toInput : 0) + (toWeight ? costs.toWeight : 0);
  }
  return "";
}

std::string cutback::verify(const ThreeWayProblem &problem,
                            const ThreeWaySolution &solution) {
  ThreeWayCrossings crossings;
  std::string fault = evaluate(problem, solution, crossings);
  if (fault.empty() && crossings.cost != solution.cost)
    return "costs " + std::to_string(crossings.cost) + ", not " +
           std::to_string(solution.cost);
  return fault;
}

bool cutback::solveByEnumeration(const ThreeWayProblem &problem,
                                 ThreeWaySolution &solution) {
  struct Choice {
    uint32_t op;
    bool isWeight; ///< it sets inWeight, else inInput
  };
  std::vector<Choice> choices;
  ThreeWaySolution tried;
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    const ThreeWayProblem::Op &costs = problem.ops[op];
    tried.inInput.push_back(costs.kind == Kind::Input);
    tried.inWeight.push_back(costs.kind == Kind::Weight);
    if (costs.againInInput != ThreeWayProblem::kNever &&
        costs.kind == Kind::Forward)
      choices.push_back({op, false});
    if (costs.againInWeight != ThreeWayProblem::kNever &&
        costs.kind != Kind::Weight)
      choices.push_back({op, true});
    if (costs.early != ThreeWayProblem::kNever && costs.kind == Kind::Weight)
      choices.push_back({op, false});
  }
  if (choices.size() > 24)
    return false;
  solution.cost = std::numeric_limits<int64_t>::max();
  ThreeWayCrossings crossings;
  for (uint32_t set = 0; set < (1U << choices.size()); ++set) {
    for (size_t i = 0; i < choices.size(); ++i) {
      bool isSet = set >> i & 1;
      uint32_t op = choices[i].op;
      (choices[i].isWeight ? tried.inWeight : tried.inInput)[op] = isSet;
      if (problem.ops[op].kind == Kind::Weight)
        tried.inWeight[op] = !isSet;
    }
    if (evaluate(problem, tried, crossings).empty() &&
        crossings.cost < solution.cost) {
      solution = tried;
      solution.cost = crossings.cost;
    }
  }
  return solution.cost != std::numeric_limits<int64_t>::max();
}
