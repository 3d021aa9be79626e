// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One training step in the interpreter: the way from named tensors through a
// partition and its memory plan to loss, gradients and written buffers.
#ifndef CUTBACK_PLANNER_REFERENCESTEP_H
#define CUTBACK_PLANNER_REFERENCESTEP_H

#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/KernelBodies.h"
#include "cutback/Interpreter/Observer.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Lowering/SymbolicKernels.h"
#include "cutback/Planner/PartitionPipeline.h"

#include <functional>
#include <memory>

namespace cutback {

struct ReferenceOptions {
  PartitionOptions partition;
  /// Run these halves of the graph, in the module of the graph, as they are, in
  /// place of those that `partition` asks for.
  std::optional<Partition> stored;
  /// With `stored` and `kernels`: the step of launches that belongs to them,
  /// verified. Null: there is none.
  const KernelModule *storedKernels = nullptr;
  /// Run the joint graph (or the forward program) as it is: no partition, no
  /// memory plan.
  bool whole = false;
  /// Fill bytes that are dead with NaN as soon as they are, and check that no
  /// op touches bytes outside of its values' intervals.
  bool checkMemory = false;
  /// Run the bodies of kernels, launch by launch, in place of the ops.
  bool kernels = false;
  /// And compare each with the ops that it stands for.
  bool checkKernels = false;
  /// With `kernels`, by whom: made for the module of the step. Empty: by the
  /// interpreter.
  std::function<mlir::FailureOr<std::unique_ptr<interpreter::KernelRunner>>(
      mlir::ModuleOp)>
      compileKernels;
  interpreter::RunHook hook = nullptr; ///< empty: no functions at hook points
  /// Of random ops that take none.
  uint64_t seed = 0;
  /// Are told of each op, or with `kernels` of each launch.
  std::vector<interpreter::OpObserver *> observers;
};

struct ReferenceResult {
  std::vector<interpreter::NamedTensor> tensors;
  /// What 16-bit floats in the graph do to them: `interpreter::getRounding`.
  llvm::StringMap<double> rounding;
  /// Null for a whole run, and for halves that were given.
  std::unique_ptr<PartitionResult> partition;
  /// With `kernels`: what was run.
  std::optional<KernelModule> kernels;
  /// Of a step for all sizes: see SizedKernels. Nothing of others.
  std::optional<uint64_t> formedAnew;
  int64_t arenaBytes = 0, lowerBound = 0; ///< 0 without a memory plan
  std::string memoryProblem;              ///< why there is none, or empty
};

/// Runs `graph`, which is changed by preparing it. Sizes of symbols come from
/// the tensors. Errors are emitted where they belong.
mlir::FailureOr<ReferenceResult>
runReferenceStep(joint::GraphOp graph, interpreter::FindTensor find,
                 const ReferenceOptions &options);

} // namespace cutback

#endif // CUTBACK_PLANNER_REFERENCESTEP_H
