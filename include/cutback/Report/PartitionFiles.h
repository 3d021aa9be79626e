// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A partition as files.
#ifndef CUTBACK_REPORT_PARTITIONFILES_H
#define CUTBACK_REPORT_PARTITIONFILES_H

#include "cutback/Report/Report.h"

namespace cutback {

/// Writes joint.mlir, forward.mlir, backward.mlir and plan.json into `folder`,
/// all of them or none. `result` is a plan of `graph`, with its functions.
/// Returns an empty string, or what failed and why. Two calls for equal plans
/// write equal bytes.
std::string writePartition(joint::GraphOp graph, const PartitionResult &result,
                           const ReportExtras &extras,
                           const std::string &folder);

} // namespace cutback

#endif // CUTBACK_REPORT_PARTITIONFILES_H
