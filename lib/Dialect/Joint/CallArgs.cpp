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

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

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
    p.printAttributeWithoutType(arg);
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
  if (succeeded(parser.parseOptionalKeyword("none"))) {
    arg = NoneAttr::get(context);
    return success();
  }
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

ParseResult cutback::joint::parseCallArgs(
    OpAsmParser &parser, SmallVectorImpl<ParsedArg> &args,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  // `none`, `true` and type names are keywords too, so a keyword argument is
  // known by the `=` behind it only; words that are values come first.
  static constexpr StringRef kWords[] = {"none", "true", "false", "dense"};
  do {
    ParsedArg arg;
    StringRef word;
    Attribute value;
    if (succeeded(parser.parseOptionalKeyword("none"))) {
      value = NoneAttr::get(parser.getContext());
    } else if (succeeded(parser.parseOptionalKeyword("true"))) {
      value = BoolAttr::get(parser.getContext(), true);
    } else if (succeeded(parser.parseOptionalKeyword("false"))) {
      value = BoolAttr::get(parser.getContext(), false);
    } else {
      Type type;
      OptionalParseResult isType = parser.parseOptionalType(type);
      if (isType.has_value()) {
        if (*isType)
          return failure();
        value = TypeAttr::get(type);
      } else if (succeeded(parser.parseOptionalKeyword(&word, kWords)) ||
                 succeeded(parser.parseOptionalKeyword(&word))) {
        arg.keyword = word;
        if (parser.parseEqual())
          return failure();
      }
    }
    if (!value && parseArg(parser, value, operands))
      return failure();
    arg.value = value;
    args.push_back(arg);
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
  for (unsigned i = 0, e = parser.getNumResults(); i < e; ++i) {
    StringRef name = parser.getResultName(i).first;
    if (name.empty() || isdigit(static_cast<unsigned char>(name.front())))
      return;
    names.push_back(StringAttr::get(parser.getContext(), name));
  }
  if (!names.empty() && names.size() == parser.getNumResults())
    state.addAttribute("names", ArrayAttr::get(parser.getContext(), names));
}

void cutback::joint::setResultNames(
    Operation *op, ArrayAttr names,
    llvm::function_ref<void(Value, StringRef)> set) {
  if (!names)
    return;
  for (auto [result, name] : llvm::zip(op->getResults(), names))
    if (auto text = dyn_cast<StringAttr>(name); text && !text.empty())
      set(result, text.getValue());
}

StringRef cutback::joint::getValueName(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto function =
        dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
    if (!function)
      return {};
    auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                      JointDialect::kName);
    return name ? name.getValue() : StringRef();
  }
  auto result = cast<OpResult>(value);
  auto names = result.getOwner()->getAttrOfType<ArrayAttr>("names");
  if (!names || result.getResultNumber() >= names.size())
    return {};
  auto name = dyn_cast<StringAttr>(names[result.getResultNumber()]);
  return name ? name.getValue() : StringRef();
}
