// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that forget what they write over.
#ifndef CUTBACK_DIALECT_JOINT_FORGETS_H
#define CUTBACK_DIALECT_JOINT_FORGETS_H

#include "llvm/ADT/StringRef.h"

namespace cutback::joint {

/// Discardable attribute (unit) of an op that stands for one which writes over
/// its first operand (`zero_`): in the graph it does not read the old value,
/// but has a gradient to it, of zeros. Differentiation takes it off.
inline constexpr llvm::StringLiteral kForgets = "joint.forgets";

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_FORGETS_H
