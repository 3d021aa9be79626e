// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof of a minimum cut, as an error of the graph that it is for.
#ifndef CUTBACK_PARTITION_CUTCHECK_H
#define CUTBACK_PARTITION_CUTCHECK_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/ThreeWay/ThreeWayCut.h"

namespace cutback {

/// Fails with an error at `graph` unless the flow that comes with `cut` proves
/// it minimal (checkFlow). Linear.
mlir::LogicalResult verifyCut(joint::GraphOp graph, const FlowNetwork &network,
                              const MinCut &cut);

/// The same of the bound of three phases (checkBound): two flows a leaf of it.
mlir::LogicalResult verifyBound(joint::GraphOp graph,
                                const ThreeWayProblem &problem,
                                const ThreeWayBound &bound);

} // namespace cutback

#endif // CUTBACK_PARTITION_CUTCHECK_H
