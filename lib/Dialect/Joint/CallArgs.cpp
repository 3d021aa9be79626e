// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Printing and parsing of calls, shared by `joint.opaque` and all ops of
// dialect `aten`. The text is what PyTorch users know:
//
//   %y = aten.convolution(%x, %w, none, [1, 1], [0, 0]) : (...) -> ...
//
// A list is an array attribute; where it holds SSA values or None, its place
// in the skeleton is taken by `#joint.operand` and `#joint.none`. The text is
// walked once; nothing is quadratic in the number of operands.

#include "cutback/Dialect/Joint/CallArgs.h"

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Replay.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cutback::joint;

unsigned cutback::joint::countOperands(ArrayAttr args) {
  unsigned count = 0;
  for (Attribute a : args) {
    if (isa<OperandAttr>(a))
      ++count;
    else if (auto list = dyn_cast<ArrayAttr>(a))
      count += countOperands(list);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Infinities by name, as masks are full of them. A NaN other than the usual
/// one keeps its bits: hexadecimal, which needs the type.
static void printNumber(OpAsmPrinter &p, FloatAttr number) {
  const APFloat &value = number.getValue();
  if (value.isInfinity())
    p << (value.isNegative() ? "-inf" : "inf");
  else if (value.bitwiseIsEqual(APFloat::getNaN(value.getSemantics())))
    p << "nan";
  else if (value.isNaN())
    p.printAttribute(number);
  else
    p.printAttributeWithoutType(number);
}

static void printArg(OpAsmPrinter &p, Attribute arg,
                     OperandRange::iterator &operand) {
  if (isa<OperandAttr>(arg)) {
    p.printOperand(*operand++);
  } else if (isa<NoneAttr>(arg)) {
    p << "none";
  } else if (auto list = dyn_cast<ArrayAttr>(arg)) {
    p << "[";
    llvm::interleaveComma(list, p,
                          [&](Attribute a) { printArg(p, a, operand); });
    p << "]";
  } else if (auto integer = dyn_cast<IntegerAttr>(arg);
             integer && integer.getType().isInteger(64)) {
    p << integer.getInt();
  } else if (auto fp = dyn_cast<FloatAttr>(arg); fp && fp.getType().isF64()) {
    printNumber(p, fp);
  } else {
    p.printAttribute(arg);
  }
}

void cutback::joint::printCallArgs(
    OpAsmPrinter &p, OperandRange operands, ArrayAttr args,
    llvm::function_ref<StringRef(unsigned)> keyword, unsigned numPositional,
    llvm::function_ref<bool(unsigned)> isDefault) {
  unsigned end = std::min<unsigned>(numPositional, args.size());
  while (end > 0 && isDefault(end - 1))
    --end;
  OperandRange::iterator operand = operands.begin();
  bool first = true;
  p << "(";
  for (unsigned i = 0; i < args.size(); ++i) {
    bool positional = i < numPositional;
    if (positional ? i >= end : isDefault(i))
      continue;
    if (!first)
      p << ", ";
    first = false;
    if (!positional)
      p << keyword(i) << " = ";
    printArg(p, args[i], operand);
  }
  p << ")";
}

void cutback::joint::printCallTypes(OpAsmPrinter &p, Operation *op) {
  p << " : ";
  p.printFunctionalType(op);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The words that are values.
static constexpr StringLiteral kValueWords[] = {"none", "true", "false", "inf",
                                                "nan"};

static Attribute getWord(Builder builder, StringRef word) {
  Attribute none = NoneAttr::get(builder.getContext());
  return llvm::StringSwitch<Attribute>(word)
      .Case("none", none)
      .Case("true", builder.getBoolAttr(true))
      .Case("false", builder.getBoolAttr(false))
      .Case("inf", builder.getF64FloatAttr(HUGE_VAL))
      .Case("nan", FloatAttr::get(builder.getF64Type(),
                                  APFloat::getNaN(APFloat::IEEEdouble())))
      .Default({});
}

/// Reads one of the words above; empty if there is none.
static StringRef parseOptionalWord(OpAsmParser &parser) {
  for (StringLiteral word : kValueWords)
    if (succeeded(parser.parseOptionalKeyword(word)))
      return word;
  return {};
}

/// What follows a minus.
static ParseResult parseNegative(OpAsmParser &parser, Attribute &arg) {
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    arg = builder.getF64FloatAttr(-HUGE_VAL);
    return success();
  }
  APInt integer;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
  if (isInteger.has_value()) {
    if (*isInteger)
      return failure();
    APInt value = -integer.zextOrTrunc(std::max(128u, integer.getBitWidth()));
    if (!value.isSignedIntN(64))
      return parser.emitError(loc, "integer does not fit 64 bits");
    arg = builder.getI64IntegerAttr(value.getSExtValue());
    return success();
  }
  double number = 0.0;
  if (parser.parseFloat(number))
    return failure();
  arg = builder.getF64FloatAttr(-number);
  return success();
}

static ParseResult
parseArg(OpAsmParser &parser, Attribute &arg,
         SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  MLIRContext *context = parser.getContext();
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
  if (isOperand.has_value()) {
    operands.push_back(operand);
    arg = OperandAttr::get(context);
    return *isOperand;
  }
  if (StringRef word = parseOptionalWord(parser); !word.empty()) {
    arg = getWord(parser.getBuilder(), word);
    return success();
  }
  if (succeeded(parser.parseOptionalMinus()))
    return parseNegative(parser, arg);
  if (succeeded(parser.parseOptionalLSquare())) {
    SmallVector<Attribute> list;
    if (failed(parser.parseOptionalRSquare())) {
      do {
        if (parseArg(parser, list.emplace_back(), operands))
          return failure();
      } while (succeeded(parser.parseOptionalComma()));
      if (parser.parseRSquare())
        return failure();
    }
    arg = ArrayAttr::get(context, list);
    return success();
  }
  return parser.parseAttribute(arg);
}

/// A value, or `keyword = value`.
static ParseResult
parseCallArg(OpAsmParser &parser, ParsedArg &arg,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  // Words and type names are keywords too: what has a `=` behind it names a
  // parameter.
  StringRef word = parseOptionalWord(parser);
  if (!word.empty()) {
    if (succeeded(parser.parseOptionalEqual())) {
      arg.keyword = word;
      return parseArg(parser, arg.value, operands);
    }
    arg.value = getWord(parser.getBuilder(), word);
    return success();
  }
  Type type;
  OptionalParseResult isType = parser.parseOptionalType(type);
  if (isType.has_value()) {
    if (*isType)
      return failure();
    arg.value = TypeAttr::get(type);
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword(&arg.keyword)) &&
      parser.parseEqual())
    return failure();
  return parseArg(parser, arg.value, operands);
}

ParseResult cutback::joint::parseCallArgs(
    OpAsmParser &parser, SmallVectorImpl<ParsedArg> &args,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  do {
    if (parseCallArg(parser, args.emplace_back(), operands))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRParen();
}

ParseResult cutback::joint::parseCallTypes(
    OpAsmParser &parser, OperationState &state,
    ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return failure();
  state.addTypes(type.getResults());
  return parser.resolveOperands(operands, type.getInputs(), loc,
                                state.operands);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void cutback::joint::parseResultNames(OpAsmParser &parser,
                                      OperationState &state) {
  if (state.attributes.get("names"))
    return;
  SmallVector<Attribute> names;
  bool hasNames = false;
  for (unsigned i = 0, e = parser.getNumResults(); i < e; ++i) {
    // A result without a name is printed as a number, or as one more result of
    // the name before it (`%a:2`).
    auto [name, index] = parser.getResultName(i);
    bool isName = index == 0 && !name.empty() &&
                  !isdigit(static_cast<unsigned char>(name.front()));
    hasNames |= isName;
    names.push_back(
        StringAttr::get(parser.getContext(), isName ? name : StringRef()));
  }
  if (hasNames)
    state.addAttribute("names", ArrayAttr::get(parser.getContext(), names));
}

/// The entry of the attribute `names` for a result, null where it has none. Of
/// an op with one result `names` may be the name itself.
static StringAttr nameOfResult(Attribute names, unsigned result) {
  if (auto list = dyn_cast_or_null<ArrayAttr>(names))
    return result < list.size() ? dyn_cast<StringAttr>(list[result])
                                : StringAttr();
  return result == 0 ? dyn_cast_or_null<StringAttr>(names) : StringAttr();
}

/// What a result of `op` is called, of which attribute "names" says `name`: of
/// a copy of a checkpoint region the run is part of it. Few copies are ever
/// asked for their names, so these are made when they are; a text has them
/// whole.
static StringAttr nameInRun(Operation *op, StringAttr name) {
  if (!name || name.empty() || op->getRawDictionaryAttrs().empty())
    return name;
  auto policy = dyn_cast_or_null<PolicyAttr>(
      op->getDiscardableAttr(JointDialect::kPolicy));
  if (!policy || policy.getRun() == 0)
    return name;
  SmallString<64> whole(name.getValue()), suffix(kRunSuffix);
  suffix += std::to_string(policy.getRun());
  if (name.getValue().ends_with(suffix))
    return name;
  whole += suffix;
  return StringAttr::get(name.getContext(), whole);
}

StringAttr cutback::joint::getResultName(OpResult result) {
  Operation *op = result.getOwner();
  return nameInRun(
      op, nameOfResult(op->getAttr("names"), result.getResultNumber()));
}

void cutback::joint::setResultNames(
    Operation *op, Attribute names,
    llvm::function_ref<void(Value, StringRef)> set) {
  for (OpResult result : op->getResults())
    if (StringAttr name =
            nameInRun(op, nameOfResult(names, result.getResultNumber()));
        name && !name.empty())
      set(result, name.getValue());
}

StringAttr cutback::joint::getValueNameAttr(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg)
    return getResultName(cast<OpResult>(value));
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
  return function ? function.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                          JointDialect::kName)
                  : StringAttr();
}

StringRef cutback::joint::getValueName(Value value) {
  StringAttr name = getValueNameAttr(value);
  return name ? name.getValue() : StringRef();
}
