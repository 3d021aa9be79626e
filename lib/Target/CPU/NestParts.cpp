// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads share the iterations of one kept loop: the outermost one with enough
// of them, so that each thread has its stretch of memory, else the one with
// most. An iteration of it must write elements of its own; where no loop has
// such iterations, the nest is one thread's.
//
// A processor's thread gets pieces of whole lines of memory, and tiles of its
// cache's size. A device has a thread for each iteration: neighbors are columns
// or elements that lie side by side, and what a thread keeps is registers.

#include "NestParts.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

LoopWidths cpu::widthsOf(LoopsFor loops) {
  if (loops == LoopsFor::Thread)
    return {1, 1, 0, INT64_MAX, 0};
  return {64, 1024, 64, 64, 512 * 1024};
}

NestParts::NestParts(kernel::NestOp nest, NestScopes &scopes,
                     const LoopWidths &widths)
    : nest(nest), scopes(scopes), widths(widths) {
  for (auto [number, group] : llvm::enumerate(scopes.groups))
    (group.isReduced ? reduced : kept).push_back(number);
  findDivided();
}

int64_t NestParts::pieceOf(size_t group) const {
  bool isInnermost =
      group == kept.back() && (reduced.empty() || reduced.back() < group);
  if (!isInnermost)
    return 1;
  return reduced.empty() ? widths.piece
                         : std::min(scopes.groups[group].extent, widths.tile);
}

bool NestParts::isWrittenApart(size_t group) {
  return llvm::all_of(
      nest.getBody().getOps<kernel::StoreOp>(), [&](kernel::StoreOp store) {
        Access access = scopes.accessOf(store.getMap(), store.getIndices());
        return access.ofGroup[group] != 0 ||
               llvm::any_of(scopes.groups[group].axes, [&](unsigned axis) {
                 return access.isInRest(nest.getBody().getArgument(axis));
               });
      });
}

/// The outermost kept loop with many pieces, else the one with most.
void NestParts::findDivided() {
  int64_t most = 0;
  for (size_t group : kept) {
    if (!isWrittenApart(group))
      continue;
    int64_t pieces =
        llvm::divideCeil(scopes.groups[group].extent, pieceOf(group));
    if (pieces <= most)
      continue;
    most = pieces;
    divided = group;
    if (pieces >= widths.manyPieces)
      return;
  }
}
