// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The objectives over the candidates of a graph (Candidates.h).
//
// Time within the reference's peak: nobody changes his partitioner to need more
// memory. The minimum cut of time and bytes by the network's costs stays unless
// its arena is above that of PyTorch's decision, or the same and its kernels
// take longer; arenas of others are laid out from the fastest on, until one is
// not. In very large graphs that is PyTorch's decision, so that a million ops
// take seconds; the report says so.
//
// The least peak, and the least time within a limit, are searches of their own:
// PeakSearch.cpp, LimitSearch.cpp.
//
// What is tried has neither figures nor proofs; the plan that is taken gets
// both. One that a check refuses then (a defect) is not the end: strategies
// that move less follow, until one passes, and the result says so.

#include "cutback/Planner/Planner.h"

#include "Candidates.h"
#include "PlanSpace.h"
#include "RegionBudgets.h"

using namespace mlir;
using namespace cutback;

using Result = FailureOr<std::unique_ptr<PartitionResult>>;

/// Ops of all plans at the corners of one prepared graph: a bound on what a
/// comparison costs, which depends on the graph alone.
static constexpr uint64_t kTimeCornerOps = 100'000;
//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {

/// Plans whose times differ by less take the same.
constexpr double kNoFaster = 1 - 1e-4;

class TimeObjective {
public:
  TimeObjective(joint::GraphOp graph, const PartitionOptions &options)
      : graph(graph), options(options), trial(trialOptions(options)),
        taken(takenOptions(options)),
        planner(graph, options, {Preparation::Torch2_13}) {}

  /// `isMade`: as of planCandidate().
  Result run(bool &isMade) {
    Candidate weighed =
        candidateOf(Preparation::Own, Strategy::MinCut, options);
    weighed.choice.bytePrice = BytePrice::ownTimes(1);
    FailureOr<DraftPlan> draft = planner.cut(weighed, options);
    if (failed(draft))
      return failure();
    bool isLarge = draft->result().view.numOps() > kFullComparisonOps;
    std::optional<PassedOver> passed;
    if (isLarge) {
      passed = timed([&] { return compareByOps(*draft); });
      planner.settle(*draft);
    }
    isMade = true;
    draft->formKernels();
    if (failed(draft->layOut())) {
      planner.drop(std::move(*draft));
      return failure();
    }
    // PyTorch's decision is of whole ops.
    bool isSplit = options.split && options.split->parts > 0;
    if (!isLarge && !isSplit && draft->result().memory)
      passed = timed([&] { return compare(*draft); });
    // The file has the network of the minimum cut.
    if (passed && failed(dumpNetworkOf(draft->result())))
      return failure();
    Result result = planner.take(std::move(*draft));
    if (failed(result))
      return failure();
    (*result)->passedOver = passed;
    (*result)->seconds.compare += seconds;
    return result;
  }

private:
  std::optional<PassedOver>
  timed(llvm::function_ref<std::optional<PassedOver>()> comparison) {
    PhaseTimer timer(seconds);
    ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
    return comparison();
  }

  /// Puts the reference decision in the place of the minimum cut if that needs
  /// more op by op: in very large graphs one of the two gets an arena.
  std::optional<PassedOver> compareByOps(DraftPlan &minCut) {
    PartitionResult &ours = minCut.result();
    if (llvm::is_contained(ours.sizes->unknown, 1))
      return std::nullopt;
    // A second graph of core ops costs as much as the plan.
    PartitionOptions wanted = taken;
    wanted.decompose = false;
    FailureOr<DraftPlan> reference =
        planner.cut(referenceDecision(wanted), wanted);
    if (failed(reference))
      return std::nullopt;
    auto peakByOps = [](const PartitionResult &result) {
      return peakBytes(std::nullopt, result.view, *result.sizes, result.halves);
    };
    PassedOver passed;
    passed.isByOps = true;
    passed.peakBytes = peakByOps(ours);
    passed.torchPeakBytes = peakByOps(reference->result());
    if (passed.torchPeakBytes >= passed.peakBytes)
      return std::nullopt;
    passed.bytePricePs = ours.bytePricePs;
    planner.drop(std::move(minCut));
    minCut = std::move(*reference);
    return passed;
  }

  /// Puts another plan in the place of the minimum cut if that needs too much.
  std::optional<PassedOver> compare(DraftPlan &minCut) {
    int64_t arena = minCut.result().memory->arenaBytes();
    FailureOr<DraftPlan> reference =
        planner.cut(referenceDecision(taken), taken);
    if (failed(reference))
      return std::nullopt;
    PartitionResult &ours = minCut.result();
    // Without a limit: what is live before launches are merged is no bound.
    std::optional<Evaluation> decision = planner.evaluate(*reference, kNoLimit);
    if (!decision || decision->peakBytes > arena ||
        (decision->peakBytes == arena && reference->result().kernelPlan->ps() >=
                                             ours.kernelPlan->ps() * kNoFaster))
      return std::nullopt;
    PassedOver passed;
    passed.peakBytes = arena;
    passed.torchPeakBytes = decision->peakBytes;
    double extraPs =
        kernelPlanner(ours)->extraPs(ours.halves, *ours.kernelPlan);
    passed.pricedPs = static_cast<int64_t>(std::max(0.0, extraPs));
    passed.bytePricePs = ours.bytePricePs;
    uint64_t ops = ours.view.numOps();
    (void)planner.isNew(minCut);
    (void)planner.isNew(*reference);
    planner.drop(std::move(minCut));
    planner.share(*reference);
    std::optional<DraftPlan> faster =
        findFaster(*decision, reference->result().kernelPlan->ps(), ops);
    if (faster)
      planner.drop(std::move(*reference));
    minCut = faster ? std::move(*faster) : std::move(*reference);
    return passed;
  }

  struct Timed {
    Candidate candidate;
    double timePs;
  };

  /// The fastest that needs no more than the reference decision and takes no
  /// more time, which is `mergedPs` with its launches merged.
  std::optional<DraftPlan> findFaster(const Evaluation &reference,
                                      double mergedPs, uint64_t ops) {
    std::vector<Candidate> corners;
    for (Preparation preparation : {Preparation::Own, Preparation::Torch2_13})
      planner.addCorners(
          preparation,
          std::clamp<uint64_t>(kTimeCornerOps / std::max<uint64_t>(1, ops), 4,
                               1000),
          corners);
    std::vector<Timed> candidates;
    for (Candidate &corner : corners) {
      FailureOr<DraftPlan> draft = planner.cut(corner, trial);
      if (failed(draft))
        continue;
      if (planner.isNew(*draft))
        if (double ps = planner.timeOf(*draft); ps <= reference.timePs)
          candidates.push_back({std::move(corner), ps});
      planner.drop(std::move(*draft));
    }
    llvm::stable_sort(candidates, [](const Timed &a, const Timed &b) {
      return a.timePs < b.timePs;
    });
    for (const Timed &timed : candidates) {
      FailureOr<DraftPlan> draft = planner.cut(timed.candidate, taken);
      if (failed(draft))
        continue;
      if (planner.evaluate(*draft, reference.peakBytes + 1) &&
          draft->result().kernelPlan->ps() <= mergedPs) {
        DraftPlan found = std::move(*draft);
        return found;
      }
      planner.drop(std::move(*draft));
    }
    return std::nullopt;
  }

  /// Solves once more for the file that was asked for.
  LogicalResult dumpNetworkOf(PartitionResult &result) {
    if (options.dumpNetwork.empty())
      return success();
    PartitionOptions dump = result.options;
    dump.dumpNetwork = options.dumpNetwork;
    PreparedGraph nothing;
    return success(succeeded(DraftPlan::make(result.decidedView().graph, dump,
                                             result.choice, nothing)));
  }

  joint::GraphOp graph;
  const PartitionOptions &options;
  PartitionOptions trial, taken;
  CandidatePlanner planner;
  double seconds = 0; ///< of comparisons
};

/// Who asks for a price of a byte or another strategy gets that.
bool isCompared(const PartitionOptions &options) {
  return options.withinTorchPeak && options.strategy == Strategy::MinCut &&
         options.costModel == CostModel::Roofline && !options.bytePrice &&
         options.emit;
}

/// A budget that no plan looks at would have no effect.
LogicalResult checkRegionBudgets(joint::GraphOp graph,
                                 const PartitionOptions &options) {
  if (options.minimize == Minimize::Time && !options.memoryLimit &&
      options.strategy == Strategy::MinCut &&
      options.costModel == CostModel::Roofline)
    return success();
  auto diag = graph.emitError(
      "a budget of a checkpoint region needs strategy "
      "min-cut, cost model roofline, no limit and no least peak");
  diag.attachNote() << "leave the budget out (--budget, or attribute `budget` "
                       "of joint.checkpoint), or the other option";
  return failure();
}

Result planAsAsked(joint::GraphOp graph, const PartitionOptions &options,
                   bool &isMade) {
  bool hasBudgets = hasRegionBudgets(graph, options);
  if (hasBudgets && failed(checkRegionBudgets(graph, options)))
    return failure();
  if (options.memoryLimit)
    return planWithinLimit(graph, options, isMade);
  if (options.minimize == Minimize::Peak)
    return planForPeak(graph, options, isMade);
  if (hasBudgets || !isCompared(options)) {
    CandidatePlanner planner(graph, options, {});
    return planCandidate(planner,
                         {PlanChoice::of(options), preparationFor(options)},
                         options, isMade);
  }
  PartitionOptions planned = options;
  if (!planned.memory)
    planned.memory.emplace();
  return TimeObjective(graph, planned).run(isMade);
}

} // namespace

namespace {
/// A plan as it was asked for, and what was said meanwhile.
struct Attempt {
  Result result = failure();
  bool isMade = false; ///< as of planCandidate()
  std::vector<Diagnostic> said;

  Attempt(joint::GraphOp graph, llvm::function_ref<Result(bool &isMade)> plan) {
    ScopedDiagnosticHandler keep(
        graph.getContext(),
        [&](Diagnostic &diagnostic) { said.push_back(std::move(diagnostic)); });
    result = plan(isMade);
  }
  std::string error() const {
    for (const Diagnostic &diagnostic : said)
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        return diagnostic.str();
    return "";
  }
};
} // namespace

Result cutback::planStep(joint::GraphOp graph,
                         const PartitionOptions &options) {
  if (std::optional<PartitionOptions> chosen = chooseParts(graph, options)) {
    Result result = planStep(graph, *chosen);
    if (succeeded(result))
      (*result)->options.split = options.split;
    return result;
  }
  Attempt first(
      graph, [&](bool &isMade) { return planAsAsked(graph, options, isMade); });
  std::optional<Attempt> other;
  std::vector<std::string> refused;
  for (Strategy strategy :
       {Strategy::Eager, Strategy::RecomputeAll, Strategy::Precompute}) {
    const Attempt &last = other ? *other : first;
    // Another strategy knows of no limit.
    if (succeeded(last.result) || !last.isMade || options.memoryLimit)
      break;
    refused.push_back(last.error());
    other.emplace(graph, [&](bool &isMade) {
      PartitionOptions own = options;
      own.costModel = CostModel::Roofline;
      CandidatePlanner planner(graph, own, {});
      return planCandidate(
          planner, candidateOf(Preparation::Own, strategy, own), own, isMade);
    });
  }
  Attempt &taken = other && succeeded(other->result) ? *other : first;
  for (Diagnostic &diagnostic : taken.said)
    graph.getContext()->getDiagEngine().emit(std::move(diagnostic));
  if (failed(taken.result))
    return failure();
  PartitionResult &result = **taken.result;
  std::optional<MemoryPlanOptions> memory = result.options.memory;
  result.options = options;
  result.options.memory = memory;
  result.refused = std::move(refused);
  return std::move(taken.result);
}

FailureOr<CopiedPlan> cutback::planCopy(joint::GraphOp graph,
                                        const PartitionOptions &options) {
  CopiedPlan plan;
  plan.module = ModuleOp::create(graph.getLoc());
  joint::GraphOp copy = graph.clone();
  plan.module->push_back(copy);
  Result result = planStep(copy, options);
  if (failed(result))
    return failure();
  plan.result = std::move(*result);
  return plan;
}
