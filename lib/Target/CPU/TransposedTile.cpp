// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vector of a load's innermost axis would be gathered, element by element.
// Here vectors are loaded along the axis that steps by one, eight of them are
// transposed by shuffles of two at a time, and the loops over the tile read
// the copy. What is no eight by eight at an end is copied element by element.

#include "TransposedTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

static constexpr int64_t kLanes = 8;

bool cpu::isTransposed(NestScopes &scopes, kernel::LoadOp load, size_t outer,
                       size_t inner) {
  Access access = scopes.accessOf(load.getMap(), load.getIndices());
  Type type = load.getElement().getType();
  return access.ofGroup[outer] == 1 && access.ofGroup[inner] > 1 &&
         access.rest.empty() && access.data.empty() && !load.getMask() &&
         type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 32;
}

namespace {

class TileCopy {
public:
  TileCopy(NestScopes &scopes, kernel::LoadOp load, const TransposedTile &tile)
      : scopes(scopes), load(load), tile(tile), loc(load.getLoc()),
        type(load.getElement().getType()),
        memory(scopes.memoryOf(load.getMemory())),
        copy(scopes.allocate(type, tile.sideOuter * tile.sideInner)) {}

  Value run() {
    Value none = constant(0);
    Value eightsOuter = whole(tile.numOuter),
          eightsInner = whole(tile.numInner);
    inLoops(none, eightsOuter, none, eightsInner, kLanes,
            [&](Value o, Value i) { transpose(o, i); });
    auto copyOne = [&](Value o, Value i) {
      Value element =
          memref::LoadOp::create(scopes.here(), loc, memory, indexOf(o, i));
      memref::StoreOp::create(scopes.here(), loc, element, copy, placeOf(o, i));
    };
    inLoops(eightsOuter, tile.numOuter, none, tile.numInner, 1, copyOne);
    inLoops(none, eightsOuter, eightsInner, tile.numInner, 1, copyOne);
    return copy;
  }

private:
  template <typename Fn>
  void inLoops(Value firstOuter, Value endOuter, Value firstInner,
               Value endInner, int64_t step, Fn body) {
    if (firstOuter == endOuter || firstInner == endInner)
      return;
    // Along a line of memory first: lines far apart share few places of a
    // cache.
    Value i = scopes.enterLoop(firstInner, endInner, constant(step), false);
    Value o = scopes.enterLoop(firstOuter, endOuter, constant(step), false);
    body(o, i);
    scopes.leaveLoop();
    scopes.leaveLoop();
  }

  /// The multiple of eight in a width.
  Value whole(Value width) {
    std::optional<int64_t> known = getConstantIntValue(width);
    if (known && *known % kLanes == 0)
      return width;
    return arith::AndIOp::create(scopes.here(), loc, width, constant(-kLanes));
  }

  /// Where the load reads at (o, i) of the tile.
  Value indexOf(Value o, Value i) {
    scopes.setGroup(tile.outer, add(tile.firstOuter, o));
    scopes.setGroup(tile.inner, add(tile.firstInner, i));
    return scopes.indexOf(load.getMap(), load.getIndices());
  }
  Value placeOf(Value o, Value i) {
    Value line =
        arith::MulIOp::create(scopes.here(), loc, o, constant(tile.sideInner));
    return add(line, i);
  }

  /// Eight by eight elements from (o, i) on: pairs of lines exchange neighbors,
  /// pairs of neighbors, and halves of vectors.
  void transpose(Value o, Value i) {
    int64_t stride =
        scopes.accessOf(load.getMap(), load.getIndices()).ofGroup[tile.inner];
    Value first = indexOf(o, i), place = placeOf(o, i);
    auto vector = VectorType::get({kLanes}, type);
    SmallVector<Value, kLanes> x;
    for (int64_t line = 0; line < kLanes; ++line)
      x.push_back(vector::LoadOp::create(scopes.here(), loc, vector, memory,
                                         add(first, constant(line * stride))));
    x = exchange(x, 1, {0, 8, 1, 9, 4, 12, 5, 13},
                 {2, 10, 3, 11, 6, 14, 7, 15});
    x = exchange(x, 2, {0, 1, 8, 9, 4, 5, 12, 13},
                 {2, 3, 10, 11, 6, 7, 14, 15});
    x = exchange(x, 4, {0, 1, 2, 3, 8, 9, 10, 11},
                 {4, 5, 6, 7, 12, 13, 14, 15});
    // Bits of a line's number stand for bits of a column's, the last two in the
    // other order.
    const int64_t columnOf[kLanes] = {0, 2, 1, 3, 4, 6, 5, 7};
    for (int64_t line = 0; line < kLanes; ++line)
      vector::StoreOp::create(
          scopes.here(), loc, x[line], copy,
          add(place, constant(columnOf[line] * tile.sideInner)));
  }

  /// Lines `apart` from each other become two shuffles of both.
  SmallVector<Value, kLanes> exchange(ArrayRef<Value> x, int64_t apart,
                                      ArrayRef<int64_t> low,
                                      ArrayRef<int64_t> high) {
    SmallVector<Value, kLanes> result(x);
    for (int64_t line = 0; line < kLanes; ++line) {
      if (line & apart)
        continue;
      Value a = x[line], b = x[line + apart];
      result[line] = vector::ShuffleOp::create(scopes.here(), loc, a, b, low);
      result[line + apart] =
          vector::ShuffleOp::create(scopes.here(), loc, a, b, high);
    }
    return result;
  }

  Value constant(int64_t number) { return scopes.constant(number); }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(scopes.here(), loc, a, b);
  }
  NestScopes &scopes;
  kernel::LoadOp load;
  const TransposedTile &tile;
  Location loc;
  Type type;
  Value memory, copy;
};

} // namespace

Value cpu::copyTransposed(NestScopes &scopes, kernel::LoadOp load,
                          const TransposedTile &tile) {
  return TileCopy(scopes, load, tile).run();
}
