// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests that sum columns: the innermost axis is kept, so a tile of columns is
// summed at a time and memory is read in its order.
//
//   1. A tile is a stretch of the innermost loop, or of two loops that were one
//      axis (SplitAxis.h).
//   2. A scalar of a column is one a lane, in a buffer where elements read it.
//   3. Row i is added to accumulator i mod kColumnAccumulators of its column,
//      and these are folded in their order.
//   4. As many rows go through a strip of columns together, while the strip's
//      lines of the next ones are fetched: a row alone is memory's latency, and
//      reading it by itself pushes the accumulators out of the first cache.

#include "NestLoops.h"

#include "Reductions.h"
#include "RowPrefetch.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

namespace {

class ColumnLoops : NestLoops {
public:
  using NestLoops::NestLoops;

  LogicalResult run() {
    begin();
    size_t inner = kept.back();
    int64_t extent = scopes.groups[inner].extent;
    // Columns that are two loops (SplitAxis.h) are tiled as one.
    bool isTwo = kept.size() > 1 && kept[kept.size() - 2] > reduced.back();
    tile = std::min(extent, widths.tile);
    int64_t across = isTwo ? std::max<int64_t>(1, widths.tile / extent) : 1;
    size_t outside = kept.size() - (isTwo ? 2 : 1);
    enterKept(outside, /*isParallel=*/false);
    if (isTwo)
      enterTile(outer, kept[kept.size() - 2], across);
    enterTile(columns, inner, tile);
    tile *=
        outer.width ? std::min(across, scopes.groups[outer.group].extent) : 1;
    for (unsigned pass = 0; pass < passes.numPasses && !scopes.hasFailed();
         ++pass) {
      bufferRowValues(pass);
      runColumnPass(pass);
    }
    if (!scopes.hasFailed() && !passes.rowStores.empty()) {
      enterLanes();
      scopes.store(passes.rowStores);
      leaveLanes();
    }
    leave(kept.size());
    return end();
  }

private:
  /// Columns of 8 rows that are summed together: a line of single precision.
  static constexpr int64_t kStripOfColumns = kLineBytes / 4;
  /// Of an element: eight of them are compiled as fast as a loop.
  static constexpr size_t kFewOps = 16;

  /// A stretch of a kept group.
  struct Stretch {
    size_t group = 0;
    int64_t most = 0;
    Value first, width;
  };

  /// A loop over stretches of up to `most`.
  void enterTile(Stretch &tile, size_t group, int64_t most) {
    tile.group = group;
    tile.most = std::min(most, scopes.groups[group].extent);
    tile.first = enterGroup(group, tile.most, false);
    tile.width = widthOfTile(group, tile.first, tile.most);
  }

  /// Returns the index in the stretch.
  Value enterStretch(const Stretch &tile, bool isParallel) {
    Value one = scopes.constant(1);
    if (isParallel)
      scopes.setStrip(tile.group, tile.first, tile.most);
    Value at =
        scopes.enterLoop(scopes.constant(0), tile.width, one, isParallel);
    scopes.setGroup(tile.group, plus(tile.first, at));
    return at;
  }

  /// Returns the lane.
  Value enterLanes() {
    Value front = outer.width ? times(enterStretch(outer, /*isParallel=*/false),
                                      scopes.groups[columns.group].extent)
                              : Value();
    Value lane = enterStretch(columns, /*isParallel=*/true);
    if (front)
      lane = plus(front, lane);
    scopes.setLane(lane);
    return lane;
  }
  void leaveLanes() { leave(outer.width ? 2 : 1); }

  /// Scalars of a column that elements of pass `pass` on read, one a lane.
  void bufferRowValues(unsigned pass) {
    SmallVector<Value> wanted;
    for (Operation &op : nest.getBlock()) {
      bool isPick = isa<kernel::PickOp>(op);
      bool isCheap = isa<arith::ConstantOp, kernel::LoadOp>(op);
      for (Value value : op.getResults()) {
        bool isRead =
            isPick || llvm::any_of(value.getUsers(), [&](Operation *user) {
              return isa<kernel::ReduceOp, kernel::ReduceIndexOp>(user) ||
                     llvm::is_contained(passes.elementStores, user) ||
                     llvm::any_of(user->getResults(), [&](Value result) {
                       return passes.isElement(result);
                     });
            });
        if (isRead && !isCheap && !passes.isElement(value) &&
            passes.levelOf.lookup(value) == pass &&
            !scopes.bufferOf.contains(value))
          wanted.push_back(value);
      }
    }
    if (wanted.empty())
      return;
    SmallVector<std::pair<Value, Value>> made;
    Value lane = enterLanes();
    for (Value value : wanted) {
      Placed scalar = scopes.get(value);
      if (scopes.hasFailed())
        break;
      if (scalar.depth < scopes.depth())
        continue; // one for all lanes
      Value buffer = scopes.allocate(scalar.value.getType(), tile);
      memref::StoreOp::create(scopes.here(), loc, scalar.value, buffer, lane);
      made.push_back({value, buffer});
    }
    leaveLanes();
    for (auto [value, buffer] : made)
      scopes.bufferOf[value] = buffer;
  }

  void runColumnPass(unsigned pass) {
    std::vector<Sum> running, best;
    for (Operation *op : passes.sums[pass]) {
      if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
        running.push_back(start(reduce, kColumnAccumulators * tile));
        fill(running.back(), scopes.constant(0), 0, kColumnAccumulators * tile);
      } else {
        best.push_back(startBest(cast<kernel::ReduceIndexOp>(op), tile));
      }
    }
    if (running.empty() && best.empty() && !passes.isStorePass(pass))
      return;
    enterOuterReduced();
    int64_t rows = scopes.groups[reduced.back()].extent;
    bool isInBlocks = frame.loops == LoopsFor::Processor && best.empty() &&
                      !passes.isStorePass(pass) && !outer.width &&
                      rows >= 2 * kColumnAccumulators &&
                      columns.most >= kStripOfColumns;
    int64_t inBlocks = isInBlocks ? rows - rows % kColumnAccumulators : 0;
    if (inBlocks > 0)
      runBlocks(running, inBlocks);
    if (inBlocks < rows && !scopes.hasFailed()) {
      Value row = scopes.enterLoop(scopes.constant(inBlocks),
                                   scopes.constant(rows), scopes.constant(1),
                                   /*isParallel=*/false);
      Value number = enterRow(row);
      Value lane = enterLanes();
      accumulate(running, plus(firstOfRow(number), lane), /*isFirst=*/false);
      for (const Sum &sum : best)
        if (!scopes.hasFailed())
          improve(sum, number, lane);
      if (passes.isStorePass(pass) && !scopes.hasFailed())
        scopes.store(passes.elementStores);
      leaveLanes();
      leave(1);
    }
    leave(reduced.size() - 1);
    foldColumns(running, best);
  }

  /// Sets the innermost reduced index; returns the number among all rows.
  Value enterRow(Value row) {
    scopes.setGroup(reduced.back(), row);
    return plus(frontOfInner(), row);
  }
  /// The first accumulator of a row.
  Value firstOfRow(Value number) {
    Value accumulator = arith::RemUIOp::create(
        scopes.here(), loc, number, scopes.constant(kColumnAccumulators));
    return times(accumulator, tile);
  }

  /// The first `rows` rows, a multiple of kColumnAccumulators.
  void runBlocks(ArrayRef<Sum> running, int64_t rows) {
    RowPrefetch prefetch(scopes, reduced.back(), columns.group,
                         kColumnAccumulators);
    prefetch.addLoads(nest);
    Value block = times(
        scopes.enterLoop(rows / kColumnAccumulators, /*isParallel=*/false),
        kColumnAccumulators);
    Value width = scopes.constant(kStripOfColumns), none = scopes.constant(0);
    Value rest =
        arith::RemUIOp::create(scopes.here(), loc, columns.width, width);
    Value whole = minus(columns.width, rest);
    Value at = scopes.enterLoop(none, whole, width, /*isParallel=*/false);
    runBlock(running, block, at, width, prefetch);
    scopes.leaveLoop();
    if (scopes.groups[columns.group].extent % kStripOfColumns != 0 &&
        !scopes.hasFailed())
      runBlock(running, block, whole, rest, prefetch);
    scopes.leaveLoop();
  }

  /// As many rows as there are accumulators, of `width` columns of the tile.
  void runBlock(ArrayRef<Sum> running, Value block, Value at, Value width,
                RowPrefetch &prefetch) {
    Stretch strip = {columns.group, kStripOfColumns, plus(columns.first, at),
                     width};
    auto eachRow = [&](bool isShort, auto run) {
      Value row = isShort ? scopes.enterUnrolled(kColumnAccumulators)
                          : scopes.enterLoop(kColumnAccumulators,
                                             /*isParallel=*/false);
      run(enterRow(plus(block, row)));
      scopes.leaveLoop();
    };
    scopes.setGroup(columns.group, strip.first);
    if (prefetch.isNeeded())
      eachRow(/*isShort=*/true, [&](Value) { prefetch.emit(kStripOfColumns); });
    eachRow(nest.getBlock().getOperations().size() <= kFewOps,
            [&](Value number) {
              Value front = firstOfRow(number);
              Value lane = plus(at, enterStretch(strip, /*isParallel=*/true));
              scopes.setLane(lane);
              accumulate(running, plus(front, lane), /*isFirst=*/false);
              scopes.leaveLoop();
            });
  }

  /// Accumulators of a lane in their order.
  void foldColumns(ArrayRef<Sum> running, ArrayRef<Sum> best) {
    if (running.empty() && best.empty())
      return;
    Value lane = enterLanes();
    SmallVector<std::pair<Value, Value>> made;
    auto keep = [&](Value result, Value is) {
      Value buffer = scopes.allocate(is.getType(), tile);
      memref::StoreOp::create(scopes.here(), loc, is, buffer, lane);
      made.push_back({result, buffer});
    };
    for (const Sum &sum : running) {
      auto reduce = cast<kernel::ReduceOp>(sum.op);
      Value all;
      for (int64_t row = 0; row < kColumnAccumulators; ++row) {
        Value next =
            memref::LoadOp::create(scopes.here(), loc, sum.memory,
                                   plus(scopes.constant(row * tile), lane));
        scopes.here();
        all = all ? scopes.scalars.combine(loc, reduce.getCombine(), all, next)
                  : next;
      }
      keep(reduce.getResult(), fromAccumulator(scopes, all, reduce.getType()));
    }
    for (const Sum &sum : best)
      keep(sum.op->getResult(0), readPlace(sum, lane));
    leaveLanes();
    for (auto [value, buffer] : made)
      scopes.bufferOf[value] = buffer;
  }

  int64_t tile = 0; ///< columns that are summed at once
  Stretch columns, outer;
};

} // namespace

LogicalResult cpu::lowerColumns(kernel::NestOp nest, OpBuilder &builder,
                                const KernelFrame &frame,
                                std::vector<Operation *> &checked) {
  return ColumnLoops(nest, builder, frame, checked).run();
}
