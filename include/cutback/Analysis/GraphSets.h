// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which half of the step an op belongs to, before any plan is made.
#ifndef CUTBACK_ANALYSIS_GRAPHSETS_H
#define CUTBACK_ANALYSIS_GRAPHSETS_H

#include "cutback/Analysis/GraphView.h"

namespace cutback {

/// F: needed by the forward results, forward writes and forward effects.
/// B: depends on a tangent, the gradient seed or a backward random seed.
/// X: neither. It is computed from forward values, needed by the backward
/// only, and may be placed on either side.
enum class GraphSet : uint8_t { Forward, Backward, Unclaimed };

struct GraphSets {
  std::vector<GraphSet> ops;    ///< by op
  std::vector<GraphSet> values; ///< by value; arguments of the backward are B
  uint32_t numForward = 0, numBackward = 0, numUnclaimed = 0;

  /// Fails with an error on the graph if F meets B, naming the path from the
  /// tangent to the forward result. Linear.
  static mlir::FailureOr<GraphSets> compute(const GraphView &view);

  /// By op: it runs in the backward whatever the plan. Those are the ops of B,
  /// those of X with an effect (a write that stands behind the forward), and
  /// whoever reads their results. Linear.
  std::vector<uint8_t> findBackwardOps(const GraphView &view) const;
};

} // namespace cutback

#endif // CUTBACK_ANALYSIS_GRAPHSETS_H
