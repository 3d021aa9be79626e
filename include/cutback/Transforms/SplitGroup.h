// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a training graph that can run in parts along an axis of a large
// product.
#ifndef CUTBACK_TRANSFORMS_SPLITGROUP_H
#define CUTBACK_TRANSFORMS_SPLITGROUP_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Transforms/AxisUses.h"

#include <string>
#include <vector>

namespace cutback {

/// Ops around a product whose result is large: all that make or read values as
/// large as that one, and what lies between them. In parts none of these values
/// is ever there as a whole. Numbers are those of the view.
struct SplitGroup {
  uint32_t root = GraphView::kNone; ///< the product
  /// By op: how it walks the axis, for ops of the group.
  std::vector<std::optional<AxisUse>> uses;
  /// By value: the dimension along which it is made in parts, or
  /// AxisUse::kNone: it is there as a whole.
  std::vector<int> axis;
  /// By value: as large as what the group is about, and made in parts.
  std::vector<uint8_t> isLarge;
  /// Ops of the group, in program order: those of the forward, and those that
  /// run in the backward whatever the plan.
  std::vector<uint32_t> forwardOps, backwardOps;
  /// Parts may begin and end at multiples of 1 / grains.
  int64_t grains = 0;

  bool contains(uint32_t op) const { return uses[op].has_value(); }
  /// An op of the forward that is no product makes a small result of a large
  /// value: a loss.
  bool hasReduction(const GraphView &view) const;
};

/// Why a product stays whole.
struct SplitRefusal {
  uint32_t op = GraphView::kNone; ///< what is in the way
  std::string why;
};

/// Values of a group are those with at least so many elements, in parts of
/// 100, as the result of its root has.
inline constexpr int64_t kLargePercent = 75;

/// Products of the forward whose result has more elements than the factor that
/// is split with it, the largest first: those that may pay. Linear.
std::vector<uint32_t> findSplitRoots(const GraphView &view,
                                     const GraphSets &sets);

/// The group around `root`, along the outermost dimension of its left factor.
/// Nothing, and why in `refusal`, if it has an op that does not run in parts,
/// if a large value is a result of the graph, or if one part would need what
/// all parts of the same half give. Linear in ops times the rounds in which the
/// group grows, a few.
std::optional<SplitGroup> findSplitGroup(const GraphView &view,
                                         const GraphSets &sets, uint32_t root,
                                         SplitRefusal &refusal);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_SPLITGROUP_H
