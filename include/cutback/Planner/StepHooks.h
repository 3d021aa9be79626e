// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hook points of a graph, with functions for the interpreter.
#ifndef CUTBACK_PLANNER_STEPHOOKS_H
#define CUTBACK_PLANNER_STEPHOOKS_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Runtime/HookTable.h"

namespace cutback {

/// The points of `graph` (`joint.hook`), in the order in which they stand.
std::vector<HookPoint> hookPointsOf(joint::GraphOp graph);

/// Runs the functions of `table`, which must outlive it, in the interpreter.
interpreter::RunHook runHooksOf(HookTable &table);

} // namespace cutback

#endif // CUTBACK_PLANNER_STEPHOOKS_H
