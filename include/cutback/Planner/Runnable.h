// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composite ops of joint graphs, in terms of ops that the interpreter has, or
// of core ops.
#ifndef CUTBACK_PLANNER_RUNNABLE_H
#define CUTBACK_PLANNER_RUNNABLE_H

#include "cutback/Analysis/GraphView.h"

#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <vector>

namespace cutback {

/// Decomposes the ops of `function`, a graph or a half, that have a rule and no
/// kernel, and takes known ops out of `with_effects`; whether there were any.
/// Fails with the error of a rule. The rules must be registered
/// (`registerTrainingGraph`). Linear.
mlir::FailureOr<bool> makeRunnable(mlir::Operation *function);

/// The same in front of a plan, down to the list of core ops (Composites.h): a
/// composite op that has a kernel is taken apart too, so that each part can be
/// saved, recomputed, or be part of a generated kernel. A random op that has a
/// kernel stays, and so does one whose rule fails. Whether there were any.
bool reachCoreOps(joint::GraphOp graph);

/// The same, cleans up behind it if there were any, and copies views of
/// arguments that are written (OldViews.h).
void simplifyToCoreOps(joint::GraphOp graph);

/// A copy of a graph in core ops.
struct CoreGraph {
  mlir::OwningOpRef<joint::GraphOp> graph; ///< in no module
  GraphView view;                          ///< of it
  /// By value of the given graph: what stands for it here; kNone of results
  /// without a reader. They depend on the graph alone.
  std::vector<uint32_t> fromGiven;
  /// By value here: the first that it stands for in the given graph, or kNone.
  std::vector<uint32_t> toGiven;
};

/// What `given` numbers, in core ops; nothing if it has no others. What its
/// ops write or draw is the same, and so are their tags. Linear.
std::optional<CoreGraph> makeCoreGraph(const GraphView &given);

} // namespace cutback

#endif // CUTBACK_PLANNER_RUNNABLE_H
