// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan with the least peak.
//
// The minimum cut minimizes time, and time is what saved bytes cost; a peak is
// something else: what is recomputed has to be somewhere too, and what is saved
// may be where it is in the way of nothing. So all candidates are planned and
// their arenas compared, regions that modules suggest among them. Most are
// given up early: their forward alone needs more than the best arena so far.
// From the best of them the search goes on value by value. Of the plan that it
// ends with what is recomputed is saved after all where that needs no more
// (LimitSearch).

#include "PlanSpace.h"

using namespace mlir;
using namespace cutback;

using Result = FailureOr<std::unique_ptr<PartitionResult>>;

/// Ops of all plans at the corners of one prepared graph: a bound on what a
/// comparison costs, which depends on the graph alone.
static constexpr uint64_t kPeakCornerOps = 4'000'000;
/// The same of plans that recompute a value more, and values tried at a time.
static constexpr uint64_t kPeakValueOps = 100'000;
static constexpr unsigned kValuesAtPeak = 16;
/// Trials are compared by live bytes: their layouts need no search.
static constexpr uint64_t kTrialLayoutWork = 0;
/// Plans that are laid out in the end.
static constexpr size_t kLayouts = 8;

namespace {

class PeakSearch {
public:
  PeakSearch(joint::GraphOp graph, const PartitionOptions &options)
      : options(options), trial(trialOptions(options)), space(graph, options),
        planner(space.planner()), context(graph.getContext()),
        ops(graph.getBody().front().getOperations().size()) {
    trial.memory->arena.work =
        std::min(trial.memory->arena.work, kTrialLayoutWork);
  }

  /// `isMade`: as of planCandidate().
  Result run(bool &isMade) {
    std::vector<Measured> faster;
    {
      PhaseTimer timer(seconds);
      // A candidate that is not possible is passed over.
      ScopedDiagnosticHandler silence(context, [](Diagnostic &) {});
      bool isOpen = succeeded(space.open());
      addCandidates();
      if (isOpen)
        addSuggested();
      for (const Candidate &candidate : candidates)
        consider(candidate, best);
      if (best) {
        improve();
        layOutLast();
      }
      // The file is of a network that is solved.
      if (best && isOpen && options.dumpNetwork.empty())
        faster = plansWithin(space, best->candidate, best->found.peakBytes);
    }
    PartitionOptions last = takenOptions(options);
    last.dumpNetwork = options.dumpNetwork;
    Result result = failure();
    if (!faster.empty())
      result = takeFirst(space, faster, last, best->found.peakBytes, isMade);
    if (failed(result) && !isMade)
      result = planCandidate(
          planner,
          best ? best->candidate
               : Candidate{PlanChoice::of(options), Preparation::Own},
          last, isMade);
    if (failed(result))
      return failure();
    (*result)->search = space.figures;
    (*result)->seconds.compare += seconds;
    return result;
  }

private:
  void addCandidates() {
    tries = (kPeakValueOps << (2 * (options.effort - 1))) /
            std::max<uint64_t>(1, ops);
    for (Preparation preparation : {Preparation::Own, Preparation::Torch2_13}) {
      std::vector<Candidate> found;
      space.figures.isWhole &=
          planner.addCorners(preparation, corners(), found);
      addInStrides(found);
    }
    for (Preparation preparation :
         {Preparation::Torch2_13, Preparation::Torch2_3, Preparation::Own})
      for (Strategy strategy : {Strategy::MinCut, Strategy::Eager,
                                Strategy::Precompute, Strategy::RecomputeAll}) {
        // Those that look at no policy of the command line are not asked for.
        bool looks =
            strategy == Strategy::MinCut || strategy == Strategy::Eager;
        if (looks || !space.hasPolicies())
          candidates.push_back(candidateOf(preparation, strategy, options));
      }
  }

  unsigned corners() const {
    return std::clamp<uint64_t>(kPeakCornerOps / std::max<uint64_t>(1, ops), 4,
                                1000);
  }

  /// What modules suggest, and cuts without a price for what is at the peak.
  void addSuggested() {
    llvm::append_range(candidates, space.cutsBesidePeak());
    for (const std::vector<RegionRequest> *requests :
         {&space.plainRegions(), &space.nestedRegions()})
      for (const RegionRequest &regions : *requests)
        llvm::append_range(candidates, space.cutsWithin(regions));
  }

  /// Every 16th, then those in the middle between them, and so on: an arena
  /// that is nearly the least early on spares most of the work at its
  /// neighbours.
  void addInStrides(const std::vector<Candidate> &corners) {
    for (size_t stride = 16; stride > 0; stride /= 2)
      for (size_t i = 0; i < corners.size(); i += stride)
        if (stride == 16 || i % (2 * stride) != 0)
          candidates.push_back(corners[i]);
  }

  /// A candidate that was evaluated.
  struct Evaluated {
    Candidate candidate;
    Evaluation found;
    std::vector<std::string> saved; ///< at the peak, the largest first
  };

  /// Of a draft that has its cut; `limit` where it is that much or more.
  static int64_t liveBytes(DraftPlan &draft, int64_t limit) {
    if (failed(draft.layOut(limit)))
      return limit;
    const PartitionResult &result = draft.result();
    if (result.memory)
      return result.memory->lowerBound();
    return result.memoryProblem.empty()
               ? limit
               : peakBytes(std::nullopt, result.view, *result.sizes,
                           result.halves);
  }

  /// Puts the candidate in the place of `least` if it is better.
  void consider(const Candidate &candidate, std::optional<Evaluated> &least,
                bool isStart = false) {
    FailureOr<DraftPlan> draft = planner.cut(candidate, trial);
    if (failed(draft))
      return;
    if (planner.isNew(*draft) || isStart) {
      space.figures.plans += !isStart;
      double timePs = planner.timeOf(*draft);
      // Of equal arenas the one that takes less time.
      int64_t limit =
          !least ? kNoLimit
                 : least->found.peakBytes + (timePs < least->found.timePs);
      int64_t bytes = liveBytes(*draft, limit);
      if (bytes < limit) {
        least = {candidate, {bytes, timePs}, {}};
        if (const auto &memory = draft->result().memory)
          least->saved = savedAtPeak(*memory);
        finalists.push_back(*least);
      }
    }
    planner.drop(std::move(*draft));
  }

  /// A price of a byte is one for all values. So what is saved at the peak is
  /// recomputed value by value as long as that lowers the peak: from the best
  /// candidate on, and from the other cuts, the first ones first.
  void improve() {
    descend(best->candidate);
    for (const Candidate &start : candidates)
      if (tries > 0 && start.choice.strategy == Strategy::MinCut)
        descend(start);
  }

  void descend(const Candidate &start) {
    if (start.plan)
      return; // a cut that is not solved again
    std::optional<Evaluated> now;
    consider(start, now, /*isStart=*/true);
    for (bool isBetter = now.has_value(); isBetter;) {
      int64_t before = now->found.peakBytes;
      for (const Candidate &next : neighbours(*now))
        if (tries > 0) {
          --tries;
          consider(next, now);
        }
      isBetter = tries > 0 && now->found.peakBytes < before;
    }
    if (now && now->found.peakBytes < best->found.peakBytes)
      best = std::move(now);
  }

  /// Candidates that recompute one value more, of those that are saved at the
  /// peak, or one less of those that were chosen before.
  std::vector<Candidate> neighbours(const Evaluated &from) const {
    std::vector<Candidate> next;
    const std::vector<std::string> &chosen = from.candidate.choice.recompute;
    for (const std::string &name : from.saved) {
      auto at = llvm::lower_bound(chosen, name);
      bool isChosen = at != chosen.end() && *at == name;
      if (isChosen || options.policies.contains(name) ||
          next.size() >= kValuesAtPeak)
        continue;
      std::vector<std::string> &more =
          next.emplace_back(from.candidate).choice.recompute;
      more.insert(more.begin() + (at - chosen.begin()), name);
    }
    for (size_t i = 0; i < chosen.size(); ++i) {
      std::vector<std::string> &fewer =
          next.emplace_back(from.candidate).choice.recompute;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    }
    return next;
  }

  /// Of those with the least live bytes the one with the least arena.
  void layOutLast() {
    llvm::stable_sort(finalists, [](const Evaluated &a, const Evaluated &b) {
      return std::pair(a.found.peakBytes, a.found.timePs) <
             std::pair(b.found.peakBytes, b.found.timePs);
    });
    if (finalists.size() > kLayouts)
      finalists.resize(kLayouts);
    trial.memory = takenOptions(options).memory;
    best.reset();
    for (const Evaluated &next : finalists) {
      if (best && next.found.peakBytes >= best->found.peakBytes)
        return;
      FailureOr<DraftPlan> draft = planner.cut(next.candidate, trial);
      if (failed(draft))
        continue;
      int64_t limit = best ? best->found.peakBytes : kNoLimit;
      if (auto found = planner.evaluate(*draft, limit))
        best = {next.candidate, *found, {}};
      planner.drop(std::move(*draft));
    }
  }

  const PartitionOptions &options;
  PartitionOptions trial;
  PlanSpace space;
  CandidatePlanner &planner;
  MLIRContext *context;
  uint64_t ops; ///< of the graph as it is given
  std::vector<Candidate> candidates;
  std::optional<Evaluated> best;
  std::vector<Evaluated> finalists; ///< each the least when it was found
  uint64_t tries = 0;               ///< plans that `improve` may make
  double seconds = 0;
};

} // namespace

Result cutback::planForPeak(joint::GraphOp graph,
                            const PartitionOptions &options, bool &isMade) {
  return PeakSearch(graph, options).run(isMade);
}
