// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR as an input: text or bytecode, with names for the values that their
// dialect does not name.
#ifndef CUTBACK_LIB_IMPORT_MLIRTEXT_H
#define CUTBACK_LIB_IMPORT_MLIRTEXT_H

#include "SourceText.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cutback::fx {

/// Parses a module of MLIR text or bytecode and names what its joint graphs
/// compute (`nameValues`). Emits an error where it cannot.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
parseMlir(const SourceText &source, bool isText, mlir::MLIRContext &context);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_MLIRTEXT_H
