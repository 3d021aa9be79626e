// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the backward between which communication goes on.
#ifndef CUTBACK_DIALECT_JOINT_OVERLAP_H
#define CUTBACK_DIALECT_JOINT_OVERLAP_H

#include "llvm/ADT/StringRef.h"

namespace cutback::joint {

/// Discardable attributes (unit) of ops that run in their order. One that
/// starts a transfer is early: who orders the backward moves nothing from
/// behind it in front of it. One that waits for a transfer is late: nothing
/// from in front of it goes behind it. `--collectives-first` gives them.
inline constexpr llvm::StringLiteral kEarly = "joint.early";
inline constexpr llvm::StringLiteral kLate = "joint.late";

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_OVERLAP_H
