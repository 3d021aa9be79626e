// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On which device a stage makes its tensors.
#ifndef CUTBACK_PIPELINING_STAGEDEVICES_H
#define CUTBACK_PIPELINING_STAGEDEVICES_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// Every call of `graph` that names a device names `device` then ("cuda:1"):
/// an exporter writes the device of the trace into `ones`, `arange`, `_to_copy`
/// and the like. How many calls were changed. Linear.
unsigned setDevice(joint::GraphOp graph, llvm::StringRef device);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGEDEVICES_H
