// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_BOYKOVKOLMOGOROV_H
#define CUTBACK_PARTITION_MAXFLOW_BOYKOVKOLMOGOROV_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

namespace cutback {

/// Augments along paths between two search trees that outlive the augmentation
/// (Boykov and Kolmogorov, PAMI 2004). The fastest where most paths are short.
class BoykovKolmogorov {
public:
  /// Continues from the flow in `graph` to a maximum flow. Stops early, with a
  /// valid flow, after about `scanLimit` looks at half arcs. Returns whether
  /// the flow is maximum.
  bool run(ResidualGraph &graph, uint64_t scanLimit = UINT64_MAX);
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
  void activate(uint32_t v);
  void grow(uint32_t v);
  void hang(uint32_t w, uint32_t v, uint32_t a);
  bool growOver(uint32_t v, uint32_t a);
  void augment(uint32_t middle);
  int64_t bottleneck(uint32_t middle) const;
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
  std::vector<uint32_t> active;
  std::vector<uint32_t> orphans;
  uint32_t now = 0;
  uint64_t scans = 0;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_BOYKOVKOLMOGOROV_H
