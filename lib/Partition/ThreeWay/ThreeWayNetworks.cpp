// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The networks of three phases; an arc a → b is paid if a is on the source side
// and b on the sink side.
//
// Input phase. Sink side of an op: it runs again there; of a value: it is
// there.
//   source → op       its cost; source → argument: its first crossing
//   op → value        the value's first crossing; value → op: ∞, an operand
//   value → sink      ∞: an op of the phase reads it, or it is demanded; or its
//                     reward, which the constant takes back
// Weight phase. Sink side of an op: it runs there; of a value: it is wanted.
//   source → op       running again; op → sink: running early, of its own ops
//   op → value        the second crossing; value → op: ∞, an operand
//   op → operand's op ∞, both of the phase: one runs early only if both do
//   price of a value's being there in the input phase: on op → value, and where
//   ops of the phase read it, through a vertex "not needed there" → sink, to
//   which its op and those readers lead (∞): all of them run in this phase
// One cut: both, and there → wanted ∞. Linear in ops and operands.

#include "ThreeWayNetworks.h"

using namespace cutback;
using namespace cutback::threeway;
using Kind = ThreeWayProblem::Kind;

NetworkBuilder::NetworkBuilder(const ThreeWayProblem &problem, int64_t scale)
    : problem(problem), scale(scale), inputReads(problem.numValues(), 0),
      weightReads(problem.numValues(), 0),
      weightUserBegin(problem.numValues() + 1, 0) {
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    for (uint32_t value : problem.operands(op)) {
      if (problem.ops[op].kind == Kind::Input)
        inputReads[value] = 1;
      if (problem.ops[op].kind != Kind::Weight)
        continue;
      weightReads[value] = 1;
      ++weightUserBegin[value + 1];
    }
  for (uint32_t value = 0; value < problem.numValues(); ++value)
    weightUserBegin[value + 1] += weightUserBegin[value];
  weightUserList.resize(weightUserBegin.back());
  std::vector<uint32_t> next(weightUserBegin.begin(),
                             weightUserBegin.end() - 1);
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    if (problem.ops[op].kind == Kind::Weight)
      for (uint32_t value : problem.operands(op))
        weightUserList[next[value]++] = op;
}

static void clear(const ThreeWayProblem &problem, Network &network) {
  network.flow.clear();
  network.constant = 0;
  network.isFeasible = true;
  network.error.clear();
  network.input.assign(problem.numOps(), kNoVertex);
  network.weight.assign(problem.numOps(), kNoVertex);
  network.there.assign(problem.numValues(), kNoVertex);
}

void NetworkBuilder::finish(Network &network) {
  if (FlowError error = network.flow.finish())
    network.error = *error;
}

//===----------------------------------------------------------------------===//
// Input phase
//===----------------------------------------------------------------------===//

void NetworkBuilder::addInput(const InputTerms &terms, Network &network) const {
  FlowNetwork &flow = network.flow;
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    if (problem.ops[op].kind == Kind::Forward)
      network.input[op] = flow.addVertex();
  for (uint32_t value = 0; value < problem.numValues(); ++value) {
    if (!problem.isOfForward(value))
      continue;
    VertexId there = network.there[value] = flow.addVertex();
    uint32_t definer = problem.values[value].definer;
    flow.addArc(definer == ThreeWayProblem::kNone ? kSource
                                                  : network.input[definer],
                there, scaled(problem.values[value].toInput));
    Presence presence =
        terms.presence.empty() ? Presence::Open : terms.presence[value];
    if (presence == Presence::Absent)
      flow.addInfiniteArc(kSource, there);
    if (inputReads[value] || presence == Presence::Present ||
        (!terms.demanded.empty() && terms.demanded[value]))
      flow.addInfiniteArc(there, kSink);
    if (!terms.reward.empty() && terms.reward[value] > 0) {
      flow.addArc(there, kSink, terms.reward[value]);
      network.constant -= terms.reward[value];
    }
  }
  addInputOps(network);
}

void NetworkBuilder::addInputOps(Network &network) const {
  FlowNetwork &flow = network.flow;
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    if (problem.ops[op].kind != Kind::Forward)
      continue;
    flow.addArc(kSource, network.input[op],
                scaled(problem.ops[op].againInInput));
    for (uint32_t value : problem.operands(op))
      flow.addInfiniteArc(network.there[value], network.input[op]);
  }
}

void NetworkBuilder::buildInput(const InputTerms &terms,
                                Network &network) const {
  clear(problem, network);
  addInput(terms, network);
  finish(network);
}

//===----------------------------------------------------------------------===//
// Weight phase
//===----------------------------------------------------------------------===//

static int64_t sum(int64_t a, int64_t b) {
  return a == kInfiniteCapacity || b == kInfiniteCapacity ? kInfiniteCapacity
                                                          : a + b;
}

void NetworkBuilder::addWeightValue(uint32_t value, int64_t price,
                                    VertexId wanted, Network &network) const {
  FlowNetwork &flow = network.flow;
  uint32_t definer = problem.values[value].definer;
  VertexId op = definer == ThreeWayProblem::kNone ? VertexId(kSource)
                                                  : network.weight[definer];
  bool isApart = price != 0 && weightReads[value];
  flow.addArc(op, wanted,
              sum(scaled(problem.values[value].toWeight), isApart ? 0 : price));
  if (!isApart)
    return;
  if (definer == ThreeWayProblem::kNone) {
    // Whichever of the two phases reads it, it has to be there.
    network.isFeasible &= price != kInfiniteCapacity;
    network.constant += std::max<int64_t>(price, 0);
    return;
  }
  VertexId unneeded = flow.addVertex();
  flow.addArc(unneeded, kSink, price);
  flow.addInfiniteArc(op, unneeded);
  for (uint32_t i = weightUserBegin[value]; i < weightUserBegin[value + 1]; ++i)
    flow.addInfiniteArc(network.weight[weightUserList[i]], unneeded);
}

void NetworkBuilder::addWeightOperands(
    Network &network, const std::vector<VertexId> &wanted) const {
  FlowNetwork &flow = network.flow;
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    for (uint32_t value : problem.operands(op)) {
      flow.addInfiniteArc(wanted[value], network.weight[op]);
      uint32_t definer = problem.values[value].definer;
      if (definer != ThreeWayProblem::kNone &&
          problem.ops[definer].kind == Kind::Weight)
        flow.addInfiniteArc(network.weight[op], network.weight[definer]);
    }
}

void NetworkBuilder::addWeight(const WeightTerms &terms,
                               Network &network) const {
  FlowNetwork &flow = network.flow;
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    VertexId vertex = network.weight[op] = flow.addVertex();
    if (problem.ops[op].kind == Kind::Weight)
      flow.addArc(vertex, kSink, scaled(problem.ops[op].early));
    else
      flow.addArc(kSource, vertex, scaled(problem.ops[op].againInWeight));
  }
  std::vector<VertexId> wanted(problem.numValues());
  for (uint32_t value = 0; value < problem.numValues(); ++value) {
    wanted[value] = flow.addVertex();
    bool hasPrice = !terms.price.empty() && problem.isOfForward(value);
    addWeightValue(value, hasPrice ? terms.price[value] : 0, wanted[value],
                   network);
    if (network.there[value] != kNoVertex) // one cut
      flow.addInfiniteArc(network.there[value], wanted[value]);
  }
  addWeightOperands(network, wanted);
}

void NetworkBuilder::buildWeight(const WeightTerms &terms,
                                 Network &network) const {
  clear(problem, network);
  addWeight(terms, network);
  finish(network);
}

void NetworkBuilder::buildOne(Network &network) const {
  clear(problem, network);
  InputTerms terms;
  terms.demanded = weightReads;
  addInput(terms, network);
  addWeight({}, network);
  finish(network);
}

WeightTerms
NetworkBuilder::pricesOfAbsent(const std::vector<uint8_t> &there) const {
  WeightTerms terms;
  for (uint32_t value = 0; value < problem.numValues(); ++value)
    terms.price.push_back(there[value] ? 0
                                       : scaled(problem.values[value].toInput));
  return terms;
}

std::vector<uint8_t>
NetworkBuilder::findTaken(const ThreeWaySolution &solution) const {
  std::vector<uint8_t> taken(problem.numValues(), 0);
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    bool isEarly = problem.ops[op].kind == Kind::Weight && solution.inInput[op];
    if (!isEarly && !solution.inWeight[op])
      continue;
    for (uint32_t value : problem.operands(op)) {
      uint32_t definer = problem.values[value].definer;
      bool isMade =
          definer != ThreeWayProblem::kNone && solution.inWeight[definer];
      taken[value] |= problem.isOfForward(value) && (isEarly || !isMade);
    }
  }
  return taken;
}
