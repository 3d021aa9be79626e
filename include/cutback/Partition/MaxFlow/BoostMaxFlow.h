// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_BOOSTMAXFLOW_H
#define CUTBACK_PARTITION_MAXFLOW_BOOSTMAXFLOW_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

namespace cutback {

/// Boost.Graph's `boykov_kolmogorov_max_flow` on the residual graph itself:
/// augments along paths between two search trees that outlive the augmentation
/// (Boykov and Kolmogorov, PAMI 2004). The fastest where most paths are short.
class BoostBoykovKolmogorov {
public:
  /// When to stop before the end.
  struct Patience {
    /// Looks at half arcs.
    uint64_t scans = UINT64_MAX;
    /// Half arcs of a path on average, over all augmentations so far and as
    /// many more as `longPaths` says.
    uint64_t meanPathLength = UINT32_MAX;
    uint64_t longPaths = 0;
  };

  /// Continues from the flow in `graph`, of which no vertex has something left
  /// both from the source and to the sink, to a maximum flow, or until its
  /// patience ends, leaving a valid flow. Returns whether it is maximum.
  bool run(ResidualGraph &graph, Patience patience);
  void run(ResidualGraph &graph) { (void)run(graph, Patience()); }
  /// Marks with 1 the sink's tree. Once the flow is maximum these are the
  /// vertices that still reach the sink: a vertex with something left on an arc
  /// into the tree was taken in when the tree grew over that arc.
  void markSinkTree(std::vector<uint8_t> &onSinkSide) const;
  /// Looks at half arcs, in the last run.
  uint64_t arcScans() const { return scans; }

  enum Tree : uint8_t { Free, FromSource, ToSink };

private:
  /// What Boost's maps by vertex hold, side by side.
  struct Node {
    uint32_t parentFrom, parentNumber; ///< the edge to or from the parent
    uint32_t distance;                 ///< edges to the root
    Tree tree;
  };
  class Search;

  std::vector<Node> nodes; ///< source and sink last
  uint64_t scans = 0;
};

/// Boost.Graph's `push_relabel_max_flow` on the residual graph itself, as a
/// yardstick of our own.
class BoostPushRelabel {
public:
  /// Continues from the flow in `graph` to a maximum flow.
  void run(ResidualGraph &graph);
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_BOOSTMAXFLOW_H
