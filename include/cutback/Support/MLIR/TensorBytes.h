// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of elements and of tensors: the rule that sizes, views, memory plans
// and generated code count with.
#ifndef CUTBACK_SUPPORT_MLIR_TENSORBYTES_H
#define CUTBACK_SUPPORT_MLIR_TENSORBYTES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace cutback {

/// Bytes of one element: i1 counts one byte; 0 for types without a size.
inline int64_t elementBytes(mlir::Type element) {
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (element.isIndex())
    return 8;
  return element.isIntOrFloat()
             ? (static_cast<int64_t>(element.getIntOrFloatBitWidth()) + 7) / 8
             : 0;
}

/// Bytes of a tensor with a rank, each dimension that is not known counting
/// `unknown` elements; nothing if they do not fit 64 bits.
inline std::optional<int64_t> tensorBytes(mlir::ShapedType tensor,
                                          int64_t unknown = 1) {
  int64_t bytes = elementBytes(tensor.getElementType());
  bool isTooLarge = false;
  for (int64_t size : tensor.getShape())
    isTooLarge |= __builtin_mul_overflow(
        bytes, mlir::ShapedType::isDynamic(size) ? unknown : size, &bytes);
  if (isTooLarge)
    return std::nullopt;
  return bytes;
}

} // namespace cutback

#endif // CUTBACK_SUPPORT_MLIR_TENSORBYTES_H
