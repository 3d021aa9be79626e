// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a report that cost as much as a plan each, so that a program
// which wants the plan alone does not pay for them.
//
// A partition that somebody else made is judged on the graph as it was read,
// but for views that cancel each other, by the certificate; a refusal is a
// finding and ends with its first message. Strategies are compared on the
// prepared graph, in silence: that a strategy has no plan is a line of the
// table. An arena costs several times what its plan does, so in very large
// graphs their peaks are op by op, which the report says.

#include "cutback/Report/Comparison.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Pipelines/OtherPlan.h"
#include "cutback/Support/MLIR/Silence.h"
#include "cutback/Transforms/FoldViews.h"

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
  // Inductor logs the graph, then takes out views that cancel each other.
  OwningOpRef<joint::GraphOp> graph(imported.graph.clone());
  for (Block *block : {&graph->getBlock(), &forward.getBody().front(),
                       &backward.getBody().front()})
    foldViews(*block);
  other.accepted =
      succeeded(signature) &&
      succeeded(verifyHalves(*graph, forward, backward, *signature, &stats));
  other.verdict = silence.firstError;
  other.recomputed = stats.recomputedOps;
  if (!other.accepted)
    return other;
  FailureOr<OtherFigures> figures = figureOther(*graph, stats.saved, options);
  if (succeeded(figures)) {
    other.peakBytes = figures->peakBytes;
    other.pricedPs = figures->pricedPs;
  }
  return other;
}

void compareStrategies(joint::GraphOp graph, const PartitionResult &result,
                       ReportExtras &extras,
                       const std::function<void(Strategy)> &before) {
  // What is known of the graph goes from plan to plan.
  PreparedGraph prepared = copyPrepared(result);
  for (Strategy strategy : {Strategy::MinCut, Strategy::Eager,
                            Strategy::Precompute, Strategy::RecomputeAll}) {
    if (strategy == result.options.strategy) {
      extras.strategies.push_back(strategyLine(result, true));
      continue;
    }
    if (before)
      before(strategy);
    PartitionOptions options = result.options;
    options.strategy = strategy;
    options.verify = false;
    if (result.view.numOps() > kFullComparisonOps)
      options.memory.reset();
    // A memory plan is made of functions; new ones stand in front of those of
    // `result`, which have the same names, and go again.
    options.emit = options.memory.has_value();
    if (options.memory) {
      // Little will do for a comparison, but one order of placing is too
      // little: the arena of another strategy would look a tenth too large.
      options.memory->scheduleWork = 50'000;
      options.memory->arena.work = 300'000;
    }
    options.dumpNetwork.clear();
    Silence silence(*graph.getContext());
    auto other = partitionGraph(graph, options, std::move(prepared));
    prepared = PreparedGraph();
    StrategyLine line;
    line.strategy = strategy;
    line.possible = succeeded(other);
    if (line.possible) {
      line = strategyLine(**other, false);
      if (options.emit)
        erasePartition((*other)->partition);
      prepared = takePrepared(**other);
    }
    extras.strategies.push_back(line);
  }
}

} // namespace cutback
