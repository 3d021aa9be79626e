// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of nested graphs.
#ifndef CUTBACK_LIB_IMPORT_NESTEDGRAPHS_H
#define CUTBACK_LIB_IMPORT_NESTEDGRAPHS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace cutback::fx {

class NestedGraphs {
public:
  /// `text` is that of a graph with those that are nested in it.
  explicit NestedGraphs(llvm::StringRef text) : text(text) {}

  /// The text of the graph `name` that is nested in the one at `caller`, a
  /// position in the text; with those nested in it in turn.
  std::optional<llvm::StringRef> find(llvm::StringRef name, const char *caller);

private:
  /// A line `class NAME(torch.nn.Module):` and what belongs to it.
  struct Class {
    llvm::StringRef name, text;
    size_t indent;
    size_t parent; ///< index of the class around it, or kOutermost
  };
  static constexpr size_t kOutermost = ~size_t(0);
  void scan();

  llvm::StringRef text;
  bool isScanned = false;
  std::vector<Class> classes; ///< in the order of the text
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_NESTEDGRAPHS_H
