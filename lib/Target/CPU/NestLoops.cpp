// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all kinds of nests do with loops.
//
//   1. One kept loop is divided: a call runs its part (NestParts.h); the others
//      are whole. Of a nest without one all is the first part's.
//   2. A reduction has accumulators in memory, to which elements are added in
//      the order that Reductions.h says; which accumulator is the caller's to
//      say.

#include "NestLoops.h"

#include "Reductions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

void NestLoops::begin() {
  if (divided)
    return;
  enterDivided(1, 1, 1, /*isParallel=*/false);
  scopes.storeInside();
}

LogicalResult NestLoops::end() {
  leave(divided ? 0 : 1);
  streams.fence();
  return failure(scopes.hasFailed());
}

Value NestLoops::enterDivided(int64_t extent, int64_t step, int64_t piece,
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

Value NestLoops::enterGroup(size_t group, int64_t step, bool isParallel) {
  int64_t extent = scopes.groups[group].extent;
  if (group == divided)
    return enterDivided(extent, step, std::max(step, parts.pieceOf(group)),
                        isParallel);
  return scopes.enterLoop(scopes.constant(0), scopes.constant(extent),
                          scopes.constant(step), isParallel);
}

Value NestLoops::widthOfTile(size_t group, Value first, int64_t side) {
  Value most = scopes.constant(side);
  int64_t extent = scopes.groups[group].extent;
  if (extent % side == 0)
    return most;
  return arith::MinUIOp::create(scopes.here(), loc,
                                minus(scopes.constant(extent), first), most);
}

void NestLoops::enterKept(size_t count, bool isParallel) {
  for (size_t i = 0; i < count; ++i) {
    bool isInner = isParallel && i + 1 == count;
    scopes.setGroup(kept[i], enterGroup(kept[i], 1, isInner));
  }
}

void NestLoops::leave(size_t count) {
  while (count-- > 0)
    scopes.leaveLoop();
}

NestLoops::Sum NestLoops::start(kernel::ReduceOp reduce, int64_t count) {
  Type type = accumulatorType(reduce.getElement().getType());
  return {reduce, reduce.getElement(), type, scopes.allocate(type, count),
          Value()};
}

void NestLoops::fill(const Sum &sum, Value front, int64_t first, int64_t end) {
  if (first == end)
    return;
  Value none =
      identityOf(scopes, cast<kernel::ReduceOp>(sum.op).getCombine(), sum.type);
  Value place = scopes.enterLoop(scopes.constant(first), scopes.constant(end),
                                 scopes.constant(1), /*isParallel=*/true);
  memref::StoreOp::create(scopes.here(), loc, none, sum.memory,
                          plus(front, place));
  scopes.leaveLoop();
}

void NestLoops::accumulate(ArrayRef<Sum> running, Value place, bool isFirst) {
  SmallVector<Value> elements;
  for (const Sum &sum : running) {
    Value element = scopes.get(sum.element).value;
    if (scopes.hasFailed())
      return;
    elements.push_back(toAccumulator(scopes, element));
  }
  for (auto [sum, element] : llvm::zip_equal(running, elements)) {
    kernel::Combine how = cast<kernel::ReduceOp>(sum.op).getCombine();
    Value before =
        isFirst ? identityOf(scopes, how, sum.type)
                : memref::LoadOp::create(scopes.here(), loc, sum.memory, place)
                      .getResult();
    // LLVM makes a masked store of a choice of what lies in memory and another
    // value. Processors run these in many cycles.
    OpBuilder &builder = scopes.here();
    Value after = scopes.scalars.combine(loc, how, before, element);
    memref::StoreOp::create(builder, loc, scopes.scalars.keepApart(loc, after),
                            sum.memory, place);
  }
}

void NestLoops::keepHeld(ArrayRef<std::pair<Value, Value>> valuesAndBuffers) {
  for (auto [value, buffer] : valuesAndBuffers) {
    Value element = scopes.get(value).value;
    if (scopes.hasFailed())
      return;
    memref::StoreOp::create(scopes.here(), loc, element, buffer,
                            scopes.laneNow());
  }
}

void NestLoops::enterOuterReduced() {
  for (size_t group : ArrayRef<size_t>(reduced).drop_back())
    scopes.setGroup(group, scopes.enterLoop(scopes.groups[group].extent,
                                            /*isParallel=*/false));
}

Value NestLoops::frontOfInner() {
  Value front = scopes.constant(0);
  for (size_t group : ArrayRef<size_t>(reduced).drop_back()) {
    int64_t stride = 1;
    for (size_t inner : reduced)
      stride *= inner > group ? scopes.groups[inner].extent : 1;
    front = plus(front, times(scopes.groupNow(group), stride));
  }
  return front;
}

Value NestLoops::plus(Value a, Value b) {
  return arith::AddIOp::create(scopes.here(), loc, a, b);
}
Value NestLoops::minus(Value a, Value b) {
  return arith::SubIOp::create(scopes.here(), loc, a, b);
}
Value NestLoops::times(Value a, int64_t factor) {
  return arith::MulIOp::create(scopes.here(), loc, a, scopes.constant(factor));
}
