// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Policies of ops, and of checkpoint regions by op name.
#ifndef CUTBACK_LIB_TRANSFORMS_REGIONPOLICIES_H
#define CUTBACK_LIB_TRANSFORMS_REGIONPOLICIES_H

#include "cutback/Dialect/Joint/Joint.h"

#include <string>

namespace cutback {

/// The policy of an op, or null. No op has it among its own attributes, so
/// these need not be asked first.
inline joint::PolicyAttr policyOf(mlir::Operation *op) {
  return llvm::dyn_cast_or_null<joint::PolicyAttr>(
      op->getDiscardableAttr(joint::JointDialect::kPolicy));
}

/// What a user of `preserve_rng = false` must know.
void warnOfOtherDraws(joint::GraphOp graph);

/// Gives ops of checkpoint regions the policies of `table`, entries
/// "POLICY:OP"; see RegionRequest. An entry that is none, that fits no op of a
/// region, or that says another thing than one before is an error at the graph.
mlir::LogicalResult applyRegionPolicies(joint::GraphOp graph,
                                        llvm::ArrayRef<std::string> table);

} // namespace cutback

#endif // CUTBACK_LIB_TRANSFORMS_REGIONPOLICIES_H
