// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of one graph of a program by name. A subgraph has its own.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_NAMES_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_NAMES_H

#include "../NameTable.h"
#include "Types.h"

#include "mlir/IR/Value.h"

namespace cutback::pt2 {

class Frame {
public:
  /// Knows the declarations of `graph`.
  mlir::LogicalResult declare(JsonValue graph, Fields &fields);

  /// The TensorMeta of `name`, or the SymInt, SymFloat, SymBool.
  JsonValue tensorOf(llvm::StringRef name) const {
    return lookup(tensors, name);
  }
  JsonValue scalarOf(llvm::StringRef name) const {
    return lookup(scalars, name);
  }

  /// False if the name has a value already.
  bool bind(llvm::StringRef name, mlir::Value value) {
    if (!names.insert(name).second)
      return false;
    values.push_back(value);
    return true;
  }
  /// The value of `name`; nothing if it has none. A null value is undefined.
  std::optional<mlir::Value> find(llvm::StringRef name) const {
    uint32_t number = names.find(name);
    if (number == fx::NameTable::kNone)
      return std::nullopt;
    return values[number];
  }

private:
  struct Declarations {
    fx::NameTable names;
    std::vector<JsonValue> values;
  };
  static JsonValue lookup(const Declarations &table, llvm::StringRef name) {
    uint32_t number = table.names.find(name);
    return number == fx::NameTable::kNone ? JsonValue() : table.values[number];
  }
  mlir::LogicalResult declare(JsonValue graph, llvm::StringRef key,
                              Declarations &table, Fields &fields);

  Declarations tensors, scalars;
  fx::NameTable names;
  std::vector<mlir::Value> values;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_NAMES_H
