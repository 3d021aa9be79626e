// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of nested checkpoint regions as ops of the joint graph
// (docs/Rationale/Regions.md).
#ifndef CUTBACK_TRANSFORMS_EXPANDREGIONS_H
#define CUTBACK_TRANSFORMS_EXPANDREGIONS_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Transforms/CleanTags.h"

#include <optional>

namespace cutback {

/// What a region asks for besides its policies: the entries of graph attribute
/// `joint.regions`, by path. A region that asks for nothing has no entry.
struct RegionWishes {
  static constexpr llvm::StringLiteral kEarlyStop = "early_stop";
  static constexpr llvm::StringLiteral kPreserveRng = "preserve_rng";
  static constexpr llvm::StringLiteral kBudget = "budget";
  bool earlyStop = true, preserveRng = true;
  /// The fraction of its bytes that the region keeps, 0 … 1.
  std::optional<double> budget;
};

/// Adds `wishes` of the region `path` to the graph's attribute.
void setRegionWishes(joint::GraphOp graph, llvm::ArrayRef<int64_t> path,
                     const RegionWishes &wishes);

/// What was added to a graph.
struct ExpandedRegions {
  uint64_t copies = 0; ///< ops, of all runs
  uint64_t reruns = 0; ///< regions that run whole
  bool any() const { return copies != 0 || reruns != 0; }
};

/// Whether there is something to expand: a region inside of another one, or
/// one with wishes, and no copy yet. Linear.
bool hasRegionsToExpand(const GraphView &view, const Policies &policies);

/// Copies ops of checkpoint regions, so that the backward can run each region
/// by itself. The first run of an outermost region needs no copies: its ops are
/// those that the backward recomputes. For each further level an op gets a copy
/// behind it, with `run = <level>`, which reads of its own region what this run
/// computes, and of the regions around it what their runs keep. What the
/// backward reads of an op is its last copy. Copies that nobody reads are not
/// made. `view`, with the policies of its ops, follows; `sets` and `policies`
/// are old afterwards. Linear in ops times levels.
ExpandedRegions expandRegions(GraphView &view, const GraphSets &sets,
                              const Policies &policies);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_EXPANDREGIONS_H
