// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages between ranks that each have a GPU, over NCCL.
#ifndef CUTBACK_RUNTIME_PIPELINE_NCCLWIRE_H
#define CUTBACK_RUNTIME_PIPELINE_NCCLWIRE_H

#include "cutback/Runtime/Pipeline/Agreement.h"
#include "cutback/Runtime/Pipeline/OrderedTransport.h"

namespace cutback::pipeline {

/// All ranks call it, and none has begun anything else: loads the driver and
/// NCCL, takes the GPU that phases of this rank run on (StepOptions::device),
/// and joins the other ranks, which hear of each other over the waiter's
/// transport. Messages are copied to memory of the GPU and from there. All
/// ranks get the same verdict; null where that is an error.
std::unique_ptr<Wire> openNccl(Waiter &waiter, Verdict &verdict);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_NCCLWIRE_H
