// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of calls that run graphs of their own (NestedVjps.cpp).
#ifndef CUTBACK_LIB_AUTOGRAD_NESTEDVJPS_H
#define CUTBACK_LIB_AUTOGRAD_NESTEDVJPS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cutback {

/// Gives `joint.nested` its gradient as soon as dialect `joint` is loaded.
void registerNestedVjps(mlir::DialectRegistry &registry);

} // namespace cutback

#endif // CUTBACK_LIB_AUTOGRAD_NESTEDVJPS_H
