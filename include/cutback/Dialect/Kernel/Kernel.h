// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `kernel`: launches of kernels, and their bodies on elements.
#ifndef CUTBACK_DIALECT_KERNEL_KERNEL_H
#define CUTBACK_DIALECT_KERNEL_KERNEL_H

#include "cutback/Analysis/Layouts.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "cutback/Dialect/Kernel/KernelDialect.h.inc"
#include "cutback/Dialect/Kernel/KernelEnums.h.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Kernel/KernelOps.h.inc"

namespace cutback::kernel {

/// Discardable attribute of a random op that takes no seed: its number among
/// the draws of the step, in whose order they run.
inline constexpr llvm::StringLiteral kDrawNumber = "kernel.draw_number";

/// The tensor inside of launches that `value` is.
mlir::Value insideOf(mlir::Value value);

/// Where the elements of a tensor lie.
struct Place {
  /// An argument of the function, or the result of an op that is no view.
  mlir::Value root;
  Layout layout; ///< in the root's memory
};

/// The place of `tensor`, launches and views looked through. All sizes are
/// known. O(views).
Place locate(mlir::Value tensor);

} // namespace cutback::kernel

#endif // CUTBACK_DIALECT_KERNEL_KERNEL_H
