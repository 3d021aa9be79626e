// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which the backward runs: recomputed ops right before their
// first user.
#ifndef CUTBACK_TRANSFORMS_REORDERBACKWARD_H
#define CUTBACK_TRANSFORMS_REORDERBACKWARD_H

#include "cutback/Analysis/GraphView.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Support/LiveProblem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <vector>

namespace cutback {

/// A straight-line program to be reordered, as numbers. Ops are 0 … n-1 in
/// their present order.
struct ReorderProblem {
  /// By op: ops that it needs before it, in the order of its operands (repeated
  /// ones allowed). All have smaller numbers.
  Rows depends;
  std::vector<uint8_t> needed;    ///< something needs the op
  std::vector<uint8_t> hasEffect; ///< stays in any case; also `needed`
  /// Ops below this one are placed only where they are needed.
  uint32_t first = 0;

  uint32_t numOps() const { return needed.size(); }
  /// What is wrong with the problem; empty if nothing is. Linear.
  std::string check() const;
};

/// Needed ops with effects below `problem.first` come first. Then, for each
/// needed op from `problem.first` to the end, what it needs and is not placed
/// yet (depth first, deepest operand first), and the op. Last what only
/// results need. Depth is the longest path from a value that exists at the
/// start; of equal depths the first operand goes first. Iterative; linear in
/// ops and dependencies but for the sort of one op's operands.
std::vector<uint32_t> reorder(const ReorderProblem &problem);

/// The backward's ops in the order of 30-autograd §2: from the first op that
/// uses a tangent or the gradient seed to the end, each preceded by what it
/// lacks. In a graph without those the first op that is not recomputed counts
/// as the first. Ops that nothing needs are left out. Ops with effects and
/// unseeded random ops keep their order among each other; readers of an
/// argument that the backward writes stay on their side of the write. Returns
/// a permutation of a subset of `halves.backwardOps`. Linear.
std::vector<uint32_t> reorderBackward(const GraphView &view,
                                      const Halves &halves);

/// What became of an order.
struct ReorderOutcome {
  /// False: the new order's peak would be higher, and nothing is early.
  bool reordered = false;
  uint64_t erased = 0;                   ///< ops that nothing needed
  int64_t peakBefore = 0, peakAfter = 0; ///< of the backward, bytes, op by op
};

/// Gives `halves.backwardOps` the order of `reorderBackward`, unless its
/// op-by-op peak is higher than that of the order it has. `bytes` and
/// `storage` are by value, as `ValueSizes` has them. Linear.
ReorderOutcome improveBackwardOrder(const GraphView &view, Halves &halves,
                                    llvm::ArrayRef<int64_t> bytes,
                                    llvm::ArrayRef<uint32_t> storage);

/// The same on a backward function, as `emitHalves` writes it. Hints of
/// symbolic sizes are not known here: a dynamic dimension counts as
/// `unknownDimension` elements. Emits a remark of category
/// `cutback-reorder-backward` at the function if it keeps the order. Linear.
ReorderOutcome reorderBackward(mlir::func::FuncOp backward,
                               int64_t unknownDimension = 16);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_REORDERBACKWARD_H
