// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a backward to the numbers that `reorder` takes; shared by the form that
// works on a partition and the one that works on a function.
#ifndef CUTBACK_LIB_TRANSFORMS_REORDERPROBLEM_H
#define CUTBACK_LIB_TRANSFORMS_REORDERPROBLEM_H

#include "cutback/Transforms/ReorderBackward.h"

namespace cutback::detail {

/// An argument with this role begins the backward.
bool startsBackward(joint::RoleAttr role);

/// Ops of the problem are indices in `halves.backwardOps`. `results` are the
/// values to compute; `isStart` is by argument. Of the view it reads the
/// arrays alone.
ReorderProblem makeReorderProblem(const GraphView &view, const Halves &halves,
                                  llvm::ArrayRef<uint32_t> results,
                                  llvm::ArrayRef<uint8_t> isStart);

} // namespace cutback::detail

#endif // CUTBACK_LIB_TRANSFORMS_REORDERPROBLEM_H
