// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint regions as policies on ops.
#ifndef CUTBACK_TRANSFORMS_CLEANTAGS_H
#define CUTBACK_TRANSFORMS_CLEANTAGS_H

#include "cutback/Dialect/Joint/Joint.h"

#include <cstdint>

namespace cutback {

/// An op that asks to be recomputed and has a user that asks so too in a later
/// region lies on the boundary of both: its policy becomes `must_save`, so
/// that a chain of regions is not recomputed from its beginning. The region
/// number stays. Returns the number of ops changed. Linear.
uint64_t cleanTags(joint::GraphOp graph);

/// Dissolves every `joint.checkpoint`: the ops inside move in front of it and
/// get `prefer_recompute`, or what its `policies` say for their op name, and
/// the number of the region. Numbers start behind the largest one in the
/// graph, in program order. A nested region takes the number of the outermost:
/// it is recomputed with it. An op that has a policy keeps its kind. Warns
/// where `preserve_rng = false` or `early_stop = false` asks for what is not
/// offered. Returns the number of regions dissolved. Linear.
uint64_t flattenCheckpoints(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_CLEANTAGS_H
