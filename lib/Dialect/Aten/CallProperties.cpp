// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two properties `args` and `names` of every op of dialect `aten`: as
// attributes by name (`op->getAttr("args")`), as a dictionary (generic form),
// and in bytecode, where they are two attributes each written once. The third
// member of CallProperties, the op's name, is never written: MLIR sets it when
// it makes the op.

#include "cutback/Dialect/Aten/CallOp.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace cutback::aten;

static constexpr StringLiteral kArgs = "args";
static constexpr StringLiteral kNames = "names";

/// `names` must be a string or an array of strings.
static bool isNames(Attribute attr) {
  auto array = dyn_cast<ArrayAttr>(attr);
  return array ? llvm::all_of(array, llvm::IsaPred<StringAttr>)
               : isa<StringAttr>(attr);
}

/// As CallProperties keeps them.
static Attribute keptNames(Attribute attr) {
  auto array = dyn_cast_or_null<ArrayAttr>(attr);
  return array && array.size() == 1 ? array[0] : attr;
}

static LogicalResult verifyArgs(NamedAttrList &attrs,
                                CallOp::EmitError emitError) {
  if (Attribute args = attrs.get(kArgs); args && !isa<ArrayAttr>(args)) {
    emitError() << "property 'args' must be an array, not " << args;
    return failure();
  }
  if (Attribute names = attrs.get(kNames); names && !isNames(names)) {
    emitError()
        << "property 'names' must be a string or an array of strings, not "
        << names;
    return failure();
  }
  return success();
}

ArrayRef<StringRef> CallOp::getAttributeNames() {
  static constexpr StringRef names[] = {kArgs, kNames};
  return names;
}

llvm::hash_code
CallOp::computePropertiesHash(const CallProperties &properties) {
  return llvm::hash_value(properties.args.getAsOpaquePointer());
}

LogicalResult CallOp::setPropertiesFromAttr(CallProperties &properties,
                                            Attribute attr,
                                            EmitError emitError) {
  auto dictionary = dyn_cast<DictionaryAttr>(attr);
  if (!dictionary) {
    emitError() << "expected a dictionary of properties";
    return failure();
  }
  NamedAttrList attrs(dictionary);
  if (failed(verifyArgs(attrs, emitError)))
    return failure();
  for (NamedAttribute named : dictionary)
    setInherentAttr(properties, named.getName(), named.getValue());
  return success();
}

Attribute CallOp::getPropertiesAsAttr(MLIRContext *context,
                                      const CallProperties &properties) {
  NamedAttrList attrs;
  populateInherentAttrs(context, properties, attrs);
  return attrs.empty() ? DictionaryAttr() : attrs.getDictionary(context);
}

std::optional<Attribute>
CallOp::getInherentAttr(MLIRContext *, const CallProperties &properties,
                        StringRef name) {
  if (name == kArgs)
    return properties.args;
  if (name == kNames)
    return properties.names;
  return std::nullopt;
}

void CallOp::setInherentAttr(CallProperties &properties, StringRef name,
                             Attribute value) {
  if (name == kArgs)
    properties.args = dyn_cast_or_null<ArrayAttr>(value);
  else if (name == kNames)
    properties.names = keptNames(value);
}

void CallOp::populateInherentAttrs(MLIRContext *,
                                   const CallProperties &properties,
                                   NamedAttrList &attrs) {
  if (properties.args)
    attrs.append(kArgs, properties.args);
  if (properties.names)
    attrs.append(kNames, properties.names);
}

LogicalResult CallOp::verifyInherentAttrs(OperationName, NamedAttrList &attrs,
                                          EmitError emitError) {
  return verifyArgs(attrs, emitError);
}

LogicalResult CallOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  auto &properties = state.getOrAddProperties<CallProperties>();
  return success(succeeded(reader.readAttribute(properties.args)) &&
                 succeeded(reader.readOptionalAttribute(properties.names)));
}

void CallOp::writeProperties(DialectBytecodeWriter &writer) {
  writer.writeAttribute(getArgs());
  writer.writeOptionalAttribute(getNamesAttr());
}
