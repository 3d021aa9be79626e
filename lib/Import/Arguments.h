// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Argument lists of calls.
#ifndef CUTBACK_LIB_IMPORT_ARGUMENTS_H
#define CUTBACK_LIB_IMPORT_ARGUMENTS_H

#include "Lexer.h"
#include "Literals.h"
#include "Scope.h"

namespace cutback::fx {

/// One argument list, in the order of the text.
struct CallArguments {
  llvm::SmallVector<mlir::Attribute, 12> values; ///< skeletons
  llvm::SmallVector<const char *, 12> positions; ///< by value
  /// Keywords of the last values.
  llvm::SmallVector<llvm::StringRef, 6> keywords;
  llvm::SmallVector<mlir::Value, 8> operands;
  bool isBackward = false; ///< an operand depends on a tangent
  bool hasComplex = false; ///< one is a complex number, which is kept as text

  void clear() {
    values.clear();
    positions.clear();
    keywords.clear();
    operands.clear();
    isBackward = false;
    hasComplex = false;
  }
};

class ArgumentReader {
public:
  ArgumentReader(Lexer &lexer, Scope &scope)
      : lexer(lexer), scope(scope), literals(scope.context, scope.types) {}

  /// Reads up to the `)` that ends the list; the `(` is behind the cursor.
  /// `constantType` is the type of a constant that has none yet, if the call
  /// says it.
  mlir::LogicalResult read(CallArguments &args,
                           const DeclaredType *constantType);
  /// Reads one value into `args`.
  mlir::LogicalResult readValue(CallArguments &args,
                                const DeclaredType *constantType);

private:
  mlir::FailureOr<mlir::Attribute> value(unsigned depth);
  mlir::FailureOr<mlir::Attribute> word(unsigned depth);
  mlir::FailureOr<mlir::Attribute> callLike(llvm::StringRef name,
                                            unsigned depth);
  mlir::FailureOr<mlir::Attribute> use(llvm::StringRef name);
  mlir::FailureOr<mlir::Attribute> list(char close, unsigned depth);
  mlir::FailureOr<mlir::Attribute> dictionary(unsigned depth);
  mlir::FailureOr<mlir::Attribute> number();
  mlir::FailureOr<mlir::Attribute> device();
  mlir::LogicalResult elements(char close, unsigned depth,
                               llvm::SmallVectorImpl<mlir::Attribute> &list);
  mlir::Attribute complexNumber(llvm::StringRef text);
  size_t complexLength() const;
  /// The end of a list of plain numbers that begins at the cursor, or null.
  const char *plainListEnd() const;

  Lexer &lexer;
  Scope &scope;
  Literals literals;
  CallArguments *current = nullptr;
  const DeclaredType *constantType = nullptr;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_ARGUMENTS_H
