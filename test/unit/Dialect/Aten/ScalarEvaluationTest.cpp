// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Dialect/Aten/ScalarEvaluation.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace cutback;

namespace {

/// The value of the only op of `text`, whose operands are %a = 7 and %b = 0.25.
std::optional<double> valueOf(const std::string &text) {
  MLIRContext context;
  context.loadDialect<aten::AtenDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(
      "func.func @f(%a: index, %b: f64, %c: f64) {\n" + text +
          "\nfunc.return\n}",
      &context);
  EXPECT_TRUE(module) << text;
  if (!module)
    return std::nullopt;
  auto function = *module->getOps<func::FuncOp>().begin();
  auto call = cast<aten::CallOp>(&function.front().front());
  return aten::evaluateReal(call, [&](Value operand) -> std::optional<double> {
    unsigned number = cast<BlockArgument>(operand).getArgNumber();
    return number == 0   ? std::optional<double>(7)
           : number == 1 ? std::optional<double>(0.25)
                         : std::nullopt;
  });
}

TEST(ScalarEvaluationTest, PythonsArithmeticOnFloats) {
  EXPECT_EQ(valueOf("%x = aten.sym.float(%a) : (index) -> f64"), 7.0);
  EXPECT_EQ(valueOf("%x = aten.sym.truediv(2.0, %a) : (index) -> f64"),
            2.0 / 7);
  EXPECT_EQ(valueOf("%x = aten.sym.add(%a, %b) : (index, f64) -> f64"), 7.25);
  EXPECT_EQ(valueOf("%x = aten.sym.sub(%b, 1) : (f64) -> f64"), -0.75);
  EXPECT_EQ(valueOf("%x = aten.sym.mul(%b, %b) : (f64, f64) -> f64"), 0.0625);
  EXPECT_EQ(valueOf("%x = aten.sym.floordiv(%b, -1) : (f64) -> f64"), -1.0);
  EXPECT_EQ(valueOf("%x = aten.sym.neg(%b) : (f64) -> f64"), -0.25);
  EXPECT_EQ(valueOf("%x = aten.sym.pow(%a, %b) : (index, f64) -> f64"),
            std::pow(7.0, 0.25));
  EXPECT_EQ(valueOf("%x = aten.sym.sqrt(%a) : (index) -> f64"), std::sqrt(7.0));
}

TEST(ScalarEvaluationTest, WhatIsNoNumberHasNoValue) {
  EXPECT_EQ(valueOf("%x = aten.sym.truediv(%a, 0) : (index) -> f64"),
            std::nullopt);
  EXPECT_EQ(valueOf("%x = aten.sym.sqrt(-1.0) : () -> f64"), std::nullopt);
  EXPECT_EQ(valueOf("%x = aten.sym.mul(%b, %c) : (f64, f64) -> f64"),
            std::nullopt);
  // A size is evaluated as an integer, elsewhere.
  EXPECT_EQ(valueOf("%x = aten.sym.mul(%a, 2) : (index) -> index"),
            std::nullopt);
}

} // namespace
