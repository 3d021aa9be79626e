// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The VJP rules, declared as the ODS files name them (`Vjp<"exp">`). A rule is
// defined in one of the files here; one that is not does not link.
#ifndef CUTBACK_LIB_AUTOGRAD_ATEN_RULES_H
#define CUTBACK_LIB_AUTOGRAD_ATEN_RULES_H

#include "cutback/Dialect/Aten/Rules.h"

namespace cutback::autograd {

using aten::VjpFn;

namespace vjps {
#define ATEN_RULE(name) extern const VjpFn name;
#include "cutback/Dialect/Aten/AtenVjps.inc"
} // namespace vjps

} // namespace cutback::autograd

#endif // CUTBACK_LIB_AUTOGRAD_ATEN_RULES_H
