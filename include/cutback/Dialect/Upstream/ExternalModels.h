// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of MLIR's own dialects for the interfaces of dialect `joint`, so that
// a `joint.graph` may be made of their ops. They are attached when a dialect is
// loaded; none of the dialects is loaded for their sake.
#ifndef CUTBACK_DIALECT_UPSTREAM_EXTERNALMODELS_H
#define CUTBACK_DIALECT_UPSTREAM_EXTERNALMODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace cutback {

/// `arith`: one output element from the same element of each operand; integers
/// of type `index` are followed as sizes.
void registerArithModels(mlir::DialectRegistry &registry);
/// `math`: as `arith`, with ten FLOPs for a transcendental function.
void registerMathModels(mlir::DialectRegistry &registry);
/// `tensor`: views, moves of data, sizes, undefined contents.
void registerTensorModels(mlir::DialectRegistry &registry);
/// `linalg` on tensors: what an op is follows from its indexing maps, iterators
/// and body, and its FLOPs from the iteration domain. Register `arith` and
/// `math` too: they say what the ops in a body cost.
void registerLinalgModels(mlir::DialectRegistry &registry);
/// `tosa` without control flow, variables and custom ops.
void registerTosaModels(mlir::DialectRegistry &registry);
/// Ops of these dialects print the names of their results, which readers keep
/// in the attribute `names`, except for those that implement MLIR's interface
/// for names.
void registerResultNames(mlir::DialectRegistry &registry);

/// All of the above.
void registerAllExternalModels(mlir::DialectRegistry &registry);

/// The dialects themselves with their models, and `func`. Nothing is loaded: a
/// parser loads what a text names, so that others do not pay for it.
void registerUpstreamDialects(mlir::DialectRegistry &registry);

} // namespace cutback

#endif // CUTBACK_DIALECT_UPSTREAM_EXTERNALMODELS_H
