// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The view of one call that all inference functions read, and the entry point
// that finds the function of an op.
//
// A call is the schema, the skeleton of its arguments and the types of its
// operands; Arguments finds what belongs to a parameter.
//
// Inference sees values from files: whatever an argument holds, an accessor
// answers with the value or with an error that names the parameter. Nothing
// here depends on strides or devices.

#include "cutback/Dialect/Aten/Infer.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

InferCall::InferCall(const Schema &schema, ArrayAttr args,
                     TypeRange operandTypes, ArrayRef<int64_t> operandInts,
                     std::optional<Location> loc)
    : Arguments(schema, args, loc), operandTypes(operandTypes),
      operandInts(operandInts) {}

LogicalResult InferCall::verify() const {
  if (args.size() != schema.params.size())
    return error(args.size(), " arguments given for ", schema.params.size(),
                 " parameters");
  if (operandsAsked() != operandTypes.size())
    return error("the arguments ask for ", operandsAsked(), " operands, ",
                 operandTypes.size(), " given");
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments and list entries
//===----------------------------------------------------------------------===//

/// The entries of a list; of a value that is no list, the value alone.
LogicalResult InferCall::entries(ParamRef param,
                                 SmallVectorImpl<Item> &result) const {
  result = Arguments::entries(param);
  for (const Item &entry : result)
    if (isa<ArrayAttr>(entry.value))
      return kindError(entry, "a flat list");
  return success();
}

/// The type of the SSA operand that stands here; null where none does.
Type InferCall::operandType(const Item &item) const {
  if (!item.isOperand() || item.operand >= operandTypes.size())
    return {};
  return operandTypes[item.operand];
}

LogicalResult InferCall::kindError(const Item &item, StringRef expected) const {
  if (item.param < 0)
    return error("the schema lacks a parameter for ", expected);
  StringRef name = schema.params[item.param].name;
  if (Type type = operandType(item))
    return error("argument '", name, "' must be ", expected, ", not of type ",
                 type);
  if (item.isNone())
    return error("argument '", name, "' must be ", expected, ", not None");
  return error("argument '", name, "' must be ", expected, ", not ",
               item.value);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The type of the number that `type` or `value` stands for; null for others.
static Type numberType(Attribute value, Type type, MLIRContext *context) {
  if (auto typed = dyn_cast_or_null<TypedAttr>(value); typed && !type)
    type = typed.getType();
  if (!type || isa<ShapedType, NoneType>(type))
    return {};
  if (type.isInteger(1))
    return type;
  if (type.isIntOrIndex())
    return IntegerType::get(context, 64);
  return isa<FloatType>(type) ? Float64Type::get(context) : Type();
}

LogicalResult InferCall::shapeOf(const Item &item, bool numbers,
                                 TensorShape &result) const {
  Type type = operandType(item);
  if (auto tensor = dyn_cast_or_null<RankedTensorType>(type)) {
    result.dims.assign(tensor.getShape().begin(), tensor.getShape().end());
    result.element = tensor.getElementType();
    result.isNumber = false;
    return success();
  }
  if (!numbers)
    return kindError(item, "a ranked tensor");
  result.dims.clear();
  result.element = numberType(item.value, type, getContext());
  result.isNumber = true;
  if (!result.element)
    return kindError(item, "a ranked tensor or a number");
  return success();
}

LogicalResult InferCall::tensor(ParamRef param, TensorShape &result) const {
  return shapeOf(item(param), /*numbers=*/false, result);
}

LogicalResult InferCall::tensorOrNumber(ParamRef param,
                                        TensorShape &result) const {
  return shapeOf(item(param), /*numbers=*/true, result);
}

LogicalResult
InferCall::optionalTensor(ParamRef param,
                          std::optional<TensorShape> &result) const {
  result.reset();
  Item arg = item(param);
  // A result that its producer left undefined is None to its users.
  if (arg.isNone() || isa_and_nonnull<NoneType>(operandType(arg)))
    return success();
  return shapeOf(arg, /*numbers=*/false, result.emplace());
}

LogicalResult InferCall::tensors(ParamRef param,
                                 SmallVectorImpl<TensorShape> &result) const {
  SmallVector<Item> items;
  if (failed(entries(param, items)))
    return failure();
  for (const Item &entry : items)
    if (failed(shapeOf(entry, /*numbers=*/false, result.emplace_back())))
      return failure();
  return success();
}

LogicalResult InferCall::optionalTensors(
    ParamRef param, SmallVectorImpl<std::optional<TensorShape>> &result) const {
  SmallVector<Item> items;
  if (failed(entries(param, items)))
    return failure();
  for (const Item &entry : items) {
    result.emplace_back();
    if (!entry.isNone() &&
        failed(shapeOf(entry, /*numbers=*/false, result.back().emplace())))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

LogicalResult InferCall::integerOf(const Item &item, int64_t &result) const {
  if (Type type = operandType(item)) {
    if (!type.isIntOrIndex())
      return kindError(item, "an integer");
    result = item.operand < operandInts.size() ? operandInts[item.operand]
                                               : kUnknown;
    return success();
  }
  auto value = dyn_cast_or_null<IntegerAttr>(item.value);
  if (!value || value.getValue().getBitWidth() > 64)
    return kindError(item, "an integer");
  result = value.getValue().getBitWidth() == 1
               ? static_cast<int64_t>(value.getValue().getZExtValue())
               : value.getValue().getSExtValue();
  return success();
}

LogicalResult InferCall::integer(ParamRef param, int64_t &result) const {
  return integerOf(item(param), result);
}

LogicalResult InferCall::optionalInteger(ParamRef param,
                                         std::optional<int64_t> &result) const {
  result.reset();
  Item arg = item(param);
  return arg.isNone() ? success() : integerOf(arg, result.emplace());
}

LogicalResult InferCall::integers(ParamRef param,
                                  SmallVectorImpl<int64_t> &result) const {
  SmallVector<Item> items;
  if (failed(entries(param, items)))
    return failure();
  for (const Item &entry : items)
    if (failed(integerOf(entry, result.emplace_back())))
      return failure();
  return success();
}

LogicalResult InferCall::numberOf(const Item &item,
                                  std::optional<double> &result) const {
  result.reset();
  if (auto value = dyn_cast_or_null<FloatAttr>(item.value)) {
    result = value.getValueAsDouble();
    return success();
  }
  Type type = operandType(item);
  if (isa_and_nonnull<FloatType>(type))
    return success();
  int64_t value = 0;
  if (failed(integerOf(item, value)))
    return failure();
  if (!type || value != kUnknown)
    result = static_cast<double>(value);
  return success();
}

LogicalResult InferCall::number(ParamRef param,
                                std::optional<double> &result) const {
  return numberOf(item(param), result);
}

LogicalResult
InferCall::numbers(ParamRef param,
                   SmallVectorImpl<std::optional<double>> &result) const {
  SmallVector<Item> items;
  if (failed(entries(param, items)))
    return failure();
  for (const Item &entry : items)
    if (failed(numberOf(entry, result.emplace_back())))
      return failure();
  return success();
}

LogicalResult InferCall::booleanOf(const Item &item, bool &result) const {
  auto value = dyn_cast_or_null<IntegerAttr>(item.value);
  if (!value)
    return kindError(item, "a bool");
  result = !value.getValue().isZero();
  return success();
}

LogicalResult InferCall::boolean(ParamRef param, bool &result) const {
  result = false;
  Item arg = item(param);
  return arg.isNone() ? success() : booleanOf(arg, result);
}

LogicalResult InferCall::booleans(ParamRef param,
                                  SmallVectorImpl<bool> &result) const {
  SmallVector<Item> items;
  if (failed(entries(param, items)))
    return failure();
  for (const Item &entry : items)
    if (failed(booleanOf(entry, result.emplace_back())))
      return failure();
  return success();
}

LogicalResult InferCall::string(ParamRef param, StringRef &result) const {
  result = {};
  Item arg = item(param);
  if (arg.isNone())
    return success();
  auto value = dyn_cast<StringAttr>(arg.value);
  if (!value)
    return kindError(arg, "a string");
  result = value.getValue();
  return success();
}

LogicalResult InferCall::dtype(ParamRef param, Type &result) const {
  result = {};
  Item arg = item(param);
  if (arg.isNone())
    return success();
  auto value = dyn_cast<TypeAttr>(arg.value);
  if (!value)
    return kindError(arg, "a dtype");
  result = value.getValue();
  return success();
}

LogicalResult InferCall::scalarType(ParamRef param, Type &result) const {
  Item arg = item(param);
  result = numberType(arg.value, operandType(arg), getContext());
  return result ? success() : kindError(arg, "a number");
}

LogicalResult InferCall::dimension(ParamRef param, int64_t rank,
                                   int64_t &result) const {
  int64_t dim = 0;
  if (failed(integer(param, dim)))
    return failure();
  return wrapDimension(dim, rank, result);
}

LogicalResult InferCall::wrapDimension(int64_t dim, int64_t rank,
                                       int64_t &result) const {
  int64_t range = std::max<int64_t>(rank, 1);
  if (dim == kUnknown)
    return error("a dimension is given by an unknown value");
  if (dim < -range || dim >= range)
    return error("dim ", dim, " is out of range for rank ", rank);
  result = dim < 0 ? dim + range : dim;
  return success();
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

LogicalResult cutback::aten::inferResultTypes(const Schema &schema,
                                              ArrayAttr args,
                                              TypeRange operandTypes,
                                              ArrayRef<int64_t> operandInts,
                                              std::optional<Location> loc,
                                              SmallVectorImpl<Type> &results) {
  results.clear();
  InferCall call(schema, args, operandTypes, operandInts, loc);
  if (!schema.infer)
    return call.error("result types are not inferred for this op");
  if (failed(call.verify()) || failed(schema.infer(call, results)) ||
      call.hasMisread()) {
    results.clear();
    return failure();
  }
  return success();
}
