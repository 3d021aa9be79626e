// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive-descent evaluator over the text, with Python's precedence:
//
//   sum     := product (("+" | "-") product)*
//   product := unary (("*" | "//" | "%" | "/") unary)*
//   unary   := "-" unary | power
//   power   := atom ["**" unary]
//   atom    := INT | NAME | NAME "(" [arg ("," arg)*] ")" | "(" sum ")"
//
// Nothing is built: the value is computed while reading. Arithmetic is checked;
// division rounds down, as Python's does. Keyword arguments inside a call
// (sympy's assumptions) are skipped.

#include "cutback/Support/SizeExpr.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

using namespace cutback;

namespace {

using Number = std::optional<int64_t>;
using Lookup = std::function<Number(std::string_view)>;

Number floorDiv(Number a, Number b) {
  if (!a || !b || *b == 0 || (*a == INT64_MIN && *b == -1))
    return {};
  int64_t q = *a / *b;
  return (*a % *b != 0 && (*a < 0) != (*b < 0)) ? q - 1 : q;
}

Number checked(char op, Number a, Number b) {
  int64_t r;
  if (!a || !b)
    return {};
  bool overflow = op == '+'   ? __builtin_add_overflow(*a, *b, &r)
                  : op == '-' ? __builtin_sub_overflow(*a, *b, &r)
                              : __builtin_mul_overflow(*a, *b, &r);
  return overflow ? Number() : Number(r);
}

Number power(Number a, Number b) {
  if (!a || !b || *b < 0 || *b > 64)
    return {};
  Number r = 1;
  for (int64_t i = 0; i < *b; ++i)
    r = checked('*', r, a);
  return r;
}

/// Has the sign of `b`, as in Python.
Number modulo(Number a, Number b) {
  if (!a || !b || *b == 0)
    return {};
  if (*b == -1)
    return 0;
  int64_t r = *a % *b;
  return r != 0 && (r < 0) != (*b < 0) ? r + *b : r;
}

class Evaluator {
public:
  Evaluator(std::string_view text, const Lookup &lookup)
      : rest(text), lookup(lookup) {}

  Number run() {
    Number value = sum();
    skipSpace();
    return rest.empty() ? value : Number();
  }

private:
  void skipSpace() {
    while (!rest.empty() && rest.front() == ' ')
      rest.remove_prefix(1);
  }
  bool eat(std::string_view token) {
    skipSpace();
    if (rest.substr(0, token.size()) != token)
      return false;
    rest.remove_prefix(token.size());
    return true;
  }
  std::string_view word() {
    skipSpace();
    size_t n = 0;
    while (n < rest.size() && (isalnum(static_cast<unsigned char>(rest[n])) ||
                               rest[n] == '_' || rest[n] == '.'))
      ++n;
    std::string_view w = rest.substr(0, n);
    rest.remove_prefix(n);
    return w;
  }

  Number sum() {
    Number value = product();
    for (;;) {
      if (eat("+"))
        value = checked('+', value, product());
      else if (eat("-"))
        value = checked('-', value, product());
      else
        return value;
    }
  }
  Number product() {
    Number value = unary();
    for (;;) {
      if (eat("//"))
        value = floorDiv(value, unary());
      else if (eat("*"))
        value = checked('*', value, unary());
      else if (eat("%"))
        value = modulo(value, unary());
      else if (eat("/"))
        value = exactDiv(value, unary());
      else
        return value;
    }
  }
  static Number exactDiv(Number a, Number b) {
    Number r = modulo(a, b);
    return r && *r == 0 ? floorDiv(a, b) : Number();
  }
  Number unary() {
    if (++depth > 64)
      return fail();
    Number value = eat("-") ? checked('-', 0, unary()) : powerOf(atom());
    --depth;
    return value;
  }
  Number powerOf(Number base) {
    return eat("**") ? power(base, unary()) : base;
  }
  /// Gives up on the rest of the text.
  Number fail() {
    rest = "!";
    return {};
  }

  Number atom() {
    if (eat("(")) {
      Number value = sum();
      return eat(")") ? value : fail();
    }
    skipSpace();
    if (eat("'")) { // Symbol('s0')
      std::string_view name = word();
      return eat("'") ? lookup(name) : fail();
    }
    std::string_view w = word();
    if (w.empty())
      return fail();
    if (isdigit(static_cast<unsigned char>(w[0])))
      return integer(w);
    return eat("(") ? call(w) : lookup(w);
  }
  Number integer(std::string_view digits) {
    Number value = 0;
    if (digits.size() > 2 && digits.substr(digits.size() - 2) == ".0")
      digits.remove_suffix(2);
    for (char c : digits) {
      if (!isdigit(static_cast<unsigned char>(c)))
        return {};
      value = checked('+', checked('*', value, 10), c - '0');
    }
    return value;
  }
  Number call(std::string_view name) {
    std::vector<Number> args;
    if (!eat(")")) {
      do {
        if (!skipKeyword())
          args.push_back(sum());
      } while (eat(","));
      if (!eat(")"))
        return fail();
    }
    return apply(name, args);
  }
  /// `positive=True` inside a call says nothing about the value.
  bool skipKeyword() {
    skipSpace();
    size_t n = rest.find_first_of("=,()");
    if (n == std::string_view::npos || rest[n] != '=')
      return false;
    rest.remove_prefix(n + 1);
    word();
    return true;
  }
  Number apply(std::string_view name, const std::vector<Number> &args) {
    static constexpr std::string_view identity[] = {
        "Integer",   "Symbol",     "ToFloat",    "Identity",
        "CeilToInt", "FloorToInt", "TruncToInt", "RoundToInt"};
    if (args.size() == 1 && std::find(std::begin(identity), std::end(identity),
                                      name) != std::end(identity))
      return args[0];
    if (args.empty())
      return {};
    if (name == "ModularIndexing" && args.size() == 3)
      return modulo(floorDiv(args[0], args[1]), args[2]);
    Number value = args[0];
    for (size_t i = 1; i < args.size(); ++i)
      value = fold(name, value, args[i]);
    return value;
  }
  static Number fold(std::string_view name, Number a, Number b) {
    if (!a || !b)
      return {};
    if (name == "Add" || name == "Mul")
      return checked(name == "Add" ? '+' : '*', a, b);
    if (name == "FloorDiv" || name == "PythonMod" || name == "Mod")
      return name == "FloorDiv" ? floorDiv(a, b) : modulo(a, b);
    if (name == "CleanDiv" || name == "IntTrueDiv" || name == "FloatTrueDiv")
      return exactDiv(a, b);
    if (name == "Pow" || name == "PowByNatural")
      return power(a, b);
    if (name == "Max" || name == "Min")
      return name == "Max" ? std::max(*a, *b) : std::min(*a, *b);
    return {};
  }

  std::string_view rest;
  const Lookup &lookup;
  unsigned depth = 0;
};

} // namespace

Number cutback::evaluateSizeExpr(std::string_view text, const Lookup &lookup) {
  return Evaluator(text, lookup).run();
}

std::vector<std::string> cutback::sizeExprSymbols(std::string_view text) {
  std::vector<std::string> symbols;
  // Usual texts have one or two; a set pays from some more on.
  constexpr size_t kFew = 16;
  std::unordered_set<std::string_view> seen;
  auto isNew = [&](std::string_view word) {
    if (symbols.size() < kFew)
      return std::find(symbols.begin(), symbols.end(), word) == symbols.end();
    if (seen.empty())
      for (const std::string &symbol : symbols)
        seen.insert(text.substr(text.find(symbol), symbol.size()));
    return seen.insert(word).second;
  };
  for (size_t i = 0; i < text.size();) {
    unsigned char c = text[i];
    if (!isalpha(c) && c != '_') {
      // Digits may stand in front of letters only inside a word.
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() &&
           (isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    std::string_view word = text.substr(i, end - i);
    size_t next = text.find_first_not_of(' ', end);
    bool isCall = next != std::string_view::npos && text[next] == '(';
    bool isKeyword = next != std::string_view::npos && text[next] == '=';
    if (!isCall && !isKeyword && word != "True" && word != "False" &&
        isNew(word))
      symbols.emplace_back(word);
    i = end;
  }
  return symbols;
}
