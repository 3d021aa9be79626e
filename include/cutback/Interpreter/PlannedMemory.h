// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter inside one arena of exactly the planned size.
#ifndef CUTBACK_INTERPRETER_PLANNEDMEMORY_H
#define CUTBACK_INTERPRETER_PLANNEDMEMORY_H

#include "cutback/Interpreter/Interpreter.h"
#include "cutback/MemoryPlan/MemoryPlan.h"

namespace cutback {

/// Gives the results of ops their planned places. What does not go by the plan
/// is an error at the op, and the run has failed (see `failed`).
class PlannedMemory : public interpreter::Memory {
public:
  /// `plan` must outlive it. With `poisonDead`, bytes are NaN before their
  /// first use and as soon as what they held is dead.
  explicit PlannedMemory(const MemoryPlan &plan, bool poisonDead = false);

  interpreter::Tensor allocate(mlir::Value value, interpreter::DType type,
                               llvm::ArrayRef<int64_t> sizes) override;
  bool hasPlace(mlir::Value value) override;
  void finished(mlir::Operation *op) override;

  /// Checks that the results of `op`, which has run, lie where the plan says.
  void checkResults(mlir::Operation *op,
                    llvm::ArrayRef<interpreter::RuntimeValue> results);

  bool failed() const { return hasFailed; }

private:
  void poison(int64_t offset, int64_t bytes);

  struct Death {
    uint32_t end;
    int64_t offset, bytes;
  };

  const MemoryPlan &plan;
  bool poisonDead;
  std::shared_ptr<interpreter::Storage> arena;
  llvm::DenseMap<mlir::Value, uint32_t> numbers; ///< of the step's values
  llvm::DenseMap<mlir::Operation *, uint32_t> opNumbers;
  std::vector<Death> deaths; ///< of buffers, by end
  size_t nextDeath = 0;
  bool hasFailed = false;
};

struct PlannedRunOptions {
  uint64_t seed = 0; ///< of random ops that take none
  /// Poison what is dead and check where every result lies.
  bool checkMemory = false;
  interpreter::RunHook hook = nullptr; ///< empty: no functions at hook points
  /// Sizes of symbols: those of the arguments.
  MemoryPlanOptions plan;
  /// Are told of each op.
  std::vector<interpreter::OpObserver *> observers;
};

struct PlannedRun {
  std::vector<interpreter::RuntimeValue> results; ///< as runPartition has them
  MemoryPlan plan;
};

/// Runs both halves of a partition in one arena, as `plan` says: saved values
/// stay where the forward put them. The results keep the arena alive. What
/// `options.plan` says is not looked at.
mlir::FailureOr<std::vector<interpreter::RuntimeValue>>
runPartitionInArena(joint::PartitionOp partition, joint::GraphOp graph,
                    llvm::ArrayRef<interpreter::RuntimeValue> arguments,
                    const MemoryPlan &plan,
                    const PlannedRunOptions &options = {});

/// Plans the memory of a partition and runs both halves in one arena of that
/// size.
mlir::FailureOr<PlannedRun>
runPartitionPlanned(joint::PartitionOp partition, joint::GraphOp graph,
                    llvm::ArrayRef<interpreter::RuntimeValue> arguments,
                    const PlannedRunOptions &options = {});

} // namespace cutback

#endif // CUTBACK_INTERPRETER_PLANNEDMEMORY_H
