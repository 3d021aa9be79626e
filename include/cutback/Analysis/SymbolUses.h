// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which symbols the sizes of values depend on.
#ifndef CUTBACK_ANALYSIS_SYMBOLUSES_H
#define CUTBACK_ANALYSIS_SYMBOLUSES_H

#include "cutback/Analysis/ValueSizes.h"

#include <string>
#include <vector>

namespace cutback {

struct SymbolUses {
  /// The symbols that a size among the arguments has for its value, each once,
  /// in the order of the arguments.
  std::vector<std::string> names;
  /// By symbol, by value: does a dimension of it, or as a number it itself,
  /// depend on the symbol?
  std::vector<std::vector<uint8_t>> uses;

  /// Evaluates the sizes once more for each symbol, with another value for it.
  /// What an op does not say about its results is no dependence, but for
  /// numbers, which depend on what their operands do. Linear for each symbol;
  /// nothing for a graph without.
  static SymbolUses find(const GraphView &view);
};

/// The symbols of `graph`, a joint.graph, that the sizes of its arguments say;
/// what depends on others (`u0`) only a run tells. Empty if there are none.
mlir::DictionaryAttr argumentSymbols(joint::GraphOp graph);

/// What to take for the symbols that no hint is known of, as PyTorch 2.13
/// does: `fallback`, brought into the bounds that the graph asserts of the
/// symbol ("u0 <= 99").
llvm::StringMap<int64_t> assumeSymbols(const GraphView &view, int64_t fallback);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_SYMBOLUSES_H
