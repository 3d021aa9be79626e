// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars of kernel bodies as expressions of CUDA C++.
#ifndef CUTBACK_LIB_TARGET_CUDA_SCALARTEXT_H
#define CUTBACK_LIB_TARGET_CUDA_SCALARTEXT_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include <optional>
#include <string>

namespace cutback::cuda {

/// An expression, and whether it needs no parentheses as an operand.
struct Text {
  std::string text;
  bool isAtom = true;
  std::string operand() const { return isAtom ? text : "(" + text + ")"; }
};

/// "float", "long long", "bf16"; empty for a type that kernels do not have.
/// Indices are `long long`.
std::string typeText(mlir::Type type);

/// A type of 16 bits, which is computed with in single precision.
bool isHalf(mlir::Type type);

/// A number of single precision, rounded to a type of 16 bits: "toBf16(x)"; of
/// other types as it is.
std::string roundedText(mlir::Type type, const std::string &single);

/// The value of a constant: "0.5f", "-100ll".
std::string literal(mlir::Type type, mlir::Attribute value);

/// The value that combining starts from: "0.0f".
std::string identityText(kernel::Combine combine, mlir::Type type);

/// The function that combines two: "Sum()".
const char *combineText(kernel::Combine combine);

/// What an op of `arith` or `math` computes from operands as they stand in
/// `operands`; nothing for an op without a formula here. Types of 16 bits are
/// computed in single precision and rounded once.
std::optional<Text> scalarText(mlir::Operation *op,
                               llvm::ArrayRef<Text> operands);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_SCALARTEXT_H
