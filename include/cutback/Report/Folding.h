// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saved values by module, with the repetition of equal blocks folded.
#ifndef CUTBACK_REPORT_FOLDING_H
#define CUTBACK_REPORT_FOLDING_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// One value, before grouping.
struct FoldItem {
  std::string place;  ///< module path, or "file.py:117"
  std::string what;   ///< kind of op that computes it: "addmm"
  std::string reason; ///< why it is saved
  int64_t bytes = 0;
};

/// Values of one module, or of several with equal content.
struct FoldedGroup {
  std::string label;   ///< "blocks.0–11", in parts ".attn.qkv"
  uint64_t values = 0; ///< of one repetition
  uint64_t times = 1;  ///< repetitions
  int64_t bytes = 0;   ///< of all repetitions
  /// Kinds of ops, most frequent first, with their number in one repetition.
  std::vector<std::pair<std::string, uint64_t>> kinds;
  std::string reason;             ///< the one that holds for most bytes
  std::vector<size_t> members;    ///< indices of its items, ascending
  std::vector<FoldedGroup> parts; ///< by module inside a numbered one
};

/// Groups by module: a path is cut behind its first numeric component
/// ("blocks.3", "layer1.0"), a path without one is a group of its own.
/// Numbered modules with one name that hold the same kinds of values in the
/// same modules inside become one group, whatever their sizes. Groups come in
/// the order of their first items.
std::vector<FoldedGroup> foldByModule(const std::vector<FoldItem> &items);

/// {0,1,2,5} → "0–2,5".
std::string formatRanges(const std::vector<uint64_t> &ascending);

/// A path split behind its first numeric component: ("blocks", "3", ".attn");
/// index is empty if there is none.
struct NumberedPath {
  std::string_view head, index, rest;
};
NumberedPath splitNumberedPath(std::string_view path);

} // namespace cutback

#endif // CUTBACK_REPORT_FOLDING_H
