// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives as a runtime takes them.
#ifndef CUTBACK_LIB_TARGET_CUDA_CALLGROUP_H
#define CUTBACK_LIB_TARGET_CUDA_CALLGROUP_H

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Runtime/Artifact.h"

namespace cutback::cuda {

/// Whether `op` only waits for a collective: there nothing is started, all is
/// done when its launch is.
bool waitsForCollective(mlir::Operation *op);

/// What ranks do for `op`. Nothing, with `problem` set, for what no runtime
/// does.
std::optional<ArtifactCollective> describeCollective(aten::CallOp op,
                                                     std::string &problem);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_CALLGROUP_H
