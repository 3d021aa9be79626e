// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes read off tensors, Python's arithmetic on them, and checks.
//
// Numbers are Python's: ints are exact (64 bits; what overflows is an error),
// a bool counts as an int, and an operation with a float is one on floats.
// Division and remainder round towards minus infinity.

#include "Kernels.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// A Python number: an int, or a float.
struct Number {
  bool isFloat = false;
  int64_t integer = 0;
  double real = 0;

  double asReal() const {
    return isFloat ? real : static_cast<double>(integer);
  }
};

Number numberAt(const KernelCall &call, unsigned param) {
  RuntimeValue value = call.scalar(param);
  if (const auto *tensor = std::get_if<Tensor>(&value)) {
    if (isFloating(tensor->type))
      return {true, 0, tensor->getDouble(0)};
    return {false, tensor->getInt(0), 0};
  }
  if (const auto *real = std::get_if<double>(&value))
    return {true, 0, *real};
  if (const auto *flag = std::get_if<bool>(&value))
    return {false, *flag, 0};
  const auto *integer = std::get_if<int64_t>(&value);
  return {false, integer ? *integer : 0, 0};
}

/// The number as the declared result type has it.
LogicalResult give(const KernelCall &call, const Number &number) {
  Type type = call.op.getOperation()->getResult(0).getType();
  if (isa<FloatType>(type))
    call.set(0, number.asReal());
  else if (type.isInteger(1))
    call.set(0, number.isFloat ? number.real != 0 : number.integer != 0);
  else
    call.set(0, number.isFloat ? static_cast<int64_t>(number.real)
                               : number.integer);
  return success();
}

LogicalResult give(const KernelCall &call, int64_t integer) {
  return give(call, Number{false, integer, 0});
}

LogicalResult overflow(const KernelCall &call) {
  return call.error("the number does not fit 64 bits");
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

using IntegerFn = bool (*)(int64_t a, int64_t b, int64_t &result);
using RealFn = double (*)(double a, double b);

template <IntegerFn integers, RealFn reals>
LogicalResult arithmetic(const KernelCall &call) {
  Number a = numberAt(call, 0), b = numberAt(call, 1);
  if (a.isFloat || b.isFloat)
    return give(call, {true, 0, reals(a.asReal(), b.asReal())});
  int64_t result = 0;
  return integers(a.integer, b.integer, result) ? give(call, result)
                                                : overflow(call);
}

bool add(int64_t a, int64_t b, int64_t &r) {
  return !__builtin_add_overflow(a, b, &r);
}
bool sub(int64_t a, int64_t b, int64_t &r) {
  return !__builtin_sub_overflow(a, b, &r);
}
bool mul(int64_t a, int64_t b, int64_t &r) {
  return !__builtin_mul_overflow(a, b, &r);
}
bool least(int64_t a, int64_t b, int64_t &r) {
  r = std::min(a, b);
  return true;
}
bool greatest(int64_t a, int64_t b, int64_t &r) {
  r = std::max(a, b);
  return true;
}
double addReal(double a, double b) { return a + b; }
double subReal(double a, double b) { return a - b; }
double mulReal(double a, double b) { return a * b; }
double leastReal(double a, double b) { return b < a ? b : a; }
double greatestReal(double a, double b) { return b > a ? b : a; }

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

template <bool remainder> LogicalResult divide(const KernelCall &call) {
  Number a = numberAt(call, 0), b = numberAt(call, 1);
  if (b.asReal() == 0)
    return call.error("division by zero");
  if (a.isFloat || b.isFloat) {
    double quotient = std::floor(a.asReal() / b.asReal());
    return give(
        call,
        {true, 0, remainder ? a.asReal() - quotient * b.asReal() : quotient});
  }
  if (a.integer == INT64_MIN && b.integer == -1)
    return remainder ? give(call, 0) : overflow(call);
  int64_t quotient = floorDivide(a.integer, b.integer);
  return give(call, remainder ? a.integer - quotient * b.integer : quotient);
}

LogicalResult trueDivide(const KernelCall &call) {
  Number a = numberAt(call, 0), b = numberAt(call, 1);
  if (b.asReal() == 0)
    return call.error("division by zero");
  return give(call, {true, 0, a.asReal() / b.asReal()});
}

LogicalResult power(const KernelCall &call) {
  Number a = numberAt(call, 0), b = numberAt(call, 1);
  if (a.isFloat || b.isFloat || b.integer < 0)
    return give(call, {true, 0, std::pow(a.asReal(), b.asReal())});
  int64_t result = 1;
  for (int64_t i = 0; i < b.integer && result != 0; ++i) {
    if (a.integer == 1 || (a.integer == -1 && i == b.integer % 2))
      break;
    if (__builtin_mul_overflow(result, a.integer, &result))
      return overflow(call);
  }
  return give(call, result);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

enum class Order { Eq, Ne, Lt, Le, Gt, Ge };

template <typename T> bool holds(Order order, T a, T b) {
  switch (order) {
  case Order::Eq:
    return a == b;
  case Order::Ne:
    return a != b;
  case Order::Lt:
    return a < b;
  case Order::Le:
    return a <= b;
  case Order::Gt:
    return a > b;
  case Order::Ge:
    break;
  }
  return a >= b;
}

template <Order order> LogicalResult compare(const KernelCall &call) {
  Number a = numberAt(call, 0), b = numberAt(call, 1);
  bool isFloat = a.isFloat || b.isFloat;
  return give(call, isFloat ? holds(order, a.asReal(), b.asReal())
                            : holds(order, a.integer, b.integer));
}

LogicalResult logicalAnd(const KernelCall &call) {
  return give(call, numberAt(call, 0).asReal() != 0 &&
                        numberAt(call, 1).asReal() != 0);
}
LogicalResult logicalOr(const KernelCall &call) {
  return give(call, numberAt(call, 0).asReal() != 0 ||
                        numberAt(call, 1).asReal() != 0);
}
LogicalResult logicalNot(const KernelCall &call) {
  return give(call, numberAt(call, 0).asReal() == 0);
}

//===----------------------------------------------------------------------===//
// One number
//===----------------------------------------------------------------------===//

LogicalResult negate(const KernelCall &call) {
  Number a = numberAt(call, 0);
  if (!a.isFloat && a.integer == INT64_MIN)
    return overflow(call);
  return give(call, {a.isFloat, a.isFloat ? 0 : -a.integer, -a.real});
}

LogicalResult absolute(const KernelCall &call) {
  Number a = numberAt(call, 0);
  if (!a.isFloat && a.integer == INT64_MIN)
    return overflow(call);
  return give(call, {a.isFloat, a.isFloat ? 0 : std::abs(a.integer),
                     std::fabs(a.real)});
}

LogicalResult same(const KernelCall &call) {
  return give(call, numberAt(call, 0));
}

template <double (*fn)(double)> LogicalResult rounded(const KernelCall &call) {
  Number a = numberAt(call, 0);
  return give(call, a.isFloat ? Number{true, 0, fn(a.real)} : a);
}

LogicalResult root(const KernelCall &call) {
  return give(call, {true, 0, std::sqrt(numberAt(call, 0).asReal())});
}

LogicalResult roundDigits(const KernelCall &call) {
  Number a = numberAt(call, 0);
  double scale = std::pow(10.0, static_cast<double>(call.integer("ndigits")));
  if (a.isFloat)
    a.real = std::nearbyint(a.real * scale) / scale;
  return give(call, a);
}

LogicalResult ifThenElse(const KernelCall &call) {
  return give(call, numberAt(call, call.boolean("b") ? 1 : 2));
}

LogicalResult sum(const KernelCall &call) {
  int64_t total = 0;
  for (int64_t value : call.integers(0))
    if (!add(total, value, total))
      return overflow(call);
  return give(call, total);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

LogicalResult size(const KernelCall &call) {
  Tensor self = call.tensor(optional("self"));
  return give(call, self.sizes[call.dim(optional("dim"), self.rank())]);
}
LogicalResult stride(const KernelCall &call) {
  Tensor self = call.tensor("self");
  return give(call, self.strides[call.dim(optional("dim"), self.rank())]);
}
LogicalResult numel(const KernelCall &call) {
  return give(call, call.tensor("self").numel());
}
/// Every value stands at the beginning of a storage of its own.
LogicalResult storageOffset(const KernelCall &call) { return give(call, 0); }

LogicalResult item(const KernelCall &call) {
  if (call.tensor("self").numel() != 1)
    return call.error("only a tensor of one element is a number");
  return give(call, numberAt(call, 0));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult assertTrue(const KernelCall &call) {
  bool holds =
      call.tensor("self").numel() == 0 || numberAt(call, 0).asReal() != 0;
  if (holds)
    return success();
  StringRef message = call.string(optional("assert_msg"));
  return call.error("check failed: " +
                    (message.empty() ? StringRef("it is false") : message));
}

LogicalResult assertSizes(const KernelCall &call) {
  Tensor tensor = call.tensor(0u);
  if (call.isNone("size") ||
      ArrayRef<int64_t>(tensor.sizes) == ArrayRef(call.integers("size")))
    return success();
  return call.error("check failed: the tensor is a " +
                    textOf(tensor.type, tensor.sizes));
}

LogicalResult checkRange(const KernelCall &call) {
  int64_t size = call.integer("size");
  if (size >= call.integer("min", INT64_MIN) &&
      size <= call.integer("max", INT64_MAX))
    return success();
  return call.error("check failed: " + Twine(size) + " is out of range");
}

/// What a factorization says of each matrix: 0 if it is done.
LogicalResult checkFactors(const KernelCall &call) {
  for (double info : call.tensor("info").doubles())
    if (info != 0)
      return call.error("check failed: " + call.string("api_name") +
                        ": a matrix has no such factors (info " +
                        Twine(static_cast<int64_t>(info)) +
                        "): it is singular, or not positive-definite");
  return success();
}

/// A mark between stages of a pipeline; one process has one stage.
LogicalResult mark(const KernelCall &) { return success(); }

} // namespace

const KernelFn kernels::mark = ::mark;
const KernelFn kernels::size = ::size;
const KernelFn kernels::stride = ::stride;
const KernelFn kernels::numel = ::numel;
const KernelFn kernels::storageOffset = ::storageOffset;
const KernelFn kernels::item = ::item;
const KernelFn kernels::assertTrue = ::assertTrue;
const KernelFn kernels::assertSizes = ::assertSizes;
const KernelFn kernels::checkRange = ::checkRange;
const KernelFn kernels::checkFactors = ::checkFactors;
const KernelFn kernels::operatorAdd = arithmetic<::add, addReal>;
const KernelFn kernels::operatorSub = arithmetic<::sub, subReal>;
const KernelFn kernels::operatorMul = arithmetic<mul, mulReal>;
const KernelFn kernels::operatorFloordiv = ::divide<false>;
const KernelFn kernels::operatorMod = ::divide<true>;
const KernelFn kernels::operatorPow = power;
const KernelFn kernels::trueDivide = ::trueDivide;
const KernelFn kernels::operatorEq = compare<Order::Eq>;
const KernelFn kernels::operatorNe = compare<Order::Ne>;
const KernelFn kernels::operatorLt = compare<Order::Lt>;
const KernelFn kernels::operatorLe = compare<Order::Le>;
const KernelFn kernels::operatorGt = compare<Order::Gt>;
const KernelFn kernels::operatorGe = compare<Order::Ge>;
const KernelFn kernels::operatorAnd = ::logicalAnd;
const KernelFn kernels::operatorOr = ::logicalOr;
const KernelFn kernels::operatorNeg = negate;
const KernelFn kernels::same = ::same;
const KernelFn kernels::operatorAbs = absolute;
const KernelFn kernels::mathTrunc = rounded<std::trunc>;
const KernelFn kernels::mathFloor = rounded<std::floor>;
const KernelFn kernels::mathCeil = rounded<std::ceil>;
const KernelFn kernels::roundDigits = ::roundDigits;
const KernelFn kernels::root = ::root;
const KernelFn kernels::torchSymNot = ::logicalNot;
const KernelFn kernels::torchSymMax = arithmetic<greatest, greatestReal>;
const KernelFn kernels::torchSymMin = arithmetic<least, leastReal>;
const KernelFn kernels::ifThenElse = ::ifThenElse;
const KernelFn kernels::torchSymSum = ::sum;
