// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `LiteralOpInterface`, which says that an op's results need not be computed:
// undefined contents, one number everywhere, constants of the program. Without
// it a plan would hand over zeros from the forward to the backward, because a
// product that accumulates into them reads them from memory. Its definition is
// generated; this file gives it a place to live.

#include "cutback/Dialect/Joint/Literal.h"

#include "cutback/Dialect/Joint/LiteralInterface.cpp.inc"
