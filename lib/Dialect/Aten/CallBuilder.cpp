// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls as one writes them in PyTorch, turned into full-length argument
// skeletons: (1) place positional and named arguments by the schema, (2) fill
// in defaults, (3) collect operands in the order of the parameters, (4) infer
// the result types, (5) create the op, with names when there is a namer.

#include "cutback/Dialect/Aten/CallBuilder.h"

#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <utility>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

//===----------------------------------------------------------------------===//
// Arg
//===----------------------------------------------------------------------===//

Arg::Arg(Attribute attribute) {
  if (!attribute || isa<joint::NoneAttr>(attribute))
    return;
  if (auto flag = dyn_cast<BoolAttr>(attribute)) {
    kind = Kind::Bool;
    integer = flag.getValue();
  } else if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    kind = Kind::Int;
    integer = number.getInt();
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    kind = Kind::Float;
    real = number.getValueAsDouble();
  } else if (auto entries = dyn_cast<ArrayAttr>(attribute)) {
    kind = Kind::List;
    for (Attribute entry : entries)
      list.emplace_back(entry);
  } else {
    kind = Kind::Attribute;
    this->attribute = attribute;
  }
}

Arg::Arg(ArrayRef<int64_t> numbers) : kind(Kind::List) {
  for (int64_t number : numbers)
    list.emplace_back(number);
}

Arg::Arg(ArrayRef<Value> values) : kind(Kind::List) {
  for (Value value : values)
    list.emplace_back(value);
}

std::optional<int64_t> Arg::getInt() const {
  if (kind != Kind::Int)
    return std::nullopt;
  return integer;
}

std::optional<double> Arg::getNumber() const {
  if (kind == Kind::Float)
    return real;
  if (kind == Kind::Int || kind == Kind::Bool)
    return static_cast<double>(integer);
  return std::nullopt;
}

Attribute Arg::skeleton(MLIRContext *context,
                        SmallVectorImpl<Value> &operands) const {
  Builder builder(context);
  switch (kind) {
  case Kind::None:
    break;
  case Kind::Value:
    operands.push_back(value);
    return joint::OperandAttr::get(context);
  case Kind::Int:
    return builder.getI64IntegerAttr(integer);
  case Kind::Float:
    return builder.getF64FloatAttr(real);
  case Kind::Bool:
    return builder.getBoolAttr(integer != 0);
  case Kind::String:
    return builder.getStringAttr(text);
  case Kind::Attribute:
    return attribute;
  case Kind::List: {
    SmallVector<Attribute> entries;
    for (const Arg &entry : list)
      entries.push_back(entry.skeleton(context, operands));
    return builder.getArrayAttr(entries);
  }
  }
  return joint::NoneAttr::get(context);
}

//===----------------------------------------------------------------------===//
// ValueNamer
//===----------------------------------------------------------------------===//

ValueNamer::ValueNamer(Operation *root) : context(root->getContext()) {
  auto takeName = [&](Value value) {
    if (StringAttr name = joint::getValueNameAttr(value))
      take(name.getValue());
  };
  root->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), takeName);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), takeName);
  });
}

/// "mul" and 7 of "mul_7"; a text with no number, or none that a namer would
/// write, is a stem.
static std::pair<StringRef, std::optional<unsigned>> splitName(StringRef name) {
  constexpr unsigned kMost = 1 << 30;
  StringRef stem = name.rtrim("0123456789");
  StringRef digits = name.drop_front(stem.size());
  unsigned number = 0;
  if (!stem.consume_back("_") || digits.starts_with("0") ||
      digits.getAsInteger(10, number) || number > kMost)
    return {name, std::nullopt};
  return {stem, number};
}

bool ValueNamer::take(StringRef name) {
  auto [stem, number] = splitName(name);
  Family &family = families[stem];
  if (!number)
    return !std::exchange(family.isTaken, true);
  return family.taken.insert(*number).second;
}

StringAttr ValueNamer::next(StringRef stem) {
  if (take(stem))
    return StringAttr::get(context, stem);
  Family &family = families[stem];
  SmallString<64> text;
  do {
    text = stem;
    llvm::raw_svector_ostream(text) << '_' << family.next++;
  } while (!take(text));
  return StringAttr::get(context, text);
}

//===----------------------------------------------------------------------===//
// CallBuilder
//===----------------------------------------------------------------------===//

CallBuilder::CallBuilder(OpBuilder &builder, Location loc, ValueNamer *namer)
    : builder(builder), loc(loc), namer(namer) {}

void CallBuilder::error(const Twine &message) {
  if (!hasFailed)
    emitError(loc) << message;
  hasFailed = true;
}

/// The argument of each parameter; null where none is given. False if one has
/// no place.
static bool placeArguments(const Schema &schema, ArrayRef<Arg> positional,
                           ArrayRef<NamedArg> named,
                           SmallVectorImpl<const Arg *> &placed) {
  placed.assign(schema.params.size(), nullptr);
  if (positional.size() > schema.params.size())
    return false;
  for (auto [i, arg] : llvm::enumerate(positional))
    placed[i] = &arg;
  for (const NamedArg &entry : named) {
    int i = schema.find(entry.name);
    if (i < 0 || placed[i])
      return false;
    placed[i] = &entry.arg;
  }
  return true;
}

static bool isMissing(const SchemaParam &param, const Arg *arg) {
  if (!arg)
    return !param.defaultValue && !param.isOptional;
  return arg->isNone() && !param.isOptional && !param.defaultValue;
}

SmallVector<Value> CallBuilder::callMany(StringRef torchName,
                                         ArrayRef<Arg> positional,
                                         ArrayRef<NamedArg> named) {
  if (hasFailed)
    return {};
  MLIRContext *context = builder.getContext();
  const Schema *schema = SchemaTable::get(context).lookup(torchName);
  SmallVector<const Arg *> placed;
  if (!schema || !placeArguments(*schema, positional, named, placed)) {
    error("no call '" + torchName + "' with these arguments");
    return {};
  }
  SmallVector<Attribute> args;
  SmallVector<Value> operands;
  for (auto [param, arg] : llvm::zip(schema->params, placed)) {
    if (isMissing(param, arg)) {
      error("'" + torchName + "' needs its argument '" + param.name + "'");
      return {};
    }
    Attribute value =
        arg ? arg->skeleton(context, operands) : param.defaultValue;
    if (!value)
      value = joint::NoneAttr::get(context);
    value = arg ? canonicalizeArg(param, value) : value;
    if (!value) {
      error("argument '" + param.name + "' of '" + torchName +
            "' is of another kind");
      return {};
    }
    args.push_back(value);
  }
  SmallVector<Type> types;
  ArrayAttr skeleton = builder.getArrayAttr(args);
  if (mlir::failed(inferResultTypes(*schema, skeleton, ValueRange(operands), {},
                                    loc, types))) {
    hasFailed = true;
    return {};
  }
  ArrayAttr names;
  if (namer) {
    // "aten.mul.Tensor" and "prims.iota.default" give "mul" and "iota".
    StringRef stem = schema->packet.rsplit('.').second;
    SmallVector<Attribute> list;
    for (size_t i = 0; i < types.size(); ++i)
      list.push_back(namer->next(stem));
    names = builder.getArrayAttr(list);
  }
  Operation *op =
      createCall(builder, loc, *schema, skeleton, operands, types, names);
  return SmallVector<Value>(op->getResults());
}

Value CallBuilder::call(StringRef torchName, ArrayRef<Arg> positional,
                        ArrayRef<NamedArg> named) {
  SmallVector<Value> results = callMany(torchName, positional, named);
  if (!hasFailed && results.size() != 1)
    error("'" + torchName + "' has " + Twine(results.size()) + " results");
  return hasFailed ? Value() : results.front();
}

Arg CallBuilder::size(Value tensor, int64_t dim) {
  if (hasFailed || !tensor)
    return Arg(int64_t(1));
  dim = wrapDim(dim, rankOf(tensor));
  ArrayRef<int64_t> shape = shapeOf(tensor);
  if (shape.empty())
    return Arg(int64_t(1));
  if (!ShapedType::isDynamic(shape[dim]))
    return Arg(shape[dim]);
  return Arg(call(op::sym_size_int, {tensor, dim}));
}

Arg CallBuilder::sizes(Value tensor) {
  std::vector<Arg> list;
  for (int64_t dim = 0; tensor && dim < rankOf(tensor); ++dim)
    list.push_back(size(tensor, dim));
  return Arg(list);
}

Arg CallBuilder::times(const Arg &a, const Arg &b) {
  if (a.getInt() && b.getInt())
    return Arg(*a.getInt() * *b.getInt());
  if (a.getInt() == 1)
    return b;
  if (b.getInt() == 1)
    return a;
  return Arg(call(op::operator_mul, {a, b}));
}

Arg CallBuilder::numel(Value tensor) {
  Arg product(int64_t(1));
  for (int64_t dim = 0; tensor && dim < rankOf(tensor); ++dim)
    product = times(product, size(tensor, dim));
  return product;
}

Type CallBuilder::f32() { return builder.getF32Type(); }
Type CallBuilder::i64() { return builder.getI64Type(); }
Type CallBuilder::boolean() { return builder.getI1Type(); }

int64_t aten::rankOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

Type aten::elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

ArrayRef<int64_t> aten::shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}
