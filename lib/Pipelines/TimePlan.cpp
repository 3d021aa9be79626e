// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan for time, with a peak that is not above that of PyTorch's decision:
// nobody changes his partitioner to need more memory.
//
//   1. the minimum cut, with its arena
//   2. PyTorch's decision on a copy; if its forward alone needs as much, or its
//      arena is not smaller, the minimum cut stays
//   3. else minimum cuts under small prices of a byte, on the graph as we
//      prepare it and as PyTorch does, and PyTorch's decision, by the time that
//      fused kernels take; arenas are laid out from the fastest on, until one
//      is no larger than PyTorch's
//
// Each plan is a draft, made once; the one that is taken is proved and gets its
// figures. In very large graphs step 3 is PyTorch's decision, so that a million
// ops take seconds; the report says so.

#include "Internal.h"

#include "cutback/Pipelines/Runnable.h"
#include "cutback/Transforms/ReorderBackward.h"

using namespace mlir;
using namespace cutback;

using Result = FailureOr<std::unique_ptr<PartitionResult>>;

PartitionOptions cutback::torchDecision(PartitionOptions options) {
  options.costModel = CostModel::PyTorch;
  options.rules = Rules::Torch2_13;
  options.bytePricePs = 0;
  return options;
}

FailureOr<DraftPlan> cutback::prepareAndDraft(joint::GraphOp graph,
                                              const PartitionOptions &options,
                                              bool asTorch) {
  PartitionOptions prepare = options;
  if (asTorch)
    prepare.costModel = CostModel::PyTorch;
  PhaseSeconds seconds;
  auto prepared = preparePartition(graph, prepare, seconds);
  if (failed(prepared))
    return failure();
  // What PyTorch's preparation leaves behind is for its own rules.
  bool fits = prepare.costModel == options.costModel;
  if (!fits && options.decompose)
    simplifyToCoreOps(graph);
  FailureOr<DraftPlan> draft = DraftPlan::make(
      graph, options, fits ? std::move(*prepared) : PreparedGraph());
  if (succeeded(draft)) {
    draft->result().seconds.prepare += seconds.prepare;
    draft->result().isOfTorchGraph = asTorch;
  }
  return draft;
}

Result cutback::prepareAndPlan(joint::GraphOp graph,
                               const PartitionOptions &options, bool asTorch) {
  FailureOr<DraftPlan> draft = prepareAndDraft(graph, options, asTorch);
  if (failed(draft))
    return failure();
  return draft->finish();
}

namespace {

/// Picoseconds of both halves. The device was loaded to make the first plan.
double timeOf(PartitionResult &result, const Halves &halves) {
  return kernelPlanner(result)->plan(halves).ps();
}

/// The halves of a plan before its memory was looked at: a price of a plan
/// without an arena goes by these.
FailureOr<Halves> unscheduled(const PartitionResult &result) {
  FailureOr<Halves> halves = splitGraph(result.view, *result.sets, result.plan);
  if (succeeded(halves) && result.options.reorderBackward)
    improveBackwardOrder(result.view, *halves, result.sizes->bytes,
                         result.sizes->storage);
  return halves;
}

struct Candidate {
  PartitionOptions options;
  bool asTorch = false; ///< the graph is prepared as PyTorch does
  double timePs = 0;    ///< of both halves; negative if there is no such plan
  std::vector<uint32_t> saved;

  bool isAlike(const Candidate &other) const {
    return asTorch == other.asTorch && saved == other.saved;
  }
};

/// Plans of one prepared graph. What is known of the graph goes from plan to
/// plan.
class Trials {
public:
  Trials(joint::GraphOp graph, PreparedGraph known)
      : graph(graph), known(std::move(known)) {}

  /// Time and saved values, of a plan without an arena.
  void time(Candidate &candidate) {
    PartitionOptions options = candidate.options;
    options.memory.reset();
    options.figures = options.verify = options.emit = false;
    auto result = partitionGraph(graph, options, std::move(known));
    known = PreparedGraph();
    candidate.timePs = -1;
    if (failed(result))
      return;
    candidate.timePs = timeOf(**result, (*result)->halves);
    candidate.saved = std::move((*result)->halves.savedTensors);
    known = takePrepared(**result);
  }

  /// The plan, if its arena is smaller than `limit`.
  std::optional<DraftPlan> draftBelow(const PartitionOptions &options,
                                      int64_t limit) {
    FailureOr<DraftPlan> draft =
        DraftPlan::make(graph, options, std::move(known), limit);
    known = PreparedGraph();
    if (failed(draft))
      return std::nullopt;
    DraftPlan &plan = *draft;
    const std::optional<MemoryPlan> &memory = plan.result().memory;
    if (memory && memory->arenaBytes() < limit)
      return std::move(plan);
    known = plan.discard();
    return std::nullopt;
  }

private:
  joint::GraphOp graph;
  PreparedGraph known;
};

class TimePlan {
public:
  TimePlan(joint::GraphOp graph, const PartitionOptions &options)
      : graph(graph), options(options), trial(options), asRead(graph.clone()) {
    trial.dumpNetwork.clear();
  }

  Result run() {
    FailureOr<DraftPlan> minCut = prepareAndDraft(graph, options, false);
    if (failed(minCut))
      return failure();
    if (!minCut->result().memory)
      return minCut->finish();
    double seconds = 0;
    std::optional<PassedOver> passed;
    {
      PhaseTimer timer(seconds);
      ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
      passed = compare(*minCut);
    }
    // Of the plan that was taken: the name has stayed.
    if (passed && failed(dumpTaken(minCut->result().options)))
      return failure();
    Result result = minCut->finish();
    if (failed(result))
      return failure();
    (*result)->options.dumpNetwork = options.dumpNetwork;
    (*result)->passedOver = passed;
    (*result)->seconds.compare += seconds;
    return result;
  }

private:
  /// Puts another plan in the place of the minimum cut if that needs too much.
  std::optional<PassedOver> compare(DraftPlan &minCut) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(graph.getLoc());
    joint::GraphOp copy = asRead.release();
    scratch->push_back(copy);
    FailureOr<DraftPlan> torch = draftTorch(copy, minCut.result());
    if (failed(torch))
      return std::nullopt;
    PartitionResult &ours = minCut.result(), &theirs = torch->result();
    if (!theirs.memory ||
        theirs.memory->arenaBytes() >= ours.memory->arenaBytes())
      return std::nullopt;
    KernelPlanner planner = *kernelPlanner(ours);
    double extraPs = planner.extraPs(ours.halves, *ours.kernelPlan);
    PassedOver passed{ours.memory->arenaBytes(), theirs.memory->arenaBytes(),
                      static_cast<int64_t>(std::max(0.0, extraPs)),
                      ours.view.numOps() <= kFullComparisonOps};
    std::optional<DraftPlan> faster;
    if (passed.hasTriedOthers)
      faster = findFaster(passed, minCut, *torch, copy);
    else
      minCut.discard();
    if (faster)
      torch->discard();
    DraftPlan &taken = faster ? *faster : *torch;
    if (taken.getGraph() != graph) {
      taken.moveTo(graph);
      taken.result().isOfTorchGraph = true;
    }
    minCut = std::move(taken);
    return passed;
  }

  /// A plan that takes less time than PyTorch's decision and needs no more.
  /// Ends the draft of the minimum cut.
  std::optional<DraftPlan> findFaster(const PassedOver &passed,
                                      DraftPlan &minCut, DraftPlan &torch,
                                      joint::GraphOp copy) {
    PartitionResult &theirs = torch.result();
    Candidate cut{trial, false, 0, minCut.result().halves.savedTensors};
    Trials ourTrials(graph, minCut.discard());
    FailureOr<Halves> halves = unscheduled(theirs);
    if (failed(halves))
      return std::nullopt;
    Candidate decision{theirs.options, true, timeOf(theirs, *halves),
                       theirs.halves.savedTensors};
    // Our own cuts are made of core ops. Their functions stand in front of
    // those of the decision, which have the same names.
    joint::GraphOp core = copy;
    if (theirs.given) {
      OpBuilder builder(copy->getContext());
      builder.setInsertionPointAfter(copy);
      core = cast<joint::GraphOp>(builder.clone(*theirs.view.graph));
    }
    Trials theirTrials(core, copyPrepared(theirs));
    return fastestWithin(passed.torchPeakBytes, cut, decision, ourTrials,
                         theirTrials);
  }

  FailureOr<DraftPlan> draftTorch(joint::GraphOp copy,
                                  const PartitionResult &minCut) {
    PartitionOptions torch = torchDecision(trial);
    PhaseSeconds seconds;
    FailureOr<PreparedGraph> prepared = preparePartition(copy, torch, seconds);
    if (failed(prepared))
      return failure();
    return DraftPlan::make(copy, torch, std::move(*prepared),
                           minCut.memory->arenaBytes());
  }

  /// The fastest that needs no more than `peakBytes`, if it is faster than
  /// PyTorch's decision.
  std::optional<DraftPlan> fastestWithin(int64_t peakBytes,
                                         const Candidate &minCut,
                                         const Candidate &torch, Trials &ours,
                                         Trials &theirs) {
    std::vector<Candidate> candidates;
    for (double price : {0.0, 0.1, 0.3, 1.0})
      for (bool asTorch : {false, true}) {
        if (price == 0 && !asTorch)
          continue; // the minimum cut itself
        candidates.push_back({trial, asTorch, 0, {}});
        candidates.back().options.bytePricePs = price;
        (asTorch ? theirs : ours).time(candidates.back());
      }
    llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
      return a.timePs < b.timePs;
    });
    std::vector<const Candidate *> tried = {&minCut};
    for (const Candidate &candidate : candidates) {
      if (candidate.timePs > torch.timePs || candidate.isAlike(torch))
        break;
      if (candidate.timePs < 0 || llvm::any_of(
                                      tried,
                                      [&](const Candidate *other) {
                                        return candidate.isAlike(*other);
                                      }))
        continue;
      Trials &trials = candidate.asTorch ? theirs : ours;
      if (auto draft = trials.draftBelow(candidate.options, peakBytes + 1))
        return draft;
      tried.push_back(&candidate);
    }
    return std::nullopt;
  }

  /// The file of the network holds that of the minimum cut, which was not
  /// taken.
  LogicalResult dumpTaken(PartitionOptions taken) {
    if (options.dumpNetwork.empty())
      return success();
    taken.dumpNetwork = options.dumpNetwork;
    taken.memory.reset();
    taken.emit = taken.figures = taken.verify = false;
    return success(succeeded(partitionGraph(graph, taken)));
  }

  joint::GraphOp graph;
  const PartitionOptions &options;
  PartitionOptions trial; ///< the same, of plans that may be thrown away
  OwningOpRef<joint::GraphOp> asRead;
};

/// Who asks for a price of a byte or another strategy gets that.
bool isCompared(const PartitionOptions &options) {
  return options.withinTorchPeak && options.strategy == Strategy::MinCut &&
         options.costModel == CostModel::Roofline && options.bytePricePs == 0 &&
         options.emit;
}

} // namespace

Result cutback::planForTime(joint::GraphOp graph,
                            const PartitionOptions &options) {
  if (!isCompared(options))
    return prepareAndPlan(graph, options, false);
  PartitionOptions planned = options;
  if (!planned.memory)
    planned.memory.emplace();
  return TimePlan(graph, planned).run();
}
