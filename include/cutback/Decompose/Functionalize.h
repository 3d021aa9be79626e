// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that change tensors in place become programs of values.
#ifndef CUTBACK_DECOMPOSE_FUNCTIONALIZE_H
#define CUTBACK_DECOMPOSE_FUNCTIONALIZE_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// True if `op` writes one of its operands in place.
bool isInPlace(mlir::Operation *op);

/// Replaces every in-place op of a forward-only graph by the op without `_`;
/// later uses of the tensor, of what it is a view of, and of every other view
/// read the new value. A written argument gets one `joint.write` at the end,
/// and a batch norm that is training writes its running statistics.
///
/// A graph with gradients is left alone if nothing in it is in place: its
/// `joint.write`s have value semantics already.
///
/// Fails, with an error at the op, for writes through views that overlap
/// (`expand`, `unfold`), to arguments that take a gradient, and where a tensor
/// that has a gradient is read after a write through a detached alias. The
/// graph is then half done.
///
/// O(ops × depth of view chains).
llvm::LogicalResult functionalize(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_DECOMPOSE_FUNCTIONALIZE_H
