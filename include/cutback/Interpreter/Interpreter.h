// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The naive evaluator: one op at a time, simple loops, double accumulation,
// the same bits on every run. The oracle of meaning for all tests, and
// `cutback run --reference`. Never the fast path.
#ifndef CUTBACK_INTERPRETER_INTERPRETER_H
#define CUTBACK_INTERPRETER_INTERPRETER_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Observer.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace cutback::interpreter {

/// Where the results of ops live. The default allocates each anew; a memory
/// plan gives places in its arena.
class Memory {
public:
  virtual ~Memory();
  /// A contiguous tensor for result `value`. Called before the op runs, while
  /// its operands are alive; it may share bytes with an operand that dies
  /// there if the plan says so (pointwise in place, equal type and sizes). A
  /// value that is a view where strides allow it (Analysis/Layouts.h) is asked
  /// for only where they do not, or where it must be a copy.
  virtual Tensor allocate(mlir::Value value, DType type,
                          llvm::ArrayRef<int64_t> sizes);
  /// True if `value`, which may be a view by its strides, has a place of its
  /// own all the same: a plan does not know the numbers in tensors (`item`), by
  /// which a view moves over its base.
  virtual bool hasPlace(mlir::Value value);
  /// `op` has run: the values that it used last are dead now.
  virtual void finished(mlir::Operation *op);
};

class KernelRunner;
class LaunchRunner;

/// Runs the functions of the user at the point with `key` (`joint.hook`) on a
/// contiguous gradient. An empty string, or what went wrong.
using RunHook = std::function<std::string(int64_t key, const Tensor &gradient)>;

struct InterpreterOptions {
  /// Seed of random ops that take none. What an op draws is a function of the
  /// seed and of the name of its first result, so the same op gives the same
  /// bits in the joint graph and in whichever half it lies.
  uint64_t seed = 0;
  /// Null: each result is allocated anew.
  Memory *memory = nullptr;
  /// Compare each kernel with the ops that it stands for; an error where they
  /// differ by more than rounding does.
  bool checkKernels = false;
  /// Null: bodies of kernels are run here, scalar by scalar.
  KernelRunner *kernels = nullptr;
  /// Empty: hook points have no functions.
  RunHook hook = nullptr;
  /// Null: launches are run here. With one, `memory` is where it puts results.
  LaunchRunner *launches = nullptr;
  /// Are told of each op, one behind the other.
  std::vector<OpObserver *> observers;
};

/// Runs the body of a `joint.graph` or a `func.func`. One value an argument,
/// one a result in the order of the terminator's operands. A `joint.write`
/// changes the bytes of its argument's tensor in place, so callers hand over
/// copies of what must not change. Emits an error at the op that cannot run (no
/// kernel, sizes that do not fit, an assert that is false), with the next step.
mlir::FailureOr<std::vector<RuntimeValue>>
run(mlir::Operation *function, llvm::ArrayRef<RuntimeValue> arguments,
    const InterpreterOptions &options = {});

/// Both halves of a partition, as one step: `arguments` are those of the joint
/// graph `graph` (which need not have a body any more), the result is the joint
/// graph's results in its order.
mlir::FailureOr<std::vector<RuntimeValue>>
runPartition(joint::PartitionOp partition, joint::GraphOp graph,
             llvm::ArrayRef<RuntimeValue> arguments,
             const InterpreterOptions &options = {});

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_INTERPRETER_H
