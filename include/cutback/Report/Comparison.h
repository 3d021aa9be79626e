// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report sets beside a plan: other strategies, and a partition that
// came with the graph.
#ifndef CUTBACK_REPORT_COMPARISON_H
#define CUTBACK_REPORT_COMPARISON_H

#include "cutback/Import/Import.h"
#include "cutback/Report/Report.h"

#include <functional>

namespace cutback {

/// The verdict on PyTorch's halves of an input that has them, with their peak
/// and price if they are accepted. To be asked before the graph is prepared.
std::optional<OtherPartition> judgeOther(ImportedModule &imported,
                                         const PartitionOptions &options);

/// Options of what the partitioner of PyTorch 2.13 decides on the graph of a
/// plan.
PartitionOptions askTorch(const PartitionResult &result);

/// A copy of a graph that is going to be planned, for `compareStrategies`;
/// null if the graph is so large that it will not look at it.
mlir::OwningOpRef<joint::GraphOp> copyToCompare(joint::GraphOp graph);

/// Where the graph of a plan is from: as it was read, or prepared by us and
/// stored, so that PyTorch would decide on another one.
enum class PlannedGraph { AsRead, Stored };

/// Adds a line for each strategy, and one for the decision of PyTorch 2.13's
/// partitioner, but not of a stored graph; that of `result` itself is the
/// chosen one.
/// The others have the figures that asking for them gives: `asRead` is the
/// graph as it was before `result` was planned. Above `kComparedOps`, and where
/// `asRead` is null, there are no others. `before` is called with the name of
/// each that has to be planned.
void compareStrategies(joint::GraphOp asRead, const PartitionResult &result,
                       ReportExtras &extras, PlannedGraph kind,
                       const std::function<void(llvm::StringRef)> &before = {});

} // namespace cutback

#endif // CUTBACK_REPORT_COMPARISON_H
