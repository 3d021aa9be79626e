// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks on gradients of a graph that was read with them.
#ifndef CUTBACK_AUTOGRAD_HOOKS_H
#define CUTBACK_AUTOGRAD_HOOKS_H

#include "cutback/Autograd/Differentiate.h"

namespace cutback {

/// Puts a `joint.hook` behind each gradient that is a result and that
/// `requests` name: by argument, or by a pattern of parameters. A point that is
/// there already stays as it is. Fails, with an error at the graph, where a
/// name is that of nothing, or of what has no gradient. Linear a request.
llvm::LogicalResult hookGradients(joint::GraphOp graph,
                                  llvm::ArrayRef<HookRequest> requests);

/// Puts a contiguous copy in front of each hook whose gradient is a view with
/// strides: functions get dense memory, and so the copy is part of the plan.
/// Sizes that are not known count as some number. Linear.
void makeHooksDense(joint::GraphOp graph);

/// A key that no hook of the graph has, larger than all.
int64_t nextHookKey(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_HOOKS_H
