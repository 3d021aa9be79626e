// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `joint.graph` and its terminator: assembly and verifiers.
//
//   joint.graph @name(%arg: type {attrs}, ...) -> (types) gradients (types)
//       attributes {...} { body }
//   joint.output %a, %b gradients(%c of 0, %d of 2) : types
//
// The check that forward results do not depend on a tangent (C2) is one walk
// over the body with one flag a value: linear.

#include "TextNames.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// joint.graph
//===----------------------------------------------------------------------===//

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType type, int64_t numForwardResults,
                    ArrayRef<DictionaryAttr> argAttrs) {
  Properties &props = state.getOrAddProperties<Properties>();
  props.sym_name = builder.getStringAttr(name);
  props.function_type = TypeAttr::get(type);
  props.num_forward_results = builder.getI64IntegerAttr(numForwardResults);
  SmallVector<Attribute> attrs(argAttrs.begin(), argAttrs.end());
  if (!attrs.empty())
    props.arg_attrs = builder.getArrayAttr(attrs);
  state.addRegion();
}

OutputOp GraphOp::getOutput() {
  return cast<OutputOp>(getBlock().getTerminator());
}

RoleAttr GraphOp::getRole(unsigned arg) {
  return getArgAttrOfType<RoleAttr>(arg, JointDialect::kRole);
}

StringRef GraphOp::getArgName(unsigned arg) {
  auto name = getArgAttrOfType<StringAttr>(arg, JointDialect::kName);
  return name ? name.getValue() : StringRef();
}

void GraphOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  for (BlockArgument arg : region.getArguments())
    if (StringRef name = getArgName(arg.getArgNumber()); !name.empty())
      setName(arg, name);
}

static ParseResult parseTypes(OpAsmParser &parser,
                              SmallVectorImpl<Type> &types) {
  Type type;
  OptionalParseResult first = parser.parseOptionalType(type);
  if (!first.has_value())
    return success();
  if (*first)
    return failure();
  types.push_back(type);
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(types.emplace_back()))
      return failure();
  return success();
}

/// Adds `joint.name` from the SSA name to an argument that has none.
static DictionaryAttr withName(Builder &builder, OpAsmParser::Argument &arg) {
  NamedAttrList attrs(arg.attrs);
  StringRef name = arg.ssaName.name.drop_front();
  if (!attrs.get(JointDialect::kName) &&
      !isdigit(static_cast<unsigned char>(name.front())))
    attrs.append(JointDialect::kName, builder.getStringAttr(name));
  return attrs.getDictionary(builder.getContext());
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Type> results, argTypes;
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren, true,
                               true) ||
      parser.parseArrow() || parser.parseLParen() ||
      parseTypes(parser, results))
    return failure();
  int64_t numForward = results.size();
  if (parser.parseRParen() || parser.parseKeyword("gradients") ||
      parser.parseLParen() || parseTypes(parser, results) ||
      parser.parseRParen() ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SmallVector<Attribute> attrs;
  for (OpAsmParser::Argument &arg : args) {
    argTypes.push_back(arg.type);
    attrs.push_back(withName(builder, arg));
  }
  state.addAttribute("function_type",
                     TypeAttr::get(builder.getFunctionType(argTypes, results)));
  state.addAttribute("num_forward_results",
                     builder.getI64IntegerAttr(numForward));
  if (!attrs.empty())
    state.addAttribute("arg_attrs", builder.getArrayAttr(attrs));
  Region *body = state.addRegion();
  llvm::SMLoc begin = parser.getCurrentLocation();
  if (parser.parseRegion(*body, args))
    return failure();
  if (llvm::hasNItemsOrMore(*body, 2))
    return parser.emitError(begin, "a joint.graph has one block: control flow "
                                   "stands inside of its ops");
  if (!body->empty())
    keepTextNames(
        body->front(),
        StringRef(begin.getPointer(), parser.getCurrentLocation().getPointer() -
                                          begin.getPointer()));
  return success();
}

void GraphOp::print(OpAsmPrinter &p) {
  p << " ";
  p.printSymbolName(getSymName());
  p << "(";
  llvm::interleaveComma(getBody().getArguments(), p, [&](BlockArgument arg) {
    NamedAttrList attrs(getArgAttrDict(arg.getArgNumber()));
    // The SSA name says it, unless the printer had to change it.
    std::string ssa;
    llvm::raw_string_ostream os(ssa);
    p.printOperand(arg, os);
    if (auto name =
            dyn_cast_or_null<StringAttr>(attrs.get(JointDialect::kName));
        name && StringRef(ssa).drop_front() == name.getValue())
      attrs.erase(JointDialect::kName);
    p.printRegionArgument(arg, attrs);
  });
  ArrayRef<Type> results = getResultTypes();
  p << ") -> (";
  llvm::interleaveComma(results.take_front(getNumForwardResults()), p);
  p << ") gradients (";
  llvm::interleaveComma(results.drop_front(getNumForwardResults()), p);
  p << ")";
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"sym_name", "function_type", "num_forward_results", "arg_attrs"});
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Equal types, or tensors that differ in what is known of their sizes.
static bool isCompatible(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a);
  auto right = dyn_cast<RankedTensorType>(b);
  return a == b ||
         (left && right && left.getElementType() == right.getElementType() &&
          succeeded(verifyCompatibleShape(left, right)));
}

/// C1, C3, C5.
static LogicalResult verifyArguments(GraphOp graph) {
  llvm::StringSet<> names;
  llvm::DenseSet<int64_t> tangents;
  for (BlockArgument arg : graph.getBody().getArguments()) {
    unsigned i = arg.getArgNumber();
    RoleAttr role = graph.getRole(i);
    if (!role) { // C1
      InFlightDiagnostic diag = graph.emitOpError("argument ")
                                << i << " has no joint.role";
      diag.attachNote()
          << "say what it is for: {joint.role = #joint.role<input>}, <param "
             "\"NAME\">, <buffer \"NAME\">, <tangent of RESULT>, ...";
      return diag;
    }
    StringRef name = graph.getArgName(i);
    if (!name.empty() && !names.insert(name).second) // C5
      return graph.emitOpError("two arguments are called '") << name << "'";
    if (role.getKind() != RoleKind::Tangent || role.getOf() < 0)
      continue;
    int64_t of = role.getOf(); // C3
    if (of >= static_cast<int64_t>(graph.getNumForwardResults()))
      return graph.emitOpError("argument ")
             << i << " is the tangent of forward result " << of
             << ", and there are " << graph.getNumForwardResults();
    if (!tangents.insert(of).second)
      return graph.emitOpError("forward result ")
             << of << " has two tangents; the second is argument " << i;
    if (!isCompatible(graph.getResultTypes()[of], arg.getType()))
      return graph.emitOpError("argument ")
             << i << " is the tangent of forward result " << of << " of type "
             << graph.getResultTypes()[of] << ", but has type "
             << arg.getType();
  }
  return success();
}

/// C2: one flag a value, in program order.
static LogicalResult verifyForward(GraphOp graph, OutputOp output) {
  llvm::DenseSet<Value> tainted;
  for (BlockArgument arg : graph.getBody().getArguments()) {
    RoleKind kind = graph.getRole(arg.getArgNumber()).getKind();
    if (kind == RoleKind::Tangent || kind == RoleKind::GradSeed)
      tainted.insert(arg);
  }
  if (tainted.empty())
    return success();
  for (Operation &op : graph.getBlock())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return tainted.contains(v); }))
      tainted.insert(op.result_begin(), op.result_end());
  for (auto [i, value] : llvm::enumerate(output.getForwardResults()))
    if (tainted.contains(value))
      return graph.emitOpError("forward result ")
             << i << " ('" << getValueName(value)
             << "') depends on a tangent or on the gradient seed";
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  if (getNumForwardResults() > getResultTypes().size())
    return emitOpError("has ") << getResultTypes().size() << " results, but "
                               << getNumForwardResults() << " forward results";
  if (getBody().getArgumentTypes() != getArgumentTypes())
    return emitOpError("has arguments of other types than its signature");
  if (failed(verifyArguments(*this)))
    return failure();
  auto output = dyn_cast<OutputOp>(getBlock().getTerminator()); // C4
  if (!output)
    return emitOpError("must end with joint.output");
  if (output.getOperandTypes() != TypeRange(getResultTypes()))
    return output.emitOpError("has operands of other types than the results "
                              "of its graph");
  if (output.getNumForwardResults() != getNumForwardResults())
    return output.emitOpError("has ")
           << output.getNumForwardResults() << " forward results, its graph "
           << getNumForwardResults();
  return verifyForward(*this, output);
}

//===----------------------------------------------------------------------===//
// joint.output
//===----------------------------------------------------------------------===//

ParseResult OutputOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<int32_t> of;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("gradients"))) {
    auto gradient = [&]() -> ParseResult {
      return failure(parser.parseOperand(operands.emplace_back()) ||
                     parser.parseKeyword("of") ||
                     parser.parseInteger(of.emplace_back()));
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, gradient))
      return failure();
  }
  state.addAttribute("gradient_of",
                     parser.getBuilder().getDenseI32ArrayAttr(of));
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseOptionalColonTypeList(types))
    return failure();
  return parser.resolveOperands(operands, types, loc, state.operands);
}

void OutputOp::print(OpAsmPrinter &p) {
  if (getNumForwardResults()) {
    p << " ";
    p.printOperands(getForwardResults());
  }
  if (!getGradientOf().empty()) {
    p << " gradients(";
    llvm::interleaveComma(llvm::zip(getGradients(), getGradientOf()), p,
                          [&](auto pair) {
                            p.printOperand(std::get<0>(pair));
                            p << " of " << std::get<1>(pair);
                          });
    p << ")";
  }
  p.printOptionalAttrDict((*this)->getAttrs(), {"gradient_of"});
  if (getNumOperands())
    p << " : " << getOperandTypes();
}

LogicalResult OutputOp::verify() {
  ArrayRef<int32_t> of = getGradientOf();
  if (of.size() > getNumOperands())
    return emitOpError("names more gradients than it has operands");
  auto graph = cast<GraphOp>((*this)->getParentOp());
  int64_t last = -1;
  for (auto [gradient, arg] : llvm::zip(getGradients(), of)) {
    if (arg < 0 || arg >= static_cast<int32_t>(graph.getArgumentTypes().size()))
      return emitOpError("gradient of argument ")
             << arg << ", and there are " << graph.getArgumentTypes().size();
    if (arg <= last) // C2
      return emitOpError("gradients of arguments ")
             << last << " and " << arg
             << " are not in the order of the arguments";
    last = arg;
    if (!isCompatible(gradient.getType(), graph.getArgumentTypes()[arg])) // C1
      return emitOpError("gradient of argument ")
             << arg << " has type " << gradient.getType()
             << ", the argument has type " << graph.getArgumentTypes()[arg];
  }
  return success();
}
