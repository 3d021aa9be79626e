// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A preflow: more may enter a vertex than leaves it, and what is too much runs
// downhill along labels that bound the distance to the sink from below.
//
//   1. Fill every arc from the source; the vertices behind them have excess.
//   2. Of the active vertices discharge the highest: push to neighbours one
//      lower, and when none is left raise it to just above its lowest one.
//   3. When no vertex is left at some height, nothing above it reaches the
//      sink; it is out of the game at once (gap). After work worth a few passes
//      all labels are recomputed by a search from the sink.
//   4. What is left over cannot reach the sink. The same procedure sends it
//      back, with the arcs from the source as exits, so that the result is a
//      flow.
//
// O(V^2 sqrt(E)). Nothing overflows: all excess together is at most the sum of
// the arcs from the source.

#include "cutback/Partition/MaxFlow/PushRelabel.h"

#include <algorithm>

using namespace cutback;

/// Asks early for what a visit of v reads. In a network of a million vertices
/// nearly each of these looks goes to memory.
void PushRelabel::prefetchArcs(uint32_t v) const {
  const Vertex &vertex = vertices[v];
  if (vertex.begin == vertex.end)
    return;
  constexpr uint32_t perLine = 64 / sizeof(HalfArc);
  for (uint32_t a = vertex.begin; a < vertex.end; a += perLine)
    __builtin_prefetch(&g->arcs[a]);
  __builtin_prefetch(&g->arcs[vertex.end - 1]);
}

void PushRelabel::prefetchNeighbours(uint32_t v) const {
  for (uint32_t a = vertices[v].begin; a < vertices[v].end; ++a) {
    __builtin_prefetch(&vertices[g->arcs[a].head]);
    __builtin_prefetch(&g->arcs[g->arcs[a].twin]);
  }
}

void PushRelabel::addActive(uint32_t v) {
  uint32_t h = vertices[v].height;
  vertices[v].next = activeAt[h];
  activeAt[h] = v;
  highestActive = std::max(highestActive, h);
}

void PushRelabel::setHeight(uint32_t v, uint32_t height) {
  vertices[v].height = height;
  ++numAt[height];
  arrivals.push_back({v, arrivalAt[height]});
  arrivalAt[height] = static_cast<uint32_t>(arrivals.size()) - 1;
  highest = std::max(highest, height);
}

/// Sets every label to the true distance to an exit.
void PushRelabel::relabelAll(const std::vector<int64_t> &exit) {
  uint32_t n = g->numVertices();
  workSinceRelabel = 0;
  for (uint32_t v = 0; v < n; ++v)
    vertices[v].height = dead;
  std::fill_n(activeAt.begin(), highest + 1, kNone);
  std::fill_n(arrivalAt.begin(), highest + 1, kNone);
  std::fill_n(numAt.begin(), highest + 1, 0);
  arrivals.clear();
  highestActive = 0;
  highest = 0;
  queue.clear();
  for (uint32_t v = 0; v < n; ++v)
    if (exit[v] > 0) {
      setHeight(v, 1);
      queue.push_back(v);
    }
  for (uint32_t i = 0; i < queue.size(); ++i) {
    if (i + 16 < queue.size())
      __builtin_prefetch(&vertices[queue[i + 16]]);
    if (i + 8 < queue.size())
      prefetchArcs(queue[i + 8]);
    if (i + 4 < queue.size())
      prefetchNeighbours(queue[i + 4]);
    uint32_t v = queue[i];
    Vertex &vertex = vertices[v];
    vertex.current = vertex.begin;
    if (vertex.excess > 0)
      addActive(v);
    scans += vertex.end - vertex.begin;
    for (uint32_t a = vertex.begin; a < vertex.end; ++a) {
      Vertex &other = vertices[g->arcs[a].head];
      if (other.height != dead || g->arcs[g->arcs[a].twin].residual == 0)
        continue;
      setHeight(g->arcs[a].head, vertex.height + 1);
      queue.push_back(g->arcs[a].head);
    }
  }
}

/// Pushes from v, of that height, to neighbours one lower. Returns whether all
/// excess has gone.
bool PushRelabel::pushAtHeight(uint32_t v, uint32_t h) {
  Vertex &vertex = vertices[v];
  uint32_t a = vertex.current, end = vertex.end;
  for (; a < end; ++a) {
    HalfArc &arc = g->arcs[a];
    ++scans;
    if (arc.residual == 0 || vertices[arc.head].height + 1 != h)
      continue;
    Vertex &other = vertices[arc.head];
    int64_t amount = std::min(vertex.excess, arc.residual);
    if (other.excess == 0)
      addActive(arc.head);
    arc.residual -= amount;
    g->arcs[arc.twin].residual += amount;
    other.excess += amount;
    if ((vertex.excess -= amount) == 0)
      break;
  }
  vertex.current = a;
  return a < end;
}

/// No vertex is left at height `gap`: all above it are out of the game.
void PushRelabel::liftAbove(uint32_t gap) {
  for (uint32_t h = gap + 1; h <= highest; ++h) {
    for (uint32_t i = arrivalAt[h]; i != kNone; i = arrivals[i].next)
      if (Vertex &vertex = vertices[arrivals[i].vertex]; vertex.height == h)
        vertex.height = dead;
    activeAt[h] = arrivalAt[h] = kNone;
    numAt[h] = 0;
  }
  highest = gap;
  highestActive = std::min(highestActive, gap);
}

/// Raises v, which is in no chain, to just above its lowest neighbour.
void PushRelabel::relabel(uint32_t v, const std::vector<int64_t> &exit) {
  Vertex &vertex = vertices[v];
  uint32_t old = vertex.height, lowest = exit[v] > 0 ? 0 : dead;
  uint32_t at = vertex.begin, degree = vertex.end - vertex.begin;
  scans += degree;
  workSinceRelabel += degree + 12;
  for (uint32_t a = vertex.begin; a < vertex.end; ++a)
    if (g->arcs[a].residual > 0 && vertices[g->arcs[a].head].height < lowest) {
      lowest = vertices[g->arcs[a].head].height;
      at = a;
    }
  vertex.current = at;
  vertex.height = dead;
  if (--numAt[old] == 0)
    liftAbove(old);
  else if (lowest + 1 < dead)
    setHeight(v, lowest + 1);
}

void PushRelabel::discharge(uint32_t v, std::vector<int64_t> &exit) {
  Vertex &vertex = vertices[v];
  while (true) {
    if (vertex.height == 1 && exit[v] > 0) {
      int64_t amount = std::min(vertex.excess, exit[v]);
      exit[v] -= amount;
      if ((vertex.excess -= amount) == 0)
        return;
    }
    if (pushAtHeight(v, vertex.height))
      return;
    relabel(v, exit);
    if (vertex.height == dead)
      return;
  }
}

void PushRelabel::drain(std::vector<int64_t> &exit) {
  uint32_t n = g->numVertices();
  dead = n + 1;
  activeAt.assign(n + 2, kNone);
  arrivalAt.assign(n + 2, kNone);
  numAt.assign(n + 2, 0);
  highest = 0;
  relabelAll(exit);
  const uint64_t patience = 6 * uint64_t(n) + g->numHalfArcs() / 2;
  while (highestActive > 0) {
    uint32_t v = activeAt[highestActive];
    if (v == kNone) {
      --highestActive;
      continue;
    }
    uint32_t after = activeAt[highestActive] = vertices[v].next;
    if (after != kNone)
      prefetchArcs(after);
    discharge(v, exit);
    if (workSinceRelabel > patience)
      relabelAll(exit);
  }
}

void PushRelabel::run(ResidualGraph &graph) {
  g = &graph;
  scans = 0;
  vertices.resize(graph.numVertices());
  for (uint32_t v = 0; v < vertices.size(); ++v) {
    vertices[v] = {graph.sourceResidual[v], 0,    0, graph.begin[v],
                   graph.begin[v + 1],      kNone};
    graph.flow += vertices[v].excess;
  }
  drain(graph.sinkResidual);
  // Now every arc from the source is full. What is still somewhere goes back
  // the way some flow came.
  unreturned = graph.sourceCapacity;
  for (const Vertex &vertex : vertices)
    graph.flow -= vertex.excess;
  drain(unreturned);
  for (size_t v = 0; v < unreturned.size(); ++v)
    graph.sourceResidual[v] = graph.sourceCapacity[v] - unreturned[v];
}
