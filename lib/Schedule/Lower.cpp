// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From compute actions to lists that are ready to run, in PyTorch 2.13's order
// of the steps (and, but for gathered stages from the ninth on, with its
// lists):
//
// 1. Neighbouring I and W become B, if asked for.
// 2. UNSHARD of the stages that come next, RESHARD of those that do not.
// 3. REDUCE_GRAD after the last B or W of a stage.
// 4. Sends and receives. Ranks take turns, one action each; an action waits
//    until all that it needs was received or made on its rank. Its send follows
//    it, and the receive is put after what the receiver has by then: pairs are
//    neighbours in one order of all actions, of which each list is a part, so
//    even ranks that wait for each other at every message come to an end. This
//    needs no neighbouring stages, so skip connections are crossings as others.
// 5. Receives later, if asked for.
//
// Linear, but for ranks that wait for their turn.

#include "cutback/Schedule/Lower.h"

#include "Faults.h"
#include "Parts.h"

#include <algorithm>

namespace cutback::pipeline {

Schedule computeOnly(const Schedule &schedule) {
  Schedule result = schedule;
  for (Row &row : result.rows)
    row.erase(std::remove_if(row.begin(), row.end(),
                             [](const std::optional<Action> &action) {
                               return !action || !isCompute(action->kind);
                             }),
              row.end());
  return result;
}

static Row mergeBackwards(const Row &row) {
  Row merged;
  for (const auto &action : row) {
    if (!merged.empty() && action->kind == ActionKind::WeightGradients &&
        merged.back()->kind == ActionKind::InputGradients &&
        merged.back()->stage == action->stage &&
        merged.back()->microBatch == action->microBatch)
      merged.back()->kind = ActionKind::Backward;
    else
      merged.push_back(action);
  }
  return merged;
}

Schedule mergeBackwards(const Schedule &schedule) {
  Schedule merged = computeOnly(schedule);
  for (Row &row : merged.rows)
    row = mergeBackwards(row);
  return merged;
}

//===----------------------------------------------------------------------===//
// Gathered stages and reductions
//===----------------------------------------------------------------------===//

/// The next stages that compute, from `step` on, at most `count` but for the
/// last overlap.
static std::vector<int> nextStages(const Row &row, size_t step, int count) {
  std::vector<int> next;
  for (; step < row.size() && static_cast<int>(next.size()) < count; ++step)
    forEachPart(*row[step], [&](const Action &part) {
      if (std::find(next.begin(), next.end(), part.stage) == next.end())
        next.push_back(part.stage);
    });
  return next;
}

static Row gather(const Row &row, int count) {
  Row result;
  std::vector<int> gathered; // ascending
  auto contains = [](const std::vector<int> &list, int stage) {
    return std::find(list.begin(), list.end(), stage) != list.end();
  };
  auto release = [&](const std::vector<int> &wanted) {
    std::vector<int> kept;
    for (int stage : gathered) {
      if (contains(wanted, stage))
        kept.push_back(stage);
      else
        result.push_back(makeAction(stage, ActionKind::Reshard));
    }
    gathered = kept;
  };
  for (size_t step = 0; step < row.size(); ++step) {
    std::vector<int> next = nextStages(row, step, count);
    release(next);
    for (int stage : next)
      if (!contains(gathered, stage)) {
        result.push_back(makeAction(stage, ActionKind::Unshard));
        gathered.insert(
            std::upper_bound(gathered.begin(), gathered.end(), stage), stage);
      }
    result.push_back(row[step]);
  }
  release({});
  return result;
}

static Row reduce(const Row &row, int stages, int microBatches) {
  Row result;
  std::vector<int> counts(stages);
  for (const auto &action : row) {
    result.push_back(action);
    forEachPart(*action, [&](const Action &part) {
      if (makesWeightGradients(part.kind) &&
          ++counts[part.stage] == microBatches)
        result.push_back(makeAction(part.stage, ActionKind::ReduceGradients));
    });
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sends and receives
//===----------------------------------------------------------------------===//

namespace {
class Exchange {
public:
  Exchange(const Schedule &schedule, const std::vector<Crossing> &crossings)
      : schedule(schedule), edges(schedule, crossings), isThere(edges.count()),
        next(schedule.ranks), rows(schedule.ranks) {}

  /// The first rank that cannot go on, or -1.
  int run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule.ranks; ++rank)
        moved |= advance(rank);
    }
    for (int rank = 0; rank < schedule.ranks; ++rank)
      if (next[rank] < schedule.rows[rank].size())
        return rank;
    return -1;
  }
  int stepOf(int rank) const { return static_cast<int>(next[rank]); }
  std::vector<Row> take() { return std::move(rows); }

private:
  bool advance(int rank) {
    if (next[rank] >= schedule.rows[rank].size())
      return false;
    const Action &action = *schedule.rows[rank][next[rank]];
    bool isReady = true;
    forEachPart(action, [&](const Action &part) {
      for (const Edges::Need &need : edges.needs(part))
        isReady &= isThere[edges.index(need, part.microBatch)];
    });
    if (!isReady)
      return false;
    ++next[rank];
    rows[rank].push_back(action);
    forEachPart(action, [&](const Action &part) {
      for (const Edges::Need &made : edges.makes(part))
        send(made, part.microBatch);
    });
    return true;
  }

  void send(const Edges::Need &made, int microBatch) {
    isThere[edges.index(made, microBatch)] = true;
    if (edges.isLocal(made))
      return;
    rows[edges.sender(made)].push_back(edges.sendOf(made, microBatch));
    rows[edges.receiver(made)].push_back(edges.receiveOf(made, microBatch));
  }

  const Schedule &schedule;
  Edges edges;
  std::vector<char> isThere; ///< received, or made on the rank of its user
  std::vector<size_t> next;  ///< by rank
  std::vector<Row> rows;
};
} // namespace

/// Whether `action` uses what `receive` brings.
static bool uses(const Action &action, const Action &receive) {
  bool found = false;
  forEachPart(action, [&](const Action &part) {
    bool isKind = receive.kind == ActionKind::RecvForward
                      ? part.kind == ActionKind::Forward
                      : makesInputGradients(part.kind);
    found |= isKind && part.stage == receive.stage &&
             part.microBatch == receive.microBatch;
  });
  return found;
}

static Row deferReceives(const Row &row, int rank,
                         const std::vector<int> &rankOfStage) {
  Row result;
  std::vector<Action> late;
  for (const auto &action : row) {
    if (isRecv(action->kind)) {
      late.push_back(*action);
      continue;
    }
    bool sends = isSend(action->kind);
    int peer = sends ? rankOfStage[action->peer] : -1;
    auto isDue = [&](const Action &receive) {
      if (sends)
        return rank < peer && rankOfStage[receive.peer] == peer;
      return uses(*action, receive);
    };
    for (const Action &receive : late)
      if (isDue(receive))
        result.push_back(receive);
    late.erase(std::remove_if(late.begin(), late.end(), isDue), late.end());
    result.push_back(action);
  }
  return result;
}

std::optional<Schedule> lower(const Schedule &schedule,
                              const std::vector<Crossing> &crossings,
                              const LowerOptions &options,
                              ScheduleError &error) {
  Schedule lowered = options.mergesBackwards ? mergeBackwards(schedule)
                                             : computeOnly(schedule);
  for (Row &row : lowered.rows) {
    if (options.gatheredStages > 0)
      row = gather(row, options.gatheredStages);
    if (options.reducesGradients && schedule.hasBackward())
      row = reduce(row, schedule.stages, schedule.microBatches);
  }
  Exchange exchange(lowered, crossings);
  if (int rank = exchange.run(); rank >= 0) {
    int step = exchange.stepOf(rank);
    error = fault({lowered, rank, step},
                  format(*lowered.rows[rank][step]) +
                      " needs what is sent after it",
                  "take its parts out of the overlap");
    return std::nullopt;
  }
  lowered.rows = exchange.take();
  if (options.defersReceives)
    for (int rank = 0; rank < lowered.ranks; ++rank)
      lowered.rows[rank] =
          deferReceives(lowered.rows[rank], rank, lowered.rankOfStage);
  return lowered;
}

} // namespace cutback::pipeline
