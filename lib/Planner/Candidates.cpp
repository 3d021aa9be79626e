// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates and their evaluation. A candidate is a choice and a preparation of
// the graph; it becomes a draft in steps, and an objective goes on with it only
// as far as it may still win:
//
//   cut        what is saved; the same saved values are not planned twice
//   kernels    the time of the plan
//   arena      its peak; not where the forward alone is above a limit
//
// Numbers, sizes, sets, costs and the problem of forming kernels depend on the
// prepared graph alone, and go from draft to draft.

#include "Candidates.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Planner/PriceSweep.h"
#include "cutback/Planner/Runnable.h"

using namespace mlir;
using namespace cutback;

Preparation cutback::preparationFor(const PartitionOptions &options) {
  if (options.costModel == CostModel::Roofline)
    return Preparation::Own;
  return options.rules == Rules::Torch2_13 ? Preparation::Torch2_13
                                           : Preparation::Torch2_3;
}

Candidate cutback::candidateOf(Preparation preparation, Strategy strategy,
                               const PartitionOptions &options) {
  PlanChoice choice;
  choice.strategy = strategy;
  choice.costModel = preparation == Preparation::Own ? CostModel::Roofline
                                                     : CostModel::PyTorch;
  choice.rules = preparation == Preparation::Own        ? options.rules
                 : preparation == Preparation::Torch2_3 ? Rules::Torch2_3
                                                        : Rules::Torch2_13;
  return {std::move(choice), preparation};
}

PartitionOptions cutback::takenOptions(PartitionOptions asked) {
  asked.dumpNetwork.clear();
  if (!asked.memory)
    asked.memory.emplace();
  return asked;
}

PartitionOptions cutback::trialOptions(const PartitionOptions &asked) {
  PartitionOptions options = takenOptions(asked);
  options.figures = options.verify = false;
  options.emit = true;
  return options;
}

Candidate cutback::referenceDecision(const PartitionOptions &options) {
  return candidateOf(Preparation::Torch2_13, Strategy::MinCut, options);
}

CandidatePlanner::CandidatePlanner(joint::GraphOp graph,
                                   const PartitionOptions &asked,
                                   ArrayRef<Preparation> others,
                                   bool withRegions)
    : asked(asked), scratch(ModuleOp::create(graph.getLoc())) {
  auto copy = [&] {
    joint::GraphOp copied = copyGraph(graph);
    scratch->push_back(copied);
    return copied;
  };
  graphs.emplace_back();
  graphs.back().preparation = preparationFor(asked);
  graphs.back().graph = graph;
  for (Preparation other : others) {
    graphs.emplace_back();
    graphs.back().preparation = other;
    graphs.back().graph = copy();
  }
  if (withRegions)
    asRead = copy();
}

PartitionOptions
CandidatePlanner::optionsFor(Preparation preparation,
                             const RegionRequest &regions) const {
  PartitionOptions options = asked;
  Candidate candidate = candidateOf(preparation, options.strategy, options);
  options.costModel = candidate.choice.costModel;
  options.rules = candidate.choice.rules;
  if (!regions.empty()) {
    options.checkpoint = regions.modules;
    options.checkpointSegments = regions.segments;
  }
  return options;
}

FailureOr<CandidatePlanner::Prepared *>
CandidatePlanner::prepare(Preparation preparation, CostModel costModel,
                          const RegionRequest &regions) {
  auto isOf = [&](bool isCore) {
    return [=, &regions](const Prepared &prepared) {
      return prepared.preparation == preparation && prepared.isCore == isCore &&
             prepared.regions == regions;
    };
  };
  auto at = llvm::find_if(graphs, isOf(false));
  if (at == graphs.end()) {
    Prepared &added = graphs.emplace_back();
    added.preparation = preparation;
    added.regions = regions;
    added.graph = copyGraph(asRead);
    scratch->push_back(added.graph);
    at = std::prev(graphs.end());
  }
  Prepared &prepared = *at;
  if (!prepared.isDone) {
    PhaseSeconds seconds;
    FailureOr<PreparedGraph> known = preparePartition(
        prepared.graph, optionsFor(preparation, regions), seconds);
    if (failed(known))
      return failure();
    prepared.known = std::move(*known);
    prepared.seconds = seconds.prepare;
    prepared.isDone = true;
  }
  if (preparation == Preparation::Own || costModel == CostModel::PyTorch)
    return &prepared;
  if (auto core = llvm::find_if(graphs, isOf(true)); core != graphs.end())
    return &*core;
  Prepared core;
  core.preparation = preparation;
  core.isCore = core.isDone = true;
  {
    PhaseTimer timer(core.seconds);
    // Functions of its plans stand in front of those of the other graph's,
    // which have the same names.
    OpBuilder builder(prepared.graph->getContext());
    builder.setInsertionPointAfter(prepared.graph);
    core.graph = copyGraph(prepared.graph);
    builder.insert(core.graph);
    if (asked.decompose)
      simplifyToCoreOps(core.graph);
    if (asked.split) {
      GraphView view = GraphView::build(core.graph);
      core.known.whole = splitForPlan(view, asked);
    }
  }
  core.seconds += prepared.seconds;
  return &graphs.emplace_back(std::move(core));
}

CandidatePlanner::Prepared &CandidatePlanner::of(DraftPlan &draft) {
  return *llvm::find_if(graphs, [&](const Prepared &prepared) {
    return prepared.graph == draft.getGraph();
  });
}

FailureOr<DraftPlan> CandidatePlanner::cut(const Candidate &candidate,
                                           const PartitionOptions &options) {
  FailureOr<Prepared *> prepared =
      prepare(candidate.preparation, candidate.choice.costModel,
              candidate.choice.regions);
  if (failed(prepared))
    return failure();
  PreparedGraph &known = (*prepared)->known;
  FailureOr<DraftPlan> draft =
      DraftPlan::make((*prepared)->graph, options, candidate.choice, known,
                      candidate.plan.get());
  if (failed(draft))
    return failure();
  PartitionResult &result = draft->result();
  result.seconds.prepare += (*prepared)->seconds;
  result.isOfTorchGraph = candidate.preparation != graphs.front().preparation;
  return draft;
}

void CandidatePlanner::drop(DraftPlan draft) {
  Prepared &prepared = of(draft);
  prepared.known = draft.discard();
}

void CandidatePlanner::share(DraftPlan &draft) {
  of(draft).known = copyPrepared(draft.result());
}

void CandidatePlanner::settle(DraftPlan &draft) {
  Prepared &callers = graphs.front();
  if (draft.getGraph() != callers.graph)
    draft.moveTo(callers.graph);
  callers.known = PreparedGraph();
  while (graphs.size() > 1) {
    graphs.back().graph->erase();
    graphs.pop_back();
  }
}

bool CandidatePlanner::isNew(DraftPlan &draft) {
  const Halves &halves = draft.result().halves;
  std::vector<uint32_t> saved = halves.savedSizes;
  saved.push_back(GraphView::kNone);
  llvm::append_range(saved, halves.savedTensors);
  return of(draft).seen.insert(std::move(saved)).second;
}

double CandidatePlanner::timeOf(DraftPlan &draft) {
  const std::optional<KernelPlan> &kernels = draft.result().kernelPlan;
  if (!kernels)
    draft.formKernels();
  return kernels ? kernels->apartPs() : 0;
}

std::optional<Evaluation> CandidatePlanner::evaluate(DraftPlan &draft,
                                                     int64_t limit) {
  double timePs = timeOf(draft);
  if (failed(draft.layOut(limit)))
    return std::nullopt;
  const PartitionResult &result = draft.result();
  if (!result.memory && result.memoryProblem.empty())
    return std::nullopt;
  int64_t peak =
      peakBytes(result.memory, result.view, *result.sizes, result.halves);
  if (peak >= limit)
    return std::nullopt;
  return Evaluation{peak, timePs};
}

bool CandidatePlanner::addCorners(Preparation preparation, unsigned limit,
                                  std::vector<Candidate> &candidates) {
  FailureOr<Prepared *> prepared = prepare(preparation, CostModel::Roofline);
  if (failed(prepared))
    return true;
  Candidate corner = candidateOf(Preparation::Own, Strategy::MinCut, asked);
  corner.preparation = preparation;
  auto front = sweepBytePrice((*prepared)->graph, asked, {limit, 4 * limit});
  if (failed(front))
    return true;
  for (const PricePoint &point : front->corners) {
    corner.choice.bytePrice = point.bytePricePs;
    candidates.push_back(corner);
  }
  return front->isWhole;
}

bool CandidatePlanner::addPlans(const RegionRequest &regions,
                                const std::vector<uint8_t> &withoutPrice,
                                unsigned limit,
                                std::vector<Candidate> &candidates) {
  FailureOr<Prepared *> prepared =
      prepare(Preparation::Own, CostModel::Roofline, regions);
  if (failed(prepared))
    return true;
  PriceSweepOptions sweep{limit, 4 * limit, withoutPrice, true};
  auto front = sweepBytePrice((*prepared)->graph, asked, sweep);
  if (failed(front))
    return true;
  for (PricePoint &point : front->corners) {
    Candidate &corner = candidates.emplace_back(
        candidateOf(Preparation::Own, Strategy::MinCut, asked));
    corner.choice.regions = regions;
    corner.plan = std::move(point.plan);
  }
  return front->isWhole;
}

std::optional<Evaluation> CandidatePlanner::estimate(DraftPlan &draft,
                                                     int64_t limit) {
  draft.formKernels();
  auto bytes = draft.liveBytes(limit);
  if (failed(bytes) || !*bytes)
    return std::nullopt;
  PartitionResult &result = draft.result();
  if (!result.kernelPlan)
    return Evaluation{**bytes, 0};
  return Evaluation{**bytes, kernelPlanner(result)->extraPs(
                                 result.halves, *result.kernelPlan)};
}

FailureOr<std::unique_ptr<PartitionResult>>
CandidatePlanner::take(DraftPlan draft) {
  settle(draft);
  auto result = draft.finish();
  if (failed(result))
    (void)draft.discard();
  return result;
}

static FailureOr<std::unique_ptr<PartitionResult>>
layOutAndTake(CandidatePlanner &planner, DraftPlan draft) {
  if (succeeded(draft.layOut()))
    return planner.take(std::move(draft));
  planner.drop(std::move(draft));
  return failure();
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::planCandidate(CandidatePlanner &planner, const Candidate &candidate,
                       const PartitionOptions &options, bool &isMade) {
  FailureOr<DraftPlan> draft = planner.cut(candidate, options);
  if (failed(draft))
    return failure();
  isMade = true;
  draft->formKernels();
  return layOutAndTake(planner, std::move(*draft));
}
