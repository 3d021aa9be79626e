// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference that the fast algorithms are compared with: no contraction, no
// data structures, no shared code.
//
//   1. Search breadth first from the source over arcs with something left, in
//      either direction.
//   2. Push the least that is left on the path found; repeat until there is
//      none (Edmonds and Karp, "Theoretical improvements in algorithmic
//      efficiency for network flow problems", JACM 1972).
//   3. The sink side is what still reaches the sink.
//
// O(V E^2): for networks of tests.

#include "cutback/Partition/MaxFlow/EdmondsKarp.h"
#include "cutback/Partition/MaxFlow/ArcIndex.h"

#include <algorithm>

using namespace cutback;

namespace {

/// One arc of a path, used forwards or against its direction.
struct Step {
  ArcId arc;
  bool forwards;
};

struct Reference {
  const FlowNetwork &network;
  std::vector<int64_t> &flow;
  ArcIndex index;

  int64_t left(Step step) const {
    const FlowArc &arc = network.arc(step.arc);
    int64_t capacity =
        arc.isInfinite() ? network.effectiveInfinity() : arc.capacity;
    return step.forwards ? capacity - flow[step.arc] : flow[step.arc];
  }

  /// Calls visit(neighbour, step) for all that leaves v; `reverse`: enters v.
  template <typename Visit>
  void forEachStep(VertexId v, bool reverse, Visit visit) const {
    for (ArcId a : index.outArcs(v))
      if (left({a, !reverse}) > 0)
        visit(network.arc(a).to, Step{a, !reverse});
    for (ArcId a : index.inArcs(v))
      if (left({a, reverse}) > 0)
        visit(network.arc(a).from, Step{a, reverse});
  }

  std::vector<Step> shortestPath() const {
    std::vector<Step> by(network.numVertices());
    std::vector<uint8_t> seen(network.numVertices(), 0);
    std::vector<VertexId> queue = {kSource};
    seen[kSource] = 1;
    for (size_t next = 0; next < queue.size() && !seen[kSink]; ++next)
      forEachStep(queue[next], false, [&](VertexId w, Step step) {
        if (seen[w])
          return;
        seen[w] = 1;
        by[w] = step;
        queue.push_back(w);
      });
    std::vector<Step> path;
    for (VertexId v = kSink; seen[kSink] && v != kSource;) {
      path.push_back(by[v]);
      const FlowArc &arc = network.arc(by[v].arc);
      v = by[v].forwards ? arc.from : arc.to;
    }
    return path;
  }

  void markSinkSide(std::vector<uint8_t> &side) const {
    side.assign(network.numVertices(), 0);
    side[kSink] = 1;
    std::vector<VertexId> queue = {kSink};
    for (size_t next = 0; next < queue.size(); ++next)
      forEachStep(queue[next], true, [&](VertexId w, Step) {
        if (!side[w]) {
          side[w] = 1;
          queue.push_back(w);
        }
      });
  }
};

} // namespace

bool cutback::solveByEdmondsKarp(const FlowNetwork &network, MinCut &cut) {
  cut.value = 0;
  cut.flow.assign(network.numArcs(), 0);
  Reference reference{network, cut.flow, ArcIndex(network)};
  while (true) {
    std::vector<Step> path = reference.shortestPath();
    if (path.empty())
      break;
    int64_t least = INT64_MAX;
    for (Step step : path)
      least = std::min(least, reference.left(step));
    // As much as every finite capacity together: no finite cut is in the way.
    if (least >= network.effectiveInfinity() - cut.value)
      return false;
    for (Step step : path)
      cut.flow[step.arc] += step.forwards ? least : -least;
    cut.value += least;
  }
  reference.markSinkSide(cut.onSinkSide);
  cut.cutArcs.clear();
  for (ArcId a = 0; a < network.numArcs(); ++a)
    if (!cut.onSinkSide[network.arc(a).from] &&
        cut.onSinkSide[network.arc(a).to])
      cut.cutArcs.push_back(a);
  return true;
}
