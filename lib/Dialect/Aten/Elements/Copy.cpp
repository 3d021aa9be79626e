// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies, casts, fills: the same elements, perhaps of another type. Layouts,
// devices and memory formats change no value, so they are not read. New tensors
// are constants, or count in the numbers that were given: integers exactly,
// floats in f64, rounded to the element type once.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

LogicalResult elements::copy(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return call.hasTensors(1) ? call.giveAs(call.element(0), call.operandType(0))
                            : failure();
}

static LogicalResult giveArgument(const ElementCall &call, ParamRef param) {
  return call.giveAs(call.argument(param, call.resultType()),
                     call.resultType());
}

LogicalResult elements::copyFrom(Operation *op, ElementBuilder &b, Results &r) {
  return giveArgument(ElementCall(op, b, r), "src");
}

LogicalResult elements::fill(Operation *op, ElementBuilder &b, Results &r) {
  return giveArgument(ElementCall(op, b, r), "value");
}

/// A triangle keeps its elements, and has zeros around it.
template <bool isLower>
static LogicalResult triangle(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() < 2 || !call.hasTensors(1))
    return failure();
  auto rank = static_cast<unsigned>(type.getRank());
  Num offset = call.axis(rank - 1) - call.axis(rank - 2);
  Num diagonal = call.index("diagonal");
  Num kept = isLower ? offset <= diagonal : offset >= diagonal;
  return call.giveAs(select(kept, call.element(0), 0), call.operandType(0));
}
LogicalResult elements::lowerTriangle(Operation *op, ElementBuilder &b,
                                      Results &r) {
  return triangle<true>(op, b, r);
}
LogicalResult elements::upperTriangle(Operation *op, ElementBuilder &b,
                                      Results &r) {
  return triangle<false>(op, b, r);
}

//===----------------------------------------------------------------------===//
// New tensors
//===----------------------------------------------------------------------===//

static LogicalResult giveNumber(const ElementCall &call, double number) {
  Type type = call.resultType();
  return call.giveAs(constantOf(call.elements, signlessOf(type), number), type);
}
/// Also of what is not initialized, so that every run gives the same bits.
LogicalResult elements::zeros(Operation *op, ElementBuilder &b, Results &r) {
  return giveNumber(ElementCall(op, b, r), 0);
}
LogicalResult elements::ones(Operation *op, ElementBuilder &b, Results &r) {
  return giveNumber(ElementCall(op, b, r), 1);
}

LogicalResult elements::full(Operation *op, ElementBuilder &b, Results &r) {
  return giveArgument(ElementCall(op, b, r), "fill_value");
}
LogicalResult elements::scalarTensor(Operation *op, ElementBuilder &b,
                                     Results &r) {
  return giveArgument(ElementCall(op, b, r), "s");
}

/// start + i * step, counted in integers or in f64.
static LogicalResult range(const ElementCall &call, Type in) {
  auto argument = [&](ParamRef param, double ifNone) {
    return call.isNone(param) ? constantOf(call.elements, in, ifNone)
                              : call.argument(param, in);
  };
  Num i = cast(call.toInteger(call.axis(0)), call.elements.builder.getI64Type(),
               in);
  Num start = argument(optional("start"), 0),
      step = argument(optional("step"), 1);
  return call.giveAs(start + i * step, in);
}
LogicalResult elements::arange(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  auto isWhole = [&](ParamRef param) {
    return call.isNone(param) || isa<IntegerType>(call.typeOf(param));
  };
  bool whole = isa<IntegerType>(call.resultType()) ||
               (isWhole(optional("start")) && isWhole("end") &&
                isWhole(optional("step")));
  return range(call, whole ? Type(b.builder.getI64Type())
                           : Type(b.builder.getF64Type()));
}
LogicalResult elements::iota(Operation *op, ElementBuilder &b, Results &r) {
  return range(ElementCall(op, b, r), b.builder.getI64Type());
}

/// From both ends, so that both are exact.
LogicalResult elements::linspace(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  Type f64 = b.builder.getF64Type(), i64 = b.builder.getI64Type();
  std::optional<int64_t> steps = call.integer("steps");
  Num start = call.argument("start", f64), end = call.argument("end", f64);
  if (!steps || !start || !end)
    return failure();
  Num step = *steps > 1 ? (end - start) / (*steps - 1) : start.constant(0);
  Num i = call.toInteger(call.axis(0));
  Num up = start + cast(i, i64, f64) * step;
  Num down = end - cast(*steps - 1 - i, i64, f64) * step;
  return call.giveAs(*steps == 1 ? up : select(i < (*steps / 2), up, down),
                     f64);
}

LogicalResult elements::eye(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  return call.give(call.axis(0) == call.axis(1));
}

/// Rows of a lower triangle have from some one on one element more than the row
/// before, up to all columns; of an upper one it is the same from its end. In a
/// growing row the number of the element is inverted, by a root that may be one
/// off.
static LogicalResult triangleIndices(const ElementCall &call, bool isUpper) {
  std::optional<int64_t> rows = call.integer("row"),
                         columns = call.integer("col"),
                         offset = call.integer("offset");
  if (!rows || !columns || !offset)
    return failure();
  int64_t reach = isUpper ? *columns - *rows - *offset : *offset;
  int64_t first = std::max<int64_t>(0, -reach),
          growing = std::clamp<int64_t>(*columns - reach, first,
                                        std::max(first, *rows)) -
                    first;
  int64_t shortest = first + 1 + reach;
  int64_t inGrowing = growing * (2 * shortest + growing - 1) / 2;
  int64_t inOthers = std::max<int64_t>(0, *rows - first - growing) * *columns;
  Num i = call.toInteger(call.axis(1));
  if (isUpper)
    i = inGrowing + inOthers - 1 - i;
  Type f64 = call.elements.builder.getF64Type(), i64 = i.type();
  int64_t linear = 2 * shortest - 1;
  auto before = [&](const Num &row) { return row * (row + linear) / 2; };
  Num root = sqrt(cast(i * 8 + linear * linear, i64, f64));
  Num row = cast((root - double(linear)) / 2.0, f64, i64);
  row = select(before(row) > i, row - 1, row);
  row = select(before(row + 1) > i, row, row + 1);
  Num rest = i - inGrowing,
      width = i.wholeConstant(std::max<int64_t>(1, *columns));
  Num isGrowing = i < inGrowing;
  Num atRow = select(isGrowing, row, rest / width + growing) + first;
  Num atColumn = select(isGrowing, i - before(row), rest % width);
  if (isUpper) {
    atRow = *rows - 1 - atRow;
    atColumn = *columns - 1 - atColumn;
  }
  return call.giveAs(select(call.axis(0) == 0, atRow, atColumn), i64);
}
LogicalResult elements::trilIndices(Operation *op, ElementBuilder &b,
                                    Results &r) {
  return triangleIndices(ElementCall(op, b, r), /*isUpper=*/false);
}
LogicalResult elements::triuIndices(Operation *op, ElementBuilder &b,
                                    Results &r) {
  return triangleIndices(ElementCall(op, b, r), /*isUpper=*/true);
}
