// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements at places that other tensors hold, and one new element a row where
// an index says so. Each index is chosen along its own dimension, so that one
// that is out of range is an error and no element of a neighbouring row; where
// PyTorch wraps, one below 0 counts from the end. Masks are no indices: how
// many elements they name depends on values. What `gather` and
// `take_along_dim` pick is a masked reduction or a load, as the kernel has it.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

static ArrayRef<int64_t> sizesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

static bool areKnown(Operation *op) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isKnown) &&
         llvm::all_of(op->getResultTypes(), isKnown);
}

/// An element of an index tensor as a place along a dimension of `size`.
static Num placeOf(const ElementCall &call, unsigned operand, const Num &number,
                   int64_t size, bool isWrapped = false) {
  auto type = dyn_cast<IntegerType>(call.operandType(operand));
  if (!type || type.getWidth() == 1 || type.isUnsigned() || size == 0)
    return {}; // A mask, or no place.
  return call.choose(call.toIndex(number), size, isWrapped);
}

/// Where a tensor of `sizes` is read that broadcasts to `places`.
static Places broadcast(const ElementCall &call, ArrayRef<Num> places,
                        ArrayRef<int64_t> sizes) {
  Places own;
  for (auto [place, size] :
       llvm::zip_equal(places.take_back(sizes.size()), sizes))
    own.push_back(size == 1 ? call.index(int64_t(0)) : place);
  return own;
}

static Places placesOf(const ElementCall &call) {
  Places places;
  for (unsigned axis = 0; axis < sizesOf(call.op->getResult(0)).size(); ++axis)
    places.push_back(call.axis(axis));
  return places;
}

//===----------------------------------------------------------------------===//
// self[i, :, j]
//===----------------------------------------------------------------------===//

/// Places in `self`, one a dimension; empty where there is no formula. As the
/// interpreter's: indices that are neighbours stand where they were, others in
/// front. With `clamp`, an index that is out of range is the nearest place.
static Places indexedPlaces(const ElementCall &call, bool clamp) {
  if (!call.hasTensors(1))
    return {};
  ArrayRef<int64_t> self = sizesOf(call.op->getOperand(0));
  std::vector<Arg> indices = call.list("indices");
  int first = call.operand("indices");
  if (first < 0 || indices.size() > self.size() || !areKnown(call.op))
    return {};
  size_t picked = 0, from = self.size(), to = 0, count = 0;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (index.isNone())
      continue;
    if (!isa_and_nonnull<RankedTensorType>(
            index.getValue() ? index.getValue().getType() : Type()))
      return {};
    picked = std::max(picked, sizesOf(index.getValue()).size());
    from = std::min(from, dim);
    to = dim;
    ++count;
  }
  size_t before = count && to - from + 1 == count ? from : 0;
  Places places = placesOf(call), result(self.size());
  auto named = ArrayRef(places).slice(before, picked);
  size_t whole = 0; // dimensions without an index so far
  unsigned operand = first;
  for (size_t dim = 0; dim < self.size(); ++dim) {
    if (dim >= indices.size() || indices[dim].isNone()) {
      result[dim] = places[whole < before ? whole : whole + picked];
      ++whole;
      continue;
    }
    ArrayRef<int64_t> sizes = sizesOf(call.op->getOperand(operand));
    Num number = call.load(operand, broadcast(call, named, sizes));
    int64_t size = self[dim];
    if (clamp && size > 0)
      number = select(number < -size, -size,
                      select(number >= size, size - 1, number));
    result[dim] = placeOf(call, operand++, number, size, /*isWrapped=*/true);
  }
  return llvm::all_of(result, [](const Num &place) { return bool(place); })
             ? result
             : Places();
}

LogicalResult elements::indexTensors(Operation *op, ElementBuilder &b,
                                     Results &r) {
  ElementCall call(op, b, r);
  Places places = indexedPlaces(call, /*clamp=*/false);
  if (places.empty())
    return failure();
  return call.giveAs(call.load(0, places), call.operandType(0));
}

LogicalResult elements::maskedIndex(Operation *op, ElementBuilder &b,
                                    Results &r) {
  ElementCall call(op, b, r);
  Places places = indexedPlaces(call, /*clamp=*/true);
  int mask = call.operand("mask");
  Type type = call.operandType(0);
  Num fill = call.argument("fill", type);
  if (places.empty() || !call.hasTensors(2) || mask != 1 || !fill)
    return failure();
  ArrayRef<int64_t> sizes = sizesOf(op->getOperand(mask));
  Num keep = call.load(mask, broadcast(call, placesOf(call), sizes)) != 0;
  return call.giveAs(call.load(0, places, keep, fill), type);
}

//===----------------------------------------------------------------------===//
// Rows, elements of a row
//===----------------------------------------------------------------------===//

LogicalResult elements::embedding(Operation *op, ElementBuilder &b,
                                  Results &r) {
  ElementCall call(op, b, r);
  size_t rank = sizesOf(op->getResult(0)).size();
  if (!call.hasTensors(2) || sizesOf(op->getOperand(0)).size() != 2 ||
      rank == 0)
    return failure();
  int64_t rows = sizesOf(op->getOperand(0)).front();
  Num row = placeOf(call, 1, call.element(1), rows);
  Num column = call.axis(static_cast<unsigned>(rank - 1));
  return call.giveAs(call.load(0, {row, column}), call.operandType(0));
}

LogicalResult elements::indexSelect(Operation *op, ElementBuilder &b,
                                    Results &r) {
  ElementCall call(op, b, r);
  Places places = placesOf(call);
  std::optional<int64_t> given = call.integer("dim");
  std::optional<unsigned> dim =
      given ? call.dimension(*given, places.size()) : std::nullopt;
  if (!dim || !call.hasTensors(2))
    return failure();
  Num &place = places[*dim];
  bool isRow = !sizesOf(op->getOperand(1)).empty();
  place = placeOf(call, 1,
                  call.load(1, isRow ? ArrayRef<Num>(place) : ArrayRef<Num>()),
                  sizesOf(op->getOperand(0))[*dim]);
  return call.giveAs(call.load(0, places), call.operandType(0));
}

/// By their number in row-major order.
LogicalResult elements::take(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  if (!areKnown(op) || !call.hasTensors(2))
    return failure();
  auto self = llvm::cast<RankedTensorType>(op->getOperand(0).getType());
  Num number =
      placeOf(call, 1, call.load(1, placesOf(call)), self.getNumElements(),
              /*isWrapped=*/true);
  return number ? call.giveAs(call.load(0, unravel(number, self.getShape())),
                              call.operandType(0))
                : failure();
}

LogicalResult elements::oneHot(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  Places places = placesOf(call);
  if (places.empty() || !call.hasTensors(1))
    return failure();
  Num number = placeOf(call, 0, call.load(0, ArrayRef(places).drop_back()),
                       sizesOf(op->getResult(0)).back());
  return number ? call.give(number == places.back()) : failure();
}

/// `scatter` of one element a row: the new one where the index says so.
static LogicalResult placeOne(const ElementCall &call, ParamRef value) {
  Operation *op = call.op;
  int index = call.operand("index");
  std::optional<int64_t> given = call.integer("dim");
  if (index != 1 || !given || !call.hasTensors(2) || !areKnown(op))
    return failure();
  ArrayRef<int64_t> sizes = sizesOf(op->getOperand(0));
  std::optional<unsigned> known = call.dimension(*given, sizes.size());
  if (!known)
    return failure();
  unsigned dim = *known;
  SmallVector<int64_t> row(sizes);
  row[dim] = 1;
  for (Value operand : op->getOperands().drop_front())
    if (isa<RankedTensorType>(operand.getType()) &&
        sizesOf(operand) != ArrayRef<int64_t>(row))
      return failure();
  Type type = call.resultType();
  Num place = placeOf(call, index, call.element(index), sizes[dim]);
  Num self = cast(call.element(0), call.operandType(0), type);
  Num isHere = place ? call.axis(dim) == place : place;
  return call.giveAs(select(isHere, call.argument(value, type), self), type);
}
LogicalResult elements::scatterElement(Operation *op, ElementBuilder &b,
                                       Results &r) {
  return placeOne(ElementCall(op, b, r), "src");
}
LogicalResult elements::scatterNumber(Operation *op, ElementBuilder &b,
                                      Results &r) {
  return placeOne(ElementCall(op, b, r), "value");
}
