// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was asked of a model, for its stages.
#ifndef CUTBACK_PIPELINING_STAGEOPTIONS_H
#define CUTBACK_PIPELINING_STAGEOPTIONS_H

#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

/// By stage: `options` with the policies of its own values and the checkpoint
/// regions of its own modules. Fails with an error at the first stage for what
/// no stage has.
mlir::FailureOr<std::vector<PartitionOptions>>
distributeOptions(const CutProgram &program, const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGEOPTIONS_H
