// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each nest is loops over the kept axes, and in them, row by row, loops over
// the reduced ones.
//
//   1. Pass by pass (NestPasses.h): a pass computes what its reductions need,
//      from memory again.
//   2. Innermost axis reduced: one row at a time, the accumulators of
//      Reductions.h side by side. Innermost axis kept: a tile of columns at a
//      time (NestColumns.cpp).
//   3. Innermost loops share nothing between iterations, and are marked so:
//      LLVM makes vectors of them without asking whether memories overlap.
//   4. A call runs its part of one kept loop (NestParts.h). No iteration of a
//      kept loop reads what another one writes, so threads may run the parts,
//      with equal bits: a few of a processor, or one an iteration of a device.

#include "cutback/Target/CPU/LowerKernel.h"

#include "NestLoops.h"
#include "Reductions.h"
#include "RowPrefetch.h"
#include "SplitAxis.h"
#include "TransposedTile.h"

#include "cutback/Runtime/Artifact.h"

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
    if (reduced.empty())
      runElements();
    else
      runRows();
    return end();
  }

private:
  //===--- Without reduced axes -------------------------------------------===//

  void runElements() {
    size_t other = findTransposed();
    if (other == kept.size()) {
      size_t outer = kept.empty() ? 0 : kept.size() - 1;
      enterKept(outer, /*isParallel=*/false);
      size_t inner = kept.empty() ? 0 : enterStrips(kept.back());
      scopes.store(passes.rowStores);
      leave(outer + inner);
      return;
    }
    // Both axes tile by tile: a line of memory is read once.
    SmallVector<size_t> order = kept;
    std::rotate(kept.begin() + other, kept.begin() + other + 1, kept.end() - 1);
    enterKept(kept.size() - 2, /*isParallel=*/false);
    size_t outer = order[other], inner = order.back();
    TransposedTile tile{outer, inner, {}, {}, {}, {}, widths.transposed};
    tile.firstOuter = enterGroup(outer, tile.side, false);
    tile.firstInner = enterGroup(inner, tile.side, false);
    Value endOuter = endOfTile(outer, tile.firstOuter, tile.side),
          endInner = endOfTile(inner, tile.firstInner, tile.side);
    tile.numOuter = minus(endOuter, tile.firstOuter);
    tile.numInner = minus(endInner, tile.firstInner);
    copyTransposedLoads(tile);
    Value one = scopes.constant(1);
    Value o = scopes.enterLoop(tile.firstOuter, endOuter, one, false);
    scopes.setGroup(outer, o);
    Value line = times(minus(o, tile.firstOuter), tile.side);
    Value i = scopes.enterLoop(tile.firstInner, endInner, one, true);
    scopes.setGroup(inner, i);
    scopes.setLane(plus(line, minus(i, tile.firstInner)));
    scopes.store(passes.rowStores);
    leave(kept.size() + 2);
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

  //===--- Rows -----------------------------------------------------------===//

  /// Keeps what later passes read of this element.
  void keepHeld(ArrayRef<std::pair<Value, Value>> kept) {
    for (auto [value, buffer] : kept) {
      Value element = scopes.get(value).value;
      if (scopes.hasFailed())
        return;
      memref::StoreOp::create(scopes.here(), loc, element, buffer,
                              scopes.laneNow());
    }
  }

  void emitPicks(unsigned level) {
    for (auto [op, at] : passes.picks)
      if (at == level)
        scopes.get(op->getResult(0));
  }

  void runRows() {
    enterKept(kept.size(), /*isParallel=*/false);
    for (unsigned pass = 0; pass < passes.numPasses && !scopes.hasFailed();
         ++pass) {
      emitPicks(pass);
      runRowPass(pass);
    }
    if (!scopes.hasFailed()) {
      emitPicks(passes.numPasses);
      scopes.store(passes.rowStores);
    }
    leave(kept.size());
  }

  void runRowPass(unsigned pass) {
    std::vector<Sum> running;
    int64_t count = passes.numReduced(), places = numAccumulators(count);
    int64_t used = std::min<int64_t>(
        places, std::max<int64_t>(4, llvm::PowerOf2Ceil(count)));
    bool isFirst = count <= places; // and the only one of its accumulator
    for (Operation *op : passes.sums[pass])
      if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
        running.push_back(start(reduce, used));
        fill(running.back(), isFirst ? count : 0, used);
      }
    SmallVector<std::pair<Value, Value>> kept;
    prefetch.reset();
    if (frame.loops == LoopsFor::Processor && !this->kept.empty())
      prefetch.emplace(scopes, this->kept.back(), reduced.back())
          .choose(nest, passes, pass);
    for (Value value : passes.held[pass])
      kept.push_back({value, scopes.allocate(value.getType(), count)});
    if (!running.empty() || !kept.empty() || passes.isStorePass(pass))
      eachOfRow(running.empty() ? 0 : places, [&](Value place) {
        if (!scopes.bufferOf.empty() || !kept.empty())
          scopes.setLane(plus(frontOfInner(), scopes.groupNow(reduced.back())));
        keepHeld(kept);
        accumulate(running, place, isFirst);
        if (passes.isStorePass(pass))
          scopes.store(passes.elementStores);
      });
    for (auto [value, buffer] : kept)
      scopes.bufferOf[value] = buffer;
    for (Sum &sum : running) {
      auto reduce = cast<kernel::ReduceOp>(sum.op);
      Value all = foldRow(scopes, reduce.getCombine(), sum.memory, used);
      scopes.setValue(reduce.getResult(),
                      fromAccumulator(scopes, all, reduce.getType()));
    }
    for (Operation *op : passes.sums[pass])
      if (auto reduce = dyn_cast<kernel::ReduceIndexOp>(op))
        findBest(reduce);
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
    scopes.setValue(reduce.getResult(), readPlace(sum, lane));
  }

  /// Loops over a row; `run` gets the number of the accumulator, of `places`.
  /// Without accumulators: of nothing.
  template <typename Fn> void eachOfRow(int64_t places, Fn run) {
    size_t inner = reduced.back();
    int64_t extent = scopes.groups[inner].extent, count = passes.numReduced();
    for (size_t group : ArrayRef<size_t>(reduced).drop_back())
      scopes.setGroup(group, scopes.enterLoop(scopes.groups[group].extent,
                                              /*isParallel=*/false));
    size_t outer = reduced.size() - 1;
    if (places == 0 || count <= places) {
      Value front = places ? frontOfInner() : Value();
      runBlock(inner, scopes.constant(0), extent, [&](Value index) {
        run(places ? plus(front, index) : Value());
      });
    } else if (extent % places == 0 || outer == 0) {
      Value block = scopes.enterLoop(extent / places, /*isParallel=*/false);
      Value first = times(block, places);
      runBlock(inner, first, places, run);
      scopes.leaveLoop();
      if (extent % places != 0)
        runBlock(inner, scopes.constant(extent - extent % places),
                 extent % places, run);
    } else {
      runUneven(places, run);
    }
    leave(outer);
  }

  template <typename Fn>
  void runBlock(size_t inner, Value first, int64_t count, Fn run) {
    bool fetches = prefetch && prefetch->isNeeded() && count >= kStrip;
    int64_t rest = fetches || scopes.drawsAlong(inner) ? count % kStrip : count;
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
    scopes.setStrip(inner, plus(first, front), count);
    Value place = plus(front, scopes.enterLoop(count, /*isParallel=*/true));
    scopes.setGroup(inner, plus(first, place));
    run(place);
    scopes.leaveLoop();
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
};

} // namespace

/// Truth values are bytes in memory.
static Type memoryType(Type type) {
  auto memory = cast<MemRefType>(type);
  if (!memory.getElementType().isInteger(1))
    return type;
  return MemRefType::get(memory.getShape(),
                         IntegerType::get(type.getContext(), 8));
}

SmallVector<Type> cutback::loweredTypes(kernel::FuncOp kernel) {
  SmallVector<Type> types;
  for (Type type : kernel.getBody().getArgumentTypes())
    types.push_back(memoryType(type));
  types.push_back(MemRefType::get({kKernelCells},
                                  IntegerType::get(kernel.getContext(), 64)));
  return types;
}

static LogicalResult lowerLoops(kernel::NestOp nest, OpBuilder &builder,
                                const KernelFrame &frame,
                                std::vector<Operation *> &checked) {
  bool isColumns =
      llvm::is_contained(nest.getReduced(), true) && !nest.getReduced().back();
  return isColumns ? lowerColumns(nest, builder, frame, checked)
                   : RowLoops(nest, builder, frame, checked).run();
}

/// Loops of a processor step through memory where they can.
static LogicalResult lowerNest(kernel::NestOp nest, OpBuilder &builder,
                               const KernelFrame &frame,
                               std::vector<Operation *> &checked) {
  kernel::NestOp split;
  if (frame.loops == LoopsFor::Processor)
    split = splitInnermost(nest);
  if (!split)
    return lowerLoops(nest, builder, frame, checked);
  LogicalResult result = lowerLoops(split, builder, frame, checked);
  llvm::DenseMap<Operation *, Operation *> given;
  for (auto [copy, op] : llvm::zip_equal(split.getBlock(), nest.getBlock()))
    given[&copy] = &op;
  for (Operation *&op : checked)
    if (Operation *is = given.lookup(op))
      op = is;
  split.erase();
  return result;
}

LogicalResult cutback::lowerNests(kernel::FuncOp kernel, OpBuilder &builder,
                                  const KernelFrame &frame,
                                  std::vector<Operation *> &checked) {
  Block *block = builder.getInsertionBlock();
  auto nests = llvm::to_vector(kernel.getBody().getOps<kernel::NestOp>());
  for (kernel::NestOp nest : nests) {
    builder.setInsertionPoint(block->getTerminator());
    if (failed(lowerNest(nest, builder, frame, checked)))
      return failure();
  }
  return success();
}

FailureOr<LoweredKernel> cutback::lowerKernel(kernel::FuncOp kernel,
                                              ModuleOp module, LoopsFor loops,
                                              AccessTests tests) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  LoweredKernel lowered;
  Location loc = kernel.getLoc();
  lowered.function =
      func::FuncOp::create(builder, loc, kernel.getSymName(),
                           builder.getFunctionType(loweredTypes(kernel), {}));
  Block *block = lowered.function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  ValueRange arguments = block->getArguments();
  KernelFrame frame{arguments.drop_back(), arguments.back(), {}, {}, loops};
  frame.tests = tests;
  auto read = [&](int64_t at) -> Value {
    Value number = memref::LoadOp::create(
        builder, loc, frame.cells,
        ValueRange{arith::ConstantIndexOp::create(builder, loc, at)});
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      number);
  };
  frame.part = read(kPartCell);
  frame.parts = read(kPartsCell);
  func::ReturnOp::create(builder, loc);
  if (failed(lowerNests(kernel, builder, frame, lowered.checked)))
    return failure();
  return lowered;
}
