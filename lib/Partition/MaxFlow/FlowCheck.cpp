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
//   3. The tie rule: go from the sink backwards over what is left; that must
//      meet every vertex of the sink side. (That it meets no other is implied:
//      all crossing arcs are full.) Most networks have their arcs in the order
//      of a program, so a few sweeps over the arcs do; else a search.
//
// Flow around a cycle of infinite arcs could take the sum at a vertex past 64
// bits; then all is added up again in 128.
// Linear.

#include "cutback/Partition/MaxFlow/FlowCheck.h"

using namespace cutback;

namespace {

/// Wide enough for 2^30 flows of 63 bits.
using Wide = __int128;

struct Checker {
  const FlowNetwork &network;
  const MinCut &cut;

  FlowError checkShape() const;
  FlowError checkFlows() const;
  template <typename Sum> FlowError checkGains(bool &overflows) const;
  FlowError checkCrossing() const;
  FlowError checkTieRule() const;
  bool sweepFromSink(std::vector<uint8_t> &reaches) const;
  void searchFromSink(std::vector<uint8_t> &reaches) const;
  /// May flow be pushed on from the arc's tail, or back from its head?
  bool mayGrow(ArcId id) const {
    const FlowArc &arc = network.arc(id);
    return arc.isInfinite() || cut.flow[id] < arc.capacity;
  }
  bool mayShrink(ArcId id) const { return cut.flow[id] > 0; }
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

FlowError Checker::checkFlows() const {
  for (ArcId id = 0; id < network.numArcs(); ++id) {
    const FlowArc &arc = network.arc(id);
    int64_t flow = cut.flow[id];
    if (flow < 0 || (!arc.isInfinite() && flow > arc.capacity))
      return arcText(network, id) + " of capacity " + text(arc.capacity) +
             " carries " + text(flow);
  }
  return std::nullopt;
}

/// Conservation and value. Nothing is known if `overflows`.
template <typename Sum> FlowError Checker::checkGains(bool &overflows) const {
  std::vector<Sum> gain(network.numVertices(), 0);
  overflows = false;
  for (ArcId id = 0; id < network.numArcs(); ++id) {
    const FlowArc &arc = network.arc(id);
    int64_t flow = cut.flow[id];
    overflows |= __builtin_sub_overflow(gain[arc.from], flow, &gain[arc.from]);
    overflows |= __builtin_add_overflow(gain[arc.to], flow, &gain[arc.to]);
  }
  if (overflows)
    return std::nullopt;
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
  Wide capacity = 0;
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

/// Marks what leads to the sink by going over the arcs, last one first and back
/// again. True if another sweep would find nothing.
bool Checker::sweepFromSink(std::vector<uint8_t> &reaches) const {
  bool found = false;
  auto visit = [&](ArcId id) {
    const FlowArc &arc = network.arc(id);
    if (reaches[arc.from] == reaches[arc.to])
      return;
    if (reaches[arc.to] ? mayGrow(id) : mayShrink(id)) {
      reaches[arc.from] = reaches[arc.to] = 1;
      found = true;
    }
  };
  for (unsigned sweep = 0; sweep < 3; ++sweep) {
    found = false;
    for (ArcId id = network.numArcs(); id-- > 0;)
      visit(id);
    if (!found)
      return true;
    found = false;
    for (ArcId id = 0; id < network.numArcs(); ++id)
      visit(id);
    if (!found)
      return true;
  }
  return false;
}

/// The same by a search over lists of the steps that lead to a vertex.
void Checker::searchFromSink(std::vector<uint8_t> &reaches) const {
  uint32_t n = network.numVertices();
  std::vector<uint32_t> begin(n + 1, 0);
  auto forEachStep = [&](auto visit) {
    for (ArcId id = 0; id < network.numArcs(); ++id) {
      const FlowArc &arc = network.arc(id);
      if (mayGrow(id))
        visit(arc.from, arc.to);
      if (mayShrink(id))
        visit(arc.to, arc.from);
    }
  };
  forEachStep([&](VertexId, VertexId to) { ++begin[to]; });
  for (uint32_t v = 0, end = 0; v <= n; ++v)
    begin[v] = end += begin[v];
  std::vector<VertexId> tails(begin[n]);
  forEachStep([&](VertexId from, VertexId to) { tails[--begin[to]] = from; });

  reaches.assign(n, 0);
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
}

FlowError Checker::checkTieRule() const {
  std::vector<uint8_t> reaches(network.numVertices(), 0);
  reaches[kSink] = 1;
  if (!sweepFromSink(reaches))
    searchFromSink(reaches);
  for (VertexId v = 0; v < network.numVertices(); ++v)
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
  if (FlowError error = checker.checkFlows())
    return error;
  bool overflows;
  FlowError error = checker.checkGains<int64_t>(overflows);
  if (overflows)
    error = checker.checkGains<Wide>(overflows);
  if (error)
    return error;
  if (FlowError error = checker.checkCrossing())
    return error;
  return checker.checkTieRule();
}
