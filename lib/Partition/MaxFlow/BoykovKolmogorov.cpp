// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two trees of unsaturated arcs grow towards each other, one from the source
// and one to the sink. After an augmentation they are repaired, not rebuilt.
//
//   1. Growth: an active vertex takes free neighbours into its tree. A
//      neighbour in the other tree closes a path.
//   2. Augmentation: push the bottleneck; vertices whose arc to the parent is
//      saturated become orphans.
//   3. Adoption: an orphan looks for another parent in its tree, preferring
//      those near the root, else it becomes free and its children orphans.
//      Whether a candidate still hangs on the root is found by walking up;
//      time stamps keep walks of one augmentation from repeating each other.
//
// A step costs the length of its path. That is nothing on a joint graph, where
// the forward is tapped everywhere, and ruinous on a deep network tapped at its
// end only, so the caller can limit its patience and go on with push-relabel.
// Worst case O(V^2 E C) as published, with C the value of the cut.

#include "cutback/Partition/MaxFlow/BoykovKolmogorov.h"

#include <algorithm>

using namespace cutback;

/// Every vertex at the source or the sink is a root.
void BoykovKolmogorov::plant() {
  uint32_t n = g->numVertices();
  nodes.assign(n, {kNone, 0, 0, Free, false});
  active.resize(n + 1);
  lastActive = 0;
  orphans.clear();
  now = 0;
  scans = walked = augmentations = 0;
  for (uint32_t v = 0; v < n; ++v) {
    if (g->sourceResidual[v] == 0 && g->sinkResidual[v] == 0)
      continue;
    nodes[v].tree = g->sourceResidual[v] > 0 ? FromSource : ToSink;
    nodes[v].parent = kRoot;
    nodes[v].distance = 1;
    activate(v);
  }
}

int64_t BoykovKolmogorov::bottleneck(uint32_t middle) {
  int64_t least = g->arcs[middle].residual;
  uint32_t v = g->arcs[g->arcs[middle].twin].head;
  for (uint32_t p = nodes[v].parent; p != kRoot; p = nodes[v].parent) {
    ++scans;
    least = std::min(least, leftTowards(FromSource, p));
    v = g->arcs[p].head;
  }
  least = std::min(least, g->sourceResidual[v]);
  v = g->arcs[middle].head;
  for (uint32_t p = nodes[v].parent; p != kRoot; p = nodes[v].parent) {
    ++scans;
    least = std::min(least, leftTowards(ToSink, p));
    v = g->arcs[p].head;
  }
  return std::min(least, g->sinkResidual[v]);
}

void BoykovKolmogorov::orphan(uint32_t v) {
  nodes[v].parent = kOrphan;
  orphans.push_back(v);
}

/// Pushes along the path that half arc `middle` closes, from a vertex of the
/// source's tree to one of the sink's.
void BoykovKolmogorov::augment(uint32_t middle) {
  uint64_t before = scans;
  int64_t amount = bottleneck(middle);
  walked += scans - before;
  ++augmentations;
  std::vector<HalfArc> &arcs = g->arcs;
  arcs[middle].residual -= amount;
  arcs[arcs[middle].twin].residual += amount;
  uint32_t v = arcs[arcs[middle].twin].head;
  while (nodes[v].parent != kRoot) {
    uint32_t p = nodes[v].parent, up = arcs[p].head;
    ++scans;
    arcs[p].residual += amount;
    if ((arcs[arcs[p].twin].residual -= amount) == 0)
      orphan(v);
    v = up;
  }
  if ((g->sourceResidual[v] -= amount) == 0)
    orphan(v);
  v = arcs[middle].head;
  while (nodes[v].parent != kRoot) {
    uint32_t p = nodes[v].parent, up = arcs[p].head;
    ++scans;
    arcs[arcs[p].twin].residual += amount;
    if ((arcs[p].residual -= amount) == 0)
      orphan(v);
    v = up;
  }
  if ((g->sinkResidual[v] -= amount) == 0)
    orphan(v);
  g->flow += amount;
}

/// Arcs from v to its root, or kNone if an orphan is on the way.
uint32_t BoykovKolmogorov::distanceToRoot(uint32_t v) {
  uint32_t steps = 0;
  while (true) {
    ++scans;
    Node &node = nodes[v];
    if (node.stamp == now)
      return steps + node.distance;
    if (node.parent == kRoot) {
      node.stamp = now;
      node.distance = 1;
      return steps + 1;
    }
    if (node.parent == kOrphan)
      return kNone;
    ++steps;
    v = g->arcs[node.parent].head;
  }
}

void BoykovKolmogorov::stampPath(uint32_t v, uint32_t distance) {
  for (; nodes[v].stamp != now; v = g->arcs[nodes[v].parent].head) {
    nodes[v].stamp = now;
    nodes[v].distance = distance--;
  }
}

/// Finds orphan v a new parent, or lets it go.
void BoykovKolmogorov::adopt(uint32_t v) {
  Tree tree = nodes[v].tree;
  uint32_t best = kNone, bestDistance = kNone;
  for (uint32_t a = g->begin[v], e = g->begin[v + 1]; a < e; ++a) {
    ++scans;
    const Node &other = nodes[g->arcs[a].head];
    if (other.tree != tree || other.parent == kOrphan ||
        leftTowards(tree, a) == 0)
      continue;
    uint32_t distance = distanceToRoot(g->arcs[a].head);
    if (distance == kNone)
      continue;
    stampPath(g->arcs[a].head, distance);
    if (distance < bestDistance) {
      best = a;
      bestDistance = distance;
    }
  }
  if (best == kNone)
    return release(v);
  nodes[v].parent = best;
  nodes[v].stamp = now;
  nodes[v].distance = bestDistance + 1;
}

void BoykovKolmogorov::release(uint32_t v) {
  Tree tree = nodes[v].tree;
  for (uint32_t a = g->begin[v], e = g->begin[v + 1]; a < e; ++a) {
    ++scans;
    uint32_t w = g->arcs[a].head;
    if (nodes[w].tree != tree)
      continue;
    if (leftTowards(tree, a) > 0)
      activate(w);
    uint32_t up = nodes[w].parent;
    if (up < kNone && g->arcs[up].head == v)
      orphan(w);
  }
  nodes[v].tree = Free;
  nodes[v].parent = kNone;
}

/// Pushes along the path that half arc a of tree vertex v closes, and repairs
/// the trees. Returns false when v is no longer in the tree it was in, or the
/// limit is reached.
bool BoykovKolmogorov::meet(uint32_t v, uint32_t a) {
  Tree tree = nodes[v].tree;
  ++now;
  augment(tree == FromSource ? a : g->arcs[a].twin);
  for (size_t next = 0; next < orphans.size(); ++next)
    adopt(orphans[next]);
  orphans.clear();
  return nodes[v].tree == tree && !isTooSlow();
}

/// Takes what v leads to into its tree, or hangs it nearer to the root.
void BoykovKolmogorov::grow(uint32_t v) {
  Tree tree = nodes[v].tree;
  if (tree == Free)
    return;
  for (uint32_t a = g->begin[v], e = g->begin[v + 1]; a < e; ++a) {
    ++scans;
    uint32_t w = g->arcs[a].head;
    while (leftAway(tree, a) > 0) {
      if (nodes[w].tree != Free && nodes[w].tree != tree) {
        if (!meet(v, a))
          return;
        continue;
      }
      const Node &from = nodes[v];
      Node &to = nodes[w];
      bool isFree = to.tree == Free;
      // Distances can be compared only if w's is not the younger one.
      if (isFree ||
          (to.stamp <= from.stamp && to.distance > from.distance + 1)) {
        to.tree = tree;
        to.parent = g->arcs[a].twin;
        to.stamp = from.stamp;
        to.distance = from.distance + 1;
      }
      if (isFree)
        activate(w);
      break;
    }
  }
}

bool BoykovKolmogorov::isTooSlow() const {
  // Asked at every vertex: no division.
  return scans > patience.scans ||
         walked >=
             patience.meanPathLength * (augmentations + patience.longPaths + 1);
}

bool BoykovKolmogorov::run(ResidualGraph &graph, Patience givenPatience) {
  g = &graph;
  patience = givenPatience;
  plant();
  // First in, first out, so that paths are nearly shortest.
  for (uint32_t next = 0; next != lastActive;) {
    if (isTooSlow())
      return false;
    uint32_t v = active[next];
    if (++next == active.size())
      next = 0;
    nodes[v].queued = false;
    grow(v);
  }
  // The last vertex may have been left in the middle.
  return !isTooSlow();
}

void BoykovKolmogorov::markSinkTree(std::vector<uint8_t> &onSinkSide) const {
  onSinkSide.resize(nodes.size());
  for (size_t v = 0; v < nodes.size(); ++v)
    onSinkSide[v] = nodes[v].tree == ToSink;
}
