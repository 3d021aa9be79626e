// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python literals of FX text as attributes (see joint::CallArgs).
#ifndef CUTBACK_LIB_IMPORT_LITERALS_H
#define CUTBACK_LIB_IMPORT_LITERALS_H

#include "TypeText.h"

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback::fx {

/// Makes attributes; small ints and texts that occurred before cost a look-up.
class Literals {
public:
  Literals(mlir::MLIRContext *context, TypeTable &types);

  mlir::Attribute operand() const { return operandAttr; }
  mlir::Attribute none() const { return noneAttr; }
  mlir::Attribute boolean(bool value) const {
    return value ? trueAttr : falseAttr;
  }
  /// `text` is what Lexer::number gives. Null if it is no number, or an int
  /// that does not fit 64 bits.
  mlir::Attribute number(llvm::StringRef text);
  /// A string with its escapes as written.
  mlir::Attribute string(llvm::StringRef raw);
  /// "torch.float32", "torch.channels_last", "torch.strided"; null if it is
  /// none of those.
  mlir::Attribute torchConstant(llvm::StringRef path);
  /// "cuda" and 0 give "cuda:0".
  mlir::Attribute device(llvm::StringRef type, llvm::StringRef index);

  /// A place to keep the list that `text` stands for; null until it is filled.
  mlir::Attribute &list(llvm::StringRef text) { return lists[text]; }

private:
  mlir::Attribute parseNumber(llvm::StringRef text);

  mlir::Builder builder;
  TypeTable &types;
  mlir::Attribute operandAttr, noneAttr, trueAttr, falseAttr;
  std::vector<mlir::Attribute> digits; ///< 0 to 9
  llvm::StringMap<mlir::Attribute> numbers, strings, constants, lists;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_LITERALS_H
