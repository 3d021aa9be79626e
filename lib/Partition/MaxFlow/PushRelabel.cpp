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

void PushRelabel::addActive(uint32_t v) {
  uint32_t h = height[v];
  next[v] = activeAt[h];
  activeAt[h] = v;
  highestActive = std::max(highestActive, h);
}

void PushRelabel::addIdle(uint32_t v) {
  uint32_t h = height[v], first = idleAt[h];
  next[v] = first;
  previous[v] = kNone;
  if (first != kNone)
    previous[first] = v;
  idleAt[h] = v;
}

void PushRelabel::removeIdle(uint32_t v) {
  uint32_t before = previous[v], after = next[v];
  if (before == kNone)
    idleAt[height[v]] = after;
  else
    next[before] = after;
  if (after != kNone)
    previous[after] = before;
}

/// Sets every label to the true distance to an exit.
void PushRelabel::relabelAll(const std::vector<int64_t> &exit) {
  uint32_t n = g->numVertices();
  workSinceRelabel = 0;
  std::fill(height.begin(), height.end(), dead);
  std::fill(activeAt.begin(), activeAt.begin() + highest + 1, kNone);
  std::fill(idleAt.begin(), idleAt.begin() + highest + 1, kNone);
  highestActive = 0;
  highest = 0;
  queue.clear();
  for (uint32_t v = 0; v < n; ++v)
    if (exit[v] > 0) {
      height[v] = 1;
      queue.push_back(v);
    }
  for (size_t i = 0; i < queue.size(); ++i) {
    uint32_t v = queue[i];
    highest = height[v];
    current[v] = g->begin[v];
    if (excess[v] > 0)
      addActive(v);
    else
      addIdle(v);
    scans += g->begin[v + 1] - g->begin[v];
    for (uint32_t a = g->begin[v], e = g->begin[v + 1]; a < e; ++a) {
      uint32_t w = g->arcs[a].head;
      if (height[w] != dead || g->arcs[g->arcs[a].twin].residual == 0)
        continue;
      height[w] = height[v] + 1;
      queue.push_back(w);
    }
  }
}

/// Pushes from v, of that height, to neighbours one lower. Returns whether all
/// excess has gone.
bool PushRelabel::pushAtHeight(uint32_t v, uint32_t h) {
  uint32_t a = current[v], end = g->begin[v + 1];
  for (; a < end; ++a) {
    HalfArc &arc = g->arcs[a];
    ++scans;
    if (arc.residual == 0 || height[arc.head] + 1 != h)
      continue;
    uint32_t w = arc.head;
    int64_t amount = std::min(excess[v], arc.residual);
    if (excess[w] == 0) {
      removeIdle(w);
      addActive(w);
    }
    arc.residual -= amount;
    g->arcs[arc.twin].residual += amount;
    excess[w] += amount;
    if ((excess[v] -= amount) == 0)
      break;
  }
  current[v] = a;
  return a < end;
}

void PushRelabel::liftAbove(uint32_t gap) {
  for (uint32_t h = gap + 1; h <= highest; ++h) {
    for (uint32_t v = idleAt[h]; v != kNone; v = next[v])
      height[v] = dead;
    for (uint32_t v = activeAt[h]; v != kNone; v = next[v])
      height[v] = dead;
    idleAt[h] = activeAt[h] = kNone;
  }
  highest = gap;
  highestActive = std::min(highestActive, gap);
}

/// Raises v, which is in no chain, to just above its lowest neighbour.
void PushRelabel::relabel(uint32_t v, const std::vector<int64_t> &exit) {
  uint32_t old = height[v], lowest = exit[v] > 0 ? 0 : dead, at = g->begin[v];
  uint32_t degree = g->begin[v + 1] - g->begin[v];
  scans += degree;
  workSinceRelabel += degree + 12;
  for (uint32_t a = g->begin[v], e = g->begin[v + 1]; a < e; ++a)
    if (g->arcs[a].residual > 0 && height[g->arcs[a].head] < lowest) {
      lowest = height[g->arcs[a].head];
      at = a;
    }
  height[v] = std::min(lowest + 1, dead);
  current[v] = at;
  if (idleAt[old] == kNone && activeAt[old] == kNone) {
    height[v] = dead;
    liftAbove(old);
  } else if (height[v] < dead) {
    highest = std::max(highest, height[v]);
  }
}

void PushRelabel::discharge(uint32_t v, std::vector<int64_t> &exit) {
  while (true) {
    if (height[v] == 1 && exit[v] > 0) {
      int64_t amount = std::min(excess[v], exit[v]);
      exit[v] -= amount;
      if ((excess[v] -= amount) == 0)
        break;
    }
    if (pushAtHeight(v, height[v]))
      break;
    relabel(v, exit);
    if (height[v] == dead)
      return;
  }
  addIdle(v);
}

void PushRelabel::drain(std::vector<int64_t> &exit) {
  uint32_t n = g->numVertices();
  dead = n + 1;
  height.resize(n);
  current.resize(n);
  next.resize(n);
  previous.resize(n);
  activeAt.assign(n + 2, kNone);
  idleAt.assign(n + 2, kNone);
  highest = 0;
  relabelAll(exit);
  const uint64_t patience = 6 * uint64_t(n) + g->numHalfArcs() / 2;
  while (highestActive > 0) {
    uint32_t v = activeAt[highestActive];
    if (v == kNone) {
      --highestActive;
      continue;
    }
    activeAt[highestActive] = next[v];
    discharge(v, exit);
    if (workSinceRelabel > patience)
      relabelAll(exit);
  }
}

void PushRelabel::run(ResidualGraph &graph) {
  g = &graph;
  scans = 0;
  excess = graph.sourceResidual;
  for (size_t v = 0; v < excess.size(); ++v)
    graph.flow += excess[v];
  drain(graph.sinkResidual);
  // Now every arc from the source is full. What is still somewhere goes back
  // the way some flow came.
  unreturned = graph.sourceCapacity;
  for (int64_t amount : excess)
    graph.flow -= amount;
  drain(unreturned);
  for (size_t v = 0; v < unreturned.size(); ++v)
    graph.sourceResidual[v] = graph.sourceCapacity[v] - unreturned[v];
}
