// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of simulate(): what a reader of its comment would write down.
//
// 1. Every action starts at 0 at first. Then, again and again, every action
//    starts when the one before it in its list has ended and every message that
//    it needs has arrived, until nothing moves. Times only grow, so what they
//    come to is the least solution.
// 2. Everything that is held is an interval of time; the memory at a moment is
//    the sum of those that contain it. Of actions that take no time nothing is
//    seen, which the fast one does see.
//
// As many rounds as the longest chain of actions, each over all of them.

#include "cutback/Schedule/Simulate.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cutback::pipeline {

namespace {
struct Interval {
  int64_t start, end, bytes;
};

class Reference {
public:
  Reference(const Schedule &schedule, const Costs &costs)
      : schedule(schedule), costs(costs) {
    result.ranks.resize(schedule.ranks);
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (size_t step = 0; step < schedule.rows[rank].size(); ++step)
        if (const auto &action = schedule.rows[rank][step];
            action && isCompute(action->kind))
          forEachPart(*action, [&](const Action &part) {
            result.ranks[rank].actions.push_back(
                {static_cast<int>(step), part, 0, 0});
          });
  }

  Simulation run() {
    do
      sendAll();
    while (moveAll());
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (const Placed &placed : result.ranks[rank].actions)
        result.makespan = std::max(result.makespan, placed.end);
    for (int rank = 0; rank < schedule.ranks; ++rank)
      measure(rank);
    return result;
  }

private:
  struct Message {
    int64_t made, start, left, arrival;
  };
  /// Crossing, whether it goes back, micro-batch.
  using Key = std::tuple<size_t, bool, int>;

  int rankOf(int stage) const { return schedule.rankOfStage[stage]; }

  /// Calls `run(key, bytes, other stage)` for what an action takes, or makes.
  template <typename Function>
  void forEach(const Action &action, bool makes, Function run) const {
    for (size_t i = 0; i < costs.crossings.size(); ++i) {
      const Crossing &crossing = costs.crossings[i];
      int stage = makes ? crossing.from : crossing.to;
      int other = makes ? crossing.to : crossing.from;
      if (action.kind == ActionKind::Forward && stage == action.stage)
        run(Key{i, false, action.microBatch}, crossing.bytes, other);
      if (makesInputGradients(action.kind) && crossing.hasGradient &&
          other == action.stage)
        run(Key{i, true, action.microBatch}, crossing.gradientBytes, stage);
    }
  }

  void sendAll() {
    messages.clear();
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      std::map<int, int64_t> isFree; // by receiver
      for (const Placed &placed : result.ranks[rank].actions)
        forEach(placed.action, true,
                [&](const Key &key, int64_t bytes, int stage) {
                  int to = rankOf(stage);
                  int64_t start = placed.end, left = placed.end,
                          arrival = placed.end;
                  if (to != rank) {
                    start = std::max(start, isFree[to]);
                    left = start + costs.link.occupied(bytes);
                    arrival = left + costs.link.latency;
                    isFree[to] = left;
                  }
                  messages[key] = {placed.end, start, left, arrival};
                });
    }
  }

  bool moveAll() {
    bool moved = false;
    for (RankResult &rank : result.ranks) {
      int64_t time = 0;
      for (Placed &placed : rank.actions) {
        forEach(placed.action, false, [&](const Key &key, int64_t, int) {
          time = std::max(time, messages.at(key).arrival);
        });
        moved |= placed.start != time;
        placed.start = time;
        time += costs.stages[placed.action.stage].time(placed.action.kind);
        moved |= placed.end != time;
        placed.end = time;
      }
    }
    return moved;
  }

  /// The action of `kind` on the stage and micro-batch of `action`, or null.
  const Placed *find(int rank, ActionKind kind, const Action &action) const {
    for (const Placed &placed : result.ranks[rank].actions)
      if (placed.action.kind == kind && placed.action.stage == action.stage &&
          placed.action.microBatch == action.microBatch)
        return &placed;
    return nullptr;
  }

  void hold(int rank, const Placed &placed) {
    const StageCosts &stage = costs.stages[placed.action.stage];
    const Action &action = placed.action;
    int other = schedule.rankOfStage[action.stage];
    if (action.kind == ActionKind::Forward) {
      const Placed *full = find(other, ActionKind::Backward, action);
      const Placed *first = find(other, ActionKind::InputGradients, action);
      const Placed *last = find(other, ActionKind::WeightGradients, action);
      if (full || first)
        held.push_back(
            {placed.start, full ? full->end : first->end, stage.untilInputs});
      flights.push_back({placed.start,
                         full   ? full->end
                         : last ? last->end
                                : placed.end,
                         1});
    }
    if (action.kind == ActionKind::InputGradients) {
      held.push_back({placed.start, placed.end, -stage.throughout});
      held.push_back({placed.start,
                      find(rank, ActionKind::WeightGradients, action)->end,
                      stage.untilWeights});
    }
    forEach(action, false, [&](const Key &key, int64_t bytes, int) {
      held.push_back({messages.at(key).start, placed.end, bytes});
    });
    forEach(action, true, [&](const Key &key, int64_t bytes, int stage) {
      if (rankOf(stage) != rank)
        held.push_back({placed.end, messages.at(key).left, bytes});
    });
  }

  static int64_t mostOf(const std::vector<Interval> &intervals) {
    int64_t most = 0;
    for (const Interval &moment : intervals) {
      int64_t sum = 0;
      for (const Interval &other : intervals)
        if (other.start <= moment.start && moment.start < other.end)
          sum += other.bytes;
      most = std::max(most, sum);
    }
    return most;
  }

  void measure(int rank) {
    RankResult &of = result.ranks[rank];
    held.clear();
    flights.clear();
    for (int stage = 0; stage < schedule.stages; ++stage)
      if (schedule.rankOfStage[stage] == rank) {
        of.keptBytes += costs.stages[stage].kept;
        if (schedule.hasBackward())
          of.arenaBytes =
              std::max(of.arenaBytes, costs.stages[stage].updateArena);
        ++of.stages;
      }
    for (const Placed &placed : of.actions) {
      of.busy += placed.end - placed.start;
      hold(rank, placed);
      const StageCosts &stage = costs.stages[placed.action.stage];
      of.arenaBytes = std::max(
          of.arenaBytes, stage.arena[static_cast<size_t>(placed.action.kind)]);
    }
    of.bubble = result.makespan - of.busy;
    of.slotBytes = mostOf(held);
    of.inFlight = static_cast<int>(mostOf(flights));
    of.peakBytes = of.keptBytes + of.arenaBytes + of.slotBytes;
  }

  const Schedule &schedule;
  const Costs &costs;
  Simulation result;
  std::map<Key, Message> messages;
  std::vector<Interval> held, flights;
};
} // namespace

Simulation simulateNaively(const Schedule &schedule, const Costs &costs) {
  return Reference(schedule, costs).run();
}

} // namespace cutback::pipeline
