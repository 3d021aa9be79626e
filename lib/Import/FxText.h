// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FX text: one graph of a text becomes one op of a module.
#ifndef CUTBACK_LIB_IMPORT_FXTEXT_H
#define CUTBACK_LIB_IMPORT_FXTEXT_H

#include "Scope.h"

#include "cutback/Import/Import.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace cutback::fx {

/// What a log knows of a symbolic size.
struct SymbolHint {
  std::optional<int64_t> value, min, max;
};

/// What a log knows of input number i: `PlainAOTInput(idx=i)`.
struct InputSource {
  joint::RoleKind kind = joint::RoleKind::Input;
  std::string name;     ///< "blocks.0.attn.qkv.weight"; empty if not known
  llvm::StringRef type; ///< its annotation, which must be the graph's too
};

struct GraphHints {
  llvm::StringMap<SymbolHint> symbols;
  std::vector<InputSource> inputs;
};

struct FxRequest {
  SourceText source;
  GraphKind kind = GraphKind::Joint;
  std::optional<int64_t> forwardOutputs;
  const GraphHints *hints = nullptr;
  std::string symbolName;
  bool isStrict = false; ///< see ImportOptions::strict
};

/// The symbols of a graph that was read, with what `hints` (null for none)
/// knows of them; null if there are none.
mlir::DictionaryAttr symbolAttrs(const Scope &scope, const GraphHints *hints);

/// What the graph in `text` is, by its parameters and result descriptors.
GraphKind sniffGraphKind(llvm::StringRef text);

/// Reads the graph of `request` and puts a `joint.graph` or `func.func` where
/// `builder` stands.
mlir::FailureOr<mlir::Operation *> importFxText(const FxRequest &request,
                                                mlir::OpBuilder &builder,
                                                ImportCounts &counts);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_FXTEXT_H
