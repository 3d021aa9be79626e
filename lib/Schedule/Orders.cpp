// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of F and B to begin a search from.
//
// A building block (arXiv 2405.15362) is where one micro-batch is when: it goes
// down the ranks, up again, its gradients down... by slopes of its own. The
// steeper, the longer activations are held, and the fewer bubbles there are:
// all slopes 1 is V-Min, 2,1,2,1 V-Half. Every rank has six units of work for
// each micro-batch (two each of F, I and W), so the block can repeat every six
// units, or more where memory has room for fewer at a time, if its four fixed
// actions have different times modulo six on every rank; waiting where it turns
// shifts the later ones.
//
// Ranks times waits, then sorting.

#include "Orders.h"

#include <cmath>

namespace cutback::pipeline {

/// The times of a block on `rank`, which waits `waits` at its three turns.
static BlockTimes timesOf(const BlockSlopes &slopes,
                          const std::array<int, 3> &waits, int ranks,
                          int rank) {
  int last = ranks - 1;
  BlockTimes times{};
  times[0] = slopes.down * rank;
  int turn = slopes.down * last + 1 + waits[0];
  times[1] = turn + slopes.up * (last - rank);
  turn += slopes.up * last + 1 + waits[1];
  times[2] = turn + slopes.backUp * rank;
  turn += slopes.backUp * last + 1 + waits[2];
  times[3] = turn + slopes.backDown * (last - rank);
  return times;
}

static bool areApart(const BlockTimes &times) {
  bool isUsed[kBlockWork] = {};
  for (int time : times) {
    bool &used = isUsed[time % kBlockWork];
    if (used)
      return false;
    used = true;
  }
  return true;
}

static std::optional<std::array<int, 3>> findWaits(const BlockSlopes &slopes,
                                                   int ranks) {
  // The least in all first.
  for (int sum = 0; sum <= 3 * (kBlockWork - 1); ++sum)
    for (int a = 0; a < kBlockWork && a <= sum; ++a)
      for (int b = 0; b < kBlockWork && a + b <= sum; ++b) {
        std::array<int, 3> waits{a, b, sum - a - b};
        if (waits[2] >= kBlockWork)
          continue;
        bool works = true;
        for (int rank = 0; rank < ranks && works; ++rank)
          works = areApart(timesOf(slopes, waits, ranks, rank));
        if (works)
          return waits;
      }
  return std::nullopt;
}

/// The block of each micro-batch, `interval` units after that of the one
/// before.
static Schedule repeatSlopes(const BlockSlopes &slopes,
                             const std::array<int, 3> &waits,
                             const Shape &shape, double interval) {
  Schedule order = emptySchedule(shape, Mapping::V);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    Row row;
    BlockTimes times = timesOf(slopes, waits, shape.ranks, rank);
    for (auto &[time, action] :
         repeatBlock(times, shape, rank, ActionKind::Backward, interval))
      row.push_back(action);
    order.rows.push_back(std::move(row));
  }
  return order;
}

std::optional<Schedule> blockOrder(const BlockSlopes &slopes,
                                   const Shape &shape) {
  auto waits = findWaits(slopes, shape.ranks);
  if (!waits)
    return std::nullopt;
  return repeatSlopes(slopes, *waits, shape, kBlockWork);
}

Schedule sparseOrder(const BlockSlopes &slopes, const Shape &shape,
                     double interval) {
  return repeatSlopes(slopes, {0, 0, 0}, shape, interval);
}

Schedule warmUpOrder(double per, double extra, const Shape &shape) {
  Schedule order = emptySchedule(shape, Mapping::Loop);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    int first = static_cast<int>(
        std::ceil(per * static_cast<double>(shape.ranks - 1 - rank) + extra));
    first = std::clamp(first, 0, shape.microBatches - 1);
    order.rows.push_back(warmUpRow(shape, rank, first));
  }
  return order;
}

} // namespace cutback::pipeline
