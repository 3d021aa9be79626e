// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements of which tuples a graph takes, for calls whose results no
// schema tells.
#ifndef CUTBACK_LIB_IMPORT_GETITEMS_H
#define CUTBACK_LIB_IMPORT_GETITEMS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace cutback::fx {

/// One element of a tuple, and the annotation it has somewhere in the text.
struct TupleLeaf {
  std::vector<unsigned> path;
  llvm::StringRef type; ///< between the quotes
  llvm::StringRef name; ///< what the element is called
};

class GetItems {
public:
  explicit GetItems(llvm::StringRef text) : text(text) {}

  /// The annotated elements of the tuple `name` and of tuples in it, by path.
  /// Scans the text at the first call.
  std::vector<TupleLeaf> leavesOf(llvm::StringRef name);

private:
  struct Item {
    unsigned index;
    llvm::StringRef name, type;
  };
  void scan();

  llvm::StringRef text;
  bool isScanned = false;
  llvm::StringMap<std::vector<Item>> items; ///< by tuple
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_GETITEMS_H
