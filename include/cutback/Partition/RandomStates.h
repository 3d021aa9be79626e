// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of the framework's generator as values that the halves hand over.
#ifndef CUTBACK_PARTITION_RANDOMSTATES_H
#define CUTBACK_PARTITION_RANDOMSTATES_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// Gives each draw that both halves of `partition` run (`joint.replay`) a
/// state: the forward takes it in front of the draw, with a mark as PyTorch's
/// halves have it, and returns it behind sizes and tensors; the backward takes
/// it as an argument, and sets it in front of the draw. The numbers go. A state
/// is a tensor<?xui8>: how many bytes there are is the generator's business.
/// Returns how many there are. Linear.
unsigned exposeRandomStates(joint::PartitionOp partition);

/// Whether that has been done: the forward takes states.
bool exposesRandomStates(joint::PartitionOp partition);

} // namespace cutback

#endif // CUTBACK_PARTITION_RANDOMSTATES_H
