// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a schedule for costs and memory.
//
// 1. Named schedules as they are, and with neighbouring I and W merged.
// 2. Orders of F and B: those of named schedules, building blocks from steep to
//    flat (two stages a rank), and 1F1B with more forwards at the beginning
//    (one stage a rank); both also with as few in flight as memory has room
//    for, since forwards that are held back leave no room to split backwards.
//    Each is run in time with weights put where a rank would wait (Refill.cpp),
//    once as work comes, then again with the times of that round, so that
//    weights do not delay what comes soon. If the simulation, which knows
//    transfers as well, says that a rank exceeds the limit, it is run again
//    with less room.
//
// What is kept is the fastest within the limit. Every list is simulated, so
// nothing here has to be right about time or memory. It ends where the bound is
// reached. The number of simulations is limited by actions, so that large
// pipelines take seconds; then some of the blocks are tried, evenly. A local
// search would come after this.

#include "cutback/Schedule/Automatic.h"

#include "Orders.h"
#include "Refill.h"

#include "cutback/Schedule/Lower.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cutback::pipeline {

/// Actions simulated in all.
static constexpr int64_t kMostActions = 4000000;

namespace {
class Search {
public:
  explicit Search(const AutomaticRequest &request)
      : request(request), shape(request.shape) {
    bool isLimited = request.memoryLimit != kNoMemoryLimit;
    for (const StageCosts &stage : request.costs.stages)
      mergingHelps |= isLimited || stage.backward < stage.inputGradients +
                                                        stage.weightGradients;
    mergingHelps &= request.splitsBackwards && !shape.isForwardOnly;
  }

  std::optional<AutomaticSchedule> run(ScheduleError &error) {
    tryNamed();
    if (!tooLong.message.empty()) {
      error = tooLong;
      return std::nullopt;
    }
    bound = boundOf();
    std::vector<std::pair<std::string, Schedule>> orders;
    for (const auto &[from, schedule] : named)
      orders.emplace_back(from, orderOf(schedule));
    addWarmUps(orders);
    for (const auto &[from, order] : orders)
      tryOrder(from, order);
    tryBlocks();
    if (!best) {
      error = tooLittle();
      return std::nullopt;
    }
    best->schedule.name = "auto";
    best->bound = bound;
    best->tried = tried;
    return best;
  }

private:
  //===--- Candidates -----------------------------------------------------===//

  /// Simulates, and keeps what is better. The simulation.
  std::optional<Simulation> take(const std::string &from,
                                 const Schedule &schedule) {
    ScheduleError error;
    auto simulation = simulate(schedule, request.costs, error);
    if (!simulation) {
      tooLong = error;
      return std::nullopt;
    }
    ++tried;
    count(schedule);
    int64_t peak = simulation->peakBytes();
    if (peak > request.memoryLimit)
      return simulation;
    if (!best || std::pair(simulation->makespan, peak) <
                     std::pair(best->simulation.makespan,
                               best->simulation.peakBytes())) {
      best.emplace();
      best->schedule = schedule;
      best->simulation = *simulation;
      best->from = from;
    }
    return simulation;
  }

  void count(const Schedule &schedule) {
    for (const Row &row : schedule.rows)
      simulated += static_cast<int64_t>(row.size());
  }

  static bool isSplit(const Schedule &schedule) {
    for (const Row &row : schedule.rows)
      for (const auto &action : row)
        if (action && action->kind == ActionKind::InputGradients)
          return true;
    return false;
  }

  void tryNamed() {
    for (std::string_view name : scheduleNames()) {
      ScheduleError error;
      auto schedule = generate(name, shape, error);
      if (!schedule)
        continue;
      if (!schedule->addsInOrder())
        turnBackwards(*schedule);
      named.emplace_back(name, *schedule);
      if (isSplit(*schedule)) {
        Schedule merged = mergeBackwards(*schedule);
        if (request.splitsBackwards || !isSplit(merged))
          (void)take(std::string(name), merged);
        if (!request.splitsBackwards)
          continue;
      }
      if (!take(std::string(name), *schedule))
        return; // it lasts too long: so do all
    }
  }

  /// Backwards from the last micro-batch on, after all forwards, become those
  /// from the first on: micro-batches cost the same.
  void turnBackwards(Schedule &schedule) const {
    for (Row &row : schedule.rows)
      for (auto &action : row)
        if (action->kind == ActionKind::Backward)
          action->microBatch = shape.microBatches - 1 - action->microBatch;
  }

  void addWarmUps(std::vector<std::pair<std::string, Schedule>> &orders) const {
    if (shape.stagesPerRank != 1 || shape.isForwardOnly)
      return;
    // Memory for fewer than 1F1B has: as many as there are slots for, and one
    // less, which leaves room to split backwards.
    double later = std::max(1, shape.ranks - 1);
    for (int less : {1, 2})
      if (double per = (std::floor(leastSlots()) - less) / later;
          per > 0 && per < 1)
        for (double extra : {0.0, -0.5})
          orders.emplace_back("1F1B with " + formatFixed(per, 2) +
                                  " more forwards per rank and " +
                                  formatFixed(extra, 1),
                              warmUpOrder(per, extra, shape));
    for (double per : {1.0, 1.5, 2.0, 3.0})
      for (int extra : {0, 1, 2})
        orders.emplace_back("1F1B with " + formatFixed(per, 1) +
                                " more forwards per rank and " +
                                std::to_string(extra),
                            warmUpOrder(per, extra, shape));
  }

  //===--- Blocks ---------------------------------------------------------===//

  struct Candidate {
    BlockSlopes slopes;
    int held; ///< how long, of both stages on the worst rank
  };

  /// V-Min's block less often than there is work, so that fewer are held at a
  /// time.
  void trySparseBlocks() {
    constexpr BlockSlopes flat = {1, 1, 1, 1};
    double slots = leastSlots();
    if (slots <= 0 || slots > shape.microBatches * 2.0)
      return;
    double interval = heldBy(flat) / slots;
    for (double more : {1.0, 1.2, 1.4, 1.6, 1.9})
      if (more * interval > kBlockWork)
        tryOrder("block every " + formatFixed(more * interval, 1),
                 sparseOrder(flat, shape, more * interval));
  }

  void tryBlocks() {
    if (shape.stagesPerRank != 2 || shape.isForwardOnly)
      return;
    trySparseBlocks();
    std::vector<Candidate> candidates;
    constexpr int slopes[] = {1, 2, 4};
    for (int a : slopes)
      for (int b : slopes)
        for (int c : slopes)
          for (int d : slopes)
            candidates.push_back({{a, b, c, d}, heldBy({a, b, c, d})});
    // Those that hold most first: what memory does not allow is held back.
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const Candidate &x, const Candidate &y) { return x.held > y.held; });
    int64_t actions = int64_t(6) * shape.ranks * shape.microBatches *
                      12; // of each, merged too
    int64_t room = std::max<int64_t>(2, (kMostActions - simulated) / actions);
    auto step = std::max<int64_t>(
        1, (static_cast<int64_t>(candidates.size()) + room - 1) / room);
    for (size_t i = 0; i < candidates.size(); i += step) {
      const BlockSlopes &s = candidates[i].slopes;
      if (auto order = blockOrder(s, shape))
        tryOrder("block " + std::to_string(s.down) + "," +
                     std::to_string(s.up) + "," + std::to_string(s.backUp) +
                     "," + std::to_string(s.backDown),
                 *order);
    }
  }

  int heldBy(const BlockSlopes &s) const {
    int last = shape.ranks - 1, most = 0;
    for (int rank : {0, last}) {
      int outer =
          (s.down + s.backDown) * (last - rank) + (s.up + s.backUp) * last;
      int inner = (s.up + s.backUp) * rank;
      most = std::max(most, outer + inner);
    }
    return most;
  }

  //===--- Orders ---------------------------------------------------------===//

  void tryOrder(const std::string &from, const Schedule &order) {
    RefillOptions options;
    options.splitsBackwards = request.splitsBackwards;
    for (int rank = 0; rank < shape.ranks; ++rank)
      options.slotLimit.push_back(slotLimit(order, rank));
    std::optional<Starts> first = tryRefill(from, order, options);
    for (double patience : {0.5, 1.0}) {
      options.before = first ? &*first : nullptr;
      options.patience = patience;
      if (first)
        (void)tryRefill(from, order, options);
    }
    options.before = nullptr;
    options.backwardsPass = true;
    (void)tryRefill(from, order, options);
  }

  /// Until nothing can be faster, or enough was tried.
  bool mayGoOn() const {
    return simulated < kMostActions &&
           (!best || best->simulation.makespan > bound.makespan);
  }

  /// How many micro-batches of a stage a rank has room for, where that is the
  /// least.
  double leastSlots() const {
    double least = std::numeric_limits<double>::infinity();
    for (int rank = 0; rank < shape.ranks; ++rank) {
      double bytes = 0;
      std::vector<int> stages = named.front().second.stagesOf(rank);
      for (int stage : stages)
        bytes += static_cast<double>(request.costs.stages[stage].untilInputs);
      if (bytes > 0)
        least = std::min(
            least, static_cast<double>(slotLimit(named.front().second, rank)) *
                       static_cast<double>(stages.size()) / bytes);
    }
    return least;
  }

  int64_t slotLimit(const Schedule &order, int rank) const {
    if (request.memoryLimit == kNoMemoryLimit)
      return kNoMemoryLimit / 2;
    int64_t kept = 0, arena = 0;
    for (int stage : order.stagesOf(rank)) {
      const StageCosts &of = request.costs.stages[stage];
      kept += of.kept;
      arena = std::max({arena, of.updateArena,
                        *std::max_element(of.arena.begin(), of.arena.end())});
    }
    return request.memoryLimit - kept - arena;
  }

  /// With less room while a rank exceeds the limit. When actions started last.
  std::optional<Starts> tryRefill(const std::string &from,
                                  const Schedule &order,
                                  RefillOptions options) {
    std::optional<Starts> last;
    for (int round = 0; round < 3 && mayGoOn(); ++round) {
      auto made = refill(order, request.costs, options);
      count(order);
      if (!made || !made->schedule.addsInOrder())
        return last;
      last = std::move(made->starts);
      // Messages that wait for others would only make it slower.
      bool isSlower = best && made->makespan >= best->simulation.makespan;
      if (mergingHelps && !isSlower)
        (void)take(from, mergeBackwards(made->schedule));
      if (isSlower)
        return last;
      auto simulation = take(from, made->schedule);
      if (!simulation || simulation->peakBytes() <= request.memoryLimit)
        return last;
      for (int rank = 0; rank < shape.ranks; ++rank)
        options.slotLimit[rank] -= std::max<int64_t>(
            0, simulation->ranks[rank].peakBytes - request.memoryLimit);
    }
    return last;
  }

  //===--- Results --------------------------------------------------------===//

  Problem problemOn(Mapping mapping) const {
    Problem problem;
    problem.ranks = shape.ranks;
    problem.microBatches = shape.microBatches;
    problem.rankOfStage =
        rankOfStage(mapping, shape.ranks, shape.stagesPerRank);
    problem.isForwardOnly = shape.isForwardOnly;
    problem.costs = request.costs;
    problem.memoryLimit = request.memoryLimit;
    return problem;
  }

  Bound boundOf() const {
    Bound bound = boundMakespan(problemOn(Mapping::Loop));
    if (shape.stagesPerRank == 1)
      return bound;
    Bound other = boundMakespan(problemOn(Mapping::V));
    return other.makespan < bound.makespan ? other : bound;
  }

  ScheduleError tooLittle() const {
    int64_t least = INT64_MAX;
    for (Mapping mapping : {Mapping::Loop, Mapping::V}) {
      Problem problem = problemOn(mapping);
      int64_t most = 0;
      for (int rank = 0; rank < shape.ranks; ++rank)
        most = std::max(most, leastBytes(problem, rank));
      least = std::min(least, most);
    }
    return {"no schedule was found that keeps each rank within " +
                formatBytes(request.memoryLimit),
            "a rank needs at least " + formatBytes(least) +
                " for one micro-batch of a stage; take a larger limit, more "
                "ranks, or smaller micro-batches"};
  }

  const AutomaticRequest &request;
  const Shape &shape;
  ScheduleError tooLong; ///< of the first simulation, and so of all
  std::vector<std::pair<std::string, Schedule>> named;
  std::optional<AutomaticSchedule> best;
  Bound bound;
  /// Whether B takes less time, or less memory that is scarce, than I and W.
  bool mergingHelps = false;
  int tried = 0;
  int64_t simulated = 0;
};
} // namespace

std::optional<AutomaticSchedule> findSchedule(const AutomaticRequest &request,
                                              ScheduleError &error) {
  return Search(request).run(error);
}

} // namespace cutback::pipeline
