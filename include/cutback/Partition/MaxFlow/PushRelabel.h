// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_PUSHRELABEL_H
#define CUTBACK_PARTITION_MAXFLOW_PUSHRELABEL_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

namespace cutback {

/// Pushes excess downhill by distance labels (Goldberg and Tarjan, JACM 1988),
/// highest label first, with gaps and global relabelling (Cherkassky and
/// Goldberg, Algorithmica 1997). Robust where paths are long.
class PushRelabel {
public:
  /// Continues from the flow in `graph` to a maximum flow.
  void run(ResidualGraph &graph);
  uint64_t arcScans() const { return scans; }

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Moves `excess` to where `exit` has room; what cannot get there stays.
  void drain(std::vector<int64_t> &exit);
  void relabelAll(const std::vector<int64_t> &exit);
  void discharge(uint32_t v, std::vector<int64_t> &exit);
  bool pushAtHeight(uint32_t v, uint32_t height);
  void relabel(uint32_t v, const std::vector<int64_t> &exit);
  void liftAbove(uint32_t gap);
  void addActive(uint32_t v);
  void setHeight(uint32_t v, uint32_t height);
  void prefetchArcs(uint32_t v) const;
  void prefetchNeighbours(uint32_t v) const;

  /// What a push or a look at a neighbour needs, side by side: at a million
  /// vertices each of them is a miss of the cache.
  struct alignas(32) Vertex {
    int64_t excess;
    /// Distance to an exit, at most the true one; `dead` if there is no way.
    uint32_t height;
    uint32_t current; ///< half arc that is looked at next
    uint32_t begin, end;
    uint32_t next; ///< in the chain of active vertices of its height
  };
  /// Of a chain: a vertex that came to a height. It has that height still, or
  /// a larger one.
  struct Arrival {
    uint32_t vertex, next;
  };

  ResidualGraph *g = nullptr;
  std::vector<Vertex> vertices;
  /// By height: the first active vertex, the last arrival, and how many
  /// vertices there are.
  std::vector<uint32_t> activeAt, arrivalAt, numAt;
  std::vector<Arrival> arrivals;
  std::vector<uint32_t> queue;
  std::vector<int64_t> unreturned;
  uint32_t dead = 0;
  uint32_t highestActive = 0, highest = 0;
  uint64_t scans = 0, workSinceRelabel = 0;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_PUSHRELABEL_H
