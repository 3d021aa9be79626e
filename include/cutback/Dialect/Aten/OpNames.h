// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PyTorch calls the ops of dialect `aten`, one constant an op, for code
// that builds calls: op::add_Tensor is "aten.add.Tensor", op::mm is
// "aten.mm.default", op::prims_iota is "prims.iota.default". A name that no op
// has does not compile.
#ifndef CUTBACK_DIALECT_ATEN_OPNAMES_H
#define CUTBACK_DIALECT_ATEN_OPNAMES_H

#include "cutback/Dialect/Aten/AtenOpNames.inc"

#endif // CUTBACK_DIALECT_ATEN_OPNAMES_H
