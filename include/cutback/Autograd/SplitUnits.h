// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward ops in parts, so that the backward has less to keep.
#ifndef CUTBACK_AUTOGRAD_SPLITUNITS_H
#define CUTBACK_AUTOGRAD_SPLITUNITS_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// Replaces ops of `graph` that compute something small and expensive together
/// with something large and cheap, after differentiation:
///   * batch norm and group norm become their statistics, and elementwise ops
///     that apply them: then only the statistics need be saved, and the
///     normalized tensor is computed again from its input;
///   * max pooling with indices of 64 bits becomes one with offsets of 8 bits
///     in the window, from which the indices are computed.
/// Backward ops stay as they are: they read statistics and indices. Left alone
/// are 16-bit floats (the parts would round in between) and batches whose
/// number of elements is not known. Fails, with an error at the op, if a part
/// cannot be built. Linear.
llvm::LogicalResult splitUnits(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_SPLITUNITS_H
