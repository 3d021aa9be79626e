// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all element formulas of ATen calls share.
//
// Whether a call has a formula depends on its arguments and types in as many
// ways as there are formulas. So that the answer cannot be wrong, the formula
// is built into a block that is thrown away: some ten ops. Formulas fail
// without a word; CallOp::buildElement says it.

#include "ElementCall.h"

#include "cutback/Dialect/Aten/CallOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

LogicalResult elements::none(Operation *, ElementBuilder &, Results &) {
  return failure();
}

/// Integers, and floating point that processors know.
static bool isLowerable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrIndex() || element.isF64() || element.isF32() ||
         element.isF16() || element.isBF16();
}

static Type scalarTypeOf(Type type) {
  return signlessOf(getElementTypeOrSelf(type));
}

namespace {

/// Scalars that stand for nothing.
class Probe final : public ElementBuilder {
public:
  explicit Probe(Operation *op)
      : ElementBuilder(builder, op->getLoc()), op(op),
        builder(op->getContext()) {
    builder.setInsertionPointToEnd(&block);
  }

  Value operand(unsigned i) override {
    return any(scalarTypeOf(op->getOperand(i).getType()));
  }
  Value index(unsigned) override { return any(builder.getIndexType()); }
  Value load(unsigned i, ArrayRef<Value>, Value, Value) override {
    return operand(i);
  }
  Value choose(Value place, Value, bool) override { return place; }
  Value reduce(joint::Combine, Value element) override {
    return any(element.getType());
  }
  Value reduceIndex(bool, Value) override { return any(builder.getI64Type()); }
  int64_t numReduced() override { return 1; }

private:
  Value any(Type type) { return block.addArgument(type, loc); }

  Operation *op;
  Block block;
  OpBuilder builder;
};

} // namespace

static bool areLowerable(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), isLowerable) &&
         llvm::all_of(op->getResultTypes(), isLowerable);
}

bool CallOp::hasElement() {
  Operation *op = getOperation();
  if (getInfo().element == &elements::none || !areLowerable(op))
    return false;
  Probe probe(op);
  SmallVector<Value> results;
  return succeeded(getInfo().element(op, probe, results));
}

LogicalResult CallOp::buildElement(ElementBuilder &elements,
                                   SmallVectorImpl<Value> &results) {
  if (areLowerable(getOperation()) &&
      succeeded(getInfo().element(getOperation(), elements, results)))
    return success();
  return emitOpError("has no element formula");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type elements::computeTypeOf(Type type) {
  if (!type)
    return {};
  if (isa<FloatType>(type))
    return type.getIntOrFloatBitWidth() < 32
               ? Type(Float32Type::get(type.getContext()))
               : type;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || (integer.isUnsigned() && integer.getWidth() == 64))
    return {};
  bool isWide = integer.getWidth() > (integer.isUnsigned() ? 31 : 32);
  return IntegerType::get(type.getContext(), isWide ? 64 : 32);
}

Type elements::realTypeOf(Type type) {
  return isa_and_nonnull<IntegerType>(type)
             ? Type(Float32Type::get(type.getContext()))
             : computeTypeOf(type);
}

static Type elementTypeOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IntegerType::get(type.getContext(), 64) : element;
}

bool ElementCall::hasTensors(unsigned count) const {
  return op->getNumOperands() >= count &&
         llvm::all_of(op->getOperands().take_front(count), [](Value operand) {
           return isa<RankedTensorType>(operand.getType());
         });
}

std::optional<unsigned> ElementCall::dimension(int64_t dim, size_t rank) {
  dim = wrapDim(dim, static_cast<int64_t>(rank));
  if (dim < 0 || dim >= static_cast<int64_t>(rank))
    return std::nullopt;
  return static_cast<unsigned>(dim);
}

Type ElementCall::operandType(unsigned i) const {
  return elementTypeOf(op->getOperand(i).getType());
}
Type ElementCall::resultType(unsigned i) const {
  return elementTypeOf(op->getResult(i).getType());
}

Type ElementCall::typeOf(ParamRef param) const {
  MLIRContext *context = op->getContext();
  if (Value own = value(param))
    return elementTypeOf(own.getType());
  if (boolean(param))
    return IntegerType::get(context, 1);
  if (integer(param))
    return IntegerType::get(context, 64);
  return number(param) ? Type(Float64Type::get(context)) : Type();
}

Type ElementCall::promoted(Params params) const {
  SmallVector<TensorShape, 3> shapes;
  for (ParamRef param : params) {
    TensorShape shape;
    shape.element = typeOf(param);
    if (!shape.element)
      continue;
    Value own = value(param);
    auto tensor = own ? dyn_cast<RankedTensorType>(own.getType()) : nullptr;
    shape.isNumber = !tensor;
    if (tensor)
      shape.dims.assign(tensor.getShape().begin(), tensor.getShape().end());
    shapes.push_back(std::move(shape));
  }
  return promoteTypes(shapes);
}

Type ElementCall::realTypeIn(Type common) const {
  if (isa_and_nonnull<FloatType>(common))
    return computeTypeOf(common);
  return isa<FloatType>(resultType())
             ? computeTypeOf(resultType())
             : Type(Float64Type::get(op->getContext()));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Num ElementCall::element(unsigned i) const {
  Num own(elements, elements.operand(i));
  return own.type().isIndex() ? toInteger(own) : own;
}

Num ElementCall::choose(const Num &place, int64_t size, bool isWrapped) const {
  if (!place)
    return {};
  return Num(elements,
             elements.choose(place.get(), index(size).get(), isWrapped));
}

Num ElementCall::toInteger(const Num &index) const {
  if (!index)
    return {};
  Type i64 = elements.builder.getI64Type();
  return Num(elements, arith::IndexCastOp::create(
                           elements.builder, elements.loc, i64, index.get()));
}

Num ElementCall::toIndex(const Num &number) const {
  if (!number)
    return {};
  Type index = elements.builder.getIndexType();
  return Num(elements,
             arith::IndexCastOp::create(elements.builder, elements.loc, index,
                                        number.get()));
}

Num ElementCall::index(int64_t number) const {
  return constantOf(elements, elements.builder.getIndexType(), number);
}

Num ElementCall::index(ParamRef param) const {
  if (isNone(param))
    return index(int64_t(0));
  if (std::optional<int64_t> literal = integer(param))
    return index(*literal);
  return toIndex(argument(param, elements.builder.getI64Type()));
}

Num ElementCall::load(unsigned i, ArrayRef<Num> places,
                      ArrayRef<Num> conditions, const Num &otherwise) const {
  SmallVector<Value> indices;
  for (const Num &place : places) {
    if (!place)
      return {};
    indices.push_back(place.get());
  }
  if (conditions.empty())
    return Num(elements, elements.load(i, indices));
  Num mask = conditions.front();
  for (const Num &condition : conditions.drop_front())
    mask = mask & condition;
  Num other =
      otherwise ? otherwise
                : constantOf(elements, signlessOf(operandType(i)), int64_t(0));
  return mask
             ? Num(elements, elements.load(i, indices, mask.get(), other.get()))
             : Num();
}

Num ElementCall::argument(ParamRef param, Type to) const {
  if (!to)
    return {};
  if (value(param)) {
    auto i = static_cast<unsigned>(CallReader::operand(param));
    return cast(element(i), operandType(i), to);
  }
  Type scalar = signlessOf(to);
  if (std::optional<int64_t> whole = integer(param))
    return to.isInteger(1) ? constantOf(elements, scalar, int64_t(*whole != 0))
                           : constantOf(elements, scalar, *whole);
  std::optional<double> real = number(param);
  if (!real)
    return {};
  if (to.isInteger(1))
    return constantOf(elements, scalar, int64_t(*real != 0));
  return isa<FloatType>(to)
             ? constantOf(elements, scalar, *real)
             : cast(constantOf(elements, elements.builder.getF64Type(), *real),
                    elements.builder.getF64Type(), to);
}

Num ElementCall::promotedArgument(ParamRef param, Type common, Type to,
                                  bool exact) const {
  if (!common || !to)
    return {};
  Value own = value(param);
  auto tensor = own ? dyn_cast<RankedTensorType>(own.getType()) : nullptr;
  bool isScalar = !tensor || tensor.getRank() == 0;
  Type via = isScalar && !exact && isa<FloatType>(common)
                 ? computeTypeOf(common)
                 : common;
  // Integers that are computed on as floats are not wrapped.
  if (isa<IntegerType>(common) && isa<FloatType>(to))
    via = to;
  return cast(argument(param, via), via, to);
}

double ElementCall::literal(ParamRef param,
                            std::optional<double> ifNone) const {
  if (std::optional<double> given = number(param))
    return *given;
  hasFailed |= !isNone(param) || !ifNone;
  return ifNone.value_or(0);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult ElementCall::give(ArrayRef<Num> nums) const {
  for (const Num &num : nums)
    if (!num || failed(giveAs(num, num.type())))
      return failure();
  return success();
}

LogicalResult ElementCall::giveAs(const Num &num, Type from) const {
  if (!num || hasFailed || hasMisread() ||
      results.size() >= op->getNumResults())
    return failure();
  Num result = cast(num, from, resultType(results.size()));
  if (!result)
    return failure();
  results.push_back(result.get());
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Places elements::unravel(Num number, ArrayRef<int64_t> sizes) {
  Places places(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    int64_t size = std::max<int64_t>(sizes[dim], 1);
    places[dim] = dim ? number % size : number;
    if (dim)
      number = number / size;
  }
  return places;
}
