// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of one rank, a function for each schedule. Sizes have been checked.
#ifndef CUTBACK_LIB_SCHEDULE_GENERATORS_H
#define CUTBACK_LIB_SCHEDULE_GENERATORS_H

#include "cutback/Schedule/Generate.h"

#include <algorithm>
#include <array>

namespace cutback::pipeline {

/// Of schedules that interleave: micro-batches go round the stages of a rank
/// in rounds of `microBatches / roundsOf()`.
inline int roundsOf(const Shape &shape) {
  return std::max(1, shape.microBatches / shape.ranks);
}

Row gpipeRow(const Shape &shape, int rank);
Row oneFOneBRow(const Shape &shape, int rank);
Row loopedBfsRow(const Shape &shape, int rank);
Row interleavedRow(const Shape &shape, int rank);
Row interleavedZeroBubbleRow(const Shape &shape, int rank);
Row zbvRow(const Shape &shape, int rank);
Row dualPipeVRow(const Shape &shape, int rank);
Row vHalfRow(const Shape &shape, int rank);
Row vMinRow(const Shape &shape, int rank);

/// Without its rows.
Schedule emptySchedule(const Shape &shape, Mapping mapping);

/// `first` forwards, then a backward after each of the others, then backwards.
Row warmUpRow(const Shape &shape, int rank, int first);

/// When one micro-batch is at the two forwards and, back, the two backwards of
/// a rank in a V, in units of time of which each takes one.
using BlockTimes = std::array<int, 4>;
/// Units of a rank for one micro-batch: two each of F, I and W.
inline constexpr int kBlockWork = 6;

/// The block for each micro-batch, `interval` units after that of the one
/// before, by time; its backwards are `backward`.
std::vector<std::pair<double, Action>>
repeatBlock(const BlockTimes &block, const Shape &shape, int rank,
            ActionKind backward, double interval = kBlockWork);

/// A list that grows; each kind of each stage counts its micro-batches.
class RowBuilder {
public:
  /// The next micro-batch of `stage`.
  void add(int stage, ActionKind kind) { row.push_back(next(stage, kind)); }
  void overlap(int forwardStage, int backwardStage) {
    Action both;
    both.kind = ActionKind::Overlap;
    both.parts = {next(forwardStage, ActionKind::Forward),
                  next(backwardStage, ActionKind::Backward)};
    row.push_back(std::move(both));
  }
  /// How many micro-batches of `stage` went forward.
  int forwards(int stage) { return find(stage).forward; }
  Row take() { return std::move(row); }

private:
  struct Counts {
    int stage, forward = 0, backward = 0, weight = 0;
  };
  Counts &find(int stage) {
    for (Counts &counts : all)
      if (counts.stage == stage)
        return counts;
    all.push_back({stage});
    return all.back();
  }
  Action next(int stage, ActionKind kind) {
    Counts &counts = find(stage);
    int &number = kind == ActionKind::Forward           ? counts.forward
                  : kind == ActionKind::WeightGradients ? counts.weight
                                                        : counts.backward;
    Action action = makeAction(stage, kind, number++);
    if (kind == ActionKind::Backward)
      ++counts.weight;
    return action;
  }

  Row row;
  std::vector<Counts> all; ///< a rank has few stages
};

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_GENERATORS_H
