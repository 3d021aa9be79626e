// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a report that cost as much as a plan each, so that a program
// which wants the plan alone does not pay for them.
//
// A partition that somebody else made is judged on the graph as it was read,
// but for views that cancel each other, by the certificate; a refusal is a
// finding and ends with its first message. Strategies are compared in silence:
// that a strategy has no plan is a line of the table. Each is planned as if it
// had been asked for, from a copy of the graph as it was read, so that a figure
// in the table is the figure of its own report. That costs several plans with
// their arenas, so in very large graphs there is no line, which the report
// says.

#include "cutback/Report/Comparison.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Planner/OtherPlan.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Support/MLIR/Silence.h"

using namespace mlir;

namespace cutback {

std::optional<OtherPartition> judgeOther(ImportedModule &imported,
                                         const PartitionOptions &options) {
  func::FuncOp forward = imported.torchForward;
  func::FuncOp backward = imported.torchBackward;
  if (!forward || !backward)
    return std::nullopt;
  OtherPartition other;
  other.origin = "PyTorch";
  Silence silence(*forward.getContext());
  CertificateStats stats;
  FailureOr<HalvesSignature> signature =
      deriveSignature(imported.graph, forward, backward);
  // Inductor logs the graph, then rewrites it.
  if (succeeded(signature))
    signature->isRewritten = true;
  joint::GraphOp graph = imported.graph;
  other.accepted =
      succeeded(signature) &&
      succeeded(verifyHalves(graph, forward, backward, *signature, &stats));
  other.verdict = silence.firstError;
  other.recomputed = stats.recomputedOps;
  if (!other.accepted)
    return other;
  FailureOr<OtherFigures> figures = figureOther(graph, stats.saved, options);
  if (succeeded(figures)) {
    other.peakBytes = figures->peakBytes;
    other.pricedPs = figures->pricedPs;
  }
  return other;
}

/// Options of a plan by another strategy, which is asked for in place of the
/// one that was.
static PartitionOptions askFor(Strategy strategy,
                               const PartitionResult &result) {
  PartitionOptions options = result.options;
  options.strategy = strategy;
  options.minimize = Minimize::Time;
  options.memoryLimit.reset();
  options.keepsRegionBudgets = false; // of the plan that was asked for
  options.dumpNetwork.clear();
  return options;
}

PartitionOptions askTorch(const PartitionResult &result) {
  PartitionOptions options = askFor(Strategy::MinCut, result);
  options.costModel = CostModel::PyTorch;
  options.rules = Rules::Torch2_13;
  options.bytePrice.reset();
  options.activationBudget.reset();
  return options;
}

static StrategyLine compareAsked(joint::GraphOp asRead,
                                 PartitionOptions options) {
  Silence silence(*asRead->getContext());
  options.verify = false;
  FailureOr<CopiedPlan> other = planCopy(asRead, options);
  if (succeeded(other))
    return strategyLine(*other->result, false);
  StrategyLine line;
  line.strategy = options.strategy;
  line.possible = false;
  return line;
}

OwningOpRef<joint::GraphOp> copyToCompare(joint::GraphOp graph) {
  // Preparation takes ops away; seldom half of them.
  if (graph.getBody().front().getOperations().size() > 2 * kComparedOps)
    return nullptr;
  return cast<joint::GraphOp>(graph->clone());
}

void compareStrategies(joint::GraphOp asRead, const PartitionResult &result,
                       ReportExtras &extras, PlannedGraph kind,
                       const std::function<void(llvm::StringRef)> &before) {
  bool isLarge = !asRead || result.view.numOps() > kComparedOps;
  auto compare = [&](llvm::StringRef name, const PartitionOptions &options) {
    if (before)
      before(name);
    return compareAsked(asRead, options);
  };
  for (Strategy strategy : {Strategy::MinCut, Strategy::Eager,
                            Strategy::Precompute, Strategy::RecomputeAll}) {
    if (strategy == result.options.strategy)
      extras.strategies.push_back(strategyLine(result, true));
    else if (!isLarge)
      extras.strategies.push_back(
          compare(spell(strategy), askFor(strategy, result)));
  }
  if (kind == PlannedGraph::Stored)
    return;
  bool isAsked = result.options.costModel == CostModel::PyTorch &&
                 result.options.rules == Rules::Torch2_13 &&
                 result.options.strategy == Strategy::MinCut &&
                 !result.options.activationBudget &&
                 result.options.minimize == Minimize::Time &&
                 !result.options.memoryLimit;
  if (isAsked || result.isTorchDecision())
    extras.torch = strategyLine(result, true);
  else if (!isLarge)
    extras.torch = compare("PyTorch's partitioner", askTorch(result));
}

} // namespace cutback
