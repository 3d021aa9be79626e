// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_RESIDUALGRAPH_H
#define CUTBACK_PARTITION_MAXFLOW_RESIDUALGRAPH_H

#include <cstdint>
#include <vector>

namespace cutback {

/// One direction of an arc: what may still be pushed to `head`.
struct HalfArc {
  uint32_t head;
  /// Position of the opposite direction.
  uint32_t twin;
  int64_t residual;
};

/// What the algorithms work on: the vertices between source and sink, with the
/// arcs from the source and to the sink kept as one number a vertex. All
/// capacities are finite, and those at the source add up to less than 2^63.
/// A solver leaves a maximum flow.
struct ResidualGraph {
  /// Half arcs of vertex v: positions begin[v] .. begin[v + 1].
  std::vector<uint32_t> begin;
  std::vector<HalfArc> arcs;
  /// By vertex: capacity of, and what is left on, the arc from the source.
  std::vector<int64_t> sourceCapacity, sourceResidual;
  /// By vertex: what is left on the arc to the sink.
  std::vector<int64_t> sinkResidual;
  /// What has arrived at the sink.
  int64_t flow = 0;

  uint32_t numVertices() const {
    return static_cast<uint32_t>(sourceCapacity.size());
  }
  uint32_t numHalfArcs() const { return static_cast<uint32_t>(arcs.size()); }

  /// Forgets the arcs and makes room for `numVertices`. What is left on the
  /// arcs from the source is for the caller to fill.
  void clear(uint32_t numVertices);
  /// Drops the last vertices, which have no arcs.
  void truncate(uint32_t numVertices);

  /// Pushes what can go straight from the source over one vertex to the sink.
  void cancelTerminals();

  /// Marks with 1 the vertices that still reach the sink. `queue` is scratch.
  void markSinkSide(std::vector<uint8_t> &onSinkSide,
                    std::vector<uint32_t> &queue) const;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_RESIDUALGRAPH_H
