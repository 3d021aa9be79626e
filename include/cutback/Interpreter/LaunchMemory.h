// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arena of a step of launches, for the interpreter.
#ifndef CUTBACK_INTERPRETER_LAUNCHMEMORY_H
#define CUTBACK_INTERPRETER_LAUNCHMEMORY_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"

namespace cutback::interpreter {

/// One allocation of the size that the `kernel.arena` of `link` says; results
/// of launches lie at their offsets. All bytes are a NaN at first; with
/// `poisonDead` again as soon as what they held is read for the last time.
class LaunchMemory : public Memory {
public:
  explicit LaunchMemory(joint::PartitionOp link, bool poisonDead = false);

  Tensor allocate(mlir::Value value, DType type,
                  llvm::ArrayRef<int64_t> sizes) override;
  void finished(mlir::Operation *op) override;

private:
  std::shared_ptr<Storage> arena;
  llvm::DenseMap<mlir::Value, int64_t> offsets; ///< by tensor of a launch
  /// By op behind which it dies: places that no result of that op takes.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<kernel::HeldBytes, 2>>
      deaths;
};

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_LAUNCHMEMORY_H
