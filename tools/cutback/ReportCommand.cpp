// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback report`: plan, compare, explain in one screen.
//
//   1. read the graph, and PyTorch's own halves if the log has them
//   2. the certificate on PyTorch's halves, against the graph as it was read
//   3. prepare, plan and verify by the chosen strategy
//   4. plan by the other three on the same prepared graph, without emitting
//
// A refused partition of somebody else is a finding, not a failure: the exit
// code is 0.

#include "PlanRun.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Pipelines/OtherPlan.h"
#include "cutback/Report/OtherHalves.h"
#include "cutback/Report/Report.h"

using namespace mlir;

namespace cutback {

CommandSpec reportSpec() {
  CommandSpec spec;
  spec.name = "report";
  spec.arguments = "IN";
  spec.summary = "Plan, and explain the plan in one screen.";
  spec.options = withPlanOptions({
      {"json", OptionSpec::Flag, "", "print one JSON object (schema 1)"},
  });
  spec.examples = {
      "report joint.txt",
      "report trace.log --json",
      "report joint.txt --sym s0=64 --device=a100",
      "report joint.txt --cost-model=pytorch --rules=torch-2.3",
      "report joint.txt --policy=addmm_3=must-save",
  };
  return spec;
}

/// The verdict on PyTorch's halves, before the graph is prepared.
static std::optional<OtherPartition> judgeOther(PlanRun &run) {
  func::FuncOp forward = run.imported.torchForward;
  func::FuncOp backward = run.imported.torchBackward;
  if (!forward || !backward)
    return std::nullopt;
  OtherPartition other;
  other.origin = "PyTorch";
  Silence silence(*forward.getContext());
  CertificateStats stats;
  FailureOr<HalvesSignature> signature =
      deriveSignature(run.imported.graph, forward, backward);
  other.accepted = succeeded(signature) &&
                   succeeded(verifyHalves(run.imported.graph, forward, backward,
                                          *signature, &stats));
  other.verdict = silence.firstError;
  other.recomputed = stats.recomputedOps;
  if (!other.accepted)
    return other;
  FailureOr<OtherFigures> figures =
      figureOther(run.imported.graph, stats.saved, run.options);
  if (succeeded(figures)) {
    other.peakBytes = figures->peakBytes;
    other.pricedPs = figures->pricedPs;
  }
  return other;
}

static void compareStrategies(Session &session, const PlanRun &run,
                              ReportExtras &extras) {
  // What is known of the graph goes from plan to plan.
  const PartitionResult &chosen = *run.result;
  PreparedGraph prepared{chosen.view, chosen.sizes, std::nullopt, chosen.sets,
                         chosen.costs};
  for (Strategy strategy : {Strategy::MinCut, Strategy::Default,
                            Strategy::SaveAll, Strategy::RecomputeAll}) {
    if (strategy == run.options.strategy) {
      extras.strategies.push_back(strategyLine(*run.result, true));
      continue;
    }
    session.progress.step("comparing with " + spell(strategy).str());
    PartitionOptions options = run.options;
    options.strategy = strategy;
    options.verify = options.emit = false;
    options.dumpNetwork.clear();
    Silence silence(session.context);
    auto result =
        partitionGraph(run.imported.graph, options, std::move(prepared));
    prepared = PreparedGraph();
    StrategyLine line;
    line.strategy = strategy;
    line.possible = succeeded(result);
    if (line.possible) {
      line = strategyLine(**result, false);
      prepared = takePrepared(**result);
    }
    extras.strategies.push_back(line);
  }
}

int runReport(const CommandLine &line) {
  Session session("report", line);
  PlanRun run;
  ImportOptions importOptions = importOptionsOf(line);
  importOptions.torchHalves = true;
  if (int code = run.load(session, importOptions))
    return code;
  std::optional<OtherPartition> other = judgeOther(run);
  if (int code = run.plan(session))
    return code;
  ReportExtras extras = collectExtras(*run.result);
  if (other) {
    countOther(*run.result, run.imported.torchBackward, *other);
    extras.other = other;
  }
  compareStrategies(session, run, extras);
  return session.write(std::nullopt, line.has("json")
                                         ? reportJson(*run.result, extras)
                                         : reportText(*run.result, extras));
}

} // namespace cutback
