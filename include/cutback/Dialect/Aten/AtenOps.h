// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op classes of dialect `aten`, for code that matches or builds one of
// them by name.
#ifndef CUTBACK_DIALECT_ATEN_ATENOPS_H
#define CUTBACK_DIALECT_ATEN_ATENOPS_H

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/OpDefinition.h"

#define GET_OP_CLASSES
#include "cutback/Dialect/Aten/AtenOps.h.inc"

#endif // CUTBACK_DIALECT_ATEN_ATENOPS_H
