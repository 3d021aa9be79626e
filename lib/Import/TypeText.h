// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type annotations of FX text: "f32[8, s34][s34, 1]cuda:0", "Sym(2*s34)".
#ifndef CUTBACK_LIB_IMPORT_TYPETEXT_H
#define CUTBACK_LIB_IMPORT_TYPETEXT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace cutback::fx {

/// What an annotation says.
struct DeclaredType {
  /// A tensor; or index, f64, i1 for a symbolic scalar, as far as its
  /// expression tells.
  mlir::Type type;
  bool isScalar = false;
  /// Strides, if the tensor is not contiguous.
  mlir::DenseI64ArrayAttr strides;
  /// One string a dimension, if one of them is symbolic; of a scalar, its
  /// expression.
  mlir::ArrayAttr dims;
  /// Some symbol in it is not one that an argument has.
  bool hasUnboundSymbols = false;
};

/// Reads annotations, each text once.
class TypeTable {
public:
  explicit TypeTable(mlir::MLIRContext *context) : builder(context) {}

  /// What `text` says, or null with a reason in `error`; `text` is what stands
  /// between the quotes.
  const DeclaredType *get(llvm::StringRef text, std::string &error);

  /// The symbols of `type` have values wherever arguments have.
  void bindSymbols(const DeclaredType &type);
  /// All symbols that occur, sorted.
  std::vector<std::string> getSymbols() const;

  /// The element type called `name` ("f32"), or null.
  mlir::Type elementType(llvm::StringRef name);
  /// The element type called `name` ("float32") in module torch, or null.
  mlir::Type torchType(llvm::StringRef name);

private:
  struct Entry {
    DeclaredType declared;
    bool isValid = false;
    bool isBound = false; ///< no need to look at its symbols again
    std::string error;
    std::vector<std::string> symbols;
  };
  void read(llvm::StringRef text, Entry &entry);
  void readScalar(llvm::StringRef expression, Entry &entry);
  void readTensor(llvm::StringRef text, Entry &entry);
  bool readSizes(llvm::StringRef text,
                 llvm::SmallVectorImpl<llvm::StringRef> &texts,
                 llvm::SmallVectorImpl<int64_t> &sizes, Entry &entry);
  bool isContiguous(llvm::ArrayRef<llvm::StringRef> dims,
                    llvm::ArrayRef<llvm::StringRef> strides);
  void noteSymbols(llvm::StringRef expression, Entry &entry);

  mlir::Builder builder;
  llvm::StringMap<Entry> entries;
  llvm::StringSet<> bound;
  llvm::StringSet<> all;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_TYPETEXT_H
