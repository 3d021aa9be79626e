// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's arithmetic on floats, op by op; the interpreter's kernels say the
// same of values (Interpreter/Kernels/Symbolic.cpp).
//
// What has an int as result is a size, and evaluated as one
// (SizeEvaluation.cpp). Division by zero and roots of negative numbers have no
// value here: they stay ops, and an error where the step runs.

#include "cutback/Dialect/Aten/ScalarEvaluation.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

using Number = std::optional<double>;

static Number ofOne(StringRef packet, double a) {
  return llvm::StringSwitch<Number>(packet)
      .Cases({"torch.sym_float", "operator.pos"}, a)
      .Case("operator.neg", -a)
      .Case("torch.sym_sqrt", a < 0 ? Number() : Number(std::sqrt(a)))
      .Default(std::nullopt);
}

static Number ofTwo(StringRef packet, double a, double b) {
  auto quotient = [&](bool isFloored) {
    return b == 0 ? Number() : Number(isFloored ? std::floor(a / b) : a / b);
  };
  return llvm::StringSwitch<Number>(packet)
      .Case("operator.add", a + b)
      .Case("operator.sub", a - b)
      .Case("operator.mul", a * b)
      .Case("operator.truediv", quotient(false))
      .Case("operator.floordiv", quotient(true))
      .Case("operator.pow", std::pow(a, b))
      .Case("torch.sym_max", b > a ? b : a)
      .Case("torch.sym_min", b < a ? b : a)
      .Default(std::nullopt);
}

Number aten::evaluateReal(CallOp op, function_ref<Number(Value)> known) {
  Operation *call = op;
  if (call->getNumResults() != 1 ||
      !isa<FloatType>(call->getResult(0).getType()))
    return std::nullopt;
  SmallVector<double, 2> numbers;
  unsigned operand = 0;
  for (Attribute arg : op.getArgs()) {
    Number number;
    if (isa<joint::OperandAttr>(arg))
      number = known(call->getOperand(operand++));
    else if (auto integer = dyn_cast<IntegerAttr>(arg))
      number = static_cast<double>(integer.getInt());
    else if (auto real = dyn_cast<FloatAttr>(arg))
      number = real.getValueAsDouble();
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  StringRef packet = op.getSchema().packet;
  Number value = numbers.size() == 1   ? ofOne(packet, numbers[0])
                 : numbers.size() == 2 ? ofTwo(packet, numbers[0], numbers[1])
                                       : Number();
  return value && std::isfinite(*value) ? value : std::nullopt;
}
