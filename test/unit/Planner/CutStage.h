// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A middle stage of a forward program, for what is about one stage alone.
#ifndef CUTBACK_TEST_UNIT_PLANNER_CUTSTAGE_H
#define CUTBACK_TEST_UNIT_PLANNER_CUTSTAGE_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::test {

/// Keeps of a forward program what is between two places at which one
/// activation that takes a gradient crosses: those nearest to `begin` and
/// `end`, parts of its ops. What crosses at the first becomes an input (the
/// activation takes a gradient), the activation at the second the result; with
/// `end` 1 the results stay. False, and nothing is changed, if there are no
/// such places, or a size crosses that is not static. Linear.
bool cutStage(joint::GraphOp graph, double begin, double end);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PLANNER_CUTSTAGE_H
