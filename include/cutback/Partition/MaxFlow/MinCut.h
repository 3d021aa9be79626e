// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_MINCUT_H
#define CUTBACK_PARTITION_MAXFLOW_MINCUT_H

#include "cutback/Partition/MaxFlow/FlowNetwork.h"

#include <memory>

namespace cutback {

/// Who computes the flow. All give the same value, sides and cut arcs; the flow
/// itself may differ.
enum class MaxFlowAlgorithm {
  /// Boykov-Kolmogorov, and push-relabel from where that stands once its
  /// paths turn out to be long. See AutoMaxFlow.
  Auto,
  /// Boykov and Kolmogorov, "An experimental comparison of min-cut/max-flow
  /// algorithms", PAMI 2004, as Boost.Graph has it.
  BoykovKolmogorov,
  /// Goldberg and Tarjan, "A new approach to the maximum-flow problem", JACM
  /// 1988; highest label, gaps, global relabelling, on flat arrays.
  PushRelabel,
  /// The same as Boost.Graph has it: a yardstick.
  BoostPushRelabel,
  /// The naive reference of the tests: shortest augmenting paths on the
  /// network as given, not contracted. Small networks only.
  EdmondsKarp
};

/// "auto", "boykov-kolmogorov", "push-relabel", "boost-push-relabel",
/// "edmonds-karp".
const char *getAlgorithmName(MaxFlowAlgorithm algorithm);
std::optional<MaxFlowAlgorithm> parseAlgorithmName(const std::string &name);

/// A minimum cut with the flow that proves it. Of all minimum cuts, the one
/// with the smallest sink side: the vertices that still reach the sink in the
/// residual network. It does not depend on the algorithm.
struct MinCut {
  /// Capacity of the cut = value of the flow.
  int64_t value = 0;
  /// By vertex: 1 on the sink side, else 0.
  std::vector<uint8_t> onSinkSide;
  /// Arcs from the source side to the sink side in arc order, those of
  /// capacity 0 too.
  std::vector<ArcId> cutArcs;
  /// By arc: a maximum flow.
  std::vector<int64_t> flow;
};

enum class MinCutStatus {
  Solved,
  /// Infinite arcs lead from the source to the sink; see `unboundedPath`.
  Unbounded,
  /// The network was not finished.
  NotFinished
};

/// What one call of MaxFlowSolver::solve did, for reports.
struct MaxFlowStats {
  /// The network that was left after contraction.
  uint32_t contractedVertices = 0;
  uint32_t contractedArcs = 0;
  /// Arcs looked at by the algorithm; the unit in which Auto counts.
  uint64_t arcScans = 0;
  /// Auto went over from Boykov-Kolmogorov to push-relabel.
  bool switched = false;
};

/// Computes minimum cuts. An object keeps its scratch memory, so that solving a
/// sequence of networks allocates for the largest only. Deterministic. Not for
/// use by two threads at once.
class MaxFlowSolver {
public:
  explicit MaxFlowSolver(MaxFlowAlgorithm algorithm = MaxFlowAlgorithm::Auto);
  ~MaxFlowSolver();
  MaxFlowSolver(MaxFlowSolver &&) noexcept;
  MaxFlowSolver &operator=(MaxFlowSolver &&) noexcept;

  /// Solves a finished network into `cut`, whose memory is reused.
  [[nodiscard]] MinCutStatus solve(const FlowNetwork &network, MinCut &cut);

  /// After Unbounded: vertices from source to sink, one infinite arc between
  /// neighbours, as few as possible.
  const std::vector<VertexId> &unboundedPath() const;
  const MaxFlowStats &stats() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_MINCUT_H
