// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly and first checks of the ops that keep a call by its name.
//
// Arguments that have a keyword stand last, and the keywords have a list of
// their own. The operands stand in the order of their places among the
// arguments, so that the printed call names each once.

#include "NamedCall.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback::joint;

ParseResult cutback::joint::parseNamedCall(OpAsmParser &parser,
                                           OperationState &state) {
  SmallVector<ParsedArg> args;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  StringAttr callee;
  if (parser.parseAttribute(callee, "callee", state.attributes) ||
      parseCallArgs(parser, args, operands))
    return failure();
  SmallVector<Attribute> values;
  SmallVector<StringRef> keywords;
  for (ParsedArg &arg : args) {
    values.push_back(arg.value);
    if (!arg.keyword.empty())
      keywords.push_back(arg.keyword);
  }
  Builder &builder = parser.getBuilder();
  state.addAttribute("args", builder.getArrayAttr(values));
  if (!keywords.empty())
    state.addAttribute("keywords", builder.getStrArrayAttr(keywords));
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parseCallTypes(parser, state, operands))
    return failure();
  parseResultNames(parser, state);
  return success();
}

void cutback::joint::printNamedCall(OpAsmPrinter &p, Operation *op,
                                    StringAttr callee, ArrayAttr args,
                                    ArrayAttr keywords) {
  p << " ";
  p.printAttribute(callee);
  unsigned numPositional = args.size() - (keywords ? keywords.size() : 0);
  printCallArgs(
      p, op->getOperands(), args,
      [&](unsigned i) {
        return cast<StringAttr>(keywords[i - numPositional]).getValue();
      },
      numPositional, [](unsigned) { return false; });
  p.printOptionalAttrDict(op->getAttrs(),
                          {"callee", "args", "keywords", "names"});
  printCallTypes(p, op);
}

LogicalResult cutback::joint::verifyNamedCall(Operation *op, ArrayAttr args,
                                              ArrayAttr keywords) {
  if (countOperands(args) != op->getNumOperands())
    return op->emitOpError("has ")
           << op->getNumOperands() << " operands, its argument "
           << "list asks for " << countOperands(args);
  if (keywords && keywords.size() > args.size())
    return op->emitOpError("has more keywords than arguments");
  return success();
}
