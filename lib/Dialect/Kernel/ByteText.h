// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of bytes in assembly: `?` where sizes are not known yet.
#ifndef CUTBACK_LIB_DIALECT_KERNEL_BYTETEXT_H
#define CUTBACK_LIB_DIALECT_KERNEL_BYTETEXT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace cutback::kernel {

inline mlir::ParseResult parseByteNumber(mlir::AsmParser &parser,
                                         int64_t &bytes) {
  bytes = mlir::ShapedType::kDynamic;
  if (succeeded(parser.parseOptionalQuestion()))
    return mlir::success();
  return parser.parseInteger(bytes);
}

inline void printByteNumber(mlir::AsmPrinter &p, int64_t bytes) {
  if (mlir::ShapedType::isDynamic(bytes))
    p << '?';
  else
    p << bytes;
}

} // namespace cutback::kernel

#endif // CUTBACK_LIB_DIALECT_KERNEL_BYTETEXT_H
