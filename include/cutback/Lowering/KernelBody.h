// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the tensor ops of a launch to the kernel that computes them element by
// element.
#ifndef CUTBACK_LOWERING_KERNELBODY_H
#define CUTBACK_LOWERING_KERNELBODY_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace cutback {

struct KernelBody {
  mlir::OwningOpRef<kernel::FuncOp> function; ///< its name is empty
  /// Roots (kernel::locate) that the arguments are: what is read, made outside
  /// of the launch, and `outputs`.
  llvm::SmallVector<mlir::Value> inputs, outputs;
};

/// The kernel of `ops`, which run one after the other and became one launch by
/// formKernels; `outputs` are the roots among their results that others read.
/// All sizes are known. Nothing if an op of them has no element formula; then
/// `problem` names it and says why. O(ops), times the elements that several
/// readers want at different iterations.
std::optional<KernelBody> buildKernelBody(llvm::ArrayRef<mlir::Operation *> ops,
                                          llvm::ArrayRef<mlir::Value> outputs,
                                          llvm::StringRef schedule,
                                          std::string &problem);

/// True if nothing of `op` runs: its results are views, or no tensors.
bool isFree(mlir::Operation *op);

} // namespace cutback

#endif // CUTBACK_LOWERING_KERNELBODY_H
