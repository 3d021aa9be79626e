// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `acme`.
#ifndef ACME_OPS_H
#define ACME_OPS_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "AcmeDialect.h.inc"
#define GET_OP_CLASSES
#include "AcmeOps.h.inc"

#endif // ACME_OPS_H
