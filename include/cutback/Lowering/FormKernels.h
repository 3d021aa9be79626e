// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step in dialect `kernel`: both halves as launches, and their kernels.
#ifndef CUTBACK_LOWERING_FORMKERNELS_H
#define CUTBACK_LOWERING_FORMKERNELS_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Kernels/KernelPlan.h"
#include "cutback/MemoryPlan/MemoryPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cutback {

/// A step in dialect `kernel`.
struct KernelModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  joint::PartitionOp link; ///< of it: both halves, and the size of the arena
  uint64_t launches = 0;   ///< of kernels and calls
  uint64_t calls = 0;      ///< of them, without a kernel
  uint64_t kernels = 0;    ///< distinct ones
  /// Tensors whose size depends on data: outside of the arena, each in a buffer
  /// that is allocated when its launch runs.
  uint64_t ownBuffers = 0;
  /// Launches with loops that have no kernel: why, and how many each.
  std::vector<std::pair<std::string, uint64_t>> refused;
};

/// Copies the halves of `partition`, which stand in the order of `kernels`
/// (joint.launches), into a module of launches at the offsets of `memory`, with
/// their kernels, equal ones once. Sizes are known, or depend on data: what has
/// such a size is made by calls. Fails with an error at the op that cannot be
/// placed; the module verifies. Linear.
mlir::FailureOr<KernelModule> formKernels(joint::PartitionOp partition,
                                          const KernelPlan &kernels,
                                          const MemoryPlan &memory);

/// Fails, with an error at the launch, unless the kernels are those of the ops
/// that their launches stand for: each is built again and compared, and the ops
/// in their place are two halves of `graph` by the certificate (verifyHalves).
/// Without the latter where sizes of arguments of `graph` are symbols: its
/// halves were specialized. Linear.
mlir::LogicalResult verifyKernels(joint::GraphOp graph,
                                  const KernelModule &kernels);

/// Puts the ops of all launches of `function` back in their place. Linear.
void inlineLaunches(mlir::Operation *function);

} // namespace cutback

#endif // CUTBACK_LOWERING_FORMKERNELS_H
