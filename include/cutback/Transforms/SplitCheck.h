// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof that a graph whose ops run in parts computes what the whole one
// does.
#ifndef CUTBACK_TRANSFORMS_SPLITCHECK_H
#define CUTBACK_TRANSFORMS_SPLITCHECK_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

struct SplitCheckStats {
  uint64_t parts = 0; ///< ops that make a part of a value
  uint64_t sums = 0;  ///< values that are sums of parts
};

/// Finds for each value of `split`, bottom up, what it is of `whole`: a value,
/// a part of one along a dimension, or the sum over a part of a product's or a
/// reduction's terms. It shares with who split the graph what ops say about
/// themselves (AxisUses.h), and nothing else.
///
/// Accepts if and only if results and gradients are those of `whole`, in their
/// order, and so are ops with effects and what reads arguments that are written
/// between them. Sums are those of the same terms, in the order in which
/// `split` adds them: equal but for rounding; a sum is narrowed when it is
/// complete only. Otherwise emits an error at the first op that is not found.
/// Linear in ops times users of a value.
mlir::LogicalResult verifySplit(joint::GraphOp whole, joint::GraphOp split,
                                SplitCheckStats *stats = nullptr);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_SPLITCHECK_H
