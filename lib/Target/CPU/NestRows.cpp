// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests whose innermost axis is reduced: rows.
//
//   1. Pass by pass (NestPasses.h), a row at a time, so that a cache holds it
//      between two passes.
//   2. Of short rows a few go through each pass: the fold of one is a chain of
//      dependent additions, and the next row's does not wait for it.
//   3. An element is combined with its accumulator of Reductions.h; these are
//      folded where the row ends.

#include "NestLoops.h"

#include "Reductions.h"
#include "RowPrefetch.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

namespace {

class RowLoops : NestLoops {
public:
  using NestLoops::NestLoops;

  LogicalResult run() {
    begin();
    rowsAtOnce = chooseRowsAtOnce();
    enterKept(kept.size() - (isTile() ? 1 : 0), /*isParallel=*/false);
    if (isTile()) {
      firstRow = enterGroup(kept.back(), rowsAtOnce, /*isParallel=*/false);
      numRows = widthOfTile(kept.back(), firstRow, rowsAtOnce);
    }
    for (unsigned pass = 0; pass < passes.numPasses && !scopes.hasFailed();
         ++pass) {
      chooseStreams(pass);
      runRowPass(pass);
    }
    if (!scopes.hasFailed()) {
      enterRow();
      emitPicks(passes.numPasses);
      scopes.store(passes.rowStores);
      leaveRow();
    }
    leave(kept.size());
    return end();
  }

private:
  //===--- Rows -----------------------------------------------------------===//

  /// A choice reads results of other passes, and the place of the greatest is
  /// found by one comparison after the other: rows with these stay alone.
  int64_t chooseRowsAtOnce() {
    constexpr int64_t elements = 256, most = 16;
    bool isAlone = frame.loops != LoopsFor::Processor || kept.empty() ||
                   !passes.picks.empty() ||
                   !nest.getBody().getOps<kernel::ReduceIndexOp>().empty();
    int64_t rows =
        isAlone ? 1 : elements / std::max<int64_t>(1, passes.numReduced());
    rows = std::clamp<int64_t>(rows, 1, most);
    rows = int64_t(llvm::bit_floor(uint64_t(rows)));
    return !isAlone && scopes.groups[kept.back()].extent >= rows ? rows : 1;
  }
  bool isTile() const { return rowsAtOnce > 1; }

  /// Of a tile: a loop over its rows, in which the results of former passes are
  /// known.
  void enterRow() {
    if (!isTile())
      return;
    row = scopes.enterLoop(scopes.constant(0), numRows, scopes.constant(1),
                           /*isParallel=*/false);
    scopes.setGroup(kept.back(), plus(firstRow, row));
    for (auto [result, memory] : results)
      scopes.setValue(result,
                      memref::LoadOp::create(scopes.here(), loc, memory, row));
  }
  void leaveRow() {
    if (isTile())
      scopes.leaveLoop();
  }
  void flushTile() {
    if (!isTileStreamed)
      return;
    scopes.setGroup(kept.back(), firstRow);
    for (size_t group : reduced)
      scopes.setGroup(group, scopes.constant(0));
    streams.flush(times(numRows, passes.numReduced()));
    isTileStreamed = false;
  }
  void keepResult(Value result, Value is) {
    if (!isTile()) {
      scopes.setValue(result, is);
      return;
    }
    Value memory = scopes.allocate(is.getType(), rowsAtOnce);
    memref::StoreOp::create(scopes.here(), loc, is, memory, row);
    results.push_back({result, memory});
  }
  /// Where the row's own begin in memory with `count` elements a row of a tile.
  Value firstOfRow(int64_t count) {
    return isTile() ? times(row, count) : scopes.constant(0);
  }

  void emitPicks(unsigned level) {
    for (auto [op, at] : passes.picks)
      if (at == level)
        scopes.get(op->getResult(0));
  }

  //===--- A pass ---------------------------------------------------------===//

  /// Results that pass the caches: of a tile whose rows lie side by side all
  /// its elements wait, else those of a strip.
  void chooseStreams(unsigned pass) {
    isTileStreamed = false;
    streams.choose({}, reduced.back(), 0);
    if (!passes.isStorePass(pass))
      return;
    int64_t count = passes.numReduced(), places = placesOf(pass);
    if (isTile()) {
      if (!llvm::all_of(passes.elementStores, [&](kernel::StoreOp store) {
            Access access = scopes.accessOf(store.getMap(), store.getIndices());
            return reduced.size() == 1 && access.ofGroup[kept.back()] == count;
          }))
        return;
      streams.choose(passes.elementStores, reduced.back(), rowsAtOnce * count);
      isTileStreamed = streams.isNeeded();
    } else if (scopes.groups[reduced.back()].extent >= kStrip &&
               !isUneven(places)) {
      streams.choose(passes.elementStores, reduced.back(), kStrip);
    }
  }

  /// Accumulators of a pass; none where nothing is combined.
  int64_t placesOf(unsigned pass) const {
    bool combines = llvm::any_of(passes.sums[pass], [](Operation *op) {
      return isa<kernel::ReduceOp>(op);
    });
    return combines ? numAccumulators(passes.numReduced()) : 0;
  }

  void runRowPass(unsigned pass) {
    int64_t used = numUsed(passes.numReduced());
    std::vector<Sum> running;
    for (Operation *op : passes.sums[pass])
      if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
        running.push_back(start(reduce, rowsAtOnce * used));
    enterRow();
    emitPicks(pass);
    runElements(pass, running, used);
    if (isTile() && !running.empty()) {
      // The folds of rows do not wait for each other, but for their elements.
      leaveRow();
      enterRow();
    }
    for (Sum &sum : running) {
      auto reduce = cast<kernel::ReduceOp>(sum.op);
      Value all = foldRow(scopes, reduce.getCombine(), sum.memory,
                          firstOfRow(used), used);
      keepResult(reduce.getResult(),
                 fromAccumulator(scopes, all, reduce.getType()));
    }
    for (Operation *op : passes.sums[pass])
      if (auto reduce = dyn_cast<kernel::ReduceIndexOp>(op))
        findBest(reduce);
    leaveRow();
    flushTile();
  }

  /// All elements of a row, with `used` accumulators for each of `running`.
  void runElements(unsigned pass, ArrayRef<Sum> running, int64_t used) {
    int64_t count = passes.numReduced();
    bool isFirst = count <= numAccumulators(count); // of its accumulator
    Value first = firstOfRow(used);
    for (const Sum &sum : running)
      fill(sum, first, isFirst ? count : 0, used);
    SmallVector<std::pair<Value, Value>> kept;
    prefetch.reset();
    if (frame.loops == LoopsFor::Processor && !this->kept.empty())
      prefetch.emplace(scopes, this->kept.back(), reduced.back(), rowsAtOnce)
          .choose(nest, passes, streams, pass);
    for (Value value : passes.held[pass])
      kept.push_back(
          {value, scopes.allocate(value.getType(), rowsAtOnce * count)});
    if (!running.empty() || !kept.empty() || passes.isStorePass(pass))
      eachOfRow(placesOf(pass), [&](Value place) {
        if (!scopes.bufferOf.empty() || !kept.empty() || isTileStreamed)
          scopes.setLane(
              plus(firstOfRow(count),
                   plus(frontOfInner(), scopes.groupNow(reduced.back()))));
        if (isTileStreamed)
          streams.setPlace(scopes.laneNow());
        keepHeld(kept);
        if (!running.empty())
          accumulate(running, plus(first, place), isFirst);
        if (passes.isStorePass(pass))
          scopes.store(passes.elementStores);
      });
    for (auto [value, buffer] : kept)
      scopes.bufferOf[value] = buffer;
  }

  void findBest(kernel::ReduceIndexOp reduce) {
    Sum sum = startBest(reduce, 1);
    Value lane = scopes.constant(0);
    for (size_t group : reduced)
      scopes.setGroup(group, scopes.enterLoop(scopes.groups[group].extent,
                                              /*isParallel=*/false));
    Value number = plus(frontOfInner(), scopes.groupNow(reduced.back()));
    scopes.setLane(number);
    improve(sum, number, lane);
    leave(reduced.size());
    keepResult(reduce.getResult(), readPlace(sum, lane));
  }

  //===--- Loops over a row -----------------------------------------------===//

  /// Whether an innermost loop begins anywhere among `places` accumulators.
  bool isUneven(int64_t places) const {
    return places > 0 && passes.numReduced() > places && reduced.size() > 1 &&
           scopes.groups[reduced.back()].extent % places != 0;
  }

  /// Loops over a row; `run` gets the number of the accumulator, of `places`.
  /// Without accumulators: of nothing.
  template <typename Fn> void eachOfRow(int64_t places, Fn run) {
    size_t inner = reduced.back();
    int64_t extent = scopes.groups[inner].extent, count = passes.numReduced();
    enterOuterReduced();
    if (isUneven(places)) {
      runUneven(places, run);
    } else if (places == 0 || count <= places) {
      Value front = places ? frontOfInner() : Value();
      runBlock(inner, scopes.constant(0), extent, [&](Value index) {
        run(places ? plus(front, index) : Value());
      });
    } else {
      Value block = scopes.enterLoop(extent / places, /*isParallel=*/false);
      Value first = times(block, places);
      runBlock(inner, first, places, run);
      scopes.leaveLoop();
      if (extent % places != 0)
        runBlock(inner, scopes.constant(extent - extent % places),
                 extent % places, run);
    }
    leave(reduced.size() - 1);
  }

  template <typename Fn>
  void runBlock(size_t inner, Value first, int64_t count, Fn run) {
    bool fetches = prefetch && prefetch->isNeeded();
    if (fetches && (isTile() || count < kStrip)) {
      scopes.setGroup(inner, first);
      prefetch->emit(count);
      fetches = false;
    }
    bool waits = streams.isNeeded() && !isTileStreamed;
    bool isCut = fetches || waits || scopes.drawsAlong(inner);
    int64_t rest = isCut ? count % kStrip : count;
    if (rest < count) {
      Value strip = scopes.enterLoop(count / kStrip, /*isParallel=*/false);
      Value front = times(strip, kStrip);
      if (fetches) {
        scopes.setGroup(inner, plus(first, front));
        prefetch->emit(kStrip);
      }
      runStrip(inner, first, front, kStrip, run);
      scopes.leaveLoop();
    }
    if (rest > 0)
      runStrip(inner, first, scopes.constant(count - rest), rest, run);
  }

  /// Elements of a block from `front` on.
  template <typename Fn>
  void runStrip(size_t inner, Value first, Value front, int64_t count, Fn run) {
    bool waits = streams.isNeeded() && !isTileStreamed;
    scopes.setStrip(inner, plus(first, front), count);
    Value number = scopes.enterLoop(count, /*isParallel=*/true);
    Value place = plus(front, number);
    scopes.setGroup(inner, plus(first, place));
    if (waits)
      streams.setPlace(number);
    run(place);
    scopes.leaveLoop();
    if (waits) {
      scopes.setGroup(inner, plus(first, front));
      streams.flush(scopes.constant(count));
    }
  }

  /// Innermost loops that begin anywhere: cut where accumulators begin anew.
  template <typename Fn> void runUneven(int64_t places, Fn run) {
    size_t inner = reduced.back();
    int64_t extent = scopes.groups[inner].extent;
    Value front = frontOfInner();
    Value end = plus(front, scopes.constant(extent));
    Value width = scopes.constant(places), one = scopes.constant(1);
    Value firstBlock = arith::DivUIOp::create(scopes.here(), loc, front, width);
    Value endBlock =
        plus(arith::DivUIOp::create(scopes.here(), loc, minus(end, one), width),
             one);
    Value block =
        scopes.enterLoop(firstBlock, endBlock, one, /*isParallel=*/false);
    Value start = times(block, places);
    Value low = arith::MaxUIOp::create(scopes.here(), loc, start, front);
    Value high =
        arith::MinUIOp::create(scopes.here(), loc, plus(start, width), end);
    Value number = scopes.enterLoop(low, high, one, /*isParallel=*/true);
    scopes.setGroup(inner, minus(number, front));
    run(minus(number, start));
    scopes.leaveLoop();
    scopes.leaveLoop();
  }

  std::optional<RowPrefetch> prefetch; ///< of the pass that is written
  int64_t rowsAtOnce = 1;
  Value firstRow, numRows; ///< of a tile of more than one row
  Value row;               ///< of the tile, in a loop over them
  /// Results of rows of a tile, and where they are kept.
  SmallVector<std::pair<Value, Value>> results;
  bool isTileStreamed = false;
};

} // namespace

LogicalResult cpu::lowerRows(kernel::NestOp nest, OpBuilder &builder,
                             const KernelFrame &frame,
                             std::vector<Operation *> &checked) {
  return RowLoops(nest, builder, frame, checked).run();
}
