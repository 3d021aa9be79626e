// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lower bounds of the makespan.
//
// Of one micro-batch alone it is known when each F can begin at the earliest,
// and when each gradient can have arrived: longest paths over crossings. From
// that, for each rank:
//
// 1. Before its first F it is idle: its work comes after that time.
// 2. Before its first gradient it can do nothing but F, and of these no more
//    than memory has slots for: the rest of its work comes after.
// 3. A slot is held from F until the gradient came back through all later
//    stages. Bytes times times of all slots must fit into the memory of the
//    rank times the makespan.
//
// A backward is as cheap as it can be: B, or I and W. Transfers of different
// micro-batches do not delay each other here. Linear, but for 3, which is
// stages times crossings.

#include "cutback/Schedule/Bound.h"

#include "Parts.h"

#include "cutback/Support/Text.h"

#include <algorithm>

namespace cutback::pipeline {

Problem problemOf(const Schedule &schedule, const Costs &costs) {
  Problem problem;
  problem.ranks = schedule.ranks;
  problem.microBatches = schedule.microBatches;
  problem.rankOfStage = schedule.rankOfStage;
  problem.isForwardOnly = !schedule.hasBackward();
  problem.costs = costs;
  return problem;
}

static int64_t leastArena(const StageCosts &stage, bool isForwardOnly) {
  auto arena = [&](ActionKind kind) {
    return stage.arena[static_cast<size_t>(kind)];
  };
  int64_t forward = arena(ActionKind::Forward);
  if (isForwardOnly)
    return forward;
  return std::max({forward, stage.updateArena,
                   std::min(arena(ActionKind::Backward),
                            std::max(arena(ActionKind::InputGradients),
                                     arena(ActionKind::WeightGradients)))});
}

namespace {
class Bounds {
public:
  explicit Bounds(const Problem &problem)
      : problem(problem), costs(problem.costs),
        stages(static_cast<int>(costs.stages.size())), start(stages),
        gradient(stages), tail(stages) {
    findTimes();
  }

  Bound largest() {
    bound.reason = "nothing takes any time";
    for (int stage = 0; stage < stages; ++stage)
      take(gradient[stage] + backward(stage),
           "one micro-batch goes through all stages and back");
    for (int rank = 0; rank < problem.ranks; ++rank)
      boundRank(rank);
    return bound;
  }

  int64_t keptBytes(int rank) const {
    int64_t kept = 0, arena = 0;
    forEachStage(rank, [&](int stage) {
      kept += costs.stages[stage].kept;
      arena = std::max(arena,
                       leastArena(costs.stages[stage], problem.isForwardOnly));
    });
    return kept + arena;
  }

private:
  template <typename Function> void forEachStage(int rank, Function run) const {
    for (int stage = 0; stage < stages; ++stage)
      if (problem.rankOfStage[stage] == rank)
        run(stage);
  }

  int64_t backward(int stage) const {
    const StageCosts &of = costs.stages[stage];
    return problem.isForwardOnly
               ? 0
               : std::min(of.backward, of.inputGradients + of.weightGradients);
  }
  int64_t work(int stage) const {
    return costs.stages[stage].forward + backward(stage);
  }
  /// Until a gradient can be sent on.
  int64_t inputs(int stage) const {
    const StageCosts &of = costs.stages[stage];
    return std::min(of.backward, of.inputGradients);
  }
  int64_t transfer(const Crossing &crossing, int64_t bytes) const {
    bool isLocal =
        problem.rankOfStage[crossing.from] == problem.rankOfStage[crossing.to];
    return isLocal ? 0 : costs.link.latency + costs.link.occupied(bytes);
  }

  void findTimes() {
    // Crossings lead to later stages, so stages in order are in order of time.
    in.resize(stages);
    out.resize(stages);
    for (const Crossing &crossing : costs.crossings) {
      in[crossing.to].push_back(&crossing);
      out[crossing.from].push_back(&crossing);
    }
    for (int stage = 0; stage < stages; ++stage)
      start[stage] = std::max<int64_t>(0, earliest(stage, start));
    gradient = gradientsFrom(start);
    for (int stage = stages - 1; stage >= 0; --stage)
      for (const Crossing *crossing : out[stage])
        tail[stage] =
            std::max(tail[stage], transfer(*crossing, crossing->bytes) +
                                      costs.stages[crossing->to].forward +
                                      tail[crossing->to]);
  }

  /// When the values of `stage` can be there, by the starts of earlier ones; -1
  /// if it takes none of those that have one.
  int64_t earliest(int stage, const std::vector<int64_t> &starts) const {
    int64_t time = -1;
    for (const Crossing *crossing : in[stage])
      if (starts[crossing->from] >= 0)
        time = std::max(time, starts[crossing->from] +
                                  costs.stages[crossing->from].forward +
                                  transfer(*crossing, crossing->bytes));
    return time;
  }

  /// When gradients can have come back to the stages that have a start.
  std::vector<int64_t> gradientsFrom(const std::vector<int64_t> &starts) const {
    std::vector<int64_t> times(stages, -1);
    for (int stage = stages - 1; stage >= 0; --stage) {
      if (starts[stage] < 0)
        continue;
      times[stage] = starts[stage] + costs.stages[stage].forward;
      for (const Crossing *crossing : out[stage])
        if (!problem.isForwardOnly && crossing->hasGradient)
          times[stage] = std::max(
              times[stage], times[crossing->to] + inputs(crossing->to) +
                                transfer(*crossing, crossing->gradientBytes));
    }
    return times;
  }

  /// From the start of an F to the end of its I or B: the way through what
  /// follows and back.
  int64_t lifetime(int stage) const {
    std::vector<int64_t> starts(stages, -1);
    starts[stage] = 0;
    for (int later = stage + 1; later < stages; ++later)
      starts[later] = earliest(later, starts);
    return gradientsFrom(starts)[stage] + inputs(stage);
  }

  void boundRank(int rank) {
    int64_t first = INT64_MAX, firstGradient = INT64_MAX, after = INT64_MAX;
    int64_t all = 0, forwards = 0, longest = 0;
    forEachStage(rank, [&](int stage) {
      int64_t forward = costs.stages[stage].forward;
      first = std::min(first, start[stage]);
      firstGradient = std::min(firstGradient, gradient[stage]);
      after = std::min(after, tail[stage]);
      all += problem.microBatches * work(stage);
      forwards += problem.microBatches * forward;
      longest = std::max(longest, forward);
    });
    if (all == 0)
      return;
    std::string who = "rank " + std::to_string(rank);
    int64_t rest = problem.isForwardOnly ? after : 0;
    take(first + all + rest,
         who + " has " + formatPicoseconds(static_cast<double>(all)) +
             " of work from " + formatPicoseconds(static_cast<double>(first)) +
             " on");
    if (problem.isForwardOnly)
      return;
    int64_t before = std::min(forwards, slots(rank) * longest);
    take(firstGradient + all - before,
         who + " gets its first gradient at " +
             formatPicoseconds(static_cast<double>(firstGradient)) +
             " and can do " + formatPicoseconds(static_cast<double>(before)) +
             " of work before");
    boundArea(rank, who);
  }

  /// How many forwards memory has slots for.
  int64_t slots(int rank) const {
    int64_t all = 0, least = INT64_MAX;
    forEachStage(rank, [&](int stage) {
      least = std::min(least, costs.stages[stage].untilInputs);
      all += problem.microBatches;
    });
    if (problem.memoryLimit == kNoMemoryLimit || least <= 0)
      return all;
    int64_t room = std::max<int64_t>(0, problem.memoryLimit - keptBytes(rank));
    return std::min(all, room / least);
  }

  void boundArea(int rank, const std::string &who) {
    if (problem.memoryLimit == kNoMemoryLimit)
      return;
    double area = 0;
    forEachStage(rank, [&](int stage) {
      const StageCosts &of = costs.stages[stage];
      // With B nothing is held from I to W.
      area += static_cast<double>(of.untilInputs) *
              static_cast<double>(lifetime(stage));
    });
    auto room = static_cast<double>(problem.memoryLimit - keptBytes(rank));
    if (room > 0)
      take(static_cast<int64_t>(area * problem.microBatches / room),
           who + " holds each micro-batch until its gradient has come back");
  }

  void take(int64_t time, const std::string &reason) {
    if (time > bound.makespan)
      bound = {time, reason};
  }

  const Problem &problem;
  const Costs &costs;
  int stages;
  /// Of one micro-batch, by stage: when F can start, when its gradient can have
  /// come back, and what follows an F until the last one.
  std::vector<int64_t> start, gradient, tail;
  std::vector<std::vector<const Crossing *>> in, out; ///< by stage
  Bound bound;
};
} // namespace

Bound boundMakespan(const Problem &problem) {
  return Bounds(problem).largest();
}

int64_t leastBytes(const Problem &problem, int rank) {
  int64_t slot = 0;
  for (size_t stage = 0; stage < problem.costs.stages.size(); ++stage)
    if (problem.rankOfStage[stage] == rank && !problem.isForwardOnly)
      slot = std::max(slot, problem.costs.stages[stage].untilInputs);
  return Bounds(problem).keptBytes(rank) + slot;
}

} // namespace cutback::pipeline
