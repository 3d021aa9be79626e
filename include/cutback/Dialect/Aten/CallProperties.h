// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The storage that every op of dialect `aten` has besides operands and
// results.
#ifndef CUTBACK_DIALECT_ATEN_CALLPROPERTIES_H
#define CUTBACK_DIALECT_ATEN_CALLPROPERTIES_H

#include "mlir/IR/BuiltinAttributes.h"

namespace cutback::aten {

struct CallProperties {
  /// One entry a parameter of the schema, see joint::CallArgs.
  mlir::ArrayAttr args;
  /// One name a result, or null. The name of an op's only result stands here
  /// itself: a list of one would be one more attribute to make unique an op.
  mlir::Attribute names;
  /// The op's OperationName, for type inference, which MLIR hands the
  /// properties but not the op. Set whenever an op is made.
  const void *name = nullptr;

  /// Names do not make two calls different: CSE may merge them.
  bool operator==(const CallProperties &other) const {
    return args == other.args;
  }
  bool operator!=(const CallProperties &other) const {
    return !(*this == other);
  }
};

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_CALLPROPERTIES_H
