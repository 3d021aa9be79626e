// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector-Jacobian products of dialect `aten`.
#ifndef CUTBACK_AUTOGRAD_ATENVJPS_H
#define CUTBACK_AUTOGRAD_ATENVJPS_H

#include "cutback/Dialect/Aten/Rules.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cutback {

/// Gives the ops of dialect `aten` their VJPs as soon as it is loaded, and so
/// `joint.nested`, whose gradients are made of those. Without it
/// `DifferentiableOpInterface::buildVjp` fails on all of them.
void registerAtenVjps(mlir::DialectRegistry &registry);

/// All rules, for tests and for the table in the docs.
std::vector<aten::VjpRule> allAtenVjps();

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_ATENVJPS_H
