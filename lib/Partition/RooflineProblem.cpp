// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flow network of 20-partition §3 on MLIR values.
//
//   source → op        cost of recomputing; ∞ if never; 0 in X
//   op → result        cost of saving; ∞ if it cannot be saved
//   source → argument  through one save arc: it exists anyway
//   result → user op   ∞: a recomputed op needs its operands
//   result → sink      ∞: an op of B reads it, or it is a gradient
//   op → reader's op   what a copy of the reader takes more if the result is
//                      saved (RooflineCosts::CopyRead)
//   op → sink          ∞: it must be recomputed
//   op → any → op      Relaxation::SharedCost, then ∞: any of its ops
//   op → early         ∞, in X: the op runs in the forward
//   early → early      ∞: then so do the ops that it computes from
//   early → op         ∞: and one that may run only once runs nowhere else
//
// Only ops and values from which the backward can be reached enter the
// network; the rest cannot be in the cut. An op outside F∪X is part of the
// sink. Linear.

#include "cutback/Partition/RooflineProblem.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static constexpr VertexId kNoVertex = ~VertexId(0);

RooflineProblem::RooflineProblem(const GraphView &view, const GraphSets &sets,
                                 const RooflineCosts &costs,
                                 const std::vector<OpPolicy> &policies,
                                 const Relaxation *relaxation)
    : view(view), sets(sets), costs(costs), policies(policies),
      relaxation(relaxation), inBackward(sets.findBackwardOps(view)),
      wantedOp(view.numOps(), 0), wantedValue(view.numValues(), 0),
      isGradient(view.markGradients()), opVertex(view.numOps(), kNoVertex),
      valueVertex(view.numValues(), kNoVertex) {
  findCandidates();
}

/// Ancestors of what the backward reads, outside of what it runs anyway.
void RooflineProblem::findCandidates() {
  auto want = [&](uint32_t value) {
    uint32_t def = view.definer[value];
    if (sets.values[value] != GraphSet::Backward &&
        (def == GraphView::kNone || !inBackward[def]))
      wantedValue[value] = 1;
  };
  for (uint32_t value : view.gradients())
    want(value);
  for (uint32_t op = view.numOps(); op-- > 0;) {
    if (!inBackward[op]) {
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        wantedOp[op] |= wantedValue[r];
      if (!wantedOp[op])
        continue;
    }
    for (uint32_t value : view.operands(op))
      want(value);
  }
}

int64_t RooflineProblem::saveCapacity(uint32_t value,
                                      double bytePricePs) const {
  // Neither is a view that is copied: most have a base that is saved too.
  bool isView = !relaxation && !view.isArg(value) &&
                view.traits[view.definer[value]].view;
  if (isView || costs.savePs[value] == RooflineCosts::kNever)
    return kInfiniteCapacity;
  if (!withoutPrice.empty() && withoutPrice[value])
    return costs.savePs[value];
  double price =
      std::ceil(bytePricePs * static_cast<double>(costs.saveBytes[value]));
  return costs.savePs[value] + static_cast<int64_t>(std::min(price, 1e17));
}

/// An op of X may run in either half. One that may run only once must not run
/// in the backward if the forward computes something from it, directly or over
/// ops that run in both. Ops between the two get a second vertex, which is on
/// the source side if the forward runs the op at all.
void RooflineProblem::addEarlyVertices() {
  std::vector<VertexId> early(view.numOps(), kNoVertex);
  auto runsOnce = [&](uint32_t op) {
    return wantedOp[op] && sets.ops[op] == GraphSet::Unclaimed &&
           costs.recomputePs[op] == RooflineCosts::kNever;
  };
  firstEarly = net.numVertices();
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!wantedOp[op] || sets.ops[op] != GraphSet::Unclaimed)
      continue;
    for (uint32_t value : view.operands(op)) {
      uint32_t def = view.definer[value];
      if (def == GraphView::kNone ||
          (!runsOnce(def) && early[def] == kNoVertex))
        continue;
      if (early[op] == kNoVertex) {
        early[op] = net.addVertex();
        ofVertex.push_back(~op);
        net.addInfiniteArc(opVertex[op], early[op]);
      }
      net.addInfiniteArc(early[op], runsOnce(def) ? opVertex[def] : early[def]);
    }
  }
}

void RooflineProblem::addOpArcs(uint32_t op, double bytePricePs) {
  VertexId vertex = opVertex[op];
  int64_t recompute = costs.recomputePs[op];
  bool never = recompute == RooflineCosts::kNever;
  // A tag cannot make an op run twice that must run once: it is saved.
  bool mustRecompute = policies[op] == OpPolicy::MustRecompute && !never;
  if (mustRecompute)
    net.addInfiniteArc(vertex, kSink);
  else if (sets.ops[op] == GraphSet::Forward || (relaxation && recompute > 0))
    net.addArc(kSource, vertex,
               never || policies[op] == OpPolicy::MustSave ? kInfiniteCapacity
                                                           : recompute);
  if (mustRecompute)
    return;
  for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
    if (wantedValue[r])
      net.addArc(vertex, valueVertex[r], saveCapacity(r, bytePricePs));
}

void RooflineProblem::addValueArcs(uint32_t value) {
  bool toSink = false;
  for (uint32_t user : view.users(value)) {
    if (user == view.numOps()) {
      toSink |= isGradient[value] != 0;
      continue;
    }
    if (inBackward[user])
      toSink = true;
    else if (wantedOp[user])
      net.addInfiniteArc(valueVertex[value], opVertex[user]);
  }
  if (toSink)
    net.addInfiniteArc(valueVertex[value], kSink);
}

/// A vertex of its own for each, on the sink side if one of the ops is.
void RooflineProblem::addSharedCosts() {
  for (const Relaxation::SharedCost &cost : relaxation->shared) {
    VertexId from = cost.value == GraphView::kNone
                        ? kSource
                        : opVertex[view.definer[cost.value]];
    if (from == kNoVertex)
      continue;
    VertexId any = net.addVertex();
    ofVertex.push_back(~cost.ops.front());
    net.addArc(from, any, cost.ps);
    for (uint32_t op : cost.ops)
      if (opVertex[op] != kNoVertex)
        net.addInfiniteArc(any, opVertex[op]);
  }
}

FlowError RooflineProblem::build(double bytePricePs,
                                 ArrayRef<uint8_t> withoutPrice) {
  this->withoutPrice = withoutPrice;
  net.clear(2);
  net.reserve(view.operandList.size() + 3 * view.numOps());
  ofVertex.assign(2, 0);
  // Arguments and ops in program order, results behind their op: neighbours
  // in the network are neighbours in memory.
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    if (wantedValue[arg]) {
      valueVertex[arg] = net.addVertex();
      ofVertex.push_back(arg);
    }
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!wantedOp[op])
      continue;
    opVertex[op] = net.addVertex();
    ofVertex.push_back(~op);
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (wantedValue[r]) {
        valueVertex[r] = net.addVertex();
        ofVertex.push_back(r);
      }
  }
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    if (wantedValue[arg]) {
      net.addArc(kSource, valueVertex[arg], saveCapacity(arg, bytePricePs));
      addValueArcs(arg);
    }
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!wantedOp[op])
      continue;
    addOpArcs(op, bytePricePs);
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (wantedValue[r])
        addValueArcs(r);
  }
  for (const RooflineCosts::CopyRead &read : costs.copyReads)
    if (uint32_t def = view.definer[read.value];
        wantedOp[def] && wantedOp[read.op])
      net.addArc(opVertex[def], opVertex[read.op], read.ps);
  addEarlyVertices();
  if (relaxation)
    addSharedCosts();
  return net.finish(ParallelArcs::Keep);
}

std::optional<uint32_t> RooflineProblem::savedBy(ArcId arc) const {
  // Save arcs end at value vertices, recompute arcs at op vertices.
  VertexId to = net.arc(arc).to;
  if (to < 2 || ofVertex[to] >= view.numValues())
    return std::nullopt;
  return ofVertex[to];
}

Plan RooflineProblem::plan(const MinCut &cut) const {
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  for (ArcId arc : cut.cutArcs)
    if (std::optional<uint32_t> value = savedBy(arc))
      plan.saved[*value] = 1;
  return plan;
}

std::string RooflineProblem::vertexName(VertexId vertex) const {
  if (vertex < 2)
    return vertex == kSource ? "source" : "sink";
  uint32_t number = ofVertex[vertex];
  if (number < view.numValues())
    return view.name(number);
  uint32_t op = ~number;
  return (view.numResults(op) ? view.name(view.resultBegin[op])
                              : "op " + std::to_string(op)) +
         (vertex < firstEarly ? "+op" : "+early");
}

LogicalResult RooflineProblem::reportUnbounded(ArrayRef<VertexId> path) const {
  std::string text;
  Operation *first = nullptr, *last = nullptr;
  for (VertexId vertex : path) {
    if (vertex < 2)
      continue;
    uint32_t number = ofVertex[vertex];
    uint32_t op = number < view.numValues() ? view.definer[number] : ~number;
    if (number < view.numValues())
      text += (text.empty() ? "'" : " -> '") + view.name(number) + "'";
    if (op == GraphView::kNone)
      continue;
    first = first ? first : view.ops[op];
    last = view.ops[op];
  }
  GraphOp graph = view.graph;
  auto diag = graph.emitOpError("has no plan: policies contradict each other "
                                "along ")
              << text;
  if (first)
    diag.attachNote(first->getLoc()) << "this must not run in the backward";
  if (last)
    diag.attachNote(last->getLoc())
        << "this must run in the backward; give one of the two another policy";
  return failure();
}

PlanPrice cutback::pricePlan(const GraphView &view, const GraphSets &sets,
                             const ValueSizes &sizes,
                             const RooflineCosts &costs, const Halves &halves,
                             ArrayRef<uint8_t> withoutPrice) {
  PlanPrice price;
  std::vector<uint8_t> counted(view.numValues(), 0);
  auto save = [&](uint32_t value) {
    // Of a view: what it looks at, or a copy on the way there.
    uint32_t base = value;
    while (costs.savePs[base] == RooflineCosts::kNever && !view.isArg(base) &&
           view.traits[view.definer[base]].view)
      base = view.baseOf(view.definer[base]);
    if (counted[base] || costs.savePs[base] == RooflineCosts::kNever)
      return;
    counted[base] = 1;
    price.ps += costs.savePs[base];
    if (withoutPrice.empty() || !withoutPrice[base])
      price.bytes += costs.saveBytes[base];
  };
  for (uint32_t value : halves.savedTensors)
    save(value);
  for (uint32_t value : halves.savedSizes)
    save(value);
  std::vector<uint8_t> isCopy(view.numOps(), 0);
  for (uint32_t op : halves.recomputed) {
    isCopy[op] = sets.ops[op] == GraphSet::Forward;
    if (isCopy[op] && costs.recomputePs[op] > 0)
      price.ps += costs.recomputePs[op];
  }
  for (const RooflineCosts::CopyRead &read : costs.copyReads)
    if (isCopy[read.op] && !isCopy[view.definer[read.value]])
      price.ps += read.ps;
  return price;
}
