// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arguments and operands fit a schema, and the verifier and type
// inference of all ops of dialect `aten`. Constraints C1 to C5 are those of the
// dialect's description; inference sees only calls that fit their schema.
// Linear in the number of arguments.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/KernelTypes.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

/// One element, or the whole of a parameter that is no list.
static Attribute canonicalizeElement(const SchemaParam &param,
                                     Attribute value) {
  if (isa<joint::OperandAttr>(value)) {
    bool takesOperands = param.kind <= ParamKind::Bool;
    return takesOperands ? value : Attribute();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  bool isBool = integer && integer.getType().isInteger(1);
  bool isInt = integer && integer.getType().isInteger(64);
  bool isFloat =
      isa<FloatAttr>(value) && cast<FloatAttr>(value).getType().isF64();
  switch (param.kind) {
  case ParamKind::Tensor:
  case ParamKind::Scalar:
    return isInt || isBool || isFloat ? value : Attribute();
  case ParamKind::Int:
    return isInt ? value : Attribute();
  case ParamKind::Float:
    if (isInt)
      return FloatAttr::get(Float64Type::get(value.getContext()),
                            static_cast<double>(integer.getInt()));
    return isFloat ? value : Attribute();
  case ParamKind::Bool:
    return isBool ? value : Attribute();
  case ParamKind::ScalarType:
    return isa<TypeAttr>(value) ? value : Attribute();
  case ParamKind::Str:
  case ParamKind::Layout:
  case ParamKind::Device:
  case ParamKind::MemoryFormat:
  case ParamKind::Generator:
    return isa<StringAttr>(value) ? value : Attribute();
  }
  return {};
}

Attribute cutback::aten::canonicalizeArg(const SchemaParam &param,
                                         Attribute value) {
  if (isa<joint::NoneAttr>(value))
    return param.isOptional ? value : Attribute();
  if (!param.isList)
    return canonicalizeElement(param, value);
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list) {
    // `int[2] stride` given as one number: it holds for all dimensions.
    Attribute element =
        param.listSize ? canonicalizeElement(param, value) : Attribute();
    if (!element || (isa<joint::OperandAttr>(element) && param.listSize > 1))
      return {};
    return ArrayAttr::get(value.getContext(),
                          SmallVector<Attribute>(param.listSize, element));
  }
  SmallVector<Attribute> elements;
  for (Attribute entry : list) {
    Attribute element = entry;
    if (!isa<joint::NoneAttr>(entry) || !param.elementOptional)
      element = canonicalizeElement(param, entry);
    if (!element)
      return {};
    elements.push_back(element);
  }
  return ArrayAttr::get(value.getContext(), elements);
}

bool cutback::aten::acceptsOperand(const SchemaParam &param, Type type) {
  bool isScalar = type.isIndex() || type.isF64() || type.isInteger(1);
  switch (param.kind) {
  case ParamKind::Tensor:
    return isa<TensorType>(type) || (isScalar && !param.isList);
  case ParamKind::Scalar:
    return isScalar;
  case ParamKind::Int:
    return type.isIndex();
  case ParamKind::Float:
    return type.isF64() || type.isIndex();
  case ParamKind::Bool:
    return type.isInteger(1);
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// C2 for the operands of one argument, from operand `next` on.
static LogicalResult verifyOperandTypes(Operation *op, const SchemaParam &param,
                                        Attribute value, unsigned &next) {
  unsigned count = isa<joint::OperandAttr>(value) ? 1 : 0;
  if (auto list = dyn_cast<ArrayAttr>(value))
    count = joint::countOperands(list);
  for (unsigned end = next + count; next < end; ++next)
    if (Type type = op->getOperand(next).getType();
        !acceptsOperand(param, type))
      return op->emitOpError("operand ")
             << next << " of type " << type << " does not fit parameter '"
             << param.name << "'";
  return success();
}

/// C5. Here and not where the interface would do it, for one message and not
/// two.
static LogicalResult verifyResultTypes(CallOp op) {
  SmallVector<Type> inferred;
  if (failed(inferResultTypes(op.getSchema(), op.getArgs(),
                              op->getOperandTypes(), {}, op.getLoc(),
                              inferred)))
    return failure();
  if (inferred.size() != op->getNumResults())
    return op.emitOpError("has ") << op->getNumResults() << " results, "
                                  << inferred.size() << " are inferred";
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (!CallOp::isCompatibleReturnTypes(
            resultAs(op.getSchema(), i, inferred[i], type), type))
      return op.emitOpError("result ") << i << " has type " << type << ", "
                                       << inferred[i] << " is inferred";
  return success();
}

LogicalResult CallOp::verify() {
  Operation *op = getOperation();
  const Schema &schema = getSchema();
  ArrayAttr args = getArgs();
  if (!args)
    return op->emitOpError("requires attribute 'args'");
  if (args.size() != schema.params.size()) // C1
    return op->emitOpError("has ")
           << args.size() << " arguments, its schema " << schema.params.size();
  for (auto [arg, param] : llvm::zip(args, schema.params)) // C2
    if (canonicalizeArg(param, arg) != arg)
      return op->emitOpError("argument ")
             << arg << " does not fit parameter '" << param.name << "'";
  unsigned numOperands = joint::countOperands(args);
  if (numOperands != op->getNumOperands()) // C3
    return op->emitOpError("has ")
           << op->getNumOperands() << " operands, its argument list asks for "
           << numOperands;
  unsigned next = 0;
  for (auto [arg, param] : llvm::zip(args, schema.params)) // C2
    if (failed(verifyOperandTypes(op, param, arg, next)))
      return failure();
  if (Attribute names = getNamesAttr()) { // C4
    auto list = dyn_cast<ArrayAttr>(names);
    if (size_t size = list ? list.size() : 1; size != op->getNumResults())
      return op->emitOpError("has ")
             << op->getNumResults() << " results and " << size << " names";
  }
  return verifyResultTypes(*this);
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

LogicalResult CallOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties properties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  auto *call = properties ? properties.as<CallProperties *>() : nullptr;
  const Schema *schema =
      call && call->name && call->args
          ? SchemaTable::get(context).lookup(
                OperationName::getFromOpaquePointer(call->name))
          : nullptr;
  if (!schema || call->args.size() != schema->params.size() ||
      joint::countOperands(call->args) != operands.size())
    return emitOptionalError(location,
                             "the call does not have the form of its schema");
  return inferResultTypes(*schema, call->args, operands.getTypes(), {},
                          location, types);
}

LogicalResult CallOp::refineReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  if (!types.empty() && llvm::all_of(types, [](Type type) { return type; }))
    return success();
  types.clear();
  return inferReturnTypes(context, location, operands, attributes, properties,
                          regions, types);
}

bool CallOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange declared) {
  if (inferred.size() != declared.size())
    return false;
  for (auto [a, b] : llvm::zip(inferred, declared)) {
    if (a == b || isa<NoneType>(a) || isa<NoneType>(b))
      continue;
    auto x = dyn_cast<TensorType>(a);
    auto y = dyn_cast<TensorType>(b);
    if (!x || !y || x.getElementType() != y.getElementType() ||
        failed(verifyCompatibleShape(x, y)))
      return false;
  }
  return true;
}
