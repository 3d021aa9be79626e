// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans in which checkpoint regions keep a fraction of their bytes.
#ifndef CUTBACK_LIB_PLANNER_REGIONBUDGETS_H
#define CUTBACK_LIB_PLANNER_REGIONBUDGETS_H

#include "cutback/Analysis/Roofline.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

/// The budgets that a prepared graph has (graph attribute `joint.regions`), in
/// the order of the regions.
std::vector<RegionBudget> regionBudgetsOf(const GraphView &view);

/// Whether a graph or the options have budgets of regions; also of a graph that
/// is not prepared yet.
bool hasRegionBudgets(joint::GraphOp graph, const PartitionOptions &options);

/// The plan of least time in which each region keeps to its budget, as far as
/// one price of a byte for each region finds it: `cut` gives the plan under
/// costs of saving. Up to 60 cuts. Fails with an error at the graph where a
/// region must keep more, or where no budget has an effect.
mlir::FailureOr<Plan> planWithinRegions(
    const GraphView &view, const RooflineCosts &costs,
    llvm::function_ref<mlir::FailureOr<Plan>(const RooflineCosts &costs)> cut,
    std::vector<RegionBudget> &budgets);

} // namespace cutback

#endif // CUTBACK_LIB_PLANNER_REGIONBUDGETS_H
