// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of exported nodes become the skeletons that calls keep
// (CallArgs.h). An argument is an object of one member that says its kind:
//
//   {"as_tensor": {"name": "x"}}            an operand
//   {"as_sym_ints": [{"as_name": "s"}, {"as_int": 4}]}
//   {"as_ints": [2, 2]}  {"as_scalar_type": 7}  {"as_none": true}
//
// What holds no operand is a function of its text, so it is read once and then
// found by its text: a program has many equal shapes and flags.

#include "NodeArguments.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

NodeArguments::NodeArguments(Fields &fields, Types &types)
    : fields(fields), types(types), builder(fields.context),
      operandAttr(joint::OperandAttr::get(fields.context)),
      noneAttr(joint::NoneAttr::get(fields.context)) {}

NodeArguments::Result NodeArguments::unknown(JsonValue at, StringRef kind) {
  return fields.fail(
      at, "an argument of kind " + fx::quoted(kind) + " is not read", kNewer);
}

FailureOr<Value> NodeArguments::value(JsonValue at, StringRef name,
                                      const Frame &in) {
  std::optional<Value> found = in.find(name);
  if (!found)
    return fields.fail(at, fx::quoted(name) + " is not defined before its use",
                       kDamaged);
  if (*found && isa<NoneType>(found->getType()))
    return Value();
  return *found;
}

NodeArguments::Result NodeArguments::use(JsonValue at, JsonValue name,
                                         fx::CallArguments &args) {
  if (!name.isString())
    return fields.fail(at,
                       Twine("expected the name of a value, found ") +
                           describe(name.kind()),
                       kDamaged);
  FailureOr<Value> found = value(name, fields.text(name), *frame);
  if (failed(found))
    return failure();
  if (!*found)
    return noneAttr;
  args.operands.push_back(*found);
  names.push_back(fields.text(name));
  return operandAttr;
}

NodeArguments::Result NodeArguments::tensor(JsonValue value,
                                            fx::CallArguments &args) {
  if (JsonValue name = value.find("name"))
    return use(value, name, args);
  FailureOr<Fields::Variant> variant = fields.variant(value);
  if (failed(variant))
    return failure();
  if (variant->kind == "as_none")
    return noneAttr;
  if (variant->kind == "as_tensor")
    return use(value, variant->value.find("name"), args);
  return unknown(value, variant->kind);
}

NodeArguments::Result NodeArguments::scalar(JsonValue value,
                                            fx::CallArguments &args) {
  FailureOr<Fields::Variant> variant = fields.variant(value);
  if (failed(variant))
    return failure();
  if (variant->kind == "as_name")
    return use(value, variant->value, args);
  if (variant->kind == "as_int" || variant->kind == "as_float" ||
      variant->kind == "as_bool")
    return literal(variant->kind, variant->value);
  return unknown(value, variant->kind);
}

template <typename Read>
NodeArguments::Result NodeArguments::entries(JsonValue value, Read &&read) {
  if (!value.isArray())
    return fields.fail(
        value, Twine("expected a list, found ") + describe(value.kind()),
        kDamaged);
  SmallVector<Attribute> attrs;
  for (JsonValue entry : value.children()) {
    Result attr = read(entry);
    if (failed(attr))
      return failure();
    attrs.push_back(*attr);
  }
  return Attribute(builder.getArrayAttr(attrs));
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

static StringRef memoryFormat(int64_t number) {
  static constexpr StringRef kNames[] = {"", "contiguous_format",
                                         "channels_last", "channels_last_3d",
                                         "preserve_format"};
  return number > 0 && number < static_cast<int64_t>(std::size(kNames))
             ? kNames[number]
             : StringRef();
}

static StringRef layoutName(int64_t number) {
  static constexpr StringRef kNames[] = {
      "",           "sparse_coo", "sparse_csr", "sparse_csc",
      "sparse_bsr", "sparse_bsc", "_mkldnn",    "strided"};
  return number > 0 && number < static_cast<int64_t>(std::size(kNames))
             ? kNames[number]
             : StringRef();
}

NodeArguments::Result NodeArguments::literal(StringRef kind, JsonValue value) {
  auto wrong = [&]() -> Result {
    return fields.fail(value,
                       fx::quoted(kind) + " cannot be " +
                           describe(value.kind()) + " " +
                           ref(value.raw()).take_front(40),
                       kDamaged);
  };
  auto word = [&](StringRef text) -> Result {
    return text.empty() ? wrong() : Attribute(builder.getStringAttr(text));
  };
  if (kind == "as_none")
    return noneAttr;
  if (kind == "as_int") {
    std::optional<int64_t> number = value.asInt();
    return number ? Attribute(builder.getI64IntegerAttr(*number)) : wrong();
  }
  if (kind == "as_float") {
    std::optional<double> number = value.asDouble();
    return number ? Attribute(builder.getF64FloatAttr(*number)) : wrong();
  }
  if (kind == "as_bool")
    return value.isBool()
               ? Attribute(builder.getBoolAttr(value.kind() == JsonKind::True))
               : wrong();
  if (kind == "as_string" || kind == "as_operator")
    return value.isString()
               ? Attribute(builder.getStringAttr(fields.text(value)))
               : wrong();
  if (kind == "as_scalar_type") {
    Type type = types.elementType(value);
    return type ? Attribute(TypeAttr::get(type)) : wrong();
  }
  if (kind == "as_memory_format")
    return word(memoryFormat(value.asInt().value_or(0)));
  if (kind == "as_layout")
    return word(layoutName(value.asInt().value_or(0)));
  if (kind == "as_device") {
    JsonValue type = value.find("type"), index = value.find("index");
    if (!type.isString())
      return wrong();
    std::optional<int64_t> number = index.asInt();
    std::string text = fields.text(type).str();
    return word(number ? text + ":" + std::to_string(*number) : text);
  }
  return unknown(value, kind);
}

/// Lists of literals: "as_ints" is a list of what "as_int" is.
NodeArguments::Result NodeArguments::list(StringRef kind, JsonValue value) {
  StringRef entryKind = llvm::StringSwitch<StringRef>(kind)
                            .Case("as_ints", "as_int")
                            .Case("as_floats", "as_float")
                            .Case("as_bools", "as_bool")
                            .Case("as_strings", "as_string")
                            .Case("as_int_lists", "as_ints")
                            .Case("as_float_lists", "as_floats")
                            .Default("");
  if (entryKind.empty())
    return literal(kind, value);
  return entries(value,
                 [&](JsonValue entry) { return list(entryKind, entry); });
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// {"real": 0.0, "imag": 1.0}: an operand, as no attribute holds it.
NodeArguments::Result NodeArguments::complexNumber(JsonValue value,
                                                   fx::CallArguments &args) {
  std::optional<double> real = value.find("real").asDouble();
  std::optional<double> imaginary = value.find("imag").asDouble();
  if (!real || !imaginary)
    return fields.fail(
        value, "a complex number has the members 'real' and 'imag'", kDamaged);
  Value number = makeComplex(*real, *imaginary);
  if (!number)
    return failure();
  args.operands.push_back(number);
  names.emplace_back();
  return operandAttr;
}

/// {"name": …, "graph": …}: who reads the call reads the graph.
NodeArguments::Result NodeArguments::graph(JsonValue value) {
  FailureOr<StringRef> name = fields.text(value, "name");
  if (failed(name))
    return failure();
  return Attribute(FlatSymbolRefAttr::get(fields.context, *name));
}

NodeArguments::Result NodeArguments::argument(JsonValue arg,
                                              fx::CallArguments &args) {
  // Most arguments are one tensor.
  FailureOr<Fields::Variant> variant = fields.variant(arg);
  if (failed(variant))
    return failure();
  auto [kind, value] = *variant;
  if (kind == "as_tensor" || kind == "as_optional_tensor")
    return tensor(value, args);
  if (kind == "as_tensors" || kind == "as_optional_tensors")
    return entries(value, [&](JsonValue entry) { return tensor(entry, args); });
  if (kind == "as_nested_tensors")
    return entries(value, [&](JsonValue inner) {
      return entries(inner,
                     [&](JsonValue entry) { return tensor(entry, args); });
    });
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool")
    return scalar(value, args);
  if (kind == "as_sym_ints" || kind == "as_sym_floats" ||
      kind == "as_sym_bools")
    return entries(value, [&](JsonValue entry) { return scalar(entry, args); });
  if (kind == "as_complex")
    return complexNumber(value, args);
  if (kind == "as_graph")
    return graph(value);
  auto [it, isNew] = literals.try_emplace(ref(arg.raw()));
  if (!isNew)
    return it->second;
  Result attr = list(kind, value);
  if (failed(attr)) {
    literals.erase(ref(arg.raw()));
    return failure();
  }
  return literals[ref(arg.raw())] = *attr;
}

LogicalResult NodeArguments::read(JsonValue inputs, const aten::Schema *schema,
                                  const Frame &in, fx::CallArguments &args,
                                  unsigned first) {
  // PyTorch's number for an argument that is given by its name.
  constexpr int64_t kKeyword = 2;
  args.clear();
  names.clear();
  frame = &in;
  unsigned number = 0;
  for (JsonValue input : inputs.children()) {
    if (first > 0) {
      --first;
      continue;
    }
    FailureOr<JsonValue> arg = fields.get(input, "arg", JsonKind::Object);
    if (failed(arg))
      return failure();
    Result attr = argument(*arg, args);
    if (failed(attr))
      return failure();
    StringRef name = ref(input.find("name").raw());
    bool isKeyword = input.find("kind").asInt() == kKeyword;
    if (schema && schema->find(name) < 0 && !isKeyword &&
        number < schema->params.size())
      name = schema->params[number].name; // a parameter was renamed
    args.values.push_back(*attr);
    args.positions.push_back(arg->raw().begin());
    // By name throughout, but in calls that no schema orders.
    if (schema || isKeyword || !args.keywords.empty())
      args.keywords.push_back(name);
    ++number;
  }
  return success();
}
