// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns of candidates, and their measure.
//
// A price of a byte is one for all values; but what the launch at the peak
// reads or makes is live there whether it is saved or not. A second column of
// cuts therefore has no price for it. A minimum cut also saves what is smallest
// over all, while a peak is a matter of moments: regions, as a user would
// choose them from the lists of modules, save in between. Nested ones run their
// inner part twice, which no cut can say.
//
// Candidates are measured as any draft is, in halves, kernels, order and
// merged launches, but by live bytes: a layout that has more is rare, and the
// one that is taken is laid out.

#include "PlanSpace.h"

#include "cutback/Partition/Strategies.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;

/// Ops of all drafts beyond those of columns; at least so many drafts.
static constexpr uint64_t kSearchOps = 400'000, kLeastTries = 48;
/// Corners of a column; so many ops of its drafts are looked at, at most.
static constexpr unsigned kCorners = 24;
static constexpr uint64_t kColumnOps = 480'000;

/// Whether options or tags say what happens to some values, or regions do.
static bool findPolicies(joint::GraphOp graph,
                         const PartitionOptions &options) {
  if (!options.checkpoint.empty() || options.checkpointSegments > 0 ||
      !options.checkpointPolicies.empty() || !options.policies.empty())
    return true;
  WalkResult found = graph.walk([](Operation *op) {
    bool isRegion = isa<joint::CheckpointOp>(op) ||
                    op->hasAttr(joint::JointDialect::kPolicy);
    return isRegion ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

PlanSpace::PlanSpace(joint::GraphOp graph, const PartitionOptions &options)
    : graph(graph), options(options), trial(trialOptions(options)),
      isBound(findPolicies(graph, options)),
      lists(isBound ? ModuleLists() : findModuleLists(graph)),
      candidates(graph, options,
                 {Preparation::Torch2_13, Preparation::Torch2_3},
                 /*withRegions=*/!lists.patterns.empty()) {
  suggestRegions(lists);
}

/// One level each, all levels; and segments of the longest list around those.
void PlanSpace::suggestRegions(const ModuleLists &lists) {
  std::vector<std::string> all;
  for (const std::vector<std::string> &patterns : lists.patterns) {
    if (patterns.empty())
      continue;
    plain.push_back({patterns, 0, {}});
    llvm::append_range(all, patterns);
  }
  if (plain.empty())
    return;
  if (plain.size() > 1)
    nested.push_back({all, 0, {}});
  for (unsigned segments = 2; segments <= lists.longest / 2;
       segments += std::max(1u, segments / 3)) {
    nested.push_back({plain.front().modules, segments, {}});
    if (plain.size() > 1)
      nested.push_back({all, segments, {}});
  }
}

LogicalResult PlanSpace::open() {
  Candidate first = candidateOf(Preparation::Own, Strategy::MinCut, options);
  first.choice.bytePrice = BytePrice::ownTimes(1);
  FailureOr<DraftPlan> draft = candidates.cut(first, trial);
  if (failed(draft))
    return failure();
  draft->formKernels();
  LogicalResult isLaidOut = draft->layOut();
  const PartitionResult &result = draft->result();
  std::string problem = result.memoryProblem;
  if (succeeded(isLaidOut) && result.memory) {
    readGraph(result);
    markAtPeak(*result.memory, result);
    uint64_t ops = std::max<uint64_t>(1, result.view.numOps());
    uint64_t times = uint64_t(1) << (2 * (options.effort - 1));
    tries = times * (kSearchOps / ops + kLeastTries);
    stride = 1 + kCorners * ops / (times * kColumnOps);
  }
  bool hasMemory = result.memory.has_value();
  candidates.drop(std::move(*draft));
  if (failed(isLaidOut) || hasMemory)
    return isLaidOut;
  auto diagnostic = graph.emitError("its memory cannot be planned: ")
                    << problem;
  diagnostic.attachNote() << "give the sizes of all symbols (--sym NAME=SIZE)";
  return diagnostic;
}

void PlanSpace::readGraph(const PartitionResult &result) {
  const RegionRequest &regions = result.choice.regions;
  for (auto &[request, facts] : known)
    if (request == regions)
      return;
  PlanFacts &facts = known.emplace_back(regions, PlanFacts()).second;
  const GraphView &view = result.view;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    facts.names.push_back(view.name(value));
  facts.definer = view.definer;
  if (result.costs) {
    facts.savePs = result.costs->savePs;
    facts.recomputePs = result.costs->recomputePs;
  }
  facts.mayBeSaved.assign(view.numValues(), facts.savePs.empty() ? 0 : 1);
  // Regions of the search's own are suggested where there are no policies: tags
  // of a graph with them are its own.
  FailureOr<std::vector<OpPolicy>> policies = failure();
  if (regions.empty())
    policies = collectPolicies(view, options.policies);
  facts.mustBeSaved.assign(view.numOps(), 0);
  for (uint32_t op = 0; succeeded(policies) && op < view.numOps(); ++op)
    facts.mustBeSaved[op] = (*policies)[op] == OpPolicy::MustSave;
  for (uint32_t value = 0; value < view.numValues(); ++value) {
    uint32_t op = facts.definer[value];
    bool isFree = op != GraphView::kNone && !facts.savePs.empty() &&
                  facts.savePs[value] != RooflineCosts::kNever &&
                  facts.recomputePs[op] != RooflineCosts::kNever &&
                  result.sets->ops[op] == GraphSet::Forward;
    if (!isFree ||
        (succeeded(policies) && (*policies)[op] == OpPolicy::MustRecompute))
      facts.mayBeSaved[value] = 0;
  }
}

const PlanFacts &PlanSpace::facts(const RegionRequest &regions) const {
  return llvm::find_if(
             known, [&](const auto &entry) { return entry.first == regions; })
      ->second;
}

/// Values as large as the largest that begins or ends near the peak.
void PlanSpace::markAtPeak(const MemoryPlan &memory,
                           const PartitionResult &result) {
  withoutPrice.clear();
  const std::vector<uint32_t> &launchOf = memory.program.launchOf;
  uint32_t peak = launchOf[memory.peak.op];
  int64_t largest = 0;
  for (const PlannedStorage &storage : memory.storages) {
    bool isLive =
        storage.begin <= memory.peak.op && memory.peak.op < storage.end;
    if (!isLive)
      continue;
    bool isNear = launchOf[storage.begin] + 1 >= peak ||
                  launchOf[storage.end - 1] <= peak + 1;
    if (isNear && storage.use != StorageUse::Gradient &&
        storage.use != StorageUse::Outside)
      largest = std::max(largest, storage.bytes);
  }
  constexpr int64_t kSmallPart = 12; // of the peak: no reason for it
  if (largest < memory.peak.bytes / kSmallPart)
    return;
  withoutPrice.assign(result.view.numValues(), 0);
  for (uint32_t value = 0; value < result.view.numValues(); ++value) {
    int64_t bytes = result.sizes->bytes[value];
    withoutPrice[value] = bytes >= largest - largest / 10 && //
                          bytes <= 2 * largest;
  }
}

PlanColumn PlanSpace::cuts() {
  PlanColumn column;
  candidates.addPlans({}, {}, kCorners, column);
  return column;
}

PlanColumn PlanSpace::cutsBesidePeak() {
  PlanColumn column;
  if (!withoutPrice.empty())
    candidates.addPlans({}, withoutPrice, kCorners, column);
  return column;
}

PlanColumn PlanSpace::cutsWithin(const RegionRequest &regions) {
  PlanColumn column;
  candidates.addPlans(regions, {}, kCorners, column);
  Candidate own = candidateOf(Preparation::Own, Strategy::MinCut, options);
  own.choice.bytePrice = BytePrice::ownTimes(1);
  own.choice.regions = regions;
  column.insert(column.begin(), std::move(own));
  return column;
}

PlanColumn PlanSpace::others() const {
  PlanColumn column = {candidateOf(Preparation::Own, Strategy::Eager, options)};
  // These look at no policy.
  if (!isBound)
    for (Strategy strategy : {Strategy::Precompute, Strategy::RecomputeAll})
      column.push_back(candidateOf(Preparation::Own, strategy, options));
  // It is of whole ops.
  if (!options.split || options.split->parts == 0)
    column.push_back(referenceDecision(options));
  return column;
}

Candidate PlanSpace::ofPlan(Plan plan, const RegionRequest &regions) const {
  Candidate candidate =
      candidateOf(Preparation::Own, Strategy::MinCut, options);
  candidate.choice.regions = regions;
  candidate.plan = std::make_shared<const Plan>(std::move(plan));
  return candidate;
}

Candidate PlanSpace::ofNames(const std::vector<std::string> &saved) const {
  llvm::StringSet<> names;
  for (const std::string &name : saved)
    names.insert(name);
  Plan plan;
  for (const std::string &name : facts().names)
    plan.saved.push_back(names.contains(name));
  return ofPlan(std::move(plan));
}

Candidate PlanSpace::byNames(const Candidate &candidate) const {
  Candidate named = candidate;
  if (!candidate.plan)
    return named;
  named.plan = nullptr;
  std::vector<std::string> &saved = named.choice.saved.emplace();
  const PlanFacts &read = facts(candidate.choice.regions);
  for (uint32_t value = 0; value < read.names.size(); ++value)
    if (candidate.plan->saved[value])
      saved.push_back(read.names[value]);
  return named;
}

std::optional<Measured> PlanSpace::measure(const Candidate &candidate,
                                           int64_t limit) {
  FailureOr<DraftPlan> draft = candidates.cut(candidate, trial);
  if (failed(draft))
    return std::nullopt;
  const PartitionResult &result = draft->result();
  Measured measured{candidate, 0, 0};
  if (candidate.preparation == Preparation::Own && !result.given) {
    readGraph(result);
    // A plan in between two of them may recompute what both save.
    const PlanFacts &facts = this->facts(result.choice.regions);
    if (llvm::any_of(result.halves.recomputed,
                     [&](uint32_t op) { return facts.mustBeSaved[op]; })) {
      candidates.drop(std::move(*draft));
      return std::nullopt;
    }
    if (!candidate.plan)
      measured.candidate.plan = std::make_shared<const Plan>(result.plan);
  }
  std::vector<uint32_t> key = result.halves.savedTensors;
  key.push_back(GraphView::kNone);
  llvm::append_range(key, result.halves.savedSizes);
  auto [at, isNew] = seen.try_emplace(
      {draft->getGraph().getOperation(), std::move(key)}, std::nullopt);
  if (isNew) {
    ++figures.plans;
    at->second = candidates.estimate(*draft, limit);
  }
  candidates.drop(std::move(*draft));
  if (!at->second)
    return std::nullopt;
  measured.peakBytes = at->second->peakBytes;
  measured.ps = at->second->timePs;
  return measured;
}
