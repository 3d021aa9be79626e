// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the schema table holds, and the model that all ops share; only the
// dialect makes them.
#ifndef CUTBACK_LIB_DIALECT_ATEN_SCHEMADETAIL_H
#define CUTBACK_LIB_DIALECT_ATEN_SCHEMADETAIL_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/Rules.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringMap.h"

namespace cutback::aten {

/// The registration of one op.
struct CallModel : mlir::RegisteredOperationName::Model<CallOp> {
  CallModel(mlir::Dialect *dialect, llvm::StringRef name, mlir::TypeID typeId,
            const OpInfo &info);
  /// Null if the op is none of dialect `aten`.
  static CallModel *get(mlir::OperationName name);

  const OpInfo &info;
  /// Set when the schema table is read.
  const Schema *schema = nullptr;
  /// Rules of other libraries, see Rules.h.
  VjpFn vjp = nullptr;
  DecomposeFn decompose = nullptr;
};

void registerCalls(AtenDialect &dialect);

/// The number of operands that the argument `value` takes.
inline unsigned countOperandsIn(mlir::Attribute value) {
  if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(value))
    return joint::countOperands(list);
  return mlir::isa<joint::OperandAttr>(value);
}

struct SchemaTable::Impl {
  /// Reads the schemas of all registered ops of the dialect.
  void fill(mlir::MLIRContext *context);

  std::vector<Schema> schemas; ///< in the order of op names; never resized
  std::vector<const Schema *> order;
  llvm::StringMap<const Schema *> byTorchName;
};

} // namespace cutback::aten

#endif // CUTBACK_LIB_DIALECT_ATEN_SCHEMADETAIL_H
