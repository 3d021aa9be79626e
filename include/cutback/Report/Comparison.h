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

/// Plans the prepared graph by all strategies, with memory (and less search) if
/// `result` has been, and adds a line for each; that of `result` itself is the
/// chosen one. Functions of `result` stay, new ones do not. `before` is called
/// with each strategy that has to be planned.
void compareStrategies(joint::GraphOp graph, const PartitionResult &result,
                       ReportExtras &extras,
                       const std::function<void(Strategy)> &before = {});

} // namespace cutback

#endif // CUTBACK_REPORT_COMPARISON_H
