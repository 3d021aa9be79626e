// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the greatest or the least element of a row stands. Elements are looked
// at one after the other, in their order: of equals the first counts, and the
// first NaN before all. Beside the best so far its number is kept, for a row in
// one cell, for columns in one a lane.

#include "NestLoops.h"

#include "Reductions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

/// The first NaN, else the first of equals.
static Value isBetter(Formulas &f, kernel::ReduceIndexOp reduce, Value best,
                      Value next) {
  bool least = reduce.getLeast();
  if (!isa<FloatType>(best.getType()))
    return f.compare(least ? IP::slt : IP::sgt, next, best);
  Value isKnown = f.compare(FP::ORD, best, best);
  return f.make<arith::AndIOp>(
      isKnown, f.compare(least ? FP::ULT : FP::UGT, next, best));
}

void NestLoops::improve(const Sum &sum, Value number, Value lane) {
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
  Value wins = f.make<arith::OrIOp>(isFirst, isBetter(f, reduce, best, next));
  memref::StoreOp::create(builder, loc, f.select(wins, next, best), sum.memory,
                          lane);
  memref::StoreOp::create(builder, loc, f.select(wins, number, place),
                          sum.places, lane);
}

NestLoops::Sum NestLoops::startBest(kernel::ReduceIndexOp reduce,
                                    int64_t lanes) {
  Type type = accumulatorType(reduce.getElement().getType());
  return {reduce, reduce.getElement(), type, scopes.allocate(type, lanes),
          scopes.allocate(IndexType::get(nest.getContext()), lanes)};
}

Value NestLoops::readPlace(const Sum &sum, Value lane) {
  OpBuilder &builder = scopes.here();
  Value place = memref::LoadOp::create(builder, loc, sum.places, lane);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), place);
}
