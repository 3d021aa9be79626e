// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the schema strings of the ODS files and keeps them as the table that
// importers, the parser, the printer and the verifier look things up in.
//
// A schema is in PyTorch's notation:
//
//   (Tensor(a) self, SymInt[2] stride=[1, 1], *, float? scale=None) ->
//   Tensor(a)
//
// Grammar: type := name ["(" alias ")"] {"?" | "[" [int] "]" [alias]}. A `?`
// before the last `[]` belongs to the elements, one after it to the list.
// Names of results are skipped. Reading is linear; the strings are constants
// of the program, so the table keeps references into them. Results of other
// releases are `index ":" type "[" [int {"," int}] "]"`, with commas between. A
// string that does not read is a mistake in an ODS file: its schema has no
// inference rule then, which a unit test finds.

#include "cutback/Dialect/Aten/Schema.h"

#include "SchemaDetail.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

unsigned Schema::getNumPositional() const {
  unsigned count = 0;
  while (count < params.size() && !params[count].keywordOnly)
    ++count;
  return count;
}

int Schema::find(StringRef name) const {
  for (auto [i, param] : llvm::enumerate(params))
    if (param.name == name)
      return i;
  return -1;
}

namespace {

struct TypeInfo {
  ParamKind kind = ParamKind::Tensor;
  bool isList = false;
  bool isOptional = false;
  bool elementOptional = false;
  bool isWritten = false;
  char aliasSet = 0;
  unsigned listSize = 0;
};

/// A cursor over one schema string.
class Reader {
public:
  Reader(MLIRContext *context, StringRef text) : builder(context), text(text) {}

  LogicalResult read(Schema &schema);
  LogicalResult readOtherReleases(Schema &schema);

private:
  /// StringRef::ltrim makes a set of characters at each call.
  void skipSpace() {
    while (!text.empty() && llvm::isSpace(text.front()))
      text = text.drop_front();
  }
  bool consume(StringRef token) {
    skipSpace();
    return text.consume_front(token);
  }
  StringRef word() {
    skipSpace();
    StringRef result =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    text = text.drop_front(result.size());
    return result;
  }
  LogicalResult readType(TypeInfo &type);
  LogicalResult readAlias(TypeInfo &type);
  LogicalResult readParam(SchemaParam &param);
  LogicalResult readResults(Schema &schema);
  Attribute readDefault(const TypeInfo &type);
  Attribute readScalarDefault(ParamKind kind, StringRef value);

  Builder builder;
  StringRef text;
};

} // namespace

static std::optional<ParamKind> getKind(StringRef word) {
  return llvm::StringSwitch<std::optional<ParamKind>>(word)
      .Case("Tensor", ParamKind::Tensor)
      .Case("Scalar", ParamKind::Scalar)
      .Cases({"int", "SymInt"}, ParamKind::Int)
      .Cases({"float", "SymFloat"}, ParamKind::Float)
      .Cases({"bool", "SymBool"}, ParamKind::Bool)
      .Case("str", ParamKind::Str)
      .Case("ScalarType", ParamKind::ScalarType)
      .Case("Layout", ParamKind::Layout)
      .Case("Device", ParamKind::Device)
      .Case("MemoryFormat", ParamKind::MemoryFormat)
      .Case("Generator", ParamKind::Generator)
      .Default(std::nullopt);
}

/// `(a)`, `(a!)`, `(a -> *)`.
LogicalResult Reader::readAlias(TypeInfo &type) {
  if (!text.consume_front("("))
    return success();
  StringRef inside = text.take_until([](char c) { return c == ')'; });
  if (inside.empty() || inside.size() == text.size())
    return failure();
  type.aliasSet = inside.front();
  type.isWritten = inside.contains('!');
  text = text.drop_front(inside.size() + 1);
  return success();
}

LogicalResult Reader::readType(TypeInfo &type) {
  std::optional<ParamKind> kind = getKind(word());
  if (!kind || failed(readAlias(type)))
    return failure();
  type.kind = *kind;
  while (true) {
    if (text.consume_front("?")) {
      type.isOptional = true;
    } else if (text.consume_front("[")) {
      type.elementOptional = type.isOptional;
      type.isOptional = false;
      type.isList = true;
      if (!text.starts_with("]") && text.consumeInteger(10, type.listSize))
        return failure();
      if (!text.consume_front("]") || failed(readAlias(type)))
        return failure();
    } else {
      return success();
    }
  }
}

Attribute Reader::readScalarDefault(ParamKind kind, StringRef value) {
  double number = 0;
  int64_t integer = 0;
  switch (kind) {
  case ParamKind::Bool:
    if (value == "True" || value == "False")
      return builder.getBoolAttr(value == "True");
    return {};
  case ParamKind::Int:
    return value.getAsInteger(10, integer) ? Attribute()
                                           : builder.getI64IntegerAttr(integer);
  case ParamKind::Scalar:
    if (value == "True" || value == "False")
      return builder.getBoolAttr(value == "True");
    if (!value.getAsInteger(10, integer))
      return builder.getI64IntegerAttr(integer);
    [[fallthrough]];
  case ParamKind::Float:
    return value.getAsDouble(number) ? Attribute()
                                     : builder.getF64FloatAttr(number);
  case ParamKind::Str:
    if (value.size() < 2)
      return {};
    return builder.getStringAttr(value.drop_front().drop_back());
  case ParamKind::ScalarType:
    return value == "long" ? TypeAttr::get(builder.getI64Type()) : Attribute();
  case ParamKind::MemoryFormat:
  case ParamKind::Layout:
  case ParamKind::Device:
    return builder.getStringAttr(value);
  default:
    return {};
  }
}

Attribute Reader::readDefault(const TypeInfo &type) {
  skipSpace();
  auto atom = [&] {
    skipSpace();
    StringRef value = text;
    if (text.starts_with("\"")) {
      value = text.take_front(text.find('"', 1) + 1);
    } else {
      value = text.take_until(
          [](char c) { return c == ',' || c == ')' || c == ']'; });
    }
    text = text.drop_front(value.size());
    return value.rtrim();
  };
  if (!text.starts_with("[")) {
    StringRef value = atom();
    if (value == "None")
      return joint::NoneAttr::get(builder.getContext());
    Attribute attr = readScalarDefault(type.kind, value);
    if (attr && type.isList)
      attr = builder.getArrayAttr(
          SmallVector<Attribute>(std::max(1u, type.listSize), attr));
    return attr;
  }
  text = text.drop_front();
  SmallVector<Attribute> list;
  while (!consume("]")) {
    Attribute attr = readScalarDefault(type.kind, atom());
    if (!attr)
      return {};
    list.push_back(attr);
    consume(",");
  }
  return builder.getArrayAttr(list);
}

LogicalResult Reader::readParam(SchemaParam &param) {
  TypeInfo type;
  if (failed(readType(type)))
    return failure();
  param.name = word();
  param.kind = type.kind;
  param.isList = type.isList;
  param.isOptional = type.isOptional;
  param.elementOptional = type.elementOptional;
  param.isWritten = type.isWritten;
  param.aliasSet = type.aliasSet;
  param.listSize = type.listSize;
  if (param.name.empty())
    return failure();
  if (consume("=")) {
    param.defaultValue = readDefault(type);
    return success(param.defaultValue != nullptr);
  }
  return success();
}

LogicalResult Reader::readResults(Schema &schema) {
  if (!consume("->"))
    return failure();
  bool tuple = consume("(");
  if (tuple && consume(")"))
    return success();
  do {
    TypeInfo type;
    if (failed(readType(type)))
      return failure();
    word();
    schema.results.push_back(
        {type.kind, type.isList, type.isWritten, type.aliasSet});
  } while (consume(","));
  return success(!tuple || consume(")"));
}

LogicalResult Reader::read(Schema &schema) {
  if (!consume("("))
    return failure();
  bool keywordOnly = false;
  while (!consume(")")) {
    if (consume("*")) {
      keywordOnly = true;
    } else {
      SchemaParam param;
      param.keywordOnly = keywordOnly;
      if (failed(readParam(param)))
        return failure();
      schema.params.push_back(param);
    }
    if (!consume(",") && !text.starts_with(")"))
      return failure();
  }
  return readResults(schema);
}

/// "6: i64[], 7: ui64[2]".
LogicalResult Reader::readOtherReleases(Schema &schema) {
  for (skipSpace(); !text.empty(); consume(",")) {
    OtherResult other;
    SmallVector<int64_t> sizes;
    skipSpace();
    if (text.consumeInteger(10, other.result) || !consume(":"))
      return failure();
    StringRef element = word();
    bool isUnsigned = element.consume_front("u");
    unsigned width = 0;
    if (!element.consume_front("i") || element.getAsInteger(10, width) ||
        !consume("["))
      return failure();
    while (!consume("]")) {
      int64_t size = 0;
      if (text.consumeInteger(10, size))
        return failure();
      sizes.push_back(size);
      consume(",");
    }
    other.type = RankedTensorType::get(
        sizes, isUnsigned ? builder.getIntegerType(width, false)
                          : builder.getIntegerType(width));
    schema.otherReleases.push_back(other);
    skipSpace();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// "aten.mul.Tensor" is packet and overload; "operator.add" is a packet.
static void splitName(StringRef torchName, Schema &schema) {
  if (torchName.count('.') < 2) {
    schema.packet = torchName;
    return;
  }
  std::tie(schema.packet, schema.overload) = torchName.rsplit('.');
}

void SchemaTable::Impl::fill(MLIRContext *context) {
  ArrayRef<RegisteredOperationName> names =
      context->getRegisteredOperationsByDialect(
          AtenDialect::getDialectNamespace());
  schemas.reserve(names.size());
  for (RegisteredOperationName name : names) {
    const OpInfo &info = CallModel::get(name)->info;
    Schema schema(name);
    splitName(info.torchName, schema);
    if (succeeded(Reader(context, info.schema).read(schema)) &&
        succeeded(
            Reader(context, info.otherReleases).readOtherReleases(schema)))
      schema.infer = info.infer;
    schemas.push_back(std::move(schema));
  }
  for (const Schema &schema : schemas) {
    CallModel *model = CallModel::get(schema.op);
    model->schema = &schema;
    order.push_back(&schema);
    byTorchName[model->info.torchName] = &schema;
    if (schema.overload == "default")
      byTorchName.try_emplace(schema.packet, &schema);
  }
}

const SchemaTable &SchemaTable::get(MLIRContext *context) {
  return context->getOrLoadDialect<AtenDialect>()->getSchemas();
}

const Schema *SchemaTable::lookup(StringRef torchName) const {
  // Exported programs write the module of `operator` with its real name.
  if (torchName.starts_with("_operator."))
    torchName = torchName.drop_front();
  if (torchName == "torch._sym_sqrt")
    torchName = "torch.sym_sqrt";
  return impl.byTorchName.lookup(torchName);
}

const Schema *SchemaTable::lookup(OperationName op) const {
  CallModel *model = CallModel::get(op);
  return model ? model->schema : nullptr;
}

ArrayRef<const Schema *> SchemaTable::all() const { return impl.order; }
