// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of F and B to begin a search from.
//
// A building block (arXiv 2405.15362) is where one micro-batch is when: it goes
// down the ranks, up again, its gradients down... by slopes of its own. The
// steeper, the longer activations are held, and the fewer bubbles there are:
// all slopes 1 is V-Min, 2,1,2,1 V-Half. Every rank has six units of work for
// each micro-batch (two each of F, I and W), so the block can repeat every six
// units if its four fixed actions have different times modulo six on every
// rank; waiting where it turns shifts the later ones.
//
// Ranks times waits, then sorting.

#include "Orders.h"

#include "Generators.h"

#include <array>
#include <cmath>

namespace cutback::pipeline {

using Times = std::array<int, 4>; ///< F down, F up, B up, B down: of one rank
static constexpr int kInterval = 6;

/// The times of a block on `rank`, which waits `waits` at its three turns.
static Times timesOf(const BlockSlopes &slopes, const std::array<int, 3> &waits,
                     int ranks, int rank) {
  int last = ranks - 1;
  Times times{};
  times[0] = slopes.down * rank;
  int turn = slopes.down * last + 1 + waits[0];
  times[1] = turn + slopes.up * (last - rank);
  turn += slopes.up * last + 1 + waits[1];
  times[2] = turn + slopes.backUp * rank;
  turn += slopes.backUp * last + 1 + waits[2];
  times[3] = turn + slopes.backDown * (last - rank);
  return times;
}

static bool areApart(const Times &times) {
  bool isUsed[kInterval] = {};
  for (int time : times) {
    bool &used = isUsed[time % kInterval];
    if (used)
      return false;
    used = true;
  }
  return true;
}

static std::optional<std::array<int, 3>> findWaits(const BlockSlopes &slopes,
                                                   int ranks) {
  // The least in all first.
  for (int sum = 0; sum <= 3 * (kInterval - 1); ++sum)
    for (int a = 0; a < kInterval && a <= sum; ++a)
      for (int b = 0; b < kInterval && a + b <= sum; ++b) {
        std::array<int, 3> waits{a, b, sum - a - b};
        if (waits[2] >= kInterval)
          continue;
        bool works = true;
        for (int rank = 0; rank < ranks && works; ++rank)
          works = areApart(timesOf(slopes, waits, ranks, rank));
        if (works)
          return waits;
      }
  return std::nullopt;
}

static Schedule emptySchedule(const Shape &shape, Mapping mapping) {
  Schedule schedule;
  schedule.ranks = shape.ranks;
  schedule.stages = shape.ranks * shape.stagesPerRank;
  schedule.microBatches = shape.microBatches;
  schedule.rankOfStage = rankOfStage(mapping, shape.ranks, shape.stagesPerRank);
  return schedule;
}

std::optional<Schedule> blockOrder(const BlockSlopes &slopes,
                                   const Shape &shape) {
  auto waits = findWaits(slopes, shape.ranks);
  if (!waits)
    return std::nullopt;
  Schedule order = emptySchedule(shape, Mapping::V);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    int up = order.stages - 1 - rank;
    Times times = timesOf(slopes, *waits, shape.ranks, rank);
    std::vector<std::pair<int, Action>> placed;
    for (int i = 0; i < shape.microBatches; ++i) {
      const Action actions[] = {makeAction(rank, ActionKind::Forward, i),
                                makeAction(up, ActionKind::Forward, i),
                                makeAction(up, ActionKind::Backward, i),
                                makeAction(rank, ActionKind::Backward, i)};
      for (size_t part = 0; part < times.size(); ++part)
        placed.emplace_back(times[part] + kInterval * i, actions[part]);
    }
    std::sort(placed.begin(), placed.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    Row row;
    for (auto &[time, action] : placed)
      row.push_back(action);
    order.rows.push_back(std::move(row));
  }
  return order;
}

Schedule warmUpOrder(double per, int extra, const Shape &shape) {
  Schedule order = emptySchedule(shape, Mapping::Loop);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    int first = static_cast<int>(
        std::ceil(per * static_cast<double>(shape.ranks - 1 - rank)));
    first = std::min(first + extra, shape.microBatches - 1);
    RowBuilder row;
    for (int i = 0; i < first; ++i)
      row.add(rank, ActionKind::Forward);
    for (int i = 0; i < shape.microBatches; ++i) {
      if (first + i < shape.microBatches)
        row.add(rank, ActionKind::Forward);
      row.add(rank, ActionKind::Backward);
    }
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace cutback::pipeline
