// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each nest is loops over the kept axes, and in them, row by row, loops over
// the reduced ones.
//
//   1. Pass by pass (NestPasses.h): a pass computes what its reductions need,
//      from memory again.
//   2. Innermost axis reduced: one row at a time, the accumulators of
//      Reductions.h side by side. Innermost axis kept: a tile of columns at a
//      time, so that memory is read in its order; a scalar of a column is one a
//      lane.
//   3. Innermost loops share nothing between iterations, and are marked so:
//      LLVM makes vectors of them without asking whether memories overlap.
//   4. A call runs its part of one kept loop (NestParts.h). No iteration of a
//      kept loop reads what another one writes, so threads may run the parts,
//      with equal bits: a few of a processor, or one an iteration of a device.

#include "cutback/Target/CPU/LowerKernel.h"

#include "NestParts.h"
#include "NestPasses.h"
#include "NestScopes.h"
#include "Reductions.h"
#include "SplitAxis.h"
#include "TransposedTile.h"

#include "cutback/Runtime/Artifact.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

namespace {

class NestLowering {
public:
  NestLowering(kernel::NestOp nest, OpBuilder &builder,
               const KernelFrame &frame, std::vector<Operation *> &checked)
      : nest(nest), widths(widthsOf(frame.loops)),
        passes(nest, widths.heldBytes), scopes(nest, builder, frame, checked),
        loc(nest.getLoc()), frame(frame), parts(nest, scopes, widths),
        kept(parts.kept), reduced(parts.reduced), divided(parts.divided) {}

  LogicalResult run() {
    if (!divided) { // all of it is one part's
      enterDivided(1, 1, 1, /*isParallel=*/false);
      scopes.storeInside();
    }
    if (reduced.empty())
      runElements();
    else if (nest.getReduced().back())
      runRows();
    else
      runColumns();
    leave(divided ? 0 : 1);
    return failure(scopes.hasFailed());
  }

private:
  //===--- Parts ----------------------------------------------------------===//

  /// A loop over this call's part of `extent` iterations.
  Value enterDivided(int64_t extent, int64_t step, int64_t piece,
                     bool isParallel) {
    OpBuilder &builder = scopes.here();
    int64_t pieces = llvm::divideCeil(extent, piece);
    Value most =
        times(arith::DivUIOp::create(
                  builder, loc, plus(scopes.constant(pieces - 1), frame.parts),
                  frame.parts),
              piece);
    Value all = scopes.constant(extent);
    Value wanted = arith::MulIOp::create(builder, loc, frame.part, most);
    Value first = arith::MinUIOp::create(builder, loc, wanted, all);
    Value end = arith::MinUIOp::create(builder, loc, plus(first, most), all);
    return scopes.enterLoop(first, end, scopes.constant(step), isParallel);
  }

  /// A loop over a kept group: of its beginnings, `step` apart.
  Value enterGroup(size_t group, int64_t step, bool isParallel) {
    int64_t extent = scopes.groups[group].extent;
    if (group == divided)
      return enterDivided(extent, step, std::max(step, parts.pieceOf(group)),
                          isParallel);
    return scopes.enterLoop(scopes.constant(0), scopes.constant(extent),
                            scopes.constant(step), isParallel);
  }

  //===--- Passes ---------------------------------------------------------===//

  /// Of a reduction or an index of one: what it keeps while a pass runs.
  struct Sum {
    Operation *op;
    Value element;
    Type type;    ///< that it is combined in
    Value memory; ///< accumulators
    Value places; ///< of reduce_index: where the best of each lane stands
  };

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

  //===--- Without reduced axes -------------------------------------------===//

  void enterKept(size_t count, bool isParallel) {
    for (size_t i = 0; i < count; ++i) {
      bool isInner = isParallel && i + 1 == count;
      scopes.setGroup(kept[i], enterGroup(kept[i], 1, isInner));
    }
  }
  void leave(size_t count) {
    while (count-- > 0)
      scopes.leaveLoop();
  }

  void runElements() {
    size_t other = findTransposed();
    if (other == kept.size()) {
      enterKept(kept.size(), /*isParallel=*/true);
      scopes.store(passes.rowStores);
      leave(kept.size());
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

  Value endOfTile(size_t group, Value first, int64_t side) {
    return arith::MinUIOp::create(scopes.here(), loc,
                                  plus(first, scopes.constant(side)),
                                  scopes.constant(scopes.groups[group].extent));
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
    for (Operation *op : passes.sums[pass])
      if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
        running.push_back(start(reduce, used));
        fill(running.back(), used);
      }
    SmallVector<std::pair<Value, Value>> kept;
    for (Value value : passes.held[pass])
      kept.push_back({value, scopes.allocate(value.getType(), count)});
    if (!running.empty() || !kept.empty() || passes.isStorePass(pass))
      eachOfRow(running.empty() ? 0 : places, [&](Value place) {
        if (!scopes.bufferOf.empty() || !kept.empty())
          scopes.setLane(plus(frontOfInner(), scopes.groupNow(reduced.back())));
        keepHeld(kept);
        accumulate(running, place);
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

  Sum start(kernel::ReduceOp reduce, int64_t count) {
    Type type = accumulatorType(reduce.getElement().getType());
    return {reduce, reduce.getElement(), type, scopes.allocate(type, count),
            Value()};
  }

  /// All accumulators to what changes nothing.
  void fill(const Sum &sum, int64_t count) {
    Value none = identityOf(scopes, cast<kernel::ReduceOp>(sum.op).getCombine(),
                            sum.type);
    Value place = scopes.enterLoop(count, /*isParallel=*/true);
    memref::StoreOp::create(scopes.here(), loc, none, sum.memory, place);
    scopes.leaveLoop();
  }

  void accumulate(ArrayRef<Sum> running, Value place) {
    SmallVector<Value> elements;
    for (const Sum &sum : running) {
      Value element = scopes.get(sum.element).value;
      if (scopes.hasFailed())
        return;
      elements.push_back(toAccumulator(scopes, element));
    }
    OpBuilder &builder = scopes.here();
    for (auto [sum, element] : llvm::zip_equal(running, elements)) {
      Value before = memref::LoadOp::create(builder, loc, sum.memory, place);
      Value after = scopes.scalars.combine(
          loc, cast<kernel::ReduceOp>(sum.op).getCombine(), before, element);
      memref::StoreOp::create(builder, loc, notMasked(after), sum.memory,
                              place);
    }
  }

  /// A choice of what lies in memory and another value, which LLVM makes a
  /// masked store of as it stands. Processors run these in many cycles.
  Value notMasked(Value choice) {
    return isa<FloatType>(choice.getType()) &&
                   frame.loops == LoopsFor::Processor
               ? LLVM::FreezeOp::create(scopes.here(), loc, choice).getResult()
               : choice;
  }

  /// Number of the row's element at the front of the innermost reduced loop.
  Value frontOfInner() {
    Value front = scopes.constant(0);
    for (size_t group : ArrayRef<size_t>(reduced).drop_back()) {
      int64_t stride = 1;
      for (size_t inner : reduced)
        stride *= inner > group ? scopes.groups[inner].extent : 1;
      front = plus(front, times(scopes.groupNow(group), stride));
    }
    return front;
  }

  Value plus(Value a, Value b) {
    return arith::AddIOp::create(scopes.here(), loc, a, b);
  }
  Value minus(Value a, Value b) {
    return arith::SubIOp::create(scopes.here(), loc, a, b);
  }
  Value times(Value a, int64_t factor) {
    return arith::MulIOp::create(scopes.here(), loc, a,
                                 scopes.constant(factor));
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
      Value index = scopes.enterLoop(extent, /*isParallel=*/true);
      scopes.setGroup(inner, index);
      run(places ? plus(front, index) : Value());
      scopes.leaveLoop();
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
    Value place = scopes.enterLoop(count, /*isParallel=*/true);
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

  //===--- Places of the greatest -----------------------------------------===//

  /// The first NaN, else the first of equals.
  Value isBetter(kernel::ReduceIndexOp reduce, Value best, Value next) {
    Formulas f(scopes.here(), loc);
    bool least = reduce.getLeast();
    if (!isa<FloatType>(best.getType()))
      return f.compare(least ? IP::slt : IP::sgt, next, best);
    Value isKnown = f.compare(FP::ORD, best, best);
    return f.make<arith::AndIOp>(
        isKnown, f.compare(least ? FP::ULT : FP::UGT, next, best));
  }

  /// One element after the other, in cell `lane` of both memories.
  void improve(const Sum &sum, Value number, Value lane) {
    auto reduce = cast<kernel::ReduceIndexOp>(sum.op);
    Value next = scopes.get(sum.element).value;
    if (scopes.hasFailed())
      return;
    next = toAccumulator(scopes, next);
    OpBuilder &builder = scopes.here();
    Formulas f(builder, loc);
    Value best = memref::LoadOp::create(builder, loc, sum.memory, lane);
    Value place = memref::LoadOp::create(builder, loc, sum.places, lane);
    Value isFirst = f.compare(IP::eq, number, scopes.constant(0));
    Value wins = f.make<arith::OrIOp>(isFirst, isBetter(reduce, best, next));
    memref::StoreOp::create(builder, loc, f.select(wins, next, best),
                            sum.memory, lane);
    memref::StoreOp::create(builder, loc, f.select(wins, number, place),
                            sum.places, lane);
  }

  Sum startBest(kernel::ReduceIndexOp reduce, int64_t lanes) {
    Type type = accumulatorType(reduce.getElement().getType());
    return {reduce, reduce.getElement(), type, scopes.allocate(type, lanes),
            scopes.allocate(IndexType::get(nest.getContext()), lanes)};
  }

  Value readPlace(const Sum &sum, Value lane) {
    OpBuilder &builder = scopes.here();
    Value place = memref::LoadOp::create(builder, loc, sum.places, lane);
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      place);
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

  //===--- Columns --------------------------------------------------------===//

  void runColumns() {
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
  }

  /// A stretch of a kept group.
  struct Stretch {
    size_t group = 0;
    Value first, width;
  };

  /// A loop over stretches of up to `most`.
  void enterTile(Stretch &tile, size_t group, int64_t most) {
    int64_t extent = scopes.groups[group].extent;
    tile.group = group;
    tile.first = enterGroup(group, std::min(most, extent), false);
    tile.width = scopes.constant(std::min(most, extent));
    if (extent % most != 0)
      tile.width = arith::MinUIOp::create(
          scopes.here(), loc, minus(scopes.constant(extent), tile.first),
          tile.width);
  }

  Value enterStretch(const Stretch &tile, bool isParallel) {
    Value one = scopes.constant(1);
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
        fill(running.back(), kColumnAccumulators * tile);
      } else {
        best.push_back(startBest(cast<kernel::ReduceIndexOp>(op), tile));
      }
    }
    if (running.empty() && best.empty() && !passes.isStorePass(pass))
      return;
    for (size_t group : reduced)
      scopes.setGroup(group, scopes.enterLoop(scopes.groups[group].extent,
                                              /*isParallel=*/false));
    Value row = plus(frontOfInner(), scopes.groupNow(reduced.back()));
    Value accumulator = arith::RemUIOp::create(
        scopes.here(), loc, row, scopes.constant(kColumnAccumulators));
    Value front = times(accumulator, tile);
    Value lane = enterLanes();
    accumulate(running, plus(front, lane));
    for (const Sum &sum : best)
      if (!scopes.hasFailed())
        improve(sum, row, lane);
    if (passes.isStorePass(pass) && !scopes.hasFailed())
      scopes.store(passes.elementStores);
    leaveLanes();
    leave(reduced.size());
    foldColumns(running, best);
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

  kernel::NestOp nest;
  const LoopWidths widths;
  const NestPasses passes;
  NestScopes scopes;
  Location loc;
  const KernelFrame &frame;
  NestParts parts;
  SmallVector<size_t> kept;
  const SmallVector<size_t> &reduced;
  const std::optional<size_t> divided;
  int64_t tile = 0; ///< columns that are summed at once
  Stretch columns, outer;
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

/// Loops of a processor step through memory where they can.
static LogicalResult lowerNest(kernel::NestOp nest, OpBuilder &builder,
                               const KernelFrame &frame,
                               std::vector<Operation *> &checked) {
  kernel::NestOp split;
  if (frame.loops == LoopsFor::Processor)
    split = splitInnermost(nest);
  if (!split)
    return NestLowering(nest, builder, frame, checked).run();
  LogicalResult result = NestLowering(split, builder, frame, checked).run();
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
