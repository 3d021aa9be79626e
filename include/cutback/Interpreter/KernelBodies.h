// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the bodies of kernels, scalar op by scalar op: what they mean, for every
// target to be compared with.
#ifndef CUTBACK_INTERPRETER_KERNELBODIES_H
#define CUTBACK_INTERPRETER_KERNELBODIES_H

#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Tensor.h"

#include "llvm/ADT/DenseMap.h"

namespace cutback::interpreter {

/// Who runs the body of a launch.
class KernelRunner {
public:
  virtual ~KernelRunner() = default;
  /// Runs a kernel on memory: one contiguous tensor an argument. Emits an error
  /// at an access outside of its memory.
  virtual llvm::LogicalResult run(kernel::FuncOp function,
                                  llvm::ArrayRef<Tensor> arguments) = 0;
  /// Whether it may have machine code for the op of a call.
  virtual bool hasCall(mlir::Operation *) const { return false; }
  /// Runs such an op on the tensors of its operands, into those of its results
  /// that are used. False if these do not lie as the module says. Emits an
  /// error at an index outside of its tensor.
  virtual mlir::FailureOr<bool>
  runCall(mlir::Operation *, const llvm::DenseMap<mlir::Value, Tensor> &) {
    return false;
  }
};

/// Runs `function` on memory: one contiguous tensor an argument. Sums are added
/// up in double precision, in the order of the iterations; every other op
/// rounds to its type. Emits an error at an op that it does not know, and at an
/// access outside of its memory.
llvm::LogicalResult runKernelBody(kernel::FuncOp function,
                                  llvm::ArrayRef<Tensor> arguments);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_KERNELBODIES_H
