// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A TensorMeta is turned into the annotation that FX text would have
// ("f32[8, s34][s34, 1]"), and read by what reads those: the same types,
// dimensions, strides and errors. A program has few different descriptions, so
// each JSON text is read once and then found by its text.

#include "Types.h"

#include "SymbolText.h"

#include "cutback/Support/SizeExpr.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

StringRef Types::elementName(JsonValue scalarType) {
  static constexpr StringRef kByNumber[] = {"",    "u8",   "i8",  "i16", "i32",
                                            "i64", "f16",  "f32", "f64", "c32",
                                            "c64", "c128", "b8",  "bf16"};
  std::optional<int64_t> number = scalarType.asInt();
  if (!number)
    // A release wrote the names of the enumeration.
    return llvm::StringSwitch<StringRef>(ref(scalarType.raw()))
        .Case("BYTE", "u8")
        .Case("CHAR", "i8")
        .Case("SHORT", "i16")
        .Case("INT", "i32")
        .Case("LONG", "i64")
        .Case("HALF", "f16")
        .Case("FLOAT", "f32")
        .Case("DOUBLE", "f64")
        .Case("COMPLEXHALF", "c32")
        .Case("COMPLEXFLOAT", "c64")
        .Case("COMPLEXDOUBLE", "c128")
        .Case("BOOL", "b8")
        .Case("BFLOAT16", "bf16")
        .Default("");
  switch (*number) {
  case 28:
    return "u16";
  case 29:
    return "f8e4m3fn";
  case 30:
    return "f8e5m2";
  case 31:
    return "f8e4m3fnuz";
  case 32:
    return "f8e5m2fnuz";
  case 33:
    return "f8e8m0fnu";
  case 34:
    return "u32";
  case 35:
    return "u64";
  default:
    break;
  }
  if (*number < 0 || *number >= static_cast<int64_t>(std::size(kByNumber)))
    return "";
  return kByNumber[*number];
}

Type Types::elementType(JsonValue scalarType) const {
  return table.elementType(elementName(scalarType));
}

void Types::noteHint(StringRef text, JsonValue expr) {
  bool isSymbol = !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  }) && !llvm::isDigit(text.front());
  JsonValue hint = expr.find("hint");
  if (!isSymbol || !hint.isObject())
    return;
  if (std::optional<int64_t> value = hint.find("as_int").asInt())
    hints.symbols[text].value = value;
}

/// A SymInt: a number, or an expression.
FailureOr<std::string> Types::sizeText(JsonValue size) {
  FailureOr<Fields::Variant> variant = fields.variant(size);
  if (failed(variant))
    return failure();
  auto [kind, value] = *variant;
  if (kind == "as_int" && value.asInt())
    return ref(value.raw()).str();
  if (kind != "as_expr")
    return fields.fail(size, "a size is neither a number nor an expression",
                       kDamaged);
  FailureOr<StringRef> expression = fields.text(value, "expr_str");
  if (failed(expression))
    return failure();
  std::optional<std::string> text = plainSizeText(*expression);
  if (!text)
    return fields.fail(
        value, "size " + fx::quoted(*expression) + " does not read", kDamaged);
  noteHint(*text, value);
  return *text;
}

std::optional<int64_t> Types::evaluate(StringRef text) const {
  int64_t number = 0;
  if (!text.getAsInteger(10, number))
    return number;
  return evaluateSizeExpr({text.data(), text.size()},
                          [&](std::string_view name) -> std::optional<int64_t> {
                            return hints.symbols.lookup(ref(name)).value;
                          });
}

LogicalResult Types::readTensor(JsonValue meta, StringRef name,
                                Tensor &tensor) {
  FailureOr<JsonValue> sizes = fields.list(meta, "sizes");
  FailureOr<JsonValue> strides = fields.list(meta, "strides");
  if (failed(sizes) || failed(strides))
    return failure();
  StringRef element = elementName(meta.find("dtype"));
  if (element.empty())
    return fields.fail(meta.find("dtype") ? meta.find("dtype") : meta,
                       "this is not an element type that is known", kNewer);
  // 7 is strided; other numbers are sparse and opaque layouts.
  constexpr int64_t kStrided = 7;
  if (std::optional<int64_t> layout = meta.find("layout").asInt();
      layout && *layout != kStrided)
    return fields.fail(meta,
                       (name.empty() ? "a tensor" : fx::quoted(name)) +
                           " is not strided",
                       "sparse and opaque layouts are not read; convert it to "
                       "a dense tensor in the model");
  std::string text = element.str();
  for (JsonValue list : {*sizes, *strides}) {
    bool isSizes = list.raw().data() == sizes->raw().data();
    text += "[";
    bool isFirst = true;
    for (JsonValue size : list.children()) {
      FailureOr<std::string> part = sizeText(size);
      if (failed(part))
        return failure();
      text += (isFirst ? "" : ", ") + *part;
      isFirst = false;
      std::optional<int64_t> number = evaluate(*part);
      tensor.isSized &= number.has_value();
      (isSizes ? tensor.sizes : tensor.strides).push_back(number.value_or(0));
    }
    text += "]";
  }
  if (JsonValue offset = meta.find("storage_offset")) {
    FailureOr<std::string> number = sizeText(offset);
    if (failed(number))
      return failure();
    tensor.offset = evaluate(*number).value_or(0);
  }
  std::string error;
  tensor.type = table.get(text, error);
  if (!tensor.type)
    return fields.fail(meta, error, kDamaged);
  tensor.requiresGrad = meta.find("requires_grad").kind() == JsonKind::True;
  tensor.device = ref(meta.find("device").find("type").raw());
  return success();
}

const Types::Tensor *Types::tensor(JsonValue meta, StringRef name) {
  auto [it, isNew] = tensors.try_emplace(ref(meta.raw()), nullptr);
  if (!isNew)
    return it->second;
  owned.push_back(std::make_unique<Tensor>());
  Tensor *tensor = owned.back().get();
  if (failed(readTensor(meta, name, *tensor)))
    return nullptr;
  return it->second = tensor;
}

const fx::DeclaredType *Types::scalar(JsonValue value) {
  auto [it, isNew] = scalars.try_emplace(ref(value.raw()), nullptr);
  if (!isNew)
    return it->second;
  FailureOr<Fields::Variant> variant = fields.variant(value);
  if (failed(variant))
    return nullptr;
  std::string text;
  if (variant->kind == "as_expr") {
    FailureOr<std::string> expression = sizeText(value);
    if (failed(expression))
      return nullptr;
    text = *expression;
  } else {
    text = ref(variant->value.raw()).str();
    if (variant->value.isBool())
      text = variant->value.kind() == JsonKind::True ? "True" : "False";
  }
  std::string error;
  const fx::DeclaredType *type = table.get("Sym(" + text + ")", error);
  if (!type)
    (void)fields.fail(value, error, kDamaged);
  return scalars[ref(value.raw())] = type;
}
