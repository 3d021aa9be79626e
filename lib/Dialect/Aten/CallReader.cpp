// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a call by name: an entry of `args`, with the operands before it
// counted to find its own.
//
// An argument comes back as the Arg that another call takes: literals keep
// their attributes, operands become values, lists lists of both. Linear in the
// number of arguments, which is small.

#include "cutback/Dialect/Aten/CallReader.h"

#include "SchemaDetail.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

CallReader::CallReader(CallOp op)
    : Arguments(op.getSchema(), op.getArgs(), op.getLoc()), op(op) {}

int CallReader::operand(ParamRef param) const {
  Item own = item(param);
  return own.value && countOperandsIn(own.value) > 0
             ? static_cast<int>(own.operand)
             : -1;
}

StringRef CallReader::parameterOf(unsigned number) const {
  StringRef name;
  for (auto [i, param] : llvm::enumerate(schema.params))
    if (int first = operand(static_cast<int>(i));
        first >= 0 && static_cast<unsigned>(first) <= number)
      name = param.name;
  return name;
}

/// The argument that `value` describes; `next` walks over the operands.
static Arg argOf(Attribute value, unsigned &next, Operation *op) {
  if (isa<joint::OperandAttr>(value))
    return Arg(op->getOperand(next++));
  auto entries = dyn_cast<ArrayAttr>(value);
  if (!entries)
    return Arg(value);
  std::vector<Arg> list;
  for (Attribute entry : entries)
    list.push_back(argOf(entry, next, op));
  return Arg(list);
}

Arg CallReader::arg(ParamRef param) const {
  Attribute own = attribute(param);
  if (!own)
    return Arg();
  unsigned next = static_cast<unsigned>(std::max(operand(param), 0));
  return argOf(own, next, op.getOperation());
}

Value CallReader::value(ParamRef param) const {
  Attribute own = attribute(param);
  if (!own || !isa<joint::OperandAttr>(own))
    return {};
  return op.getOperation()->getOperand(operand(param));
}

std::optional<int64_t> CallReader::integer(ParamRef param) const {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute(param));
  if (!number)
    return std::nullopt;
  return isa<BoolAttr>(number) ? int64_t(cast<BoolAttr>(number).getValue())
                               : number.getInt();
}

std::optional<double> CallReader::number(ParamRef param) const {
  if (auto real = dyn_cast_or_null<FloatAttr>(attribute(param)))
    return real.getValueAsDouble();
  if (std::optional<int64_t> number = integer(param))
    return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<bool> CallReader::boolean(ParamRef param) const {
  auto flag = dyn_cast_or_null<BoolAttr>(attribute(param));
  if (!flag)
    return std::nullopt;
  return flag.getValue();
}

StringRef CallReader::string(ParamRef param) const {
  auto text = dyn_cast_or_null<StringAttr>(attribute(param));
  return text ? text.getValue() : StringRef();
}

Type CallReader::dtype(ParamRef param) const {
  auto type = dyn_cast_or_null<TypeAttr>(attribute(param));
  return type ? type.getValue() : Type();
}

std::vector<Arg> CallReader::list(ParamRef param) const {
  Arg own = arg(param);
  if (own.isNone())
    return {};
  if (!own.isList())
    return {own};
  return own.getList().vec();
}

std::optional<SmallVector<int64_t>> CallReader::integers(ParamRef param) const {
  SmallVector<int64_t> numbers;
  for (const Arg &entry : list(param)) {
    std::optional<int64_t> number = entry.getInt();
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}
