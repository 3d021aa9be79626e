// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops around a large product in parts along its rows, one part after the other.
#ifndef CUTBACK_TRANSFORMS_SPLITOPS_H
#define CUTBACK_TRANSFORMS_SPLITOPS_H

#include "cutback/Transforms/SplitGroup.h"

namespace cutback {

/// What became of a graph that was asked to run in parts.
struct SplitOutcome {
  unsigned parts = 0;                 ///< 0: nothing was split
  uint64_t ops = 0;                   ///< that run in parts
  std::string root;                   ///< name of the product's result
  SplitRefusal refusal;               ///< where nothing was split
  mlir::Operation *refused = nullptr; ///< the op of `refusal`, or null
};

/// Splits the group around the largest product of the forward that has one
/// with a reduction of its result, a loss, into `parts` parts: part i has the
/// rows from i · n / parts up to (i + 1) · n / parts, in units of n / grains.
/// There are at most as many parts as grains.
///
/// Guarantees: each element of a value that is not a sum over rows is computed
/// by the same ops from the same elements. A sum over rows is that of the
/// parts' sums, added from the first part to the last, in f32 where its type is
/// narrower, and rounded once. What a part of the forward makes that is large
/// is to be recomputed in the backward, part by part (`joint.policy`). Ops keep
/// their names, with a number behind them. The graph stays as it is where
/// nothing is split. Linear in ops times parts.
SplitOutcome splitOps(joint::GraphOp graph, const GraphView &view,
                      const GraphSets &sets, unsigned parts);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_SPLITOPS_H
