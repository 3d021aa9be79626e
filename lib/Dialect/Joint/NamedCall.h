// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ops have in common that keep a call by its name: `joint.opaque` and
// `joint.nested`. Both have the attributes `callee`, `args`, `keywords`,
// `names`, and print as `"callee"(args) {…} : (types) -> types`.
#ifndef CUTBACK_LIB_DIALECT_JOINT_NAMEDCALL_H
#define CUTBACK_LIB_DIALECT_JOINT_NAMEDCALL_H

#include "mlir/IR/OpImplementation.h"

namespace cutback::joint {

/// Reads such a call, with its operands, types and names.
mlir::ParseResult parseNamedCall(mlir::OpAsmParser &parser,
                                 mlir::OperationState &state);

/// `keywords` may be null.
void printNamedCall(mlir::OpAsmPrinter &p, mlir::Operation *op,
                    mlir::StringAttr callee, mlir::ArrayAttr args,
                    mlir::ArrayAttr keywords);

/// There is an operand for each place of `args`, and no keyword without one.
mlir::LogicalResult verifyNamedCall(mlir::Operation *op, mlir::ArrayAttr args,
                                    mlir::ArrayAttr keywords);

} // namespace cutback::joint

#endif // CUTBACK_LIB_DIALECT_JOINT_NAMEDCALL_H
