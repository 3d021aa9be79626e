// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composite ops as others: the rules, and the driver that applies them.
#ifndef CUTBACK_DECOMPOSE_COMPOSITES_H
#define CUTBACK_DECOMPOSE_COMPOSITES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/DialectRegistry.h"

namespace cutback {

/// Gives the composite ops of dialect `aten` their rules, when it is loaded.
void registerAtenDecompositions(mlir::DialectRegistry &registry);

/// The first op that decomposeComposites(), or decomposeToCore(), would
/// replace; null if there is none.
mlir::Operation *findComposite(joint::GraphOp graph);
mlir::Operation *findNotCore(joint::GraphOp graph);

/// Applies rules until no op of `graph` has one. Ops in regions too. Fails,
/// with an error at the op, where a rule does; the graph is then half done.
llvm::LogicalResult decomposeComposites(joint::GraphOp graph);

/// Replaces the ops of `root`, a graph or a half, that `isMeant` and that have
/// a rule, and what their rules build likewise; whether there were any. Fails
/// as above.
llvm::FailureOr<bool>
decomposeOnly(mlir::Operation *root,
              llvm::function_ref<bool(mlir::Operation *)> isMeant);

/// Applies the rules of ops whose results may be views though their schemas do
/// not say so (dropout that drops nothing, meshgrid, mH): what is written in
/// place through such a result is then seen to be. Fails as above.
llvm::LogicalResult decomposeHiddenViews(joint::GraphOp graph);

/// Writes normalizations, softmax, losses of classes and their gradients as
/// pointwise ops and reductions, after differentiation: a partitioner then
/// decides on each part, and may save a row's statistics instead of a tensor.
llvm::LogicalResult decomposeToCore(joint::GraphOp graph);

/// True if all ops of `root` are on the list of core ops, but for those that
/// `mayStay`: no rule of either level takes them apart, or they have an element
/// formula or are views.
bool isOnCoreList(mlir::Operation *root,
                  llvm::function_ref<bool(mlir::Operation *)> mayStay);

/// Replaces the others; where the rule of one fails, it stays as it is.
void decomposeToCoreList(mlir::Operation *root,
                         llvm::function_ref<bool(mlir::Operation *)> mayStay);

} // namespace cutback

#endif // CUTBACK_DECOMPOSE_COMPOSITES_H
