// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts weight gradients where a rank would wait.
//
// Events in the order of their times: a rank whose action has ended, or that
// waits and gets a message, decides what to do next:
//
// 1. the next action of its order, if what it needs is there and memory has
//    room; a forward leaves room for one micro-batch in each later stage of the
//    rank, so that those in flight can come back and free what they hold;
// 2. else the weights that wait longest (which also frees memory);
// 3. before 2, if so asked or if it is memory that is missing, a backward that
//    can run;
// 4. else it waits.
//
// Sends have no link to wait for here: times of transfers are those of one
// alone. The simulation of the result is exact.

#include "Refill.h"

#include "Parts.h"

#include <algorithm>
#include <deque>
#include <queue>

namespace cutback::pipeline {

Schedule orderOf(const Schedule &schedule) {
  Schedule order = schedule;
  for (Row &row : order.rows) {
    Row kept;
    for (const auto &action : row)
      if (action)
        forEachPart(*action, [&](Action part) {
          if (part.kind == ActionKind::InputGradients)
            part.kind = ActionKind::Backward;
          if (part.kind != ActionKind::WeightGradients && isCompute(part.kind))
            kept.push_back(std::move(part));
        });
    row = std::move(kept);
  }
  return order;
}

namespace {
class Refill {
public:
  Refill(const Schedule &order, const Costs &costs,
         const RefillOptions &options)
      : order(order), costs(costs), options(options),
        edges(order, costs.crossings), arrivals(edges.count(), kNever),
        ranks(order.ranks), result{order, {}, 0},
        wentForward(static_cast<size_t>(order.stages) * order.microBatches),
        reserve(order.stages), keepsSlots(order.hasBackward()) {
    for (int rank = 0; rank < order.ranks; ++rank) {
      ranks[rank].isDone.resize(order.rows[rank].size());
      left += order.rows[rank].size();
      result.schedule.rows[rank].clear();
      int64_t later = 0;
      std::vector<int> stages = order.stagesOf(rank);
      for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
        reserve[*stage] = later;
        later += costs.stages[*stage].untilInputs;
      }
    }
    size_t count = static_cast<size_t>(order.stages) * order.microBatches;
    result.starts.forward.resize(count);
    result.starts.backward.resize(count);
  }

  std::optional<Refilled> run() {
    for (int rank = 0; rank < order.ranks; ++rank)
      wake(rank, 0);
    while (!events.empty()) {
      auto [time, rank] = events.top();
      events.pop();
      if (time >= ranks[rank].isFree)
        decide(rank, time);
    }
    for (Rank &rank : ranks)
      if (left > 0 || !rank.weights.empty())
        return std::nullopt;
    return std::move(result);
  }

private:
  static constexpr int64_t kNever = INT64_MAX;
  struct Rank {
    size_t next = 0; ///< no action before it is left
    std::vector<char> isDone;
    std::deque<Action> weights; ///< that are to come
    int64_t isFree = 0;
    int64_t slots = 0; ///< bytes
  };

  void wake(int rank, int64_t time) { events.push({time, rank}); }

  int64_t readyTime(const Action &action) const {
    int64_t time = 0;
    for (const Edges::Need &need : edges.needs(action))
      time = std::max(time, arrivals[edges.index(need, action.microBatch)]);
    return time;
  }

  size_t indexOf(const Action &action) const {
    return static_cast<size_t>(action.stage) * order.microBatches +
           action.microBatch;
  }
  bool fits(int rank, const Action &action, bool isSplit) const {
    const StageCosts &stage = costs.stages[action.stage];
    int64_t more =
        action.kind == ActionKind::Forward
            ? (keepsSlots ? stage.untilInputs : 0) + reserve[action.stage]
        : isSplit ? stage.untilWeights - stage.throughout
                  : 0;
    return ranks[rank].slots + more <= options.slotLimit[rank];
  }

  void decide(int rank, int64_t time) {
    Rank &of = ranks[rank];
    const Row &row = order.rows[rank];
    while (of.next < row.size() && of.isDone[of.next])
      ++of.next;
    if (of.next == row.size())
      return runWeights(rank, time);
    const Action &action = *row[of.next];
    bool isSplit = options.splitsBackwards;
    bool hasRoom = fits(rank, action, isSplit);
    bool isForward = action.kind == ActionKind::Forward;
    if (!hasRoom && !of.weights.empty())
      return runWeights(rank, time);
    if ((hasRoom || !isForward) && readyTime(action) <= time)
      return run(rank, of.next, time, isSplit && hasRoom);
    if (isForward && (options.backwardsPass || !hasRoom))
      if (size_t at = findBackward(rank, time); at != row.size())
        return run(rank, at, time, isSplit && fits(rank, *row[at], isSplit));
    if (!waitsFor(rank, action, time))
      runWeights(rank, time);
  }

  /// The first backward of the order that can run now, or its end.
  size_t findBackward(int rank, int64_t time) const {
    const Row &row = order.rows[rank];
    const Rank &of = ranks[rank];
    // What is far ahead cannot have come.
    size_t end = std::min(row.size(), of.next + 8 * order.stages + 8);
    for (size_t at = of.next; at < end; ++at)
      if (!of.isDone[at] && row[at]->kind != ActionKind::Forward &&
          wentForward[indexOf(*row[at])] && readyTime(*row[at]) <= time)
        return at;
    return row.size();
  }

  /// Whether `action` comes so soon that no weights are begun.
  bool waitsFor(int rank, const Action &action, int64_t time) {
    const Rank &of = ranks[rank];
    if (!options.before || of.weights.empty())
      return false;
    const std::vector<int64_t> &starts = action.kind == ActionKind::Forward
                                             ? options.before->forward
                                             : options.before->backward;
    int64_t expected = starts[indexOf(action)];
    int64_t length = costs.stages[of.weights.front().stage].weightGradients;
    return expected > time &&
           static_cast<double>(expected - time) <
               options.patience * static_cast<double>(length);
  }

  void runWeights(int rank, int64_t time) {
    Rank &of = ranks[rank];
    if (of.weights.empty())
      return;
    Action action = of.weights.front();
    of.weights.pop_front();
    const StageCosts &stage = costs.stages[action.stage];
    of.slots -= stage.untilWeights;
    finish(rank, action, time + stage.weightGradients);
  }

  void run(int rank, size_t at, int64_t time, bool isSplit) {
    Rank &of = ranks[rank];
    Action action = *order.rows[rank][at];
    of.isDone[at] = true;
    --left;
    const StageCosts &stage = costs.stages[action.stage];
    bool isForward = action.kind == ActionKind::Forward;
    (isForward ? result.starts.forward
               : result.starts.backward)[indexOf(action)] = time;
    if (isForward) {
      of.slots += keepsSlots ? stage.untilInputs : 0;
      wentForward[indexOf(action)] = true;
    } else {
      of.slots -= stage.untilInputs;
      if (isSplit) {
        of.slots += stage.untilWeights;
        action.kind = ActionKind::WeightGradients;
        of.weights.push_back(action);
        action.kind = ActionKind::InputGradients;
      }
    }
    finish(rank, action, time + stage.time(action.kind));
  }

  void finish(int rank, const Action &action, int64_t end) {
    result.schedule.rows[rank].push_back(action);
    result.makespan = std::max(result.makespan, end);
    ranks[rank].isFree = end;
    wake(rank, end);
    for (const Edges::Need &made : edges.makes(action)) {
      int to = edges.receiver(made);
      int64_t arrival = to == rank
                            ? end
                            : end + costs.link.latency +
                                  costs.link.occupied(edges.bytesOf(made));
      arrivals[edges.index(made, action.microBatch)] = arrival;
      wake(to, arrival);
    }
  }

  const Schedule &order;
  const Costs &costs;
  const RefillOptions &options;
  Edges edges;
  std::vector<int64_t> arrivals; ///< by message
  std::vector<Rank> ranks;
  Refilled result;
  std::vector<char> wentForward; ///< by stage and micro-batch
  std::vector<int64_t> reserve;  ///< by stage: slots of later ones of its rank
  bool keepsSlots;
  size_t left = 0; ///< actions of the order
  using Event = std::pair<int64_t, int>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
};
} // namespace

std::optional<Refilled> refill(const Schedule &order, const Costs &costs,
                               const RefillOptions &options) {
  return Refill(order, costs, options).run();
}

} // namespace cutback::pipeline
