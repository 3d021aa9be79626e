// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules whose stages go to the last rank and back: rank r has stages r and
// 2p - 1 - r, so the last rank hands over to itself and rank 0 has the loss.
//
// * ZBVZeroBubble (arXiv 2401.10241, section 6): as if there were at least
//   2p - 1 micro-batches; those that there are not are left out.
// * DualPipeV (arXiv 2412.19437, half of it): in the middle a forward of one
//   stage beside a backward of the other.
// * V-Half and V-Min (arXiv 2405.15362): a building block, the times of the two
//   forwards and two backwards of one micro-batch, repeated every six units of
//   time. A half and a third of the memory of 1F1B. Weights fill the holes.
//
// The first two in PyTorch 2.13's order. Linear, but for sorting the blocks.

#include "Generators.h"

#include <deque>
#include <tuple>

namespace cutback::pipeline {

static constexpr ActionKind F = ActionKind::Forward;
static constexpr ActionKind B = ActionKind::Backward;
static constexpr ActionKind I = ActionKind::InputGradients;
static constexpr ActionKind W = ActionKind::WeightGradients;

//===----------------------------------------------------------------------===//
// ZBV
//===----------------------------------------------------------------------===//

namespace {
struct ZbvRow {
  RowBuilder row;
  int down, up; ///< the stages on the way there and back

  void backward(int stage) {
    row.add(stage, I);
    row.add(stage, W);
  }
  void warmUp(int ranks, int rank) {
    for (int i = 0; i < 2 * (ranks - rank) - 1; ++i)
      row.add(down, F);
    for (int i = 0; i < rank; ++i) {
      row.add(up, F);
      row.add(down, F);
    }
    for (int i = rank; i < ranks; ++i) {
      row.add(up, F);
      backward(up);
    }
  }
  void steady(int count) {
    while (row.forwards(up) < count) {
      if (row.forwards(down) < count)
        row.add(down, F);
      backward(down);
      row.add(up, F);
      backward(up);
    }
  }
  /// Inputs of both stages, then of the first with its weights, then what
  /// weights are left.
  void coolDown(int ranks, int rank) {
    for (int i = 0; i < rank; ++i) {
      row.add(down, I);
      row.add(up, I);
    }
    for (int i = rank; i < ranks; ++i)
      backward(down);
    for (int i = 0; i < rank; ++i)
      row.add(up, W);
    for (int i = 0; i < rank; ++i)
      row.add(down, W);
  }
};
} // namespace

Row zbvRow(const Shape &shape, int rank) {
  int count = std::max(2 * shape.ranks - 1, shape.microBatches);
  ZbvRow made{{}, rank, 2 * shape.ranks - 1 - rank};
  made.warmUp(shape.ranks, rank);
  made.steady(count);
  made.coolDown(shape.ranks, rank);
  Row row = made.row.take();
  row.erase(std::remove_if(row.begin(), row.end(),
                           [&](const std::optional<Action> &action) {
                             return action->microBatch >= shape.microBatches;
                           }),
            row.end());
  return row;
}

//===----------------------------------------------------------------------===//
// DualPipeV
//===----------------------------------------------------------------------===//

namespace {
struct DualPipeVRow {
  RowBuilder row;
  int down, up;
  std::deque<int> late{}; ///< stages whose weights are to come

  void inputs(int stage) {
    row.add(stage, I);
    late.push_back(stage);
  }
  void weights() {
    if (late.empty())
      return;
    row.add(late.front(), W);
    late.pop_front();
  }
  void backward(int stage, bool isSplit) {
    isSplit ? inputs(stage) : row.add(stage, B);
  }
  void warmUp(int ranks, int rank) {
    for (int i = 0; i < 2 * (ranks - rank - 1); ++i)
      row.add(down, F);
    for (int i = 0; i <= rank; ++i) {
      row.add(down, F);
      row.add(up, F);
    }
    for (int i = rank + 1; i < ranks; ++i) {
      inputs(up);
      weights();
      row.add(up, F);
    }
  }
  void steady(int ranks, int rank, int count) {
    for (int i = 0; i < count - 2 * ranks + rank + 1; ++i) {
      // Apart, the last rank starts its first backward earlier.
      if (i == 0 && rank == ranks - 1) {
        row.add(down, F);
        row.add(up, B);
      } else {
        row.overlap(down, up);
      }
      row.overlap(up, down);
    }
    for (int i = rank + 1; i < ranks; ++i) {
      row.add(up, B);
      row.overlap(up, down);
    }
  }
  /// Backwards, of which the second half is split.
  void coolDown(int ranks, int rank) {
    for (int i = 0; i < 2 * (rank + 1); ++i)
      backward(i % 2 == 0 ? up : down, i > rank);
    for (int i = rank + 1; i < ranks; ++i) {
      weights();
      inputs(down);
    }
    while (!late.empty())
      weights();
  }
};
} // namespace

Row dualPipeVRow(const Shape &shape, int rank) {
  DualPipeVRow made{{}, rank, 2 * shape.ranks - 1 - rank};
  made.warmUp(shape.ranks, rank);
  made.steady(shape.ranks, rank, shape.microBatches);
  made.coolDown(shape.ranks, rank);
  return made.row.take();
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

static BlockTimes minBlock(int p, int r) {
  int k = p % 3 == 0 ? 2 : 0;
  return {r, 2 * p - r - 1, 2 * p + k + r, 4 * p + k - r - 1};
}

static BlockTimes halfBlock(int p, int r) {
  int k = p % 2 == 0 ? 3 : 0;
  return {2 * r, 3 * p - r - 2, 3 * p + k + 2 * r - 1, 6 * p + k - r - 2};
}

std::vector<std::pair<double, Action>> repeatBlock(const BlockTimes &block,
                                                   const Shape &shape, int rank,
                                                   ActionKind backward,
                                                   double interval) {
  int up = 2 * shape.ranks - 1 - rank;
  std::vector<std::pair<double, Action>> placed;
  for (int i = 0; i < shape.microBatches; ++i) {
    const Action parts[] = {makeAction(rank, F, i), makeAction(up, F, i),
                            makeAction(up, backward, i),
                            makeAction(rank, backward, i)};
    for (size_t part = 0; part < block.size(); ++part)
      placed.emplace_back(block[part] + interval * i, parts[part]);
  }
  std::stable_sort(
      placed.begin(), placed.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return placed;
}

/// The block for each micro-batch; each unit of time that is left has the
/// oldest weights.
static Row fillBlocks(const BlockTimes &block, const Shape &shape, int rank) {
  Row row;
  std::deque<Action> late;
  auto fill = [&] {
    row.push_back(late.front());
    late.pop_front();
  };
  int time = 0;
  for (const auto &[start, action] : repeatBlock(block, shape, rank, I)) {
    int begin = static_cast<int>(start); // whole numbers, at this interval
    for (; time < begin && !late.empty(); ++time)
      fill();
    row.push_back(action);
    time = begin + 1;
    if (action.kind == I)
      late.push_back(makeAction(action.stage, W, action.microBatch));
  }
  while (!late.empty())
    fill();
  return row;
}

Row vHalfRow(const Shape &shape, int rank) {
  return fillBlocks(halfBlock(shape.ranks, rank), shape, rank);
}

Row vMinRow(const Shape &shape, int rank) {
  return fillBlocks(minBlock(shape.ranks, rank), shape, rank);
}

} // namespace cutback::pipeline
