// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose results are no work: `LiteralOpInterface`.
#ifndef CUTBACK_DIALECT_JOINT_LITERAL_H
#define CUTBACK_DIALECT_JOINT_LITERAL_H

#include "mlir/IR/OpDefinition.h"

#include "cutback/Dialect/Joint/LiteralInterface.h.inc"

#endif // CUTBACK_DIALECT_JOINT_LITERAL_H
