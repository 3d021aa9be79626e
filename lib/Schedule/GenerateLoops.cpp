// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules whose stages go round the ranks: stage s is on rank s mod p.
//
// * GPipe: all forwards, then all backwards.
// * 1F1B: as many forwards as there are ranks from this one on, then a backward
//   after each (PipeDream-flush, arXiv 2006.09503).
// * LoopedBFS: stage by stage, all micro-batches at a time; backwards from the
//   last micro-batch to the first, so sums over them are in that order (arXiv
//   2211.05953).
// * Interleaved1F1B: rounds of k micro-batches go through all stages of a rank,
//   k = m / max(1, m / p); two more forwards before the first backward for each
//   rank that follows (arXiv 2104.04473).
// * InterleavedZeroBubble: the same with one more forward, backwards split, and
//   on rank r weights r backwards late: ZB-H1 of arXiv 2401.10241.
//
// All in PyTorch 2.13's order. Linear.

#include "Generators.h"

namespace cutback::pipeline {

Row gpipeRow(const Shape &shape, int rank) {
  RowBuilder row;
  for (ActionKind kind : {ActionKind::Forward, ActionKind::Backward})
    for (int i = 0; i < shape.microBatches; ++i)
      row.add(rank, kind);
  return row.take();
}

/// `first` forwards, then a backward after each of the others, then backwards:
/// `forward(i)` and `backward(i)` are the stages of the i-th of `count`.
template <typename Forward, typename Backward>
static Row alternate(int first, int count, Forward forward, Backward backward) {
  RowBuilder row;
  for (int i = 0; i < first; ++i)
    row.add(forward(i), ActionKind::Forward);
  for (int i = 0; i < count; ++i) {
    if (first + i < count)
      row.add(forward(first + i), ActionKind::Forward);
    backward(row, i);
  }
  return row.take();
}

Row warmUpRow(const Shape &shape, int rank, int first) {
  return alternate(
      first, shape.microBatches, [&](int) { return rank; },
      [&](RowBuilder &row, int) { row.add(rank, ActionKind::Backward); });
}

Row oneFOneBRow(const Shape &shape, int rank) {
  // The forward of each pair is the one before its backward.
  return warmUpRow(shape, rank,
                   std::min(shape.ranks - 1 - rank, shape.microBatches));
}

Row loopedBfsRow(const Shape &shape, int rank) {
  Row row;
  int last = shape.microBatches - 1;
  for (int pass = 0; pass < shape.stagesPerRank; ++pass)
    for (int i = 0; i <= last; ++i)
      row.push_back(
          makeAction(pass * shape.ranks + rank, ActionKind::Forward, i));
  for (int pass = shape.stagesPerRank - 1; pass >= 0; --pass)
    for (int i = last; i >= 0; --i)
      row.push_back(
          makeAction(pass * shape.ranks + rank, ActionKind::Backward, i));
  return row;
}

namespace {
/// Whose turn it is where rounds of micro-batches interleave.
struct Turns {
  const Shape &shape;
  int rank, round;
  Turns(const Shape &shape, int rank)
      : shape(shape), rank(rank), round(shape.microBatches / roundsOf(shape)) {}

  int count() const { return shape.microBatches * shape.stagesPerRank; }
  /// Forwards before the first backward; `more` for each later rank.
  int first(int more) const {
    int all =
        (shape.stagesPerRank - 1) * round + more * (shape.ranks - 1 - rank);
    return std::min(all, count());
  }
  int forward(int i) const {
    return i / round % shape.stagesPerRank * shape.ranks + rank;
  }
  int backward(int i) const {
    int pass = shape.stagesPerRank - 1 - i / round % shape.stagesPerRank;
    return pass * shape.ranks + rank;
  }
};
} // namespace

Row interleavedRow(const Shape &shape, int rank) {
  Turns turns(shape, rank);
  return alternate(
      turns.first(2), turns.count(), [&](int i) { return turns.forward(i); },
      [&](RowBuilder &row, int i) {
        row.add(turns.backward(i), ActionKind::Backward);
      });
}

Row interleavedZeroBubbleRow(const Shape &shape, int rank) {
  Turns turns(shape, rank);
  int count = turns.count();
  auto backward = [&](RowBuilder &row, int i) {
    row.add(turns.backward(i), ActionKind::InputGradients);
    if (i >= rank)
      row.add(turns.backward(i - rank), ActionKind::WeightGradients);
    for (int late = count - rank; i == count - 1 && late < count; ++late)
      if (late >= 0)
        row.add(turns.backward(late), ActionKind::WeightGradients);
  };
  return alternate(
      turns.first(1), count, [&](int i) { return turns.forward(i); }, backward);
}

} // namespace cutback::pipeline
