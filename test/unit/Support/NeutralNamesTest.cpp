// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/NeutralNames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace cutback;

TEST(NeutralNames, pathsKeepTheirFormAndTheirNumbers) {
  NeutralNames names;
  EXPECT_EQ(names.path("blocks.3.attn.weight"), "m0.3.m1.p0");
  EXPECT_EQ(names.path("blocks.11.attn.bias"), "m0.11.m1.p1");
  EXPECT_EQ(names.modulePath("blocks.3.attn"), "m0.3.m1");
  EXPECT_EQ(names.path("blocks.3.attn.weight"), "m0.3.m1.p0");
  // What looks like a replacement is replaced, too.
  EXPECT_EQ(names.path("m0.p0"), "m2.p2");
  // A number that could be a date or an account is no index.
  EXPECT_EQ(names.path("x.20261121.weight"), "m3.m4.p0");
  EXPECT_EQ(names.path("weight"), "p0");
}

TEST(NeutralNames, valuesAreCalledAfterWhatComputesThem) {
  NeutralNames names;
  EXPECT_EQ(names.value("secret", "mul"), "mul");
  EXPECT_EQ(names.value("mul", "add"), "add");
  EXPECT_EQ(names.value("other", "mul"), "mul_1");
  EXPECT_EQ(names.value("secret", "mul"), "mul");
  // Kinds that end in a number run into each other.
  EXPECT_EQ(names.value("third", "mul_1"), "mul_1_1");
}

TEST(NeutralNames, expressionsKeepTheirArithmetic) {
  NeutralNames names;
  EXPECT_EQ(names.symbol("batch"), "s0");
  EXPECT_EQ(names.sizeExpr("2*seq + 1"), "2*s1 + 1");
  EXPECT_EQ(names.sizeExpr("Max(1, batch)"), "Max(1, s0)");
  EXPECT_EQ(names.sizeExpr("16"), "16");
}

TEST(NeutralNames, wordsOfPyTorchStayAndOthersGo) {
  NeutralNames names;
  EXPECT_EQ(names.text("strided"), "strided");
  EXPECT_EQ(names.text("cuda:3"), "cuda:3");
  EXPECT_EQ(names.text("cuda:secret"), "text0");
  EXPECT_EQ(names.text("acme"), "text1");
  EXPECT_EQ(names.text("cuda:secret"), "text0");
  EXPECT_EQ(names.text("bnd,bmd->bnm"), "abc,adc->abd");
  EXPECT_EQ(names.text("go -> http://x"), "text2");
  EXPECT_EQ(names.callee("aten.special.default"), "aten.special.default");
  EXPECT_EQ(names.callee("torch.ops._c10d_functional.all_reduce.default"),
            "torch.ops._c10d_functional.all_reduce.default");
  EXPECT_EQ(names.callee("acme.attention.default"), "custom.op0.default");
  EXPECT_EQ(names.callee("acme.router.default"), "custom.op1.default");
  EXPECT_EQ(names.word("graph", "step"), "graph0");
}

TEST(NeutralNames, linesAreNumberedAsTheyAppear) {
  NeutralNames names;
  EXPECT_EQ(names.line("a.py", 117), 1u);
  EXPECT_EQ(names.line("b.py", 117), 2u);
  EXPECT_EQ(names.line("a.py", 117), 1u);
}

TEST(NeutralNames, numbersStayApartAndWholeOnesStay) {
  NeutralNames names;
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> all = {0.08838834764831845,
                             0.0901,
                             0.1,
                             0.12,
                             0.118,
                             8.3,
                             1.702,
                             768.0,
                             -0.5,
                             0.044715,
                             infinity,
                             -0.0,
                             0.0,
                             1.0000001};
  names.addNumbers(all);
  EXPECT_EQ(names.number(0.08838834764831845), 0.09);
  EXPECT_EQ(names.number(0.1), 0.1);
  EXPECT_EQ(names.number(8.3), 8.3);
  EXPECT_EQ(names.number(1.702), 1.7);
  EXPECT_EQ(names.number(768.0), 768.0);
  EXPECT_EQ(names.number(-0.5), -0.5);
  EXPECT_EQ(names.number(0.044715), 0.04);
  EXPECT_EQ(names.number(infinity), infinity);
  EXPECT_TRUE(std::signbit(names.number(-0.0)));
  EXPECT_EQ(names.number(1.0000001), 1.0000001);
  for (double a : all)
    for (double b : all)
      EXPECT_EQ(a == b, names.number(a) == names.number(b)) << a << " " << b;
}
