// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_CONTRACTION_H
#define CUTBACK_PARTITION_MAXFLOW_CONTRACTION_H

#include "cutback/Partition/MaxFlow/ArcIndex.h"
#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/MaxFlow/ResidualGraph.h"

namespace cutback {

/// Shrinks a network to what a cut has to decide, and carries the answer back.
/// Vertices that infinite arcs tie to the source or the sink are merged into
/// them, arcs that cannot carry flow are left out, and the arcs at source and
/// sink become one number a vertex. The cuts of finite value, their values and
/// the tie rule are untouched; docs/Rationale/MaxFlow.md says why.
class Contraction {
public:
  /// Contracts a finished network into `graph`. False if infinite arcs lead
  /// from the source to the sink.
  bool contract(const FlowNetwork &network, ResidualGraph &graph);

  /// After `contract` returned false: the vertices of a shortest such path.
  const std::vector<VertexId> &unboundedPath() const { return path; }

  /// Turns a maximum flow of the graph, and the sides of its vertices (1: still
  /// reaches the sink), into flow, sides, cut arcs and value of the network.
  void lift(const FlowNetwork &network, const ResidualGraph &graph,
            const std::vector<uint8_t> &innerSide, MinCut &cut);

private:
  struct Tied {
    VertexId vertex;
    ArcId arc; ///< the infinite arc over which it was reached
  };
  static constexpr uint32_t kAtSource = UINT32_MAX;
  static constexpr uint32_t kAtSink = UINT32_MAX - 1;
  static constexpr uint32_t kBetween = UINT32_MAX - 2;
  struct TerminalArc {
    ArcId arc;
    uint32_t vertex; ///< of the graph
  };
  struct InnerArc {
    ArcId arc;
    uint32_t from, to; ///< of the graph
    uint32_t position; ///< of the forward half arc
  };

  void clear(const FlowNetwork &network);
  void sweepGroups(const FlowNetwork &network);
  /// False if infinite arcs lead from the source to the sink.
  bool searchGroups(const FlowNetwork &network);
  void findPath(const FlowNetwork &network);
  /// False if an infinite arc leads out of the source group or into the sink
  /// group: they are not whole.
  bool collectArcs(const FlowNetwork &network, ResidualGraph &graph);
  void placeHalfArcs(const FlowNetwork &network, ResidualGraph &graph);
  void liftFlow(const FlowNetwork &network, const ResidualGraph &graph,
                MinCut &cut);
  void liftSides(const std::vector<uint8_t> &innerSide, MinCut &cut);
  void listCutArcs(const FlowNetwork &network,
                   const std::vector<uint8_t> &innerSide, MinCut &cut);

  /// By vertex: one of the marks above, or of those between that have arcs the
  /// number in the graph.
  std::vector<uint32_t> place;
  std::vector<VertexId> between;          ///< by vertex of the graph
  std::vector<Tied> sourceTied, sinkTied; ///< each behind what tied it
  std::vector<TerminalArc> sourceArcs, sinkArcs;
  std::vector<ArcId> directArcs; ///< from the source group to the sink group
  std::vector<ArcId> idleArcs;   ///< of capacity 0
  std::vector<InnerArc> innerArcs;
  std::vector<int64_t> through, dealt;
  ArcIndex index;
  std::vector<VertexId> path;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_CONTRACTION_H
