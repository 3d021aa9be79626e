// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line of C++ for each op that formulas of elements are made of. The text
// means the same for nvcc and for a host compiler: no op leaves a choice (the
// order of operations is that of the IR, nothing is contracted), and functions
// are those of Device/cutback_math.cuh. Rare functions of single precision go
// through double precision, whose error the rounding hides.

#include "ScalarText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstdio>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

std::string cuda::typeText(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  if (type.isIndex() || type.isInteger(64))
    return "long long";
  if (type.isInteger(32))
    return "int";
  if (type.isInteger(16))
    return "short";
  if (type.isInteger(8))
    return "signed char";
  if (type.isInteger(1))
    return "bool";
  return "";
}

bool cuda::isHalf(Type type) { return type.isBF16() || type.isF16(); }

std::string cuda::roundedText(Type type, const std::string &single) {
  if (!isHalf(type))
    return single;
  return (type.isBF16() ? "toBf16(" : "toF16(") + single + ")";
}

static std::string floatLiteral(Type type, const APFloat &given) {
  APFloat value = given;
  bool isInexact = false;
  bool isDouble = type.isF64();
  value.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
                APFloat::rmNearestTiesToEven, &isInexact);
  if (!value.isFinite()) {
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &isInexact);
    std::string text = "__int_as_float(int(0x" +
                       llvm::utohexstr(value.bitcastToAPInt().getZExtValue()) +
                       "u))";
    return isDouble ? "double(" + text + ")" : text;
  }
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, isDouble ? "%.17g" : "%.9g",
                value.convertToDouble());
  std::string text = buffer;
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return isDouble ? text : text + "f";
}

std::string cuda::literal(Type type, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    std::string text = floatLiteral(type, number.getValue());
    return roundedText(type, text);
  }
  int64_t number = cast<IntegerAttr>(value).getValue().getSExtValue();
  if (type.isInteger(1))
    return number ? "true" : "false";
  if (type.isIndex() || !type.isInteger(64))
    return std::to_string(number);
  return number == INT64_MIN ? "(long long)0x8000000000000000"
                             : std::to_string(number) + "ll";
}

std::string cuda::identityText(kernel::Combine combine, Type type) {
  using kernel::Combine;
  auto number = [&](double value) {
    return literal(type,
                   FloatAttr::get(Float64Type::get(type.getContext()), value));
  };
  bool isFloat = isa<FloatType>(type);
  unsigned width = isFloat ? 0 : type.getIntOrFloatBitWidth();
  auto integer = [&](const APInt &value) {
    return literal(type, IntegerAttr::get(type, value));
  };
  switch (combine) {
  case Combine::Mul:
    return isFloat ? number(1) : integer(APInt(width, 1));
  case Combine::Max:
    return isFloat ? number(-std::numeric_limits<double>::infinity())
                   : integer(APInt::getSignedMinValue(width));
  case Combine::Min:
    return isFloat ? number(std::numeric_limits<double>::infinity())
                   : integer(APInt::getSignedMaxValue(width));
  case Combine::MinUnsigned:
  case Combine::And:
    return integer(APInt::getAllOnes(width));
  default:
    return isFloat ? number(0) : integer(APInt(width, 0));
  }
}

const char *cuda::combineText(kernel::Combine combine) {
  using kernel::Combine;
  switch (combine) {
  case Combine::Add:
    return "Sum()";
  case Combine::Mul:
    return "Product()";
  case Combine::Max:
    return "Max()";
  case Combine::Min:
    return "Min()";
  case Combine::MaxUnsigned:
    return "MaxUnsigned()";
  case Combine::MinUnsigned:
    return "MinUnsigned()";
  case Combine::And:
    return "And()";
  case Combine::Or:
    return "Or()";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

std::string call(StringRef function, const std::string &x) {
  return (function + "(" + x + ")").str();
}

std::string unsignedText(Type type) {
  if (type.isInteger(32))
    return "unsigned";
  if (type.isInteger(16))
    return "unsigned short";
  return type.isInteger(8) ? "unsigned char" : "unsigned long long";
}

class Printer {
public:
  Printer(Operation *op, ArrayRef<Text> given)
      : op(op), type(op->getResult(0).getType()) {
    // What is computed with, of types of 16 bits, is their value.
    for (auto [text, value] : llvm::zip_equal(given, op->getOperands()))
      operands.push_back(
          isHalf(value.getType()) ? Text{call("toFloat", text.text)} : text);
    raw = given;
  }

  std::optional<Text> run() {
    std::optional<Text> found = arith();
    return found ? found : math();
  }

private:
  std::string x(unsigned i = 0) const { return operands[i].operand(); }
  bool isDouble() const { return type.isF64(); }

  /// A floating-point result, rounded to its type.
  Text rounded(const std::string &text, bool isAtom) const {
    if (isHalf(type))
      return {roundedText(type, text)};
    return {text, isAtom};
  }
  Text binary(const char *sign) const {
    return isa<FloatType>(type) ? rounded(x(0) + sign + x(1), false)
                                : integer(x(0) + sign + x(1), false);
  }
  /// C++ computes with `int` at least.
  Text integer(const std::string &text, bool isAtom) const {
    if (type.isIndex() || type.getIntOrFloatBitWidth() >= 32)
      return {text, isAtom};
    if (type.isInteger(1))
      return {"((" + text + ") & 1) != 0", false};
    return {"(" + typeText(type) + ")(" + text + ")"};
  }
  Text function(const std::string &name) const {
    return rounded(call(name, operands[0].text), true);
  }
  /// "floorf", "floor"
  Text ofLibrary(const std::string &name) const {
    return function(isDouble() ? name : name + "f");
  }
  /// A function of the toolkit, in double precision.
  Text inDouble(const std::string &name) const {
    std::string list;
    for (const Text &operand : operands)
      list += (list.empty() ? "double(" : ", double(") + operand.text + ")";
    std::string text = call(name, list);
    return isDouble() ? Text{text} : rounded("float(" + text + ")", true);
  }
  Text asUnsigned(const char *sign) const {
    Type operand = op->getOperand(0).getType();
    if (operand.isInteger(1))
      return {"int(" + x(0) + ")" + sign + "int(" + x(1) + ")", false};
    std::string cast = unsignedText(operand);
    return {"(" + cast + ")" + x(0) + sign + "(" + cast + ")" + x(1), false};
  }

  Text compare(arith::CmpFPredicate predicate) const {
    using P = arith::CmpFPredicate;
    std::string a = x(0), b = x(1);
    auto is = [&](const char *sign) { return a + sign + b; };
    auto isNot = [&](const char *sign) {
      return Text{"!(" + a + sign + b + ")"};
    };
    switch (predicate) {
    case P::AlwaysFalse:
      return {"false"};
    case P::AlwaysTrue:
      return {"true"};
    case P::OEQ:
      return {is(" == "), false};
    case P::OGT:
      return {is(" > "), false};
    case P::OGE:
      return {is(" >= "), false};
    case P::OLT:
      return {is(" < "), false};
    case P::OLE:
      return {is(" <= "), false};
    case P::UNE:
      return {is(" != "), false};
    case P::ONE:
      return {is(" < ") + " || " + is(" > "), false};
    case P::UEQ:
      return {"!(" + is(" < ") + " || " + is(" > ") + ")"};
    case P::UGT:
      return isNot(" <= ");
    case P::UGE:
      return isNot(" < ");
    case P::ULT:
      return isNot(" >= ");
    case P::ULE:
      return isNot(" > ");
    case P::ORD:
      return {a + " == " + a + " && " + b + " == " + b, false};
    case P::UNO:
      return {a + " != " + a + " || " + b + " != " + b, false};
    }
    return {"false"};
  }

  std::optional<Text> compare(arith::CmpIPredicate predicate) const {
    using P = arith::CmpIPredicate;
    bool isBool = op->getOperand(0).getType().isInteger(1);
    auto is = [&](const char *sign) -> std::optional<Text> {
      // With a sign, true is -1.
      bool isSigned = isBool && sign[1] != '=' && sign[1] != '!';
      return isSigned
                 ? Text{"int(" + x(1) + ")" + sign + "int(" + x(0) + ")", false}
                 : Text{x(0) + sign + x(1), false};
    };
    switch (predicate) {
    case P::eq:
      return is(" == ");
    case P::ne:
      return is(" != ");
    case P::slt:
      return is(" < ");
    case P::sle:
      return is(" <= ");
    case P::sgt:
      return is(" > ");
    case P::sge:
      return is(" >= ");
    case P::ult:
      return asUnsigned(" < ");
    case P::ule:
      return asUnsigned(" <= ");
    case P::ugt:
      return asUnsigned(" > ");
    case P::uge:
      return asUnsigned(" >= ");
    }
    return std::nullopt;
  }

  /// From an integer: as a number with or without sign.
  std::string integerValue(bool isSigned) const {
    Type from = op->getOperand(0).getType();
    if (from.isInteger(1))
      return isSigned ? "-int(" + x() + ")" : "int(" + x() + ")";
    return isSigned || from.isIndex() ? operands[0].text
                                      : "(" + unsignedText(from) + ")" + x();
  }
  Text converted(const std::string &from) const {
    return {"(" + typeText(type) + ")(" + from + ")"};
  }

  std::optional<Text> arith() const {
    using namespace mlir::arith;
    using Result = std::optional<Text>;
    bool isBool = type.isInteger(1); // with a sign, true is -1
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](ConstantOp constant) -> Result {
          std::string text = literal(type, constant.getValue());
          return Text{text, text[0] != '-' && text[0] != '('};
        })
        .Case([&](SelectOp) -> Result {
          return Text{x(0) + " ? " + raw[1].operand() + " : " +
                          raw[2].operand(),
                      false};
        })
        .Case([&](CmpFOp compared) { return compare(compared.getPredicate()); })
        .Case([&](CmpIOp compared) { return compare(compared.getPredicate()); })
        .Case<AddFOp, AddIOp>([&](auto) { return binary(" + "); })
        .Case<SubFOp, SubIOp>([&](auto) { return binary(" - "); })
        .Case<MulFOp, MulIOp>([&](auto) { return binary(" * "); })
        .Case([&](DivFOp) { return binary(" / "); })
        .Case([&](RemFOp) -> Result {
          std::string list = operands[0].text + ", " + operands[1].text;
          return rounded(call(isDouble() ? "fmod" : "fmodf", list), true);
        })
        .Case([&](NegFOp) { return rounded("-" + x(), false); })
        .Case([&](MaximumFOp) { return pair("maximumOf"); })
        .Case([&](MinimumFOp) { return pair("minimumOf"); })
        .Case([&](MaxNumFOp) { return pair("maximumNumber"); })
        .Case([&](MinNumFOp) { return pair("minimumNumber"); })
        .Case([&](MaxSIOp) { return isBool ? binary(" & ") : pair("Max()"); })
        .Case([&](MinSIOp) { return isBool ? binary(" | ") : pair("Min()"); })
        .Case([&](MaxUIOp) { return pair("MaxUnsigned()"); })
        .Case([&](MinUIOp) { return pair("MinUnsigned()"); })
        .Case([&](DivSIOp) { return pair("divide"); })
        .Case([&](RemSIOp) { return pair("remainderOf"); })
        .Case([&](FloorDivSIOp) { return pair("floorDivide"); })
        .Case([&](CeilDivSIOp) { return pair("ceilDivide"); })
        .Case([&](DivUIOp) { return naturals(" / ", "divideNatural"); })
        .Case([&](RemUIOp) { return naturals(" % ", "remainderNatural"); })
        .Case([&](AndIOp) { return binary(" & "); })
        .Case([&](OrIOp) { return binary(" | "); })
        .Case([&](XOrIOp) { return binary(" ^ "); })
        .Case(
            [&](ShLIOp) { return isBool ? binary(" > ") : pair("shiftLeft"); })
        .Case([&](ShRSIOp) { return pair("shiftRight"); })
        .Case([&](ShRUIOp) { return pair("shiftRightNatural"); })
        .Default([&](Operation *) { return conversion(); });
  }

  /// From one type to another.
  std::optional<Text> conversion() const {
    using namespace mlir::arith;
    using Result = std::optional<Text>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](ExtFOp) -> Result {
          return Text{type.isF64() ? call("double", operands[0].text)
                                   : operands[0].text,
                      type.isF64() || operands[0].isAtom};
        })
        .Case([&](TruncFOp) -> Result {
          bool isTwice = isHalf(type) && op->getOperand(0).getType().isF64();
          return Text{roundedText(
              type, call(isTwice ? "roundToOdd" : "float", operands[0].text))};
        })
        .Case<ExtSIOp>([&](auto) { return converted(integerValue(true)); })
        .Case<ExtUIOp>([&](auto) { return converted(integerValue(false)); })
        .Case<IndexCastOp>([&](auto) { return truncated(true); })
        .Case<IndexCastUIOp>([&](auto) { return truncated(false); })
        .Case([&](TruncIOp) { return truncated(true); })
        .Case([&](SIToFPOp) { return fromInteger(true); })
        .Case([&](UIToFPOp) { return fromInteger(false); })
        .Case([&](FPToSIOp) { return toInteger("toInteger"); })
        .Case([&](FPToUIOp) { return toInteger("toNatural"); })
        .Default([](Operation *) { return std::nullopt; });
  }
  /// To fewer bits, or between an index and an integer.
  Text truncated(bool isSigned) const {
    return type.isInteger(1) ? Text{"(" + x() + " & 1) != 0", false}
                             : converted(integerValue(isSigned));
  }
  Text toInteger(const char *name) const {
    std::string text = call(name, operands[0].text);
    if (type.isInteger(1))
      return integer(text, true);
    return type.isInteger(64) ? Text{text} : converted(text);
  }

  Text pair(const std::string &name) const {
    // A literal may be of another width than what it meets.
    std::string cast =
        type.isIntOrIndex() ? "<" + typeText(type) + ">" : std::string();
    if (StringRef(name).ends_with(")"))
      cast = "";
    std::string text =
        name + cast + "(" + operands[0].text + ", " + operands[1].text + ")";
    return isa<FloatType>(type) ? rounded(text, true) : Text{text};
  }
  Text naturals(const char *sign, const char *name) const {
    if (!matchPattern(op->getOperand(1), m_NonZero()))
      return pair(name);
    return type.isIndex() ? binary(sign) : converted(asUnsigned(sign).text);
  }
  Text fromInteger(bool isSigned) const {
    std::string number = integerValue(isSigned);
    return rounded(call(isDouble() ? "double" : "float", number), true);
  }

  std::optional<Text> math() const {
    using namespace mlir::math;
    using Result = std::optional<Text>;
    auto own = [&](const char *name) -> Result { return function(name); };
    auto rare = [&](const char *name) -> Result { return inDouble(name); };
    auto exact = [&](const char *name) -> Result { return ofLibrary(name); };
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](ExpOp) { return own("expOf"); })
        .Case([&](LogOp) { return own("logOf"); })
        .Case([&](TanhOp) { return own("tanhOf"); })
        .Case([&](ErfOp) { return own("erfOf"); })
        .Case([&](SinOp) { return own("sinOf"); })
        .Case([&](CosOp) { return own("cosOf"); })
        .Case([&](SqrtOp) { return own("rootOf"); })
        .Case([&](RsqrtOp) -> Result {
          return rounded((isDouble() ? "1.0 / " : "1.0f / ") +
                             call("rootOf", operands[0].text),
                         false);
        })
        .Case([&](Exp2Op) { return rare("exp2"); })
        .Case([&](ExpM1Op) { return rare("expm1"); })
        .Case([&](Log2Op) { return rare("log2"); })
        .Case([&](Log10Op) { return rare("log10"); })
        .Case([&](Log1pOp) { return rare("log1p"); })
        .Case([&](CbrtOp) { return rare("cbrt"); })
        .Case([&](TanOp) { return rare("tan"); })
        .Case([&](AsinOp) { return rare("asin"); })
        .Case([&](AcosOp) { return rare("acos"); })
        .Case([&](AtanOp) { return rare("atan"); })
        .Case([&](SinhOp) { return rare("sinh"); })
        .Case([&](CoshOp) { return rare("cosh"); })
        .Case([&](AsinhOp) { return rare("asinh"); })
        .Case([&](AcoshOp) { return rare("acosh"); })
        .Case([&](AtanhOp) { return rare("atanh"); })
        .Case([&](ErfcOp) { return rare("erfc"); })
        .Case([&](Atan2Op) { return rare("atan2"); })
        .Case<PowFOp, FPowIOp>([&](auto) { return rare("pow"); })
        .Case([&](FmaOp) -> Result {
          return rounded(call(isDouble() ? "fma" : "fmaf",
                              operands[0].text + ", " + operands[1].text +
                                  ", " + operands[2].text),
                         true);
        })
        .Case([&](IPowIOp) -> Result {
          return type.isInteger(1) ? Text{"true"} : pair("power");
        })
        .Case([&](FloorOp) { return exact("floor"); })
        .Case([&](CeilOp) { return exact("ceil"); })
        .Case([&](RoundOp) { return exact("round"); })
        .Case([&](RoundEvenOp) { return exact("rint"); })
        .Case([&](TruncOp) { return exact("trunc"); })
        .Case([&](AbsFOp) { return exact("fabs"); })
        .Case([&](CopySignOp) {
          return pair(isDouble() ? "copysign" : "copysignf");
        })
        .Case([&](AbsIOp) -> Result {
          return Text{x() + " < 0 ? 0 - " + x() + " : " + x(), false};
        })
        .Default([&](Operation *) { return kindOf(); });
  }

  /// Whether a number is none, or infinite.
  std::optional<Text> kindOf() const {
    using namespace mlir::math;
    using Result = std::optional<Text>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case(
            [&](IsNaNOp) -> Result { return Text{x() + " != " + x(), false}; })
        .Case([&](IsFiniteOp) -> Result {
          return Text{x() + " - " + x() + " == 0", false};
        })
        .Case([&](IsInfOp) -> Result {
          return Text{x() + " == " + x() + " && " + x() + " - " + x() + " != 0",
                      false};
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  Operation *op;
  Type type;
  SmallVector<Text, 3> operands;
  ArrayRef<Text> raw;
};

} // namespace

std::optional<Text> cuda::scalarText(Operation *op, ArrayRef<Text> operands) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  return Printer(op, operands).run();
}
