// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a graph that is stored beside its halves says about their plan.
#ifndef CUTBACK_PLANNER_PLANRECORD_H
#define CUTBACK_PLANNER_PLANRECORD_H

#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

/// Attribute of a `joint.graph` that was stored with its plan: a dictionary of
///   options        the plan options as texts of the command line
///   strategy, cost_model, rules, byte_price_ps
///                  what was chosen under them
///   recompute      names of values: chosen to be recomputed
///   torch_graph    the graph is as PyTorch prepares it
///   decomposed     the halves are of the graph in core ops (makeCoreGraph)
///   passed_over    of the minimum cut that was not taken: its peak, that of
///                  PyTorch's decision, its time in ps
///   passed_over_byte_price_ps
///                  the price that gives it
///   search         of the least peak: plans looked at, 1 if all of them
inline constexpr llvm::StringLiteral kPlanRecord = "joint.plan";

/// On a graph whose ops around a large product run in parts: how many, and the
/// name of the product's result in the whole graph (SplitOps.h).
inline constexpr llvm::StringLiteral kSplitRecord = "joint.split";

struct SplitRecord {
  int64_t parts = 0;
  std::string product;
};
/// Nothing where there is no record, or a damaged one.
std::optional<SplitRecord> splitRecordOf(joint::GraphOp graph);

/// Writes how `result` was made onto its prepared graph, or onto a copy of it.
void recordPlan(joint::GraphOp graph, const PartitionResult &result);

/// Whether the halves of a stored graph are of the graph in core ops.
bool isPlannedInCoreOps(joint::GraphOp graph);

/// Makes the plan of a prepared graph again, as its record says: same saved
/// values, order, arena and figures, but for the times. Nothing is prepared
/// and nothing compared with other plans. Fails with an error at the graph if
/// there is no record, or one that cannot be read.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planAsRecorded(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_PLANNER_PLANRECORD_H
