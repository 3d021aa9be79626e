// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Policies of checkpoint regions by op name.
#ifndef CUTBACK_LIB_TRANSFORMS_REGIONPOLICIES_H
#define CUTBACK_LIB_TRANSFORMS_REGIONPOLICIES_H

#include "cutback/Dialect/Joint/Joint.h"

#include <string>

namespace cutback {

/// Gives ops of checkpoint regions the policies of `table`, entries
/// "POLICY:OP"; see RegionRequest. An entry that is none, that fits no op of a
/// region, or that says another thing than one before is an error at the graph.
mlir::LogicalResult applyRegionPolicies(joint::GraphOp graph,
                                        llvm::ArrayRef<std::string> table);

} // namespace cutback

#endif // CUTBACK_LIB_TRANSFORMS_REGIONPOLICIES_H
