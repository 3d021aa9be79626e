// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What somebody else's partition of the same graph saves.
#ifndef CUTBACK_REPORT_OTHERHALVES_H
#define CUTBACK_REPORT_OTHERHALVES_H

#include "cutback/Report/Report.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cutback {

/// Counts the saved values of `backward` (its arguments that are neither
/// tangents nor seeds) in the ways that `ours` counts: `savedBytes` are the
/// distinct storages that are neither arguments nor forward results. Values are
/// found by name; one that our graph does not have counts by its type.
void countOther(const PartitionResult &ours, mlir::func::FuncOp backward,
                OtherPartition &other);

} // namespace cutback

#endif // CUTBACK_REPORT_OTHERHALVES_H
