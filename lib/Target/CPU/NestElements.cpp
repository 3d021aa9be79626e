// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests without a reduced axis: each iteration stores elements of its own.
//
//   1. The innermost loop is one line of vectors. It is cut into strips where
//      its random numbers are drawn in front of it (NestDraws.cpp), or where
//      its results pass the caches (StreamedStores.h).
//   2. Where a load steps through memory along another axis, both axes go tile
//      by tile, so that a line of memory is read once (TransposedTile.h).

#include "NestLoops.h"

#include "TransposedTile.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

/// A tile of a result that passes the caches: lines to read that are as long as
/// a processor's own prefetch needs, lines to write of two lines of memory, and
/// a copy that the second cache holds.
static constexpr int64_t kStreamedOuter = 1024, kStreamedInner = 32;

namespace {

class ElementLoops : NestLoops {
public:
  using NestLoops::NestLoops;

  LogicalResult run() {
    begin();
    size_t other = findTransposed();
    if (other < kept.size()) {
      runTiles(other);
    } else {
      size_t outer = kept.empty() ? 0 : kept.size() - 1;
      enterKept(outer, /*isParallel=*/false);
      if (kept.empty())
        scopes.store(passes.rowStores);
      else
        runLine(kept.back());
      leave(outer);
    }
    return end();
  }

private:
  void runLine(size_t group) {
    if (scopes.groups[group].extent >= kStrip)
      streams.choose(passes.rowStores, group, kStrip);
    if (!streams.isNeeded() && !scopes.drawsAlong(group)) {
      scopes.setGroup(group, enterGroup(group, 1, /*isParallel=*/true));
      scopes.store(passes.rowStores);
      leave(1);
      return;
    }
    Value first = enterGroup(group, kStrip, /*isParallel=*/false);
    Value width = widthOfTile(group, first, kStrip);
    scopes.setStrip(group, first, kStrip);
    runWaiting(group, first, width, Value());
    leave(1);
  }

  /// `width` elements along `group` from `first` on; those that wait are
  /// written. In a tile the first is number `front` of its copies.
  void runWaiting(size_t group, Value first, Value width, Value front) {
    Value place = scopes.enterLoop(scopes.constant(0), width,
                                   scopes.constant(1), /*isParallel=*/true);
    scopes.setGroup(group, plus(first, place));
    if (front)
      scopes.setLane(plus(front, place));
    streams.setPlace(place);
    scopes.store(passes.rowStores);
    leave(1);
    scopes.setGroup(group, first);
    streams.flush(width);
  }

  //===--- Tiles ----------------------------------------------------------===//

  /// The axis along which a load steps by one element, where that is not the
  /// innermost one; their number if there is none.
  size_t findTransposed() {
    for (auto load : nest.getBody().getOps<kernel::LoadOp>()) {
      Access access = scopes.accessOf(load.getMap(), load.getIndices());
      if (!widths.transposed || kept.size() < 2 ||
          access.ofGroup[kept.back()] <= 1)
        continue;
      for (size_t i = 0; i + 1 < kept.size(); ++i)
        if (access.ofGroup[kept[i]] == 1)
          return i;
    }
    return kept.size();
  }

  void runTiles(size_t other) {
    size_t outer = kept[other], inner = kept.back();
    std::rotate(kept.begin() + other, kept.begin() + other + 1, kept.end() - 1);
    enterKept(kept.size() - 2, /*isParallel=*/false);
    streams.choose(passes.rowStores, inner, kStreamedInner);
    // Of long lines there are few pieces.
    if (streams.isNeeded() && divided == outer && parts.isWrittenApart(inner))
      divided = inner;
    TransposedTile tile{outer, inner, {}, {}, {}, {}, 0, 0};
    tile.sideOuter = streams.isNeeded() ? kStreamedOuter : widths.transposed;
    tile.sideInner = streams.isNeeded() ? kStreamedInner : widths.transposed;
    tile.firstOuter = enterGroup(outer, tile.sideOuter, false);
    tile.firstInner = enterGroup(inner, tile.sideInner, false);
    tile.numOuter = widthOfTile(outer, tile.firstOuter, tile.sideOuter);
    tile.numInner = widthOfTile(inner, tile.firstInner, tile.sideInner);
    copyTransposedLoads(tile);
    Value line = scopes.enterLoop(scopes.constant(0), tile.numOuter,
                                  scopes.constant(1), /*isParallel=*/false);
    scopes.setGroup(outer, plus(tile.firstOuter, line));
    Value front = times(line, tile.sideInner);
    if (isCopy())
      copyLine(tile, front);
    else
      runWaiting(inner, tile.firstInner, tile.numInner, front);
    leave(kept.size() + 1);
  }

  /// Whether all that is stored are copies of a transposed load, which pass the
  /// caches.
  bool isCopy() {
    return llvm::all_of(passes.rowStores, [&](kernel::StoreOp store) {
      return scopes.streamOf.contains(store) &&
             scopes.bufferOf.contains(store.getElement());
    });
  }
  void copyLine(const TransposedTile &tile, Value front) {
    scopes.setGroup(tile.inner, tile.firstInner);
    for (kernel::StoreOp store : passes.rowStores)
      streams.copy(store, scopes.bufferOf.lookup(store.getElement()), front,
                   tile.numInner);
  }

  void copyTransposedLoads(const TransposedTile &tile) {
    if (frame.tests == AccessTests::OfAll)
      return; // each is tested where it stands
    SmallVector<std::pair<Value, Value>> copies;
    for (auto load : nest.getBody().getOps<kernel::LoadOp>())
      if (isTransposed(scopes, load, tile.outer, tile.inner))
        copies.push_back(
            {load.getElement(), copyTransposed(scopes, load, tile)});
    for (auto [element, copy] : copies)
      scopes.bufferOf[element] = copy;
  }
};

} // namespace

LogicalResult cpu::lowerElements(kernel::NestOp nest, OpBuilder &builder,
                                 const KernelFrame &frame,
                                 std::vector<Operation *> &checked) {
  return ElementLoops(nest, builder, frame, checked).run();
}
