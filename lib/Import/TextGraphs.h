// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of a text that is not a trace log: a dump, or what TORCH_LOGS
// prints.
#ifndef CUTBACK_LIB_IMPORT_TEXTGRAPHS_H
#define CUTBACK_LIB_IMPORT_TEXTGRAPHS_H

#include "SourceText.h"

#include "cutback/Import/Import.h"

namespace cutback::fx {

/// A graph of an input, wherever it was found.
struct FoundGraph {
  GraphInfo info;
  SourceText source;
  std::string frame; ///< compile id with attempt: what log records go by
};

/// The text without logging prefixes and colours, or null if it has none.
std::shared_ptr<const StrippedLog> stripLog(llvm::StringRef text);

/// The graphs of `source`, in its order.
std::vector<FoundGraph> findTextGraphs(const SourceText &source);

/// True for a line that Python's logging began: "V0814 12:34:56.789000 1 …".
bool hasLogPrefix(llvm::StringRef line);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_TEXTGRAPHS_H
