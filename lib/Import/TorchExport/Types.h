// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declared types of exported programs.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_TYPES_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_TYPES_H

#include "../FxText.h"
#include "Fields.h"

#include "llvm/ADT/DenseMap.h"

namespace cutback::pt2 {

/// Reads tensor descriptions and symbolic scalars, each text once.
class Types {
public:
  Types(Fields &fields, fx::TypeTable &table) : fields(fields), table(table) {}

  /// What a TensorMeta says.
  struct Tensor {
    const fx::DeclaredType *type = nullptr;
    bool requiresGrad = false;
    llvm::StringRef device; ///< "cpu", "cuda"
    /// Sizes and strides under the hints; `isSized` if all have one.
    llvm::SmallVector<int64_t, 4> sizes, strides;
    bool isSized = true;
    int64_t offset = 0; ///< of the first element in the storage
  };
  /// Null after an error. Stays valid.
  const Tensor *tensor(JsonValue meta, llvm::StringRef name = {});
  /// The type of a SymInt, SymFloat or SymBool. Null after an error.
  const fx::DeclaredType *scalar(JsonValue value);

  /// Symbols that were bound since then count for what is read from now on.
  void forget() {
    tensors.clear();
    scalars.clear();
  }
  /// The element type's name in annotations ("f32"); empty if there is none.
  static llvm::StringRef elementName(JsonValue scalarType);
  /// The element type that a number of TensorMeta means; null if it is none.
  mlir::Type elementType(JsonValue scalarType) const;
  /// Hints seen so far.
  fx::GraphHints hints;

private:
  mlir::FailureOr<std::string> sizeText(JsonValue size);
  std::optional<int64_t> evaluate(llvm::StringRef text) const;
  mlir::LogicalResult readTensor(JsonValue meta, llvm::StringRef name,
                                 Tensor &tensor);
  void noteHint(llvm::StringRef text, JsonValue expr);

  Fields &fields;
  fx::TypeTable &table;
  llvm::DenseMap<llvm::StringRef, Tensor *> tensors;
  llvm::DenseMap<llvm::StringRef, const fx::DeclaredType *> scalars;
  std::vector<std::unique_ptr<Tensor>> owned;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_TYPES_H
