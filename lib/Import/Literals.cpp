// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literals of FX text: numbers, strings, dtypes, layouts, memory formats and
// devices. MLIR uniques attributes in a table behind a lock; a graph writes the
// same few literals again and again, so each text is turned into an attribute
// once and found by its text later.

#include "Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

Literals::Literals(MLIRContext *context, TypeTable &types)
    : builder(context), types(types),
      operandAttr(joint::OperandAttr::get(context)),
      noneAttr(joint::NoneAttr::get(context)),
      trueAttr(builder.getBoolAttr(true)),
      falseAttr(builder.getBoolAttr(false)) {
  for (int64_t i = 0; i < 10; ++i)
    digits.push_back(builder.getI64IntegerAttr(i));
}

Attribute Literals::parseNumber(StringRef text) {
  int64_t integer = 0;
  if (!text.getAsInteger(10, integer))
    return builder.getI64IntegerAttr(integer);
  StringRef digitsOnly = text;
  digitsOnly.consume_front("-");
  if (digitsOnly.find_first_not_of("0123456789") == StringRef::npos)
    return {}; // an int that is too large
  double value = 0;
  bool isNegative = digitsOnly.size() != text.size();
  if (digitsOnly == "inf")
    value = std::numeric_limits<double>::infinity();
  else if (digitsOnly == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (digitsOnly.getAsDouble(value))
    return {};
  return builder.getF64FloatAttr(isNegative ? -value : value);
}

Attribute Literals::number(StringRef text) {
  if (text.size() == 1 && llvm::isDigit(text.front()))
    return digits[text.front() - '0'];
  auto [it, isNew] = numbers.try_emplace(text);
  if (isNew)
    it->second = parseNumber(text);
  return it->second;
}

/// The character that `\c` stands for, or 0 where it is none of the simple
/// escapes.
static char unescape(char c) {
  switch (c) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case 'r':
    return '\r';
  case '\\':
  case '\'':
  case '"':
    return c;
  default:
    return 0;
  }
}

Attribute Literals::string(StringRef raw) {
  Attribute &attr = strings[raw];
  if (attr)
    return attr;
  std::string value;
  for (size_t i = 0; i < raw.size(); ++i) {
    char plain =
        raw[i] == '\\' && i + 1 < raw.size() ? unescape(raw[i + 1]) : 0;
    if (plain)
      ++i;
    value += plain ? plain : raw[i];
  }
  return attr = builder.getStringAttr(value);
}

Attribute Literals::torchConstant(StringRef path) {
  auto [it, isNew] = constants.try_emplace(path);
  StringRef name = path;
  if (!isNew || !name.consume_front("torch."))
    return it->second;
  bool isWord =
      llvm::StringSwitch<bool>(name)
          .Cases({"strided", "sparse_coo", "sparse_csr", "jagged"}, true)
          .Cases({"contiguous_format", "preserve_format"}, true)
          .Cases({"channels_last", "channels_last_3d"}, true)
          .Default(false);
  if (isWord)
    it->second = builder.getStringAttr(name);
  else if (Type type = types.torchType(name))
    it->second = TypeAttr::get(type);
  return it->second;
}

Attribute Literals::device(StringRef type, StringRef index) {
  if (index.empty())
    return builder.getStringAttr(type);
  return builder.getStringAttr(type + ":" + index);
}
