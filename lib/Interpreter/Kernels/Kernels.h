// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels, declared as the ODS files name them (`Kernel<"exp">`). A kernel
// is defined in one of the files here; one that is not does not link.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_KERNELS_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_KERNELS_H

#include "cutback/Interpreter/Kernel.h"

namespace cutback::interpreter {

using aten::optional;
using aten::ParamRef;

namespace kernels {
#define ATEN_RULE(name) extern const KernelFn name;
#include "cutback/Dialect/Aten/AtenKernels.inc"
} // namespace kernels

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_KERNELS_H
