// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_FLOWNETWORK_H
#define CUTBACK_PARTITION_MAXFLOW_FLOWNETWORK_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// A vertex of a flow network; 0 is the source, 1 the sink.
using VertexId = uint32_t;
/// The position of an arc in its network.
using ArcId = uint32_t;

inline constexpr VertexId kSource = 0;
inline constexpr VertexId kSink = 1;

/// The capacity of an arc that must not be cut. It is a mark, not a number: no
/// sum contains it. Every other capacity is at least 0.
inline constexpr int64_t kInfiniteCapacity = -1;

/// What went wrong, in words; absent when nothing did.
using FlowError = std::optional<std::string>;

struct FlowArc {
  VertexId from;
  VertexId to;
  /// In the unit of the cost model (bytes, picoseconds), or
  /// kInfiniteCapacity.
  int64_t capacity;

  bool isInfinite() const { return capacity == kInfiniteCapacity; }
};

/// What becomes of arcs with the same ends when the network is finished. The
/// survivor stands where the first of them stood.
enum class ParallelArcs {
  /// All stay. Arc ids are the ones that addArc returned.
  Keep,
  /// The last capacity wins, as networkx' add_edge does. Arc ids change.
  LastWins,
  /// The capacities are added; infinite plus anything is infinite. Arc ids
  /// change.
  Sum
};

/// A directed network with integer capacities. Append vertices and arcs, then
/// finish(), which checks the capacities; read afterwards. clear() keeps the
/// memory for the next network.
class FlowNetwork {
public:
  /// Starts with `numVertices` vertices; at least the source and the sink.
  explicit FlowNetwork(uint32_t numVertices = 2) { clear(numVertices); }

  /// Forgets all arcs and vertices, keeps the memory.
  void clear(uint32_t numVertices = 2);
  void reserve(uint32_t numArcs) { arcList.reserve(numArcs); }
  /// Starts with these vertices and arcs.
  void assign(uint32_t numVertices, std::vector<FlowArc> arcs) {
    clear(numVertices);
    arcList = std::move(arcs);
  }
  /// assign() and finish() of arcs that are sound by construction, whose finite
  /// capacities add up to `finiteSum`. Error: too many of them.
  [[nodiscard]] FlowError assignSound(uint32_t numVertices,
                                      std::vector<FlowArc> arcs,
                                      int64_t finiteSum);

  VertexId addVertex() { return vertexCount++; }
  /// Adds `count` vertices and returns the first; the others follow it.
  VertexId addVertices(uint32_t count) {
    VertexId first = vertexCount;
    vertexCount += count;
    return first;
  }
  /// Adds an arc. Self loops, and arcs into the source or out of the sink, are
  /// allowed; they never carry flow.
  ArcId addArc(VertexId from, VertexId to, int64_t capacity) {
    arcList.push_back({from, to, capacity});
    return static_cast<ArcId>(arcList.size() - 1);
  }
  ArcId addInfiniteArc(VertexId from, VertexId to) {
    return addArc(from, to, kInfiniteCapacity);
  }

  /// Ends construction. Errors: an end that is not a vertex, a capacity below
  /// zero that is not kInfiniteCapacity, a sum of the finite capacities that
  /// leaves no 64-bit number above it.
  [[nodiscard]] FlowError finish(ParallelArcs rule = ParallelArcs::Keep);
  bool isFinished() const { return finished; }

  /// Gives an arc of a finished network another capacity, so that a sweep over
  /// prices keeps the network. Errors: as finish(); the network is unchanged
  /// then.
  [[nodiscard]] FlowError setCapacity(ArcId arc, int64_t capacity);

  uint32_t numVertices() const { return vertexCount; }
  uint32_t numArcs() const { return static_cast<uint32_t>(arcList.size()); }
  const std::vector<FlowArc> &arcs() const { return arcList; }
  const FlowArc &arc(ArcId id) const { return arcList[id]; }

  /// 1 + the sum of the finite capacities: more than any finite cut.
  int64_t effectiveInfinity() const { return finiteSum + 1; }

private:
  FlowError checkSize() const;
  FlowError checkArcs() const;
  FlowError sumCapacities();
  void mergeParallelArcs(ParallelArcs rule);

  uint32_t vertexCount = 2;
  std::vector<FlowArc> arcList;
  int64_t finiteSum = 0;
  bool finished = false;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_FLOWNETWORK_H
