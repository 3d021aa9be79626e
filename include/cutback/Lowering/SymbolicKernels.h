// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of launches whose sizes are expressions of symbols, and what it is for
// sizes that are known.
#ifndef CUTBACK_LOWERING_SYMBOLICKERNELS_H
#define CUTBACK_LOWERING_SYMBOLICKERNELS_H

#include "cutback/Lowering/FormKernels.h"

#include "llvm/ADT/StringMap.h"

namespace cutback {

/// Whether the arena of `kernels` has symbols.
bool isSymbolic(const KernelModule &kernels);

/// Bytes of the arena of a step whose sizes are known.
int64_t arenaBytes(const KernelModule &kernels);

/// formKernels() for all sizes at once: extents, strides, constants and memory
/// are expressions of the symbols of `graph`, types of tensors are those of the
/// halves, places are `?`. A launch whose kernel is not one for all sizes is a
/// call. As much as formKernels() three times. Symbols without whose hints the
/// ops have no sizes keep these: the range of such a symbol in the arena is one
/// value, and a warning at the graph says so.
mlir::FailureOr<KernelModule> formSymbolicKernels(joint::PartitionOp partition,
                                                  joint::GraphOp graph,
                                                  const KernelPlan &kernels);

struct SizedKernels {
  KernelModule kernels;
  MemoryPlan memory;
  /// Launches whose kernel is not the symbolic one at these sizes but has less
  /// structure (an axis of one iteration, two symbols of one value): they have
  /// the one that their ops give.
  uint64_t formedAnew = 0;
};

/// The step at these values of all symbols: kernels with numbers, the arena
/// laid out and proved. Fails with an error at the arena where a symbol has no
/// value, or one that is out of its range. The kernels are those that the ops
/// of the launches give at these sizes, whatever stands in `kernels`;
/// verifyKernels() says that both are the same. `graph` is what `kernels` was
/// formed of, and need not have a body.
mlir::FailureOr<SizedKernels>
instantiateKernels(const KernelModule &kernels, joint::GraphOp graph,
                   const llvm::StringMap<int64_t> &symbols);

/// verifyKernels() of a symbolic step: kernels are formed again of the ops of
/// all launches, and compared; the ops in their place are two halves of
/// `graph`.
mlir::LogicalResult verifySymbolicKernels(joint::GraphOp graph,
                                          const KernelModule &kernels);

/// The step that `module` holds. Fails with an error at the module if there is
/// none.
mlir::FailureOr<KernelModule>
readKernelModule(mlir::OwningOpRef<mlir::ModuleOp> module);

} // namespace cutback

#endif // CUTBACK_LOWERING_SYMBOLICKERNELS_H
