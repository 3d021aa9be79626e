// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operation* → number, for the ops of one function: a table of the pages that
// ops lie in, and for each page met one number for every place where an op can
// begin. Ops made one after the other lie together, so walking a function in
// order walks through the numbers in order, sixteen to a line of the cache.
#ifndef CUTBACK_SUPPORT_MLIR_DEFINITIONMAP_H
#define CUTBACK_SUPPORT_MLIR_DEFINITIONMAP_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace cutback {

/// Mostly the number of an op's first result; those of the others follow it.
/// All ops must stay alive while the map is used.
class DefinitionMap {
public:
  static constexpr uint32_t kNone = ~uint32_t(0);
  /// Two ops begin at least so many bytes apart.
  static constexpr size_t kLeastOpBytes = 64;

  /// Empty.
  void reset() {
    pages.assign(16, Page());
    mask = pages.size() - 1;
    numbers.clear();
  }

  /// `op` must not be there yet.
  void insert(mlir::Operation *op, uint32_t number) {
    size_t at = find(pageOf(op));
    if (pages[at].block == kNone)
      at = add(at, pageOf(op));
    numbers[pages[at].block + placeOf(op)] = number;
  }

  /// kNone for an op that was not inserted.
  uint32_t lookup(mlir::Operation *op) const {
    uint32_t block = pages[find(pageOf(op))].block;
    return block == kNone ? kNone : numbers[block + placeOf(op)];
  }

private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr unsigned kPlaces = kPageBytes / kLeastOpBytes;

  struct Page {
    uintptr_t number = 0;
    uint32_t block = kNone; ///< of `numbers`, where it begins
  };

  static uintptr_t pageOf(mlir::Operation *op) {
    return reinterpret_cast<uintptr_t>(op) / kPageBytes;
  }
  static unsigned placeOf(mlir::Operation *op) {
    return reinterpret_cast<uintptr_t>(op) / kLeastOpBytes % kPlaces;
  }

  /// Where the page is, or would be.
  size_t find(uintptr_t page) const {
    size_t at = (page * 0x9E3779B97F4A7C15ull >> 32) & mask;
    while (pages[at].number != page && pages[at].block != kNone)
      at = (at + 1) & mask;
    return at;
  }

  size_t add(size_t at, uintptr_t page) {
    if (2 * (numbers.size() / kPlaces + 1) > pages.size()) {
      grow();
      at = find(page);
    }
    pages[at] = {page, static_cast<uint32_t>(numbers.size())};
    numbers.resize(numbers.size() + kPlaces, kNone);
    return at;
  }

  void grow() {
    std::vector<Page> old(pages.size() * 2);
    old.swap(pages);
    mask = pages.size() - 1;
    for (Page page : old)
      if (page.block != kNone)
        pages[find(page.number)] = page;
  }

  std::vector<Page> pages;
  std::vector<uint32_t> numbers;
  size_t mask = 0;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_MLIR_DEFINITIONMAP_H
