// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logs of TORCH_TRACE: records, and the graphs among them.
#ifndef CUTBACK_LIB_IMPORT_TRACELOG_H
#define CUTBACK_LIB_IMPORT_TRACELOG_H

#include "FxText.h"
#include "TextGraphs.h"

#include "llvm/ADT/MapVector.h"

namespace cutback::fx {

/// What the records of one compilation say of its inputs.
struct CompileRecords {
  llvm::StringMap<SymbolHint> symbols;
  struct Tensor {
    std::string source;
    bool isParameter = false;
  };
  /// By "describer:id".
  llvm::StringMap<unsigned> tensorIndex;
  std::vector<Tensor> tensors;
  llvm::StringRef dynamoGraph; ///< its text, empty if it was not logged
};

struct TraceLog {
  std::vector<FoundGraph> graphs;
  llvm::StringMap<CompileRecords> records; ///< by frame

  /// What the log knows of the inputs of `graph`.
  GraphHints hintsFor(const FoundGraph &graph) const;
};

/// True if `text` holds records of TORCH_TRACE.
bool isTraceLog(llvm::StringRef text);

/// Scans a log once. Records that do not read are skipped: a log may end in
/// the middle of one.
TraceLog readTraceLog(const SourceText &source);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_TRACELOG_H
