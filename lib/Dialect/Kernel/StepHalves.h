// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two functions of a partition as verifiers look at them.
#ifndef CUTBACK_LIB_DIALECT_KERNEL_STEPHALVES_H
#define CUTBACK_LIB_DIALECT_KERNEL_STEPHALVES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace cutback::kernel {

struct StepHalves {
  mlir::func::FuncOp forward, backward;
  /// From the backward's argument to what the forward hands over.
  llvm::DenseMap<mlir::Value, mlir::Value> handed;
};

/// Nothing where the partition's own verifier will say what is wrong.
std::optional<StepHalves> findHalves(joint::PartitionOp partition);

} // namespace cutback::kernel

#endif // CUTBACK_LIB_DIALECT_KERNEL_STEPHALVES_H
