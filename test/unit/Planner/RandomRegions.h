// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint regions of any shape in a random program.
#ifndef CUTBACK_TEST_UNIT_PLANNER_RANDOMREGIONS_H
#define CUTBACK_TEST_UNIT_PLANNER_RANDOMREGIONS_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::test {

/// Puts the forward of `graph` into regions, by `seed`: nested intervals of its
/// ops, with policies, some to run whole.
void addRandomRegions(joint::GraphOp graph, uint64_t seed);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PLANNER_RANDOMREGIONS_H
