// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_ARCINDEX_H
#define CUTBACK_PARTITION_MAXFLOW_ARCINDEX_H

#include "cutback/Partition/MaxFlow/FlowNetwork.h"

namespace cutback {

/// The arcs of a network sorted by their ends, for searches over it. It holds
/// for the arcs that the network has when the index is built. Linear in
/// vertices and arcs; building anew keeps the memory.
class ArcIndex {
public:
  /// A range of arc ids in arc order.
  struct ArcIds {
    const ArcId *first;
    const ArcId *last;
    const ArcId *begin() const { return first; }
    const ArcId *end() const { return last; }
    uint32_t size() const { return static_cast<uint32_t>(last - first); }
  };

  ArcIndex() = default;
  explicit ArcIndex(const FlowNetwork &network) { build(network); }
  /// The ends of all arcs are vertices of the network.
  void build(const FlowNetwork &network);

  /// Arcs that leave or enter a vertex, in arc order.
  ArcIds outArcs(VertexId v) const { return slice(outBegin, outIds, v); }
  ArcIds inArcs(VertexId v) const { return slice(inBegin, inIds, v); }

private:
  static ArcIds slice(const std::vector<uint32_t> &begin,
                      const std::vector<ArcId> &ids, VertexId v) {
    return {ids.data() + begin[v], ids.data() + begin[v + 1]};
  }

  std::vector<uint32_t> outBegin, inBegin;
  std::vector<ArcId> outIds, inIds;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_ARCINDEX_H
