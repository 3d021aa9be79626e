// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products that a library may compute in place of our kernels.
#ifndef CUTBACK_TARGET_CUDA_LIBRARYPRODUCTS_H
#define CUTBACK_TARGET_CUDA_LIBRARYPRODUCTS_H

#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Runtime/Artifact.h"

namespace cutback {

/// Bytes of the workspace of a product on devices of these architectures.
int64_t workspaceBytesOf(const std::vector<std::string> &architectures);

/// Gives each product that a library may compute `bytes` of scratch in the
/// arena of the step of `module`: the first free ones while it runs, behind all
/// others where none are. The arena grows if it must; the module verifies. Of
/// a value that several launches compute, all or none get it: they must have
/// the bits of one algorithm. O(products times results).
mlir::LogicalResult placeWorkspaces(mlir::ModuleOp module, int64_t bytes);

/// The product of `op`, which `launch` runs with a workspace; nothing for
/// another op, and for what a library does not compute in the same way: mixed
/// types, strides that are no leading dimension, a bias that is scaled.
std::optional<ArtifactProduct> describeProduct(kernel::LaunchOp launch,
                                               mlir::Operation *op);

} // namespace cutback

#endif // CUTBACK_TARGET_CUDA_LIBRARYPRODUCTS_H
