// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements that come from a place known from the sizes: padding, flips, rolls,
// repetition, parts put into a whole, concatenation. Places are of type
// `index`. Where sizes decide they are known, else there is no formula: a size
// is asked for only if a place wraps around it, is counted from it, or may lie
// behind it. Linear in the number of dimensions, or of pieces.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

namespace {

/// Truth values that must hold together.
using Conditions = SmallVector<Num, 6>;

class MovingCall : public ElementCall {
public:
  using ElementCall::ElementCall;

  ArrayRef<int64_t> sizes(unsigned i = 0) const {
    return cast<RankedTensorType>(op->getOperand(i).getType()).getShape();
  }
  ArrayRef<int64_t> resultSizes() const {
    return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  }
  /// This iteration, in the result.
  Places places() const {
    Places own;
    for (unsigned axis = 0; axis < resultSizes().size(); ++axis)
      own.push_back(this->axis(axis));
    return own;
  }
  /// A dimension, counted from 0; nothing if it is not literal.
  std::optional<size_t> dim(ParamRef param, size_t rank) const {
    std::optional<int64_t> given = integer(param);
    return given ? dimension(*given, rank) : std::nullopt;
  }
  /// Operand 0 at `places`, as the result.
  LogicalResult giveAt(ArrayRef<Num> places) const {
    return giveAs(load(0, places), operandType(0));
  }
};

bool areKnown(ArrayRef<int64_t> sizes) {
  return !llvm::is_contained(sizes, ShapedType::kDynamic);
}

/// The number of an element in row-major order.
Num ravel(const MovingCall &call, ArrayRef<Num> places,
          ArrayRef<int64_t> sizes) {
  Num number = call.index(int64_t(0));
  for (auto [place, size] : llvm::zip_equal(places, sizes))
    number = number * size + place;
  return number;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

enum class PadMode { Constant, Reflect, Replicate, Circular };

/// Where element `i` of a padded dimension comes from, counted from the first
/// one that is not padding.
Num padSource(PadMode mode, const Num &i, int64_t size, int64_t before,
              int64_t behind) {
  if (mode == PadMode::Constant)
    return i; // whatever the size, which may not be known
  int64_t last = size - 1;
  switch (mode) {
  case PadMode::Reflect:
    return select(i < 0, -i, select(i > last, 2 * last - i, i));
  case PadMode::Replicate:
    return select(i < 0, 0, select(i > last, last, i));
  default:
    break;
  }
  // What a negative padding leaves is what repeats.
  int64_t from = std::max<int64_t>(-before, 0);
  int64_t to = size + std::min<int64_t>(behind, 0);
  return select(i < from, i + (to - from), select(i >= to, i - (to - from), i));
}

/// `param` holds (before, behind) from the last dimension on.
LogicalResult padAs(const MovingCall &call, PadMode mode, ParamRef param) {
  std::optional<SmallVector<int64_t>> pads = call.integers(param);
  if (!pads || !call.hasTensors(1))
    return failure();
  ArrayRef<int64_t> sizes = call.sizes();
  Places places = call.places();
  Conditions inside;
  for (size_t k = 0; 2 * k + 1 < pads->size() && k < sizes.size(); ++k) {
    size_t dim = sizes.size() - 1 - k;
    int64_t before = (*pads)[2 * k], behind = (*pads)[2 * k + 1];
    if (!before && !behind)
      continue;
    bool needsSize = mode != PadMode::Constant || behind > 0;
    if (needsSize && ShapedType::isDynamic(sizes[dim]))
      return failure();
    Num &place = places[dim];
    place = padSource(mode, place - before, sizes[dim], before, behind);
    if (mode == PadMode::Constant && before > 0)
      inside.push_back(place >= 0);
    if (mode == PadMode::Constant && behind > 0)
      inside.push_back(place < sizes[dim]);
  }
  Type type = call.operandType(0);
  Num fill = call.isNone(optional("value"))
                 ? Num()
                 : call.argument(optional("value"), type);
  return call.giveAs(call.load(0, places, inside, fill), type);
}

//===----------------------------------------------------------------------===//
// Parts of a whole
//===----------------------------------------------------------------------===//

/// Where the elements of a part lie: what the iteration, a place of the whole,
/// is in the part, and the conditions under which it is in it.
struct Part {
  Places places;
  Conditions inside;
};

/// A bound of a slice as Python takes it. Nothing is beyond `size`, which is
/// asked for only where the bound may be counted from the end.
Num sliceBound(const MovingCall &call, ParamRef param, int64_t size) {
  std::optional<int64_t> literal = call.integer(param);
  bool isKnown = !ShapedType::isDynamic(size);
  if (literal && (*literal >= 0 || isKnown))
    return call.index(*literal < 0 ? std::max<int64_t>(*literal + size, 0)
                                   : *literal);
  if (literal || !isKnown)
    return {};
  Num bound = call.index(param);
  return select(bound < 0, bound + size, bound);
}

std::optional<Part> slicePart(const MovingCall &call) {
  Part part = {call.places(), {}};
  std::optional<size_t> dim = call.dim("dim", part.places.size());
  std::optional<int64_t> step = call.integer("step");
  if (!dim || !step || *step <= 0)
    return std::nullopt;
  int64_t size = call.resultSizes()[*dim];
  bool hasEnd = !call.isNone("end") &&
                call.integer("end") != std::numeric_limits<int64_t>::max();
  bool hasStart = !call.isNone("start") && call.integer("start") != 0;
  Num &place = part.places[*dim];
  if (hasEnd)
    part.inside.push_back(place < sliceBound(call, "end", size));
  if (hasStart) {
    Num first = sliceBound(call, "start", size);
    part.inside.push_back(place >= first);
    // What starts before the first element starts there.
    place =
        place - (call.integer("start") ? first : select(first < 0, 0, first));
  }
  if (*step == 1)
    return part;
  part.inside.push_back(place % *step == 0);
  place = place / *step;
  return part;
}

std::optional<Part> selectPart(const MovingCall &call) {
  Part part = {call.places(), {}};
  std::optional<size_t> dim = call.dim("dim", part.places.size());
  if (!dim)
    return std::nullopt;
  int64_t size = call.resultSizes()[*dim];
  std::optional<int64_t> literal = call.integer("index");
  Num index = call.index("index");
  if (!literal || *literal < 0) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    index = literal ? call.index(*literal + size)
                    : select(index < 0, index + size, index);
  }
  part.inside = {part.places[*dim] == index};
  part.places.erase(part.places.begin() + *dim);
  return part;
}

std::optional<Part> diagonalPart(const MovingCall &call) {
  Part part = {call.places(), {}};
  size_t rank = part.places.size();
  std::optional<size_t> down = call.dim("dim1", rank);
  std::optional<size_t> right = call.dim("dim2", rank);
  std::optional<int64_t> offset = call.integer("offset");
  if (!down || !right || *down == *right || !offset)
    return std::nullopt;
  Num row = part.places[*down], column = part.places[*right];
  part.inside = {column - row == *offset};
  for (size_t dim : {std::max(*down, *right), std::min(*down, *right)})
    part.places.erase(part.places.begin() + dim);
  part.places.push_back(*offset < 0 ? row + *offset : row);
  return part;
}

/// Operand `i` in the part, broadcast into it, else `otherwise`.
LogicalResult givePart(const MovingCall &call, unsigned i,
                       std::optional<Part> part, const Num &otherwise) {
  if (!part)
    return failure();
  ArrayRef<int64_t> sizes = call.sizes(i);
  Places &places = part->places;
  if (sizes.size() > places.size())
    return failure();
  places.erase(places.begin(), places.end() - sizes.size());
  for (auto [place, size] : llvm::zip_equal(places, sizes))
    if (size == 1)
      place = call.index(int64_t(0));
  Type own = call.operandType(i), type = call.resultType();
  if (own == type)
    return call.giveAs(call.load(i, places, part->inside, otherwise), type);
  Num element = cast(call.load(i, places, part->inside), own, type);
  for (const Num &condition : part->inside)
    element = select(condition, element, otherwise);
  return call.giveAs(element, type);
}

using PartFn = std::optional<Part> (*)(const MovingCall &);

/// A copy of `self`, part of which is replaced by `src`.
LogicalResult replacePart(const MovingCall &call, PartFn part) {
  if (!call.hasTensors(2))
    return failure();
  Num self =
      cast(call.load(0, call.places()), call.operandType(0), call.resultType());
  return self ? givePart(call, 1, part(call), self) : failure();
}

/// The gradient of a part: zeros around it.
LogicalResult partBackward(const MovingCall &call, PartFn part) {
  if (!call.hasTensors(1))
    return failure();
  Num zero =
      constantOf(call.elements, signlessOf(call.resultType()), int64_t(0));
  return givePart(call, 0, part(call), zero);
}

} // namespace

LogicalResult elements::constantPad(Operation *op, ElementBuilder &b,
                                    Results &r) {
  return padAs(MovingCall(op, b, r), PadMode::Constant, "pad");
}
LogicalResult elements::reflectionPad(Operation *op, ElementBuilder &b,
                                      Results &r) {
  return padAs(MovingCall(op, b, r), PadMode::Reflect, "padding");
}
LogicalResult elements::replicationPad(Operation *op, ElementBuilder &b,
                                       Results &r) {
  return padAs(MovingCall(op, b, r), PadMode::Replicate, "padding");
}
LogicalResult elements::pad(Operation *op, ElementBuilder &b, Results &r) {
  MovingCall call(op, b, r);
  StringRef mode = call.string("mode");
  return padAs(call,
               mode == "reflect"     ? PadMode::Reflect
               : mode == "replicate" ? PadMode::Replicate
               : mode == "circular"  ? PadMode::Circular
                                     : PadMode::Constant,
               "pad");
}

LogicalResult elements::sliceScatter(Operation *op, ElementBuilder &b,
                                     Results &r) {
  return replacePart(MovingCall(op, b, r), slicePart);
}
LogicalResult elements::selectScatter(Operation *op, ElementBuilder &b,
                                      Results &r) {
  return replacePart(MovingCall(op, b, r), selectPart);
}
LogicalResult elements::diagonalScatter(Operation *op, ElementBuilder &b,
                                        Results &r) {
  return replacePart(MovingCall(op, b, r), diagonalPart);
}
LogicalResult elements::sliceBackward(Operation *op, ElementBuilder &b,
                                      Results &r) {
  return partBackward(MovingCall(op, b, r), slicePart);
}
LogicalResult elements::selectBackward(Operation *op, ElementBuilder &b,
                                       Results &r) {
  return partBackward(MovingCall(op, b, r), selectPart);
}
LogicalResult elements::diagonalBackward(Operation *op, ElementBuilder &b,
                                         Results &r) {
  return partBackward(MovingCall(op, b, r), diagonalPart);
}

//===----------------------------------------------------------------------===//
// Flips, rolls, repetition
//===----------------------------------------------------------------------===//

LogicalResult elements::flip(Operation *op, ElementBuilder &b, Results &r) {
  MovingCall call(op, b, r);
  std::optional<SmallVector<int64_t>> dims = call.integers("dims");
  if (!dims || !call.hasTensors(1))
    return failure();
  ArrayRef<int64_t> sizes = call.sizes();
  Places places = call.places();
  if (sizes.empty())
    dims->clear();
  for (int64_t given : *dims) {
    std::optional<unsigned> known = call.dimension(given, sizes.size());
    if (!known || ShapedType::isDynamic(sizes[*known]))
      return failure();
    unsigned dim = *known;
    places[dim] = (sizes[dim] - 1) - places[dim];
  }
  return call.giveAt(places);
}

/// `place` - `shift`, around in `size` elements.
static Num rolled(const Num &place, int64_t shift, int64_t size) {
  shift = size > 0 ? ((shift % size) + size) % size : 0;
  if (shift == 0)
    return place;
  Num from = place - shift;
  return select(from < 0, from + size, from);
}

LogicalResult elements::roll(Operation *op, ElementBuilder &b, Results &r) {
  MovingCall call(op, b, r);
  std::optional<SmallVector<int64_t>> shifts = call.integers("shifts"),
                                      dims = call.integers("dims");
  if (!shifts || shifts->empty() || !dims || !call.hasTensors(1))
    return failure();
  ArrayRef<int64_t> sizes = call.sizes();
  if (!areKnown(sizes))
    return failure();
  Places places = call.places();
  if (sizes.empty())
    return call.giveAt(places);
  if (dims->empty()) { // The tensor is one row.
    int64_t count =
        llvm::cast<ShapedType>(op->getOperand(0).getType()).getNumElements();
    Num from = rolled(ravel(call, places, sizes), shifts->front(), count);
    return call.giveAt(unravel(from, sizes));
  }
  // Dimensions may be named twice.
  SmallVector<int64_t> total(sizes.size(), 0);
  for (auto [given, shift] : llvm::zip(*dims, *shifts)) {
    std::optional<unsigned> dim = call.dimension(given, sizes.size());
    if (!dim)
      return failure();
    total[*dim] += shift;
  }
  for (auto [place, shift, size] : llvm::zip_equal(places, total, sizes))
    place = rolled(place, shift, size);
  return call.giveAt(places);
}

/// Whole copies behind each other, `param` of them along each dimension.
static LogicalResult repeatBy(const MovingCall &call, ParamRef param) {
  std::optional<SmallVector<int64_t>> counts = call.integers(param);
  if (!counts || !call.hasTensors(1))
    return failure();
  ArrayRef<int64_t> sizes = call.sizes();
  Places places = call.places();
  if (places.size() < sizes.size())
    return failure();
  places.erase(places.begin(), places.end() - sizes.size());
  counts->insert(counts->begin(), sizes.size(), 1);
  for (auto [place, size, count] : llvm::zip_equal(
           places, sizes, ArrayRef(*counts).take_back(sizes.size()))) {
    if (count != 1 && ShapedType::isDynamic(size))
      return failure();
    if (count != 1)
      place = place % std::max<int64_t>(size, 1);
  }
  return call.giveAt(places);
}
LogicalResult elements::repeat(Operation *op, ElementBuilder &b, Results &r) {
  return repeatBy(MovingCall(op, b, r), "repeats");
}
LogicalResult elements::tile(Operation *op, ElementBuilder &b, Results &r) {
  return repeatBy(MovingCall(op, b, r), "dims");
}

/// Each element so many times.
LogicalResult elements::repeatEach(Operation *op, ElementBuilder &b,
                                   Results &r) {
  MovingCall call(op, b, r);
  std::optional<int64_t> times = call.integer("repeats");
  if (!times || *times < 1 || !call.hasTensors(1))
    return failure();
  ArrayRef<int64_t> sizes = call.sizes();
  if (!areKnown(sizes))
    return failure();
  int64_t by = *times;
  Places places = call.places();
  if (call.isNone("dim"))
    return call.giveAt(unravel(places.front() / by, sizes));
  std::optional<size_t> dim = call.dim("dim", sizes.size());
  if (!dim)
    return failure();
  places[*dim] = places[*dim] / by;
  return call.giveAt(places);
}

LogicalResult elements::asStridedCopy(Operation *op, ElementBuilder &b,
                                      Results &r) {
  MovingCall call(op, b, r);
  std::optional<SmallVector<int64_t>> strides = call.integers("stride");
  std::optional<int64_t> offset = call.integer("storage_offset");
  if (!strides || (!offset && !call.isNone("storage_offset")) ||
      !call.hasTensors(1) || !areKnown(call.sizes()) ||
      strides->size() != call.resultSizes().size())
    return failure();
  ArrayRef<int64_t> sizes = call.sizes();
  Num number = call.index(offset.value_or(0));
  for (auto [place, stride] : llvm::zip_equal(call.places(), *strides))
    number = number + place * stride;
  return call.giveAt(unravel(number, sizes));
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

LogicalResult elements::concatenate(Operation *op, ElementBuilder &b,
                                    Results &r) {
  MovingCall call(op, b, r);
  Type type = call.resultType();
  Places places = call.places();
  std::optional<size_t> dim = call.dim("dim", places.size());
  if (!dim || !call.hasTensors(op->getNumOperands()) ||
      call.list("tensors").size() != op->getNumOperands())
    return failure();
  struct Piece {
    unsigned operand;
    int64_t begin;
  };
  SmallVector<Piece> pieces;
  int64_t end = 0;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    ArrayRef<int64_t> sizes = call.sizes(i);
    // An empty list of numbers goes with everything.
    if (sizes.size() == 1 && sizes[0] == 0)
      continue;
    // Only the last piece may be of any size.
    if (sizes.size() != places.size() || ShapedType::isDynamic(end))
      return failure();
    int64_t size = sizes[*dim];
    if (size != 0)
      pieces.push_back({i, end});
    end = ShapedType::isDynamic(size) ? size : end + size;
  }
  Num place = places[*dim], result, isBefore;
  for (const Piece &piece : llvm::reverse(pieces)) {
    Conditions inside;
    if (piece.begin > 0)
      inside.push_back(place >= piece.begin);
    if (isBefore)
      inside.push_back(isBefore);
    places[*dim] = place - piece.begin;
    Type own = call.operandType(piece.operand);
    bool isSame = own == type && result;
    Num element =
        cast(call.load(piece.operand, places, inside, isSame ? result : Num()),
             own, type);
    result = isBefore && !isSame ? select(isBefore, element, result) : element;
    isBefore = place < piece.begin;
  }
  return call.giveAs(result, type);
}
