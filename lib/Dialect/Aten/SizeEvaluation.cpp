// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates ops under size hints: shapes by the same inference that verifies
// them, integers by doing the arithmetic on symbolic sizes. Arithmetic that
// overflows, divides by zero or is not on integers has no value; sizes that
// depend on it stay unknown.

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

using Number = std::optional<int64_t>;

/// Division rounds down, as Python's does.
Number floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return {};
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Number power(int64_t a, int64_t b) {
  int64_t r = 1;
  if (b < 0 || b > 64)
    return {};
  for (; b; --b)
    if (__builtin_mul_overflow(r, a, &r))
      return {};
  return r;
}

enum class Arithmetic {
  None,
  Add,
  Sub,
  Mul,
  FloorDiv,
  Mod,
  Pow,
  Max,
  Min,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or
};

Arithmetic arithmeticOf(StringRef packet) {
  return llvm::StringSwitch<Arithmetic>(packet)
      .Case("operator.add", Arithmetic::Add)
      .Case("operator.sub", Arithmetic::Sub)
      .Case("operator.mul", Arithmetic::Mul)
      .Case("operator.floordiv", Arithmetic::FloorDiv)
      .Case("operator.mod", Arithmetic::Mod)
      .Case("operator.pow", Arithmetic::Pow)
      .Case("torch.sym_max", Arithmetic::Max)
      .Case("torch.sym_min", Arithmetic::Min)
      .Case("operator.eq", Arithmetic::Eq)
      .Case("operator.ne", Arithmetic::Ne)
      .Case("operator.lt", Arithmetic::Lt)
      .Case("operator.le", Arithmetic::Le)
      .Case("operator.gt", Arithmetic::Gt)
      .Case("operator.ge", Arithmetic::Ge)
      .Case("operator.and_", Arithmetic::And)
      .Case("operator.or_", Arithmetic::Or)
      .Default(Arithmetic::None);
}

Number compute(Arithmetic kind, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (kind) {
  case Arithmetic::None:
    return {};
  case Arithmetic::Add:
    return __builtin_add_overflow(a, b, &r) ? Number() : r;
  case Arithmetic::Sub:
    return __builtin_sub_overflow(a, b, &r) ? Number() : r;
  case Arithmetic::Mul:
    return __builtin_mul_overflow(a, b, &r) ? Number() : r;
  case Arithmetic::FloorDiv:
    return floorDivide(a, b);
  case Arithmetic::Mod: {
    Number q = floorDivide(a, b);
    return q ? Number(a - *q * b) : Number();
  }
  case Arithmetic::Pow:
    return power(a, b);
  case Arithmetic::Max:
    return std::max(a, b);
  case Arithmetic::Min:
    return std::min(a, b);
  case Arithmetic::Eq:
    return a == b;
  case Arithmetic::Ne:
    return a != b;
  case Arithmetic::Lt:
    return a < b;
  case Arithmetic::Le:
    return a <= b;
  case Arithmetic::Gt:
    return a > b;
  case Arithmetic::Ge:
    return a >= b;
  case Arithmetic::And:
    return a && b;
  case Arithmetic::Or:
    return a || b;
  }
  return {};
}

/// The integers among the arguments, in order; nothing if one is not known.
std::optional<SmallVector<int64_t>> integers(ArrayAttr args,
                                             ArrayRef<int64_t> operandInts) {
  SmallVector<int64_t> values;
  size_t next = 0;
  for (Attribute arg : args) {
    Number value;
    if (isa<joint::OperandAttr>(arg) && next < operandInts.size())
      value = operandInts[next++];
    else if (auto integer = dyn_cast<IntegerAttr>(arg))
      value = integer.getInt();
    if (!value || ShapedType::isDynamic(*value))
      return {};
    values.push_back(*value);
  }
  return values;
}

/// Sizes that an op reads off a shape.
Number readShape(StringRef packet, ArrayAttr args,
                 ArrayRef<Type> operandTypes) {
  auto type = operandTypes.empty()
                  ? RankedTensorType()
                  : dyn_cast<RankedTensorType>(operandTypes.front());
  if (!type)
    return {};
  if (packet == "aten.sym_numel")
    return type.hasStaticShape() ? Number(type.getNumElements()) : Number();
  auto dim = args.size() > 1 ? dyn_cast<IntegerAttr>(args[1]) : IntegerAttr();
  if (packet != "aten.sym_size" || !dim)
    return {};
  int64_t i = dim.getInt() < 0 ? dim.getInt() + type.getRank() : dim.getInt();
  if (i < 0 || i >= type.getRank() || type.isDynamicDim(i))
    return {};
  return type.getDimSize(i);
}

Number evaluateInteger(StringRef packet, ArrayAttr args,
                       ArrayRef<Type> operandTypes,
                       ArrayRef<int64_t> operandInts) {
  if (packet.starts_with("aten."))
    return readShape(packet, args, operandTypes);
  std::optional<SmallVector<int64_t>> values = integers(args, operandInts);
  if (!values)
    return {};
  if (values->size() == 2)
    return compute(arithmeticOf(packet), (*values)[0], (*values)[1]);
  if (values->size() != 1)
    return {};
  int64_t value = values->front();
  if (packet == "operator.neg")
    return value == INT64_MIN ? Number() : Number(-value);
  if (packet == "torch.sym_not")
    return !value;
  if (packet == "torch.sym_int" || packet == "torch.sym_float" ||
      packet == "operator.pos" || packet.starts_with("math."))
    return value;
  return {};
}

} // namespace

bool CallOp::evaluateSizes(ArrayRef<Type> operandTypes,
                           ArrayRef<int64_t> operandInts,
                           SmallVectorImpl<Type> &resultTypes,
                           SmallVectorImpl<int64_t> &resultInts) {
  const Schema &schema = getSchema();
  ArrayAttr args = getArgs();
  if (!args || failed(inferResultTypes(schema, args, operandTypes, operandInts,
                                       std::nullopt, resultTypes)))
    return false;
  resultInts.assign(resultTypes.size(), ShapedType::kDynamic);
  if (resultTypes.size() == 1 && resultTypes[0].isIntOrIndexOrFloat())
    if (Number value =
            evaluateInteger(schema.packet, args, operandTypes, operandInts))
      resultInts[0] = *value;
  return true;
}
