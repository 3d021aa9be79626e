// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that other libraries give to the ops of dialect `aten`: vector-Jacobian
// products (Autograd) and decompositions (Decompose). A library has tables of
// rules by PyTorch's name and adds them when the dialect is loaded, by a
// dialect extension; so the dialect depends on none of them.
#ifndef CUTBACK_DIALECT_ATEN_RULES_H
#define CUTBACK_DIALECT_ATEN_RULES_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Vjp.h"

namespace cutback::aten {

/// Builds the VJP of `op`, see DifferentiableOpInterface::buildVjp. Errors are
/// emitted at the op.
using VjpFn = llvm::LogicalResult (*)(CallOp op, joint::VjpContext &vjp);

/// Writes `op` in terms of others: builds them before `op` and appends one
/// value a result; a result that nobody uses may be null.
using DecomposeFn =
    llvm::LogicalResult (*)(CallOp op, mlir::OpBuilder &builder,
                            llvm::SmallVectorImpl<mlir::Value> &results);

struct VjpRule {
  const char *torchName; ///< "aten.mul.Tensor", "aten.mm.default"
  VjpFn build;
};

struct DecomposeRule {
  const char *torchName;
  DecomposeFn build;
};

/// A name that no op of the dialect has is ignored by these two; the tests of
/// the libraries check their tables with `SchemaTable::lookup`.
void addVjpRules(AtenDialect &dialect, llvm::ArrayRef<VjpRule> rules);
void addDecomposeRules(AtenDialect &dialect,
                       llvm::ArrayRef<DecomposeRule> rules);

/// Null where no library has added one.
VjpFn getVjpRule(mlir::OperationName op);
DecomposeFn getDecomposeRule(mlir::OperationName op);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_RULES_H
