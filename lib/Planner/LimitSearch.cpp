// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fastest plan whose arena is within a limit.
//
// 1. Columns (PlanSpace), whose plans take longer from one to the next; neither
//    end needs least. Nested regions only where regions of one level need too
//    much: they run more.
// 2. Edge walk. Two plans of one graph, a fast one that is too large and one
//    within the limit, differ in many values. A plan between them follows one
//    up to a place in the program and the other from there on; the place is
//    found by bisection. Of a list of modules that is: n of them are regions.
// 3. Give back. What is recomputed is saved after all, the most expensive
//    first, in groups and then one by one, as long as the limit allows.
// 4. The fastest that are within the limit by live bytes are laid out, until
//    one has an arena within it.

#include "PlanSpace.h"

#include "cutback/Support/Text.h"

using namespace mlir;
using namespace cutback;

using Result = FailureOr<std::unique_ptr<PartitionResult>>;

/// Plans on either side from which edges are walked.
static constexpr size_t kEdges = 3;
/// Values that differ are not told apart below this part of them.
static constexpr size_t kSteps = 64;
/// Plans that are laid out at most.
static constexpr size_t kLayouts = 16;

namespace {

class LimitSearch {
public:
  LimitSearch(PlanSpace &space, int64_t limit) : space(space), limit(limit) {}

  void run() {
    takeColumn(space.cuts());
    takeColumn(space.cutsBesidePeak());
    for (const Candidate &candidate : space.others())
      consider(candidate);
    bool isWithin = space.plainRegions().empty();
    for (const RegionRequest &regions : space.plainRegions())
      isWithin |= takeRegions(regions);
    if (!isWithin || within.empty())
      for (const RegionRequest &regions : space.nestedRegions())
        takeColumn(space.cutsWithin(regions));
    walkEdges();
    giveBack();
  }

  /// From a plan within the limit on.
  void improve(const Candidate &start) {
    if (consider(start))
      giveBack();
  }

  /// Within the limit by live bytes, the fastest first.
  std::vector<Measured> found() const {
    std::vector<Measured> plans = within;
    llvm::stable_sort(plans, isBetter);
    return plans;
  }

private:
  static bool isBetter(const Measured &a, const Measured &b) {
    return std::pair(a.ps, a.peakBytes) < std::pair(b.ps, b.peakBytes);
  }

  const Measured *best() const {
    auto at = llvm::min_element(within, isBetter);
    return at == within.end() ? nullptr : &*at;
  }

  /// Whether it is within the limit.
  bool consider(const Candidate &candidate) {
    std::optional<Measured> measured = space.measure(candidate, limit + 1);
    if (!measured)
      return false;
    bool isWithin = measured->peakBytes <= limit;
    (isWithin ? within : large).push_back(std::move(*measured));
    return isWithin;
  }

  //===--- Columns --------------------------------------------------------===//

  /// Whether a plan of it is within the limit. Neither end needs least: at the
  /// high prices all is recomputed at one moment. So all are measured, in large
  /// graphs some, and then those around the best of them.
  bool takeColumn(const PlanColumn &column) {
    size_t stride = space.columnStride();
    space.figures.isWhole &= stride == 1;
    std::optional<size_t> first;
    for (size_t i = 0; i < column.size(); i += stride)
      if (consider(column[i]) && !first)
        first = i;
    if (first && stride > 1)
      for (size_t i = *first - std::min(*first, stride - 1); i < *first; ++i)
        consider(column[i]);
    return first.has_value();
  }

  /// The same plan without regions is one from which an edge leads to others.
  bool takeRegions(const RegionRequest &regions) {
    size_t before = within.size();
    bool isWithin = takeColumn(space.cutsWithin(regions));
    const Measured *fastest = nullptr;
    for (const Measured &plan : ArrayRef(within).drop_front(before))
      if (!fastest || isBetter(plan, *fastest))
        fastest = &plan;
    if (fastest) {
      Candidate named = space.byNames(fastest->candidate);
      consider(space.ofNames(*named.choice.saved));
    }
    return isWithin;
  }

  //===--- Edges ----------------------------------------------------------===//

  static bool areOfOneGraph(const Measured &a, const Measured &b) {
    return a.candidate.plan && b.candidate.plan &&
           a.candidate.choice.regions == b.candidate.choice.regions;
  }

  /// From the best plans within the limit to those that are little faster.
  void walkEdges() {
    std::vector<Measured> ends = found(), starts = large;
    llvm::stable_sort(starts, [](const Measured &a, const Measured &b) {
      return isBetter(b, a);
    });
    size_t numEnds = 0;
    for (const Measured &end : ends) {
      size_t numStarts = 0;
      for (const Measured &start : starts) {
        if (start.ps >= end.ps || !areOfOneGraph(start, end) ||
            numStarts == kEdges)
          continue;
        ++numStarts;
        for (bool isFromEnd : {false, true})
          walk(*start.candidate.plan, *end.candidate.plan,
               end.candidate.choice.regions, isFromEnd);
      }
      if (numStarts > 0 && ++numEnds == kEdges)
        return;
    }
  }

  /// As `fast` says for the first values that differ (or the last), as `small`
  /// for the others: as many as the limit allows.
  void walk(const Plan &fast, const Plan &small, const RegionRequest &regions,
            bool isFromEnd) {
    std::vector<uint32_t> differ;
    for (uint32_t value = 0; value < fast.saved.size(); ++value)
      if (fast.saved[value] != small.saved[value])
        differ.push_back(value);
    if (isFromEnd)
      std::reverse(differ.begin(), differ.end());
    size_t low = 0, high = differ.size();
    while (high - low > std::max<size_t>(1, differ.size() / kSteps) &&
           space.spend()) {
      size_t middle = (low + high) / 2;
      Plan plan;
      plan.saved = small.saved;
      for (uint32_t value : ArrayRef(differ).take_front(middle))
        plan.saved[value] = fast.saved[value];
      (consider(space.ofPlan(std::move(plan), regions)) ? low : high) = middle;
    }
  }

  //===--- Give back ------------------------------------------------------===//

  void giveBack() {
    const Measured *start = best();
    if (!start || !start->candidate.plan)
      return;
    const RegionRequest regions = start->candidate.choice.regions;
    const PlanFacts &facts = space.facts(regions);
    Plan now = *start->candidate.plan;
    std::vector<std::pair<int64_t, uint32_t>> gains;
    for (uint32_t value = 0; value < now.saved.size(); ++value) {
      if (now.saved[value] || !facts.mayBeSaved[value])
        continue;
      int64_t gain =
          facts.recomputePs[facts.definer[value]] - facts.savePs[value];
      if (gain > 0)
        gains.emplace_back(-gain, value);
    }
    llvm::sort(gains);
    size_t group = std::max<size_t>(1, gains.size() / 8);
    for (size_t i = 0; i < gains.size(); i += group)
      save(ArrayRef(gains).slice(i, std::min(group, gains.size() - i)), now,
           regions);
  }

  /// All of them, or those of them that fit alone.
  void save(ArrayRef<std::pair<int64_t, uint32_t>> gains, Plan &now,
            const RegionRequest &regions) {
    if (!space.spend())
      return;
    Plan next;
    next.saved = now.saved;
    for (auto [gain, value] : gains)
      next.saved[value] = 1;
    double before = best()->ps;
    if (consider(space.ofPlan(next, regions)) && best()->ps < before) {
      now = std::move(next);
      return;
    }
    if (gains.size() == 1)
      return;
    save(gains.take_front(gains.size() / 2), now, regions);
    save(gains.drop_front(gains.size() / 2), now, regions);
  }

  PlanSpace &space;
  int64_t limit; ///< bytes
  std::vector<Measured> within, large;
};

} // namespace

/// The limit in bytes, of a share that of the arena of saving everything.
static FailureOr<int64_t> limitOf(PlanSpace &space,
                                  const PartitionOptions &options) {
  if (!options.memoryLimit->ofEager)
    return options.memoryLimit->bytes;
  std::optional<Measured> eager =
      space.measure(candidateOf(Preparation::Own, Strategy::Eager, options));
  if (!eager)
    return failure();
  return static_cast<int64_t>(*options.memoryLimit->ofEager *
                              static_cast<double>(eager->peakBytes));
}

std::vector<Measured>
cutback::plansWithin(PlanSpace &space, const Candidate &start, int64_t limit) {
  LimitSearch search(space, limit);
  search.improve(start);
  return search.found();
}

Result cutback::takeFirst(PlanSpace &space, const std::vector<Measured> &plans,
                          const PartitionOptions &options, int64_t limit,
                          bool &isMade) {
  for (const Measured &plan : ArrayRef(plans).take_front(kLayouts)) {
    FailureOr<DraftPlan> draft =
        space.planner().cut(space.byNames(plan.candidate), options);
    if (failed(draft))
      continue;
    draft->formKernels();
    bool isWithin = succeeded(draft->layOut()) && draft->result().memory &&
                    draft->result().memory->arenaBytes() <= limit;
    if (isWithin) {
      isMade = true;
      return space.planner().take(std::move(*draft));
    }
    space.planner().drop(std::move(*draft));
  }
  return failure();
}

/// Searches; the plan is null if none was found.
static Result search(joint::GraphOp graph, const PartitionOptions &options,
                     int64_t &limit, bool &isMade) {
  double seconds = 0;
  PlanSpace space(graph, options);
  std::vector<Measured> plans;
  {
    PhaseTimer timer(seconds);
    if (failed(space.open()))
      return failure();
    FailureOr<int64_t> bytes = limitOf(space, options);
    if (failed(bytes))
      return failure();
    limit = *bytes;
    ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
    LimitSearch search(space, limit);
    search.run();
    plans = search.found();
  }
  Result result = takeFirst(space, plans, takenOptions(options), limit, isMade);
  if (failed(result) && !isMade)
    return Result(nullptr);
  if (failed(result))
    return failure();
  (*result)->search = space.figures;
  (*result)->seconds.compare += seconds;
  return result;
}

/// Says that there is no plan, or why there can be none; `least` is the least
/// peak that was found.
static LogicalResult refuse(joint::GraphOp graph,
                            const std::optional<PlanBounds> &bounds,
                            int64_t limit, int64_t least) {
  bool isProof = bounds && limit < bounds->peakBytes;
  auto diagnostic = graph.emitError(isProof ? "no plan fits within "
                                            : "no plan was found within ")
                    << formatBytes(limit);
  if (isProof) {
    diagnostic << ": none has a peak below " << formatBytes(bounds->peakBytes);
    for (const PlanBounds::Value &value : bounds->atPeak)
      diagnostic.attachNote()
          << "in memory then, whatever is saved: '" << value.name << "', "
          << formatBytes(value.bytes)
          << (value.location.empty() ? "" : ", at " + value.location);
  }
  diagnostic.attachNote() << "the least peak that was found is "
                          << formatBytes(least);
  return failure();
}

Result cutback::planWithinLimit(joint::GraphOp graph,
                                const PartitionOptions &options, bool &isMade) {
  OwningOpRef<joint::GraphOp> asRead = graph.clone();
  int64_t limit = 0;
  Result result = search(graph, options, limit, isMade);
  if (succeeded(result) && !*result) {
    // Nothing is in the way of the least peak but time.
    graph->setAttrs((*asRead)->getAttrDictionary());
    graph->getRegion(0).takeBody((*asRead)->getRegion(0));
    result = planForPeak(graph, options, isMade);
  }
  if (failed(result))
    return failure();
  int64_t bytes = (*result)->memory ? (*result)->memory->arenaBytes() : 0;
  if ((*result)->memory && bytes <= limit) {
    (*result)->search->limitBytes = limit;
    if ((*result)->bounds)
      (*result)->bounds = findBounds(**result, limit);
    return result;
  }
  std::optional<PlanBounds> bounds = findBounds(**result, limit);
  erasePartition((*result)->partition);
  isMade = false;
  return refuse(graph, bounds, limit, bytes);
}
