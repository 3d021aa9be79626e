// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly of all ops of dialect `aten`: the call as a user of PyTorch would
// write it, completed to one entry a parameter by the schema. Positional
// arguments take the parameters in order; keyword arguments may name any that
// is still free. What is not given takes its default. An operand given by
// keyword may come in any order in the text, so operands are sorted into
// schema order before they are resolved; the list of types is in schema order
// as well, as the printer writes it.

#include "SchemaDetail.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

Operation *cutback::aten::createCall(OpBuilder &builder, Location loc,
                                     const Schema &schema, ArrayAttr args,
                                     ValueRange operands, TypeRange resultTypes,
                                     ArrayAttr names) {
  OperationState state(loc, schema.op);
  CallOp::build(state, resultTypes, operands, args, names);
  return builder.create(state);
}

void CallOp::build(OperationState &state, TypeRange resultTypes,
                   ValueRange operands, ArrayAttr args, ArrayAttr names) {
  state.addOperands(operands);
  state.addTypes(resultTypes);
  auto &properties = state.getOrAddProperties<CallProperties>();
  properties.name = state.name.getAsOpaquePointer();
  properties.args = args;
  setInherentAttr(properties, "names", names);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Puts the arguments of one call in their places.
struct ArgPlacer {
  OpAsmParser &parser;
  SMLoc loc;
  const Schema &schema;
  SmallVector<Attribute> values;
  /// First operand in the text of each parameter.
  SmallVector<unsigned> firstOperand;

  LogicalResult place(ArrayRef<joint::ParsedArg> args);
  LogicalResult fillDefaults();
  Operands sortOperands(ArrayRef<OpAsmParser::UnresolvedOperand> operands);
};
} // namespace

LogicalResult ArgPlacer::place(ArrayRef<joint::ParsedArg> args) {
  values.assign(schema.params.size(), {});
  firstOperand.assign(schema.params.size(), 0);
  unsigned numPositional = schema.getNumPositional();
  unsigned operand = 0;
  for (auto [i, arg] : llvm::enumerate(args)) {
    int index = i;
    if (!arg.keyword.empty()) {
      index = schema.find(arg.keyword);
      if (index < 0)
        return parser.emitError(loc)
               << "there is no parameter '" << arg.keyword << "'";
    } else if (i >= numPositional) {
      return parser.emitError(loc)
             << "argument " << i << " needs a keyword: only the first "
             << numPositional << " parameters are positional";
    }
    const SchemaParam &param = schema.params[index];
    if (values[index])
      return parser.emitError(loc)
             << "parameter '" << param.name << "' is given twice";
    firstOperand[index] = operand;
    operand += countOperandsIn(arg.value);
    values[index] = canonicalizeArg(param, arg.value);
    if (!values[index])
      return parser.emitError(loc)
             << "value " << arg.value << " does not fit parameter '"
             << param.name << "'";
  }
  return success();
}

LogicalResult ArgPlacer::fillDefaults() {
  for (auto [value, param] : llvm::zip(values, schema.params)) {
    if (!value)
      value = param.defaultValue;
    if (!value)
      return parser.emitError(loc)
             << "parameter '" << param.name << "' is not given";
  }
  return success();
}

Operands
ArgPlacer::sortOperands(ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  Operands sorted;
  for (auto [value, first] : llvm::zip(values, firstOperand))
    llvm::append_range(sorted, operands.slice(first, countOperandsIn(value)));
  return sorted;
}

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc loc = parser.getNameLoc();
  const Schema &schema =
      *SchemaTable::get(parser.getContext()).lookup(state.name);
  SmallVector<joint::ParsedArg> args;
  Operands operands;
  ArgPlacer placer{parser, loc, schema, {}, {}};
  if (joint::parseCallArgs(parser, args, operands) ||
      failed(placer.place(args)) || failed(placer.fillDefaults()) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  operands = placer.sortOperands(operands);
  if (joint::parseCallTypes(parser, state, operands))
    return failure();
  joint::parseResultNames(parser, state);
  auto &properties = state.getOrAddProperties<CallProperties>();
  properties.args = parser.getBuilder().getArrayAttr(placer.values);
  setInherentAttr(properties, "names", state.attributes.erase("names"));
  return success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void CallOp::print(OpAsmPrinter &p) {
  const Schema &schema = getSchema();
  ArrayAttr args = getArgs();
  if (!args || args.size() != schema.params.size()) {
    // Only an op that does not verify.
    p.printGenericOp(getOperation(), /*printOpName=*/false);
    return;
  }
  joint::printCallArgs(
      p, getOperation()->getOperands(), args,
      [&](unsigned i) { return schema.params[i].name; },
      schema.getNumPositional(),
      [&](unsigned i) { return args[i] == schema.params[i].defaultValue; });
  p.printOptionalAttrDict(
      getOperation()->getDiscardableAttrDictionary().getValue());
  joint::printCallTypes(p, getOperation());
}

void CallOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  joint::setResultNames(getOperation(), getNamesAttr(), setName);
}
