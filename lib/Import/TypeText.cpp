// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type annotations of FX text.
//
//   type := dtype sizes [sizes] [device]        tensor: sizes, strides, device
//         | "Sym(" expression ")"               symbolic scalar
//
// A graph has few different annotations, so each is read once and found by its
// text after that. What is kept: the type, with `?` for a symbolic dimension;
// the texts of the dimensions if one is symbolic; the strides if they are not
// those of a contiguous tensor. The device is not kept: it moves no byte.
//
// Contiguity of symbolic strides is decided by value: both sides are evaluated
// at two assignments of odd primes to the symbols. Expressions that PyTorch
// prints are products and sums of few terms, where two wrong agreements do not
// occur; the worst a mistake does is a missing layout hint.

#include "TypeText.h"

#include "cutback/Support/SizeExpr.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

namespace {
/// PyTorch has no tensors of more dimensions.
constexpr unsigned kMaxRank = 64;

StringRef shorten(StringRef text) { return text.take_front(60); }
} // namespace

Type TypeTable::elementType(StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f32", builder.getF32Type())
      .Case("f64", builder.getF64Type())
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("i64", builder.getI64Type())
      .Case("i32", builder.getI32Type())
      .Case("i16", builder.getIntegerType(16))
      .Case("i8", builder.getIntegerType(8))
      .Case("u8", builder.getIntegerType(8, /*isSigned=*/false))
      .Case("u16", builder.getIntegerType(16, /*isSigned=*/false))
      .Case("u32", builder.getIntegerType(32, /*isSigned=*/false))
      .Case("u64", builder.getIntegerType(64, /*isSigned=*/false))
      .Case("b8", builder.getI1Type())
      .Case("c32", ComplexType::get(builder.getF16Type()))
      .Case("c64", ComplexType::get(builder.getF32Type()))
      .Case("c128", ComplexType::get(builder.getF64Type()))
      .Case("f8e4m3fn", Float8E4M3FNType::get(builder.getContext()))
      .Case("f8e5m2", Float8E5M2Type::get(builder.getContext()))
      .Case("f8e4m3fnuz", Float8E4M3FNUZType::get(builder.getContext()))
      .Case("f8e5m2fnuz", Float8E5M2FNUZType::get(builder.getContext()))
      .Case("f8e8m0fnu", Float8E8M0FNUType::get(builder.getContext()))
      .Default(Type());
}

Type TypeTable::torchType(StringRef name) {
  StringRef shortName = llvm::StringSwitch<StringRef>(name)
                            .Cases({"float32", "float"}, "f32")
                            .Cases({"float64", "double"}, "f64")
                            .Cases({"float16", "half"}, "f16")
                            .Case("bfloat16", "bf16")
                            .Cases({"int64", "long"}, "i64")
                            .Cases({"int32", "int"}, "i32")
                            .Cases({"int16", "short"}, "i16")
                            .Case("int8", "i8")
                            .Case("uint8", "u8")
                            .Case("uint16", "u16")
                            .Case("uint32", "u32")
                            .Case("uint64", "u64")
                            .Case("bool", "b8")
                            .Case("complex32", "c32")
                            .Case("complex64", "c64")
                            .Case("complex128", "c128")
                            .Case("float8_e4m3fn", "f8e4m3fn")
                            .Case("float8_e5m2", "f8e5m2")
                            .Case("float8_e4m3fnuz", "f8e4m3fnuz")
                            .Case("float8_e5m2fnuz", "f8e5m2fnuz")
                            .Case("float8_e8m0fnu", "f8e8m0fnu")
                            .Default("");
  return elementType(shortName);
}

const DeclaredType *TypeTable::get(StringRef text, std::string &error) {
  auto [it, isNew] = entries.try_emplace(text);
  Entry &entry = it->second;
  if (isNew)
    read(text, entry);
  if (!entry.isValid) {
    error = entry.error;
    return nullptr;
  }
  if (!entry.isBound) {
    entry.declared.hasUnboundSymbols =
        llvm::any_of(entry.symbols, [&](const std::string &symbol) {
          return !bound.contains(symbol);
        });
    entry.isBound = !entry.declared.hasUnboundSymbols;
  }
  return &entry.declared;
}

void TypeTable::bindSymbols(const DeclaredType &type) {
  if (!type.dims)
    return;
  for (Attribute dim : type.dims)
    for (const std::string &symbol :
         sizeExprSymbols(cast<StringAttr>(dim).getValue()))
      bound.insert(symbol);
}

std::vector<std::string> TypeTable::getSymbols() const {
  std::vector<std::string> symbols;
  for (const auto &entry : all) // order: sorted below
    symbols.push_back(entry.getKey().str());
  llvm::sort(symbols);
  return symbols;
}

void TypeTable::noteSymbols(StringRef expression, Entry &entry) {
  for (std::string &symbol : sizeExprSymbols(expression)) {
    all.insert(symbol);
    entry.symbols.push_back(std::move(symbol));
  }
}

void TypeTable::read(StringRef text, Entry &entry) {
  StringRef trimmed = text.trim();
  StringRef expression = trimmed;
  if (expression.consume_front("Sym(") && expression.consume_back(")"))
    readScalar(expression, entry);
  else
    readTensor(trimmed, entry);
}

/// The kind of scalar an expression has: comparisons are conditions; a float
/// head outside of a rounding one makes a number.
static bool isFloatExpression(StringRef text) {
  for (StringRef head :
       {"FloorToInt(", "TruncToInt(", "CeilToInt(", "RoundToInt("})
    if (text.starts_with(head))
      return false;
  for (StringRef head :
       {"ToFloat(", "FloatTrueDiv(", "IntTrueDiv(", "FloatPow("})
    if (text.contains(head))
      return true;
  for (const std::string &symbol : sizeExprSymbols({text.data(), text.size()}))
    if (StringRef(symbol).starts_with("zf") ||
        StringRef(symbol).starts_with("zuf"))
      return true;
  return false;
}

static bool isCondition(StringRef text) {
  return text.starts_with("Eq(") || text.starts_with("Ne(") ||
         text.starts_with("Not(") || text.starts_with("And(") ||
         text.starts_with("Or(") ||
         text.find_first_of("<>&|~") != StringRef::npos ||
         text.contains("==") || text == "True" || text == "False";
}

void TypeTable::readScalar(StringRef expression, Entry &entry) {
  DeclaredType &declared = entry.declared;
  declared.isScalar = true;
  if (isCondition(expression))
    declared.type = builder.getI1Type();
  else if (isFloatExpression(expression))
    declared.type = builder.getF64Type();
  else
    declared.type = builder.getIndexType();
  declared.dims = builder.getArrayAttr(builder.getStringAttr(expression));
  noteSymbols(expression, entry);
  entry.isValid = true;
}

/// Splits "[a, f(b, c)]" off `text`, into "a" and "f(b, c)". False if the
/// brackets do not match.
static bool splitList(StringRef &text, SmallVectorImpl<StringRef> &parts) {
  unsigned depth = 0;
  size_t begin = 1;
  for (size_t i = 1; i < text.size(); ++i) {
    char c = text[i];
    bool ends = c == ']' && depth == 0;
    if (ends || (c == ',' && depth == 0)) {
      StringRef part = text.slice(begin, i).trim();
      if (!part.empty())
        parts.push_back(part);
      else if (!ends || !parts.empty())
        return false;
      begin = i + 1;
    }
    if (ends) {
      text = text.drop_front(i + 1);
      return true;
    }
    if (c == '(' || c == '[')
      ++depth;
    else if (c == ')' || c == ']')
      if (depth-- == 0)
        return false;
  }
  return false;
}

bool TypeTable::readSizes(StringRef text, SmallVectorImpl<StringRef> &texts,
                          SmallVectorImpl<int64_t> &sizes, Entry &entry) {
  for (StringRef part : texts) {
    int64_t size = 0;
    if (part.find_first_not_of("-0123456789") == StringRef::npos) {
      if (part.getAsInteger(10, size)) {
        entry.error = ("size " + shorten(part) + " does not fit 64 bits").str();
        return false;
      }
      if (size < 0) {
        entry.error = ("size " + part + " is negative").str();
        return false;
      }
    } else {
      size = ShapedType::kDynamic;
      noteSymbols(part, entry);
    }
    sizes.push_back(size);
  }
  return true;
}

/// True if the bytes of a tensor do not fit 64 bits.
static bool overflows(ArrayRef<int64_t> shape) {
  // The largest element has 16 bytes.
  int64_t elements = 16;
  if (llvm::is_contained(shape, 0))
    return false;
  for (int64_t dim : shape)
    if (!ShapedType::isDynamic(dim) &&
        __builtin_mul_overflow(elements, dim, &elements))
      return true;
  return false;
}

void TypeTable::readTensor(StringRef text, Entry &entry) {
  StringRef name = text.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  StringRef rest = text.drop_front(name.size());
  Type element = elementType(name);
  if (!element || !rest.starts_with("[")) {
    entry.error = ("type '" + shorten(text) + "' is not a plain tensor").str();
    return;
  }
  SmallVector<StringRef> dims, strideTexts;
  SmallVector<int64_t> shape, strides;
  bool hasStrides = false;
  bool isWhole = splitList(rest, dims);
  if (isWhole && rest.starts_with("[")) {
    hasStrides = true;
    isWhole = splitList(rest, strideTexts) && strideTexts.size() == dims.size();
  }
  if (!isWhole || dims.size() > kMaxRank) {
    entry.error =
        ("sizes and strides of type '" + shorten(text) + "' do not read").str();
    return;
  }
  if (!readSizes(text, dims, shape, entry) ||
      !readSizes(text, strideTexts, strides, entry))
    return;
  if (overflows(shape)) {
    entry.error =
        ("type '" + shorten(text) + "' has more bytes than fit 64 bits").str();
    return;
  }
  DeclaredType &declared = entry.declared;
  declared.type = RankedTensorType::get(shape, element);
  if (llvm::any_of(shape, ShapedType::isDynamic)) {
    SmallVector<Attribute> texts;
    for (StringRef dim : dims)
      texts.push_back(builder.getStringAttr(dim));
    declared.dims = builder.getArrayAttr(texts);
  }
  if (hasStrides && !isContiguous(dims, strideTexts))
    declared.strides = builder.getDenseI64ArrayAttr(strides);
  entry.isValid = true;
}

bool TypeTable::isContiguous(ArrayRef<StringRef> dims,
                             ArrayRef<StringRef> strides) {
  for (uint64_t seed : {1, 2}) {
    auto lookup = [&](std::string_view symbol) -> std::optional<int64_t> {
      uint64_t hash = seed * 1000003;
      for (char c : symbol)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
      // Large enough for floor divisions, small enough for products.
      return static_cast<int64_t>(33 + 2 * ((hash >> 33) % 491));
    };
    auto value = [&](StringRef text) {
      return evaluateSizeExpr({text.data(), text.size()}, lookup);
    };
    int64_t expected = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      std::optional<int64_t> dim = value(dims[i]), stride = value(strides[i]);
      if (!dim || !stride)
        return false;
      if (*dim == 0)
        return true;
      if (*dim != 1 && *stride != expected)
        return false;
      if (__builtin_mul_overflow(expected, *dim, &expected))
        return false;
    }
  }
  return true;
}
