// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes in sympy's constructor form, as PyTorch prints them, with their value
// kept.

#include "../../../../lib/Import/TorchExport/SymbolText.h"

#include "cutback/Support/SizeExpr.h"

#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::pt2;

namespace {

const std::string kS = "Symbol('s0', positive=True, integer=True)";
const std::string kT = "Symbol('s13', integer=True)";

std::string plain(const std::string &text) {
  return plainSizeText(text).value_or("?");
}

int64_t valueOf(const std::string &text) {
  return evaluateSizeExpr(text,
                          [](std::string_view name) -> std::optional<int64_t> {
                            return name == "s0" ? 21 : 10;
                          })
      .value_or(-1);
}

} // namespace

TEST(SizeText, ConstructorsBecomeOperators) {
  EXPECT_EQ(plain(kS), "s0");
  EXPECT_EQ(plain("Integer(7)"), "7");
  EXPECT_EQ(plain("Integer(-7)"), "-7");
  EXPECT_EQ(plain("Mul(Integer(64), " + kS + ")"), "64*s0");
  EXPECT_EQ(plain("Add(Integer(1), Mul(Integer(2), " + kS + "))"), "2*s0 + 1");
  EXPECT_EQ(plain("Add(" + kS + ", Integer(-1))"), "s0 - 1");
  EXPECT_EQ(plain("Mul(Integer(2), Add(" + kS + ", Integer(1)))"),
            "2*(s0 + 1)");
  EXPECT_EQ(plain("FloorDiv(" + kS + ", Integer(2))"), "s0//2");
  EXPECT_EQ(plain("FloorDiv(Add(" + kS + ", " + kT + "), Integer(2))"),
            "(s0 + s13)//2");
  EXPECT_EQ(plain("Mul(Integer(4), FloorDiv(" + kS + ", Integer(2)))"),
            "4*(s0//2)");
  EXPECT_EQ(plain("Pow(" + kS + ", Integer(2))"), "s0**2");
  EXPECT_EQ(plain("Max(Integer(1), " + kS + ")"), "Max(1, s0)");
  EXPECT_EQ(plain("Eq(" + kS + ", Integer(2))"), "s0 == 2");
  EXPECT_EQ(plain("StrictLessThan(Mod(" + kS + ", Integer(2)), Integer(1))"),
            "Mod(s0, 2) < 1");
}

TEST(SizeText, TheValueStays) {
  for (const std::string &text :
       {"Add(Integer(1), Mul(Integer(-2), " + kS + "))",
        "Mul(Integer(3), Add(" + kT + ", Mul(Integer(-1), " + kS + ")))",
        "FloorDiv(Mul(Integer(3), " + kS + "), Add(" + kT + ", Integer(1)))",
        "Mul(FloorDiv(" + kS + ", Integer(4)), FloorDiv(" + kT +
            ", Integer(3)))",
        "Pow(Add(" + kS + ", Integer(1)), Integer(2))",
        "Add(Mod(" + kS + ", Integer(8)), Max(" + kT + ", Integer(11)))"})
    EXPECT_EQ(valueOf(plain(text)), valueOf(text)) << text;
}

TEST(SizeText, PrintedTextStaysAsItIs) {
  EXPECT_EQ(plain("2*s0 + 1"), "2*s0 + 1");
  EXPECT_EQ(plain("(s0//2)"), "(s0//2)");
}

TEST(SizeText, WhatDoesNotReadIsNothing) {
  for (const char *text :
       {"Symbol('s0'", "Symbol(", "Integer(1) Integer(2)", "Add(Integer(1)",
        "Symbol('", "Mul(Integer(2) Integer(3))", "Symbol('s0', positive=)"})
    EXPECT_EQ(plain(text), "?") << text;
  std::string deep;
  for (int i = 0; i < 1000; ++i)
    deep += "Mul(Integer(1), ";
  EXPECT_EQ(plain(deep), "?");
}
