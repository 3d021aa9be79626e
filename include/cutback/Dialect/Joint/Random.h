// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `joint.random`: random numbers as a pure function of a seed.
#ifndef CUTBACK_DIALECT_JOINT_RANDOM_H
#define CUTBACK_DIALECT_JOINT_RANDOM_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Vjp.h"

#include "cutback/Dialect/Joint/RandomEnums.h.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/RandomOps.h.inc"

namespace cutback::joint {

/// Bits of the whole numbers from 0 on that a type holds exactly: what
/// `random` fills.
unsigned numExactBits(mlir::Type element);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_RANDOM_H
