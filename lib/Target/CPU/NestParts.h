// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop of a nest is divided among threads, and into what.
#ifndef CUTBACK_LIB_TARGET_CPU_NESTPARTS_H
#define CUTBACK_LIB_TARGET_CPU_NESTPARTS_H

#include "NestScopes.h"

namespace cutback::cpu {

/// Iterations that stay together.
struct LoopWidths {
  int64_t piece;      ///< elements of an innermost loop: whole lines of memory
  int64_t tile;       ///< columns whose accumulators stay in the first cache
  int64_t transposed; ///< a side of a tile that is transposed; 0 for no tiles
  int64_t manyPieces; ///< pieces of a loop that are enough for all threads
  int64_t heldBytes;  ///< of rows that are kept between passes, on the stack
};
LoopWidths widthsOf(LoopsFor loops);

struct NestParts {
  NestParts(kernel::NestOp nest, NestScopes &scopes, const LoopWidths &widths);

  /// Iterations of a kept loop that stay together.
  int64_t pieceOf(size_t group) const;
  /// Whether iterations of a kept loop write other elements each.
  bool isWrittenApart(size_t group);

  llvm::SmallVector<size_t> kept, reduced; ///< groups, from the outermost on
  std::optional<size_t> divided; ///< the group of which a call runs a part

private:
  void findDivided();

  kernel::NestOp nest;
  NestScopes &scopes;
  const LoopWidths widths;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_NESTPARTS_H
