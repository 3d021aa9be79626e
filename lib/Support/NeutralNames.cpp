// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names that say nothing. What may stay is said by lists of PyTorch's own
// words, never by what looks harmless: a text that is in no list is replaced.
//
// Numbers are rounded to the fewest digits that keep all of them apart, so that
// two calls are equal afterwards exactly if they were before. Whole numbers and
// what is short already stay as they are: exponents, paddings and powers of two
// decide which formula a call means. O(n log n) in the number of texts.

#include "cutback/Support/NeutralNames.h"

#include "cutback/Support/SizeExpr.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace cutback {

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool isNumber(std::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::string NeutralNames::counted(std::string_view kind, std::string_view key,
                                  std::string_view prefix) {
  auto &words = known[std::string(kind)];
  auto it = words.find(key);
  if (it == words.end())
    it = words
             .emplace(std::string(key),
                      std::string(prefix) + std::to_string(words.size()))
             .first;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Paths and values
//===----------------------------------------------------------------------===//

std::string NeutralNames::components(std::string_view path, bool lastIsLeaf) {
  std::string out;
  for (bool last = false; !last;) {
    size_t dot = path.find('.');
    last = dot == std::string_view::npos;
    std::string_view part = path.substr(0, dot);
    if (!out.empty())
      out += ".";
    if (isNumber(part))
      out += part;
    else
      out += last && lastIsLeaf ? counted("leaf", part, "p")
                                : counted("module", part, "m");
    path.remove_prefix(last ? path.size() : dot + 1);
  }
  return out;
}

std::string NeutralNames::path(std::string_view path) {
  return components(path, true);
}

std::string NeutralNames::modulePath(std::string_view path) {
  return components(path, false);
}

std::string NeutralNames::value(std::string_view name, std::string_view kind) {
  auto &values = known["value"];
  if (auto it = values.find(name); it != values.end())
    return it->second;
  std::string fresh;
  do {
    unsigned number = valuesOfKind[std::string(kind)]++;
    fresh = std::string(kind) + (number ? "_" + std::to_string(number) : "");
  } while (!takenValues.insert(fresh).second);
  values.emplace(std::string(name), fresh);
  return fresh;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string NeutralNames::symbol(std::string_view name) {
  return counted("symbol", name, "s");
}

std::string NeutralNames::sizeExpr(std::string_view text) {
  std::vector<std::string> symbols = sizeExprSymbols(text);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    auto inWord = [&](char c) {
      return isLetter(c) || c == '_' || (c >= '0' && c <= '9');
    };
    while (end < text.size() && inWord(text[end]))
      ++end;
    std::string_view word = text.substr(i, end - i);
    if (word.empty())
      out += text[i++];
    else if (std::find(symbols.begin(), symbols.end(), word) != symbols.end())
      out += symbol(word);
    else
      out += word;
    i = std::max(i, end);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static const char *const kNamespaces[] = {
    "aten",         "prims",           "prim",
    "operator",     "torch",           "math",
    "higher_order", "quantized",       "torchvision",
    "inductor",     "rngprims",        "_c10d_functional",
    "c10d",         "symm_mem",        "mkldnn",
    "onednn",       "c10d_functional", "mkl",
    "pippy",        "debugprims",      "_c10d_functional_autograd",
};

static const char *const kWords[] = {
    // Devices, layouts, memory formats.
    "cpu", "cuda", "xpu", "mps", "meta", "hpu", "xla", "strided", "sparse_coo",
    "sparse_csr", "contiguous_format", "channels_last", "channels_last_3d",
    "preserve_format",
    // Arguments of calls.
    "", "none", "tanh", "mean", "sum", "prod", "amax", "amin", "max", "min",
    "floor", "trunc", "constant", "reflect", "replicate", "circular", "nearest",
    "linear", "bilinear", "bicubic", "area", "left", "right", "ij", "xy", "fro",
    "nuc", "reduced", "complete", "forward", "backward", "ortho", "avg",
    "product", "valid", "same"};

template <size_t N>
static bool isIn(const char *const (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::string NeutralNames::callee(std::string_view callee) {
  std::string_view rest = callee;
  for (std::string_view prefix : {"torch.ops."})
    if (rest.substr(0, prefix.size()) == prefix)
      rest.remove_prefix(prefix.size());
  if (isIn(kNamespaces, rest.substr(0, rest.find('.'))))
    return std::string(callee);
  return "custom." + counted("callee", callee, "op") + ".default";
}

/// "bij,bjk->bik" with its letters renamed, or empty if it is no equation.
static std::string equation(std::string_view text) {
  if (text.find("->") == std::string_view::npos)
    return "";
  std::string out, letters;
  for (char c : text) {
    if (!isLetter(c)) {
      if (std::string_view(",->. ").find(c) == std::string_view::npos)
        return "";
      out += c;
      continue;
    }
    size_t at = letters.find(c);
    if (at == std::string::npos) {
      at = letters.size();
      letters += c;
    }
    out += static_cast<char>(at < 26 ? 'a' + at : 'A' + (at - 26));
  }
  return out;
}

std::string NeutralNames::text(std::string_view text) {
  std::string_view word = text.substr(0, text.find(':'));
  bool isDevice = word.size() < text.size() &&
                  isNumber(text.substr(word.size() + 1)) && isIn(kWords, word);
  if (isDevice || isIn(kWords, text))
    return std::string(text);
  if (std::string known = equation(text); !known.empty())
    return known;
  return counted("text", text, "text");
}

std::string NeutralNames::word(std::string_view kind, std::string_view word) {
  return counted(kind, word, kind);
}

unsigned NeutralNames::line(std::string_view file, unsigned line) {
  std::string key = std::string(file) + ":" + std::to_string(line);
  return std::stoul(counted("line", key, "")) + 1;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static uint64_t bitsOf(double number) {
  uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

static bool isWhole(double number) {
  return !std::isfinite(number) || number == std::trunc(number);
}

static double rounded(double number, int digits) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.*e", digits - 1, number);
  return std::strtod(buffer, nullptr);
}

void NeutralNames::addNumbers(std::vector<double> all) {
  std::sort(all.begin(), all.end(),
            [](double a, double b) { return bitsOf(a) < bitsOf(b); });
  std::set<uint64_t> given, taken;
  for (double number : all)
    given.insert(bitsOf(number));
  for (double number : all) {
    uint64_t bits = bitsOf(number);
    if (numbers.count(bits))
      continue;
    numbers[bits] = number;
    // At 17 digits it is the number itself.
    for (int digits = 1; digits <= 17 && !isWhole(number); ++digits) {
      double neutral = rounded(number, digits);
      bool ofAnother = given.count(bitsOf(neutral)) && neutral != number;
      if (isWhole(neutral) || ofAnother ||
          !taken.insert(bitsOf(neutral)).second)
        continue;
      numbers[bits] = neutral;
      break;
    }
  }
}

double NeutralNames::number(double number) const {
  auto it = numbers.find(bitsOf(number));
  return it == numbers.end() ? number : it->second;
}

} // namespace cutback
