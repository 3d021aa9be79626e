// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioning problem of cost model `pytorch`: PyTorch's own network, on
// the FX view, and its cut as a plan on our values.
#ifndef CUTBACK_TORCHRULES_TORCHPROBLEM_H
#define CUTBACK_TORCHRULES_TORCHPROBLEM_H

#include "cutback/Partition/Halves.h"
#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/TorchRules/Budget.h"
#include "cutback/TorchRules/FxView.h"

namespace cutback {

class TorchProblem {
public:
  /// `fx` is a view of a graph that was simplified by the same rules.
  TorchProblem(const GraphView &view, FxView &fx,
               const TorchRulesOptions &options)
      : view(view), fx(fx), options(options) {}

  /// What the rules know of the graph before there is a network. Comes first.
  void classify() { torch = classifyTorchGraph(fx.graph, options); }
  /// Emits an error at the op that it is about and fails.
  mlir::LogicalResult build();
  const FlowNetwork &network() const { return net; }
  /// Its arcs are those of network().
  const TorchNetwork &rules() const { return torch; }

  /// Extracts PyTorch's halves from a cut, and the plan that gives the same
  /// ones.
  mlir::FailureOr<Plan> plan(const MinCut &cut);

  /// In place of both: decides within a budget, with a cut by `solve` of each
  /// network, and extracts. `network()` is that of the last cut. Not with an
  /// empty backward.
  using Solve = llvm::function_ref<mlir::LogicalResult(MinCut &cut)>;
  mlir::FailureOr<Plan> planWithin(const TorchBudget &budget,
                                   const ValueSizes &sizes, Solve solve,
                                   BudgetDecision &decision);
  const TorchHalves &halves() const { return extracted; }

  mlir::LogicalResult reportUnbounded(llvm::ArrayRef<VertexId> path) const;
  mlir::LogicalResult report(const TorchRulesError &error) const;

private:
  mlir::LogicalResult assignNetwork();
  mlir::FailureOr<Plan> planOf(const std::vector<FxNodeId> &saved);

  const GraphView &view;
  FxView &fx; ///< gets names when a message needs them
  TorchRulesOptions options;
  TorchNetwork torch;
  TorchHalves extracted;
  FlowNetwork net;
};

/// Applies PyTorch's dead code elimination and CSE, found on the FX view, to
/// the graph itself; `view`, `sizes` and `fx` follow it. Returns the number of
/// ops removed.
unsigned simplifyAsTorch(joint::GraphOp graph, GraphView &view,
                         ValueSizes &sizes, FxView &fx,
                         const TorchRulesOptions &options);

} // namespace cutback

#endif // CUTBACK_TORCHRULES_TORCHPROBLEM_H
