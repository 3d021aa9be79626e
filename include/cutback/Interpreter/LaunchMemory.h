// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of launches in the interpreter: its segments, and their arena.
#ifndef CUTBACK_INTERPRETER_LAUNCHMEMORY_H
#define CUTBACK_INTERPRETER_LAUNCHMEMORY_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"

#include "llvm/ADT/StringMap.h"

namespace cutback::interpreter {

/// One allocation of the size that the `kernel.arena` of `link` says; results
/// of launches lie at their offsets. All bytes are a NaN at first; with
/// `poisonDead` again as soon as what they held is read for the last time.
class LaunchMemory : public Memory {
public:
  explicit LaunchMemory(joint::PartitionOp link, bool poisonDead = false);
  /// In an arena that is there, of that size at least, as it is.
  LaunchMemory(joint::PartitionOp link, std::shared_ptr<Storage> arena);

  Tensor allocate(mlir::Value value, DType type,
                  llvm::ArrayRef<int64_t> sizes) override;
  bool hasPlace(mlir::Value value) override;
  void finished(mlir::Operation *op) override;

private:
  void findOffsets(joint::PartitionOp link);

  std::shared_ptr<Storage> arena;
  llvm::DenseMap<mlir::Value, int64_t> offsets; ///< by tensor of a launch
  /// By op behind which it dies: places that no result of that op takes.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<kernel::HeldBytes, 2>>
      deaths;
};

/// Runs the segments of `arena` that `names` lists, in the order of the step;
/// one takes results of earlier ones of the list alone. `arguments` are those
/// of the step, by name; written ones change. Returns the results of the step
/// that they have, one segment behind the other. With a LaunchMemory in
/// `options` these keep its bytes alive.
mlir::FailureOr<std::vector<RuntimeValue>>
runSegments(kernel::ArenaOp arena, llvm::ArrayRef<llvm::StringRef> names,
            const llvm::StringMap<RuntimeValue> &arguments,
            const InterpreterOptions &options);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_LAUNCHMEMORY_H
