// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint regions as policies on ops.
#ifndef CUTBACK_TRANSFORMS_CLEANTAGS_H
#define CUTBACK_TRANSFORMS_CLEANTAGS_H

#include "cutback/Analysis/GraphView.h"

#include <cstdint>
#include <vector>

namespace cutback {

/// By op of a view: its policy, or null.
using Policies = std::vector<joint::PolicyAttr>;

/// One look at each annotated op. Linear.
Policies readPolicies(const GraphView &view);

/// An op that asks to be recomputed and has a user that asks so too in a later
/// region lies on the boundary of both: its policy becomes `must_save`, and
/// if it is a view, that of what it looks at, so that a chain of regions is not
/// recomputed from its beginning. The region number stays. `policies`, those of
/// the ops of `view`, follow. Returns the number of ops changed. Linear.
uint64_t cleanTags(const GraphView &view, Policies &policies);

/// joint::markReplays(), which walks the graph, where an op of `view` draws and
/// has a tag. Such ops may run twice then: `view` follows.
uint64_t markReplays(GraphView &view);

/// Dissolves every `joint.checkpoint`: the ops inside move in front of it and
/// get `prefer_recompute`, or what its `policies` say for their op name, and
/// the numbers of the regions that it was in, outermost first. Outermost
/// regions are numbered in program order, behind the largest number in the
/// graph, the regions of a parent from 0. What is below `kMaxRegionDepth`
/// regions runs with the last of them. An op that has a policy keeps its kind.
/// Warns once where `preserve_rng = false` changes numbers. Returns the number
/// of regions dissolved. Linear.
uint64_t flattenCheckpoints(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_CLEANTAGS_H
