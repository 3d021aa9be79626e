// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_BOYKOVKOLMOGOROV_H
#define CUTBACK_PARTITION_MAXFLOW_BOYKOVKOLMOGOROV_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

namespace cutback {

/// Augments along paths between two search trees that outlive the augmentation
/// (Boykov and Kolmogorov, PAMI 2004). The fastest where most paths are short.
class BoykovKolmogorov {
public:
  /// When to stop before the end.
  struct Patience {
    /// Looks at half arcs.
    uint64_t scans = UINT64_MAX;
    /// Arcs of a path on average, over all augmentations so far and as many
    /// more as `longPaths` says.
    uint64_t meanPathLength = UINT32_MAX;
    uint64_t longPaths = 0;
  };

  /// Continues from the flow in `graph` to a maximum flow, or until its
  /// patience ends, leaving a valid flow. Returns whether it is maximum.
  bool run(ResidualGraph &graph, Patience patience);
  void run(ResidualGraph &graph) { (void)run(graph, Patience()); }
  /// Marks with 1 the sink's tree. Once the flow is maximum these are the
  /// vertices that still reach the sink: a vertex with something left on an arc
  /// into the tree was taken in when the tree grew over that arc.
  void markSinkTree(std::vector<uint8_t> &onSinkSide) const;
  uint64_t arcScans() const { return scans; }

private:
  enum Tree : uint8_t { Free, FromSource, ToSink };
  struct Node {
    /// Half arc from the vertex to its parent, or one of the marks.
    uint32_t parent;
    /// The augmentation in which `distance` was last known to be right.
    uint32_t stamp;
    /// Arcs to the root.
    uint32_t distance;
    Tree tree;
    bool queued;
  };
  static constexpr uint32_t kRoot = UINT32_MAX;
  static constexpr uint32_t kOrphan = UINT32_MAX - 1;
  static constexpr uint32_t kNone = UINT32_MAX - 2;

  void plant();
  bool isTooSlow() const;
  void activate(uint32_t v) {
    if (nodes[v].queued)
      return;
    nodes[v].queued = true;
    active[lastActive] = v;
    if (++lastActive == active.size())
      lastActive = 0;
  }
  void grow(uint32_t v);
  bool meet(uint32_t v, uint32_t a);
  void augment(uint32_t middle);
  int64_t bottleneck(uint32_t middle);
  void orphan(uint32_t v);
  void adopt(uint32_t v);
  void release(uint32_t v);
  uint32_t distanceToRoot(uint32_t v);
  void stampPath(uint32_t v, uint32_t distance);
  /// Left on arc a in the direction in which a tree of kind `tree` uses it when
  /// a's tail is the vertex nearer to the root.
  int64_t leftAway(Tree tree, uint32_t a) const {
    const HalfArc &arc = g->arcs[a];
    return tree == FromSource ? arc.residual : g->arcs[arc.twin].residual;
  }
  /// The same when a's head is the vertex nearer to the root.
  int64_t leftTowards(Tree tree, uint32_t a) const {
    const HalfArc &arc = g->arcs[a];
    return tree == FromSource ? g->arcs[arc.twin].residual : arc.residual;
  }

  ResidualGraph *g = nullptr;
  std::vector<Node> nodes;
  /// A ring with one place more than vertices, for each is queued once at most.
  std::vector<uint32_t> active;
  uint32_t lastActive = 0; ///< one behind the last
  std::vector<uint32_t> orphans;
  uint32_t now = 0;
  Patience patience;
  uint64_t scans = 0, walked = 0, augmentations = 0;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_BOYKOVKOLMOGOROV_H
