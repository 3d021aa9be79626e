// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as length times direction.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_WEIGHTNORM_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_WEIGHTNORM_H

#include "cutback/Interpreter/Kernel.h"

namespace cutback::interpreter {

/// _weight_norm_interface(v, g, dim), and its gradients.
mlir::LogicalResult weightAndNorms(const KernelCall &call);
mlir::LogicalResult weightGradients(const KernelCall &call);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_WEIGHTNORM_H
