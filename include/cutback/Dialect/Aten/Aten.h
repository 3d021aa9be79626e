// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `aten`, without its op classes (those are in AtenOps.h, which is
// long: most code needs the interfaces and the schema table only).
#ifndef CUTBACK_DIALECT_ATEN_ATEN_H
#define CUTBACK_DIALECT_ATEN_ATEN_H

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/OpInfo.h"
#include "cutback/Dialect/Aten/Schema.h"

#include "mlir/IR/Dialect.h"

#include <memory>

#include "cutback/Dialect/Aten/AtenDialect.h.inc"

#endif // CUTBACK_DIALECT_ATEN_ATEN_H
