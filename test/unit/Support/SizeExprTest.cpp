// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Size expressions: Python's precedence and rounding, what PyTorch and sympy
// print, what must not overflow; and random expressions against a reference
// that evaluates a tree in 128 bits.

#include "cutback/Support/SizeExpr.h"

#include <gtest/gtest.h>

#include <random>

using namespace cutback;

namespace {

std::optional<int64_t> lookup(std::string_view name) {
  if (name == "s0")
    return 24;
  if (name == "s1")
    return -3;
  if (name == "big")
    return INT64_MAX;
  return {};
}

std::optional<int64_t> evaluate(std::string_view text) {
  return evaluateSizeExpr(text, lookup);
}

TEST(SizeExpr, hasPythonsPrecedence) {
  EXPECT_EQ(evaluate("1 + 2*3"), 7);
  EXPECT_EQ(evaluate("(1 + 2)*3"), 9);
  EXPECT_EQ(evaluate("10 - 2 - 3"), 5);
  EXPECT_EQ(evaluate("100 // 7 // 2"), 7);
  EXPECT_EQ(evaluate("-2**2"), -4);
  EXPECT_EQ(evaluate("2**3**2"), 512);
  EXPECT_EQ(evaluate("2*-3"), -6);
  EXPECT_EQ(evaluate("2*s0 + 1"), 49);
}

TEST(SizeExpr, roundsDown) {
  EXPECT_EQ(evaluate("7//2"), 3);
  EXPECT_EQ(evaluate("-7//2"), -4);
  EXPECT_EQ(evaluate("7//-2"), -4);
  EXPECT_EQ(evaluate("-7 % 3"), 2);
  EXPECT_EQ(evaluate("7 % -3"), -2);
  EXPECT_EQ(evaluate("6/3"), 2);
  EXPECT_EQ(evaluate("7/3"), std::nullopt) << "not a whole number";
}

TEST(SizeExpr, knowsWhatPyTorchPrints) {
  EXPECT_EQ(evaluate("Max(1, s0)"), 24);
  EXPECT_EQ(evaluate("Min(30, s0, 5)"), 5);
  EXPECT_EQ(evaluate("FloorDiv(s0, 5)"), 4);
  EXPECT_EQ(evaluate("ModularIndexing(s0, 4, 4)"), 2);
  EXPECT_EQ(evaluate("PythonMod(s1, 2)"), 1);
  EXPECT_EQ(evaluate("CleanDiv(s0, 8)"), 3);
  EXPECT_EQ(evaluate("PowByNatural(s0, 2)"), 576);
  EXPECT_EQ(evaluate("IntTrueDiv(s0, 2)"), 12);
  EXPECT_EQ(evaluate("ToFloat(s0)"), 24);
  EXPECT_EQ(evaluate("2.0*s0"), 48);
}

TEST(SizeExpr, readsSympysConstructors) {
  EXPECT_EQ(evaluate("Mul(Integer(2), Symbol('s0', positive=True, "
                     "integer=True))"),
            48);
  EXPECT_EQ(evaluate("Add(Symbol('s0'), Integer(-1))"), 23);
}

TEST(SizeExpr, isNothingWhereThereIsNoNumber) {
  for (const char *text :
       {"", "s9", "s0 +", "(s0", "s0)", "1 2", "1//0", "1 % 0", "3**-1", "f()",
        "unknown(1, 2)", "0x10", "1.5", "s0 s1", "Symbol('s0", ",", "'", "\n"})
    EXPECT_EQ(evaluate(text), std::nullopt) << text;
}

TEST(SizeExpr, doesNotOverflow) {
  EXPECT_EQ(evaluate("big"), INT64_MAX);
  for (const char *text : {"big + 1", "big*2", "0 - big - 2", "2**63",
                           "9223372036854775808", "(0 - big - 1)//-1"})
    EXPECT_EQ(evaluate(text), std::nullopt) << text;
  EXPECT_EQ(evaluate("2**62"), int64_t(1) << 62);
  EXPECT_EQ(evaluate("1**65"), std::nullopt) << "64 is the largest power";
}

TEST(SizeExpr, nestingIsLimited) {
  auto nested = [](unsigned depth) {
    return std::string(depth, '(') + "s0" + std::string(depth, ')');
  };
  EXPECT_EQ(evaluate(nested(60)), 24);
  EXPECT_EQ(evaluate(nested(100)), std::nullopt);
  EXPECT_EQ(evaluate(nested(1000000)), std::nullopt);
  EXPECT_EQ(evaluate(std::string(1000000, '-') + "1"), std::nullopt);
}

TEST(SizeExpr, symbolsAreListedOnce) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(sizeExprSymbols("s0*s1 + 2*s0"), (Names{"s0", "s1"}));
  EXPECT_EQ(sizeExprSymbols("Max(1, s34)//u0"), (Names{"s34", "u0"}));
  EXPECT_EQ(sizeExprSymbols("Symbol('s0', positive=True)"), (Names{"s0"}));
  EXPECT_EQ(sizeExprSymbols("16"), (Names{}));
}

//===----------------------------------------------------------------------===//
// Random expressions
//===----------------------------------------------------------------------===//

using Wide = std::optional<__int128>;

/// An expression as text and, in 128 bits, as a number; nothing where a step
/// leaves 64 bits.
struct Expression {
  std::string text;
  Wide value;
};

Wide narrowed(__int128 value) {
  return value < INT64_MIN || value > INT64_MAX ? Wide() : Wide(value);
}

/// Rounds down; `b` is not 0.
__int128 floorDivide(__int128 a, __int128 b) {
  __int128 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Expression combine(unsigned what, const Expression &a, const Expression &b) {
  static const char *const texts[] = {" + ", " - ", "*", "//", " % "};
  Expression out{"(" + a.text + texts[what] + b.text + ")", {}};
  if (!a.value || !b.value)
    return out;
  __int128 x = *a.value, y = *b.value;
  if (what < 3)
    out.value = narrowed(what == 0 ? x + y : what == 1 ? x - y : x * y);
  else if (y != 0)
    out.value =
        narrowed(what == 3 ? floorDivide(x, y) : x - floorDivide(x, y) * y);
  return out;
}

Expression randomExpression(std::mt19937_64 &random, unsigned depth) {
  if (depth == 0 || random() % 4 == 0)
    switch (random() % 4) {
    case 0:
      return {"s0", 24};
    case 1:
      return {"s1", -3};
    case 2:
      return {"big", INT64_MAX};
    default: {
      int64_t number = static_cast<int64_t>(random() % 5);
      return {std::to_string(number), number};
    }
    }
  Expression a = randomExpression(random, depth - 1);
  if (random() % 6 == 0)
    return {"-" + a.text, a.value ? narrowed(-*a.value) : Wide()};
  return combine(random() % 5, a, randomExpression(random, depth - 1));
}

TEST(SizeExpr, randomExpressionsAgreeWithATree) {
  std::mt19937_64 random(20);
  unsigned known = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    Expression expression = randomExpression(random, 5);
    std::optional<int64_t> value = evaluate(expression.text);
    ASSERT_EQ(value.has_value(), expression.value.has_value())
        << expression.text;
    if (!value)
      continue;
    ++known;
    ASSERT_EQ(*value, static_cast<int64_t>(*expression.value))
        << expression.text;
  }
  EXPECT_GT(known, 5000u);
}

TEST(SizeExpr, manySymbolsAreListedOnce) {
  std::string text = "s0";
  for (int i = 1; i < 100000; ++i)
    text += " + s" + std::to_string(i) + "*s" + std::to_string(i / 2);
  std::vector<std::string> symbols = sizeExprSymbols(text);
  ASSERT_EQ(symbols.size(), 100000u);
  EXPECT_EQ(symbols.front(), "s0");
  EXPECT_EQ(symbols[1], "s1");
  EXPECT_EQ(symbols.back(), "s99999");
}

} // namespace
