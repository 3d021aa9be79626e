// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as loops: dialects func, scf, memref, arith, math and vector.
#ifndef CUTBACK_TARGET_CPU_LOWERKERNEL_H
#define CUTBACK_TARGET_CPU_LOWERKERNEL_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cutback {

struct LoweredKernel {
  /// Takes the memories of the kernel (truth values as bytes) and kKernelCells
  /// (Runtime/Artifact.h): the parts together do what one call of one part
  /// does. After an access outside of a memory, or a pick outside of a row, the
  /// first cells have the number in `checked`, from 1 on, and where.
  mlir::func::FuncOp function;
  /// Ops of the kernel that may fail at run time.
  std::vector<mlir::Operation *> checked;
};

/// Writes `kernel` as a function of its name into `module`. The order of every
/// sum, and each rounding, is that of docs/Kernels.md. Emits an error at an op
/// that has no machine code. Linear in the ops, times the loops over a row.
mlir::FailureOr<LoweredKernel> lowerKernel(kernel::FuncOp kernel,
                                           mlir::ModuleOp module);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_LOWERKERNEL_H
