// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof behind every partition, on the network as given; shares no code
// with the solvers and uses nothing of the network but its arcs.
//
//   1. Each arc's flow is within its capacity. Add up what every vertex gains;
//      all but source and sink gain nothing, the sink gains the value.
//   2. Go over the arcs once more and compare those that cross from the source
//      side to the sink side with the list of cut arcs, in order; none is
//      infinite and they add up to the value. By weak duality flow and cut are
//      then both optimal.
//   3. The tie rule: search from the sink backwards over what is left; it must
//      meet every vertex of the sink side. (That it meets no other is implied:
//      all crossing arcs are full.)
//
// Sums are kept in 128 bits: flow around a cycle of infinite arcs could take
// them past 64 at a vertex.
// Linear.

#include "cutback/Partition/MaxFlow/FlowCheck.h"

using namespace cutback;

namespace {

/// Wide enough for 2^30 flows of 63 bits.
using Sum = __int128;

struct Checker {
  const FlowNetwork &network;
  const MinCut &cut;

  FlowError checkShape() const;
  FlowError checkFlowAndValue() const;
  FlowError checkCrossing() const;
  FlowError checkTieRule() const;
};

} // namespace

static std::string text(int64_t number) { return std::to_string(number); }

static std::string arcText(const FlowNetwork &network, ArcId id) {
  const FlowArc &arc = network.arc(id);
  return "arc " + text(id) + " (" + text(arc.from) + " -> " + text(arc.to) +
         ")";
}

FlowError Checker::checkShape() const {
  if (cut.flow.size() != network.numArcs())
    return "flow of " + text(cut.flow.size()) + " arcs for a network of " +
           text(network.numArcs());
  if (cut.onSinkSide.size() != network.numVertices())
    return "sides of " + text(cut.onSinkSide.size()) +
           " vertices for a network of " + text(network.numVertices());
  if (cut.onSinkSide[kSource])
    return "the source is on the sink side";
  if (!cut.onSinkSide[kSink])
    return "the sink is on the source side";
  return std::nullopt;
}

FlowError Checker::checkFlowAndValue() const {
  std::vector<Sum> gain(network.numVertices(), 0);
  for (ArcId id = 0; id < network.numArcs(); ++id) {
    const FlowArc &arc = network.arc(id);
    int64_t flow = cut.flow[id];
    if (flow < 0 || (!arc.isInfinite() && flow > arc.capacity))
      return arcText(network, id) + " of capacity " + text(arc.capacity) +
             " carries " + text(flow);
    gain[arc.from] -= flow;
    gain[arc.to] += flow;
  }
  for (VertexId v = 2; v < network.numVertices(); ++v)
    if (gain[v] != 0)
      return "vertex " + text(v) + " gains " +
             text(static_cast<int64_t>(gain[v]));
  if (gain[kSink] != cut.value)
    return "the flow brings " + text(static_cast<int64_t>(gain[kSink])) +
           " to the sink, the cut claims " + text(cut.value);
  return std::nullopt;
}

FlowError Checker::checkCrossing() const {
  Sum capacity = 0;
  size_t listed = 0;
  for (ArcId id = 0; id < network.numArcs(); ++id) {
    const FlowArc &arc = network.arc(id);
    bool inList = listed < cut.cutArcs.size() && cut.cutArcs[listed] == id;
    bool crosses = !cut.onSinkSide[arc.from] && cut.onSinkSide[arc.to];
    if (crosses != inList)
      return arcText(network, id) +
             (crosses ? " crosses the cut and is not listed"
                      : " is listed and does not cross the cut");
    if (!crosses)
      continue;
    ++listed;
    if (arc.isInfinite())
      return arcText(network, id) + " is infinite and crosses the cut";
    capacity += arc.capacity;
  }
  if (listed != cut.cutArcs.size())
    return "the list of cut arcs goes on after its " + text(listed) +
           " arcs in order";
  if (capacity != cut.value)
    return "the cut has capacity " + text(static_cast<int64_t>(capacity)) +
           ", it claims " + text(cut.value);
  return std::nullopt;
}

FlowError Checker::checkTieRule() const {
  // Own lists of the steps that lead to a vertex: an arc into it with something
  // left, or an arc out of it with flow.
  uint32_t n = network.numVertices();
  std::vector<uint32_t> begin(n + 1, 0);
  auto forEachStep = [&](auto visit) {
    for (ArcId id = 0; id < network.numArcs(); ++id) {
      const FlowArc &arc = network.arc(id);
      if (arc.isInfinite() || cut.flow[id] < arc.capacity)
        visit(arc.from, arc.to);
      if (cut.flow[id] > 0)
        visit(arc.to, arc.from);
    }
  };
  forEachStep([&](VertexId, VertexId to) { ++begin[to]; });
  for (uint32_t v = 0, end = 0; v <= n; ++v)
    begin[v] = end += begin[v];
  std::vector<VertexId> tails(begin[n]);
  forEachStep([&](VertexId from, VertexId to) { tails[--begin[to]] = from; });

  std::vector<uint8_t> reaches(n, 0);
  std::vector<VertexId> queue = {kSink};
  reaches[kSink] = 1;
  for (size_t next = 0; next < queue.size(); ++next) {
    VertexId v = queue[next];
    for (uint32_t i = begin[v]; i < begin[v + 1]; ++i)
      if (!reaches[tails[i]]) {
        reaches[tails[i]] = 1;
        queue.push_back(tails[i]);
      }
  }
  for (VertexId v = 0; v < n; ++v)
    if (cut.onSinkSide[v] && !reaches[v])
      return "vertex " + text(v) +
             " is on the sink side and does not reach "
             "the sink: the cut is not the nearest";
  return std::nullopt;
}

FlowError cutback::checkFlow(const FlowNetwork &network, const MinCut &cut) {
  Checker checker{network, cut};
  if (FlowError error = checker.checkShape())
    return error;
  if (FlowError error = checker.checkFlowAndValue())
    return error;
  if (FlowError error = checker.checkCrossing())
    return error;
  return checker.checkTieRule();
}
