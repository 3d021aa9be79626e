// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of limits of memory.
#ifndef CUTBACK_REPORT_MEMORYREPORT_H
#define CUTBACK_REPORT_MEMORYREPORT_H

#include "cutback/Report/Report.h"

namespace cutback {

/// A row a plan, this one and PyTorch's decision among them.
std::string frontText(const PartitionResult &result,
                      const ReportExtras &extras);

/// What became of PyTorch's activation budget.
std::string budgetText(const PartitionResult &result);

/// What checkpoint regions with budgets keep.
std::string regionBudgetsText(const PartitionResult &result);

/// Of any plan of the graph, and of those with this one's memory.
std::string boundText(const PlanBounds &bounds);

} // namespace cutback

#endif // CUTBACK_REPORT_MEMORYREPORT_H
