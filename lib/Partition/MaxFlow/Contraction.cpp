// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a network with infinite arcs to a small one without, and back.
//
//   1. What infinite arcs lead to from the source, and what they lead from to
//      the sink. A cut of finite value has all of the first group on the source
//      side and all of the second on the sink side. One sweep over the arcs in
//      order and one in reverse find both where arcs stand in the order of
//      their tails' definitions, as partitioning problems make them.
//   2. Sort the arcs by the groups of their ends. Arcs into the source group,
//      out of the sink group and of capacity 0 carry no flow and are left out.
//      An infinite arc out of the one group or into the other: sweeping did not
//      do, search both. If the sink is in the first, there is no cut.
//   3. Infinite arcs that are left get 1 + the smaller of the two obvious cuts
//      (all that leaves the source, all that enters the sink).
//   4. Back: flow on inner arcs is read off; what passes the source or the sink
//      at a vertex is dealt out over its arcs there in arc order; inside the
//      two groups it runs along the search trees, summed from the leaves.
//
// So the result is a flow of the network as given, for checkFlow to see. Linear
// in vertices and arcs; no allocation after the first network of a size.

#include "cutback/Partition/MaxFlow/Contraction.h"

#include <algorithm>

using namespace cutback;

void Contraction::clear(const FlowNetwork &network) {
  place.assign(network.numVertices(), kBetween);
  place[kSource] = kAtSource;
  place[kSink] = kAtSink;
  sourceTied.assign(1, {kSource, 0});
  sinkTied.assign(1, {kSink, 0});
  path.clear();
  // What small networks have is there at once.
  for (auto *tied : {&sourceTied, &sinkTied})
    tied->reserve(network.numVertices() / 4);
  for (auto *arcs : {&sourceArcs, &sinkArcs})
    arcs->reserve(network.numVertices() / 4);
}

void Contraction::sweepGroups(const FlowNetwork &network) {
  const std::vector<FlowArc> &arcs = network.arcs();
  for (ArcId id = 0, e = network.numArcs(); id < e; ++id) {
    const FlowArc &arc = arcs[id];
    if (arc.isInfinite() && place[arc.from] == kAtSource &&
        place[arc.to] == kBetween) {
      place[arc.to] = kAtSource;
      sourceTied.push_back({arc.to, id});
    }
  }
  for (ArcId id = network.numArcs(); id-- > 0;) {
    const FlowArc &arc = arcs[id];
    if (arc.isInfinite() && place[arc.to] == kAtSink &&
        place[arc.from] == kBetween) {
      place[arc.from] = kAtSink;
      sinkTied.push_back({arc.from, id});
    }
  }
}

bool Contraction::searchGroups(const FlowNetwork &network) {
  clear(network);
  index.build(network);
  place[kSink] = kBetween;
  for (size_t next = 0; next < sourceTied.size(); ++next)
    for (ArcId id : index.outArcs(sourceTied[next].vertex)) {
      const FlowArc &arc = network.arc(id);
      if (!arc.isInfinite() || place[arc.to] != kBetween)
        continue;
      place[arc.to] = kAtSource;
      sourceTied.push_back({arc.to, id});
    }
  if (place[kSink] == kAtSource) {
    findPath(network);
    return false;
  }
  place[kSink] = kAtSink;
  for (size_t next = 0; next < sinkTied.size(); ++next)
    for (ArcId id : index.inArcs(sinkTied[next].vertex)) {
      const FlowArc &arc = network.arc(id);
      if (!arc.isInfinite() || place[arc.from] != kBetween)
        continue;
      place[arc.from] = kAtSink;
      sinkTied.push_back({arc.from, id});
    }
  return true;
}

/// Breadth first, so the way back through the tree is a shortest path.
void Contraction::findPath(const FlowNetwork &network) {
  std::vector<ArcId> reachedBy(network.numVertices());
  for (const Tied &tied : sourceTied)
    reachedBy[tied.vertex] = tied.arc;
  for (VertexId v = kSink; v != kSource; v = network.arc(reachedBy[v]).from)
    path.push_back(v);
  path.push_back(kSource);
  std::reverse(path.begin(), path.end());
}

bool Contraction::collectArcs(const FlowNetwork &network,
                              ResidualGraph &graph) {
  graph.clear(network.numVertices());
  between.resize(network.numVertices());
  sourceArcs.clear();
  sinkArcs.clear();
  directArcs.clear();
  idleArcs.clear();
  innerArcs.clear();
  innerArcs.reserve(network.numArcs());
  uint32_t count = 0;
  // Numbers in the order of the arcs, so that neighbours lie together, and none
  // for vertices without arcs.
  auto numberOf = [&](VertexId v, uint32_t at) {
    if (at == kBetween) {
      place[v] = at = count;
      between[count++] = v;
    }
    return at;
  };
  for (ArcId id = 0, e = network.numArcs(); id < e; ++id) {
    const FlowArc &arc = network.arc(id);
    uint32_t from = place[arc.from], to = place[arc.to];
    if (from == kAtSink || to == kAtSource || arc.from == arc.to)
      continue;
    if (arc.capacity == 0) {
      idleArcs.push_back(id);
      continue;
    }
    if (from < kAtSink && to < kAtSink) {
      from = numberOf(arc.from, from);
      to = numberOf(arc.to, to);
      innerArcs.push_back({id, from, to, 0});
      ++graph.begin[from];
      ++graph.begin[to];
      continue;
    }
    if (arc.isInfinite())
      return false;
    if (from < kAtSink) {
      from = numberOf(arc.from, from);
      sinkArcs.push_back({id, from});
      graph.sinkResidual[from] += arc.capacity;
    } else if (to < kAtSink) {
      to = numberOf(arc.to, to);
      sourceArcs.push_back({id, to});
      graph.sourceCapacity[to] += arc.capacity;
    } else {
      directArcs.push_back(id);
      graph.flow += arc.capacity;
    }
  }
  between.resize(count);
  graph.truncate(count);
  return true;
}

void Contraction::placeHalfArcs(const FlowNetwork &network,
                                ResidualGraph &graph) {
  uint32_t n = graph.numVertices();
  int64_t fromSource = 0, toSink = 0;
  for (uint32_t v = 0; v < n; ++v) {
    fromSource += graph.sourceCapacity[v];
    toSink += graph.sinkResidual[v];
  }
  int64_t infinity = 1 + std::min(fromSource, toSink);

  std::vector<uint32_t> &begin = graph.begin;
  uint32_t end = 0;
  for (uint32_t v = 0; v <= n; ++v) {
    end += begin[v];
    begin[v] = end;
  }
  graph.arcs.resize(2 * innerArcs.size());
  // Filled from the back, begin[v] comes down to the start of v.
  for (size_t i = innerArcs.size(); i-- > 0;) {
    InnerArc &arc = innerArcs[i];
    uint32_t back = --begin[arc.to], forth = --begin[arc.from];
    const FlowArc &original = network.arc(arc.arc);
    int64_t capacity = original.isInfinite() ? infinity : original.capacity;
    graph.arcs[forth] = {arc.to, back, capacity};
    graph.arcs[back] = {arc.from, forth, 0};
    arc.position = forth;
  }
}

bool Contraction::contract(const FlowNetwork &network, ResidualGraph &graph) {
  clear(network);
  sweepGroups(network);
  if (!collectArcs(network, graph)) {
    if (!searchGroups(network))
      return false;
    (void)collectArcs(network, graph);
  }
  placeHalfArcs(network, graph);
  graph.sourceResidual = graph.sourceCapacity;
  graph.cancelTerminals();
  return true;
}

void Contraction::liftFlow(const FlowNetwork &network,
                           const ResidualGraph &graph, MinCut &cut) {
  std::vector<int64_t> &flow = cut.flow;
  flow.assign(network.numArcs(), 0);
  // By vertex of a group: what leaves it towards the sink, or reaches it from
  // the source, outside its group.
  through.assign(network.numVertices(), 0);

  for (ArcId id : directArcs) {
    const FlowArc &arc = network.arc(id);
    flow[id] = arc.capacity;
    through[arc.from] += arc.capacity;
    through[arc.to] += arc.capacity;
  }
  // What can be pushed back is what was pushed: the network's own arc in the
  // other direction has half arcs of its own.
  for (const InnerArc &arc : innerArcs)
    flow[arc.arc] = graph.arcs[graph.arcs[arc.position].twin].residual;
  std::vector<int64_t> &left = dealt;
  left = graph.sourceCapacity;
  for (size_t v = 0; v < left.size(); ++v)
    left[v] -= graph.sourceResidual[v];
  for (const TerminalArc &arc : sourceArcs) {
    int64_t share = std::min(left[arc.vertex], network.arc(arc.arc).capacity);
    left[arc.vertex] -= share;
    flow[arc.arc] = share;
    through[network.arc(arc.arc).from] += share;
  }
  left = graph.sinkResidual;
  for (const TerminalArc &arc : sinkArcs) {
    int64_t capacity = network.arc(arc.arc).capacity;
    int64_t unused = std::min(left[arc.vertex], capacity);
    left[arc.vertex] -= unused;
    flow[arc.arc] = capacity - unused;
    through[network.arc(arc.arc).to] += capacity - unused;
  }

  for (size_t i = sourceTied.size(); i-- > 1;) {
    const Tied &tied = sourceTied[i];
    flow[tied.arc] = through[tied.vertex];
    through[network.arc(tied.arc).from] += through[tied.vertex];
  }
  for (size_t i = sinkTied.size(); i-- > 1;) {
    const Tied &tied = sinkTied[i];
    flow[tied.arc] = through[tied.vertex];
    through[network.arc(tied.arc).to] += through[tied.vertex];
  }
}

void Contraction::liftSides(const std::vector<uint8_t> &innerSide,
                            MinCut &cut) {
  cut.onSinkSide.resize(place.size());
  std::transform(place.begin(), place.end(), cut.onSinkSide.begin(),
                 [](uint32_t at) { return at == kAtSink; });
  for (size_t v = 0; v < between.size(); ++v)
    cut.onSinkSide[between[v]] = innerSide[v];
}

/// Infinite arcs never cross, and of the others each list knows what is left to
/// ask.
void Contraction::listCutArcs(const FlowNetwork &network,
                              const std::vector<uint8_t> &innerSide,
                              MinCut &cut) {
  cut.cutArcs = directArcs;
  for (const TerminalArc &arc : sourceArcs)
    if (innerSide[arc.vertex])
      cut.cutArcs.push_back(arc.arc);
  for (const TerminalArc &arc : sinkArcs)
    if (!innerSide[arc.vertex])
      cut.cutArcs.push_back(arc.arc);
  for (const InnerArc &arc : innerArcs)
    if (innerSide[arc.from] < innerSide[arc.to])
      cut.cutArcs.push_back(arc.arc);
  for (ArcId id : idleArcs)
    if (const FlowArc &arc = network.arc(id);
        cut.onSinkSide[arc.from] < cut.onSinkSide[arc.to])
      cut.cutArcs.push_back(id);
  std::sort(cut.cutArcs.begin(), cut.cutArcs.end());
}

void Contraction::lift(const FlowNetwork &network, const ResidualGraph &graph,
                       const std::vector<uint8_t> &innerSide, MinCut &cut) {
  liftFlow(network, graph, cut);
  liftSides(innerSide, cut);
  listCutArcs(network, innerSide, cut);
  cut.value = graph.flow;
}
