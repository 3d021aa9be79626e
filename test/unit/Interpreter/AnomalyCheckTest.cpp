// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which op is named when a gradient is not finite. The functions are short
// backwards written by hand: what is behind `key(...)` in a line is the forward
// op that it is the backward of.

#include "cutback/Interpreter/AnomalyCheck.h"

#include "RunHarness.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/Support/Regex.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// `key("root", 5)` becomes the location of an op of that op's backward, which
/// stands in line 5, as does `line(5)` of the forward.
std::string withPlaces(std::string text) {
  llvm::Regex key("key\\(\"([a-z_0-9]+)\", ([0-9]+)\\)"),
      line("line\\(([0-9]+)\\)");
  while (key.match(text))
    text = key.sub("loc(fused<{backward_of = \"\\1\", sequence_nr = \\2 : "
                   "i64}>[\"m.py\":\\2:0])",
                   text);
  while (line.match(text))
    text = line.sub("loc(\"m.py\":\\1:0)", text);
  return text;
}

class AnomalyCheckTest : public RunTest {
protected:
  /// Runs a function of tensors of two elements, with the check.
  void check(const std::string &arguments, const std::string &body,
             ArrayRef<RuntimeValue> values) {
    std::string list;
    SmallVector<StringRef> words;
    StringRef(arguments).split(words, ' ');
    for (StringRef word : words) {
      std::string role = word.starts_with("t")
                             ? ", joint.role = #joint.role<tangent of 0>"
                             : "";
      list += (list.empty() ? "%" : ", %") + word.str() +
              ": tensor<2xf32> {joint.name = \"" + word.str() + "\"" + role +
              "}";
    }
    anomaly.emplace();
    InterpreterOptions options;
    options.observers = {&*anomaly};
    runText(withPlaces("func.func @f(" + list + ") -> tensor<2xf32> {" + body +
                       " : tensor<2xf32>\n}"),
            values, options);
  }

  std::string nameOfAnomaly() {
    Operation *op = anomaly->anomaly();
    return op ? joint::getValueName(op->getResult(0)).str() : "none";
  }

  std::optional<AnomalyCheck> anomaly;
};

std::string unary(const std::string &result, const std::string &op,
                  const std::string &operand, const std::string &place) {
  return "%" + result + " = aten." + op + "(%" + operand +
         ") : (tensor<2xf32>) -> tensor<2xf32> " + place + "\n";
}
std::string binary(const std::string &result, const std::string &op,
                   const std::string &a, const std::string &b,
                   const std::string &place) {
  return "%" + result + " = aten." + op + "(%" + a + ", %" + b +
         ") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> " + place + "\n";
}

TEST_F(AnomalyCheckTest, TheOpThatMadeItIsNamedNotWhoPassesItOn) {
  check("x t",
        unary("root", "sqrt", "x", "line(5)") +
            binary("g", "div.Tensor", "t", "root", "key(\"root\", 5)") +
            unary("h", "neg", "g", "key(\"root\", 5)") +
            unary("k", "neg", "h", "key(\"first\", 3)") + "return %k",
        {floats({2}, {4, 0}), floats({2}, {1, 1})});
  EXPECT_EQ(nameOfAnomaly(), "g");
  expectMessage("'g' = div makes a gradient that is not finite: infinite at "
                "[1], 1 of 2 elements");
  expectMessage("note: in the backward of 'root' = sqrt (number 5)");
  expectMessage("note: operand 't', f32[2], was finite: from 1 to 1");
  expectMessage("note: operand 'root', f32[2], was finite: from 0 to 2");
}

TEST_F(AnomalyCheckTest, WhatARuleMasksAwayIsNoAnomaly) {
  std::string masked =
      binary("g", "div.Tensor", "t", "x", "key(\"norm\", 5)") +
      "%zero = aten.eq.Scalar(%x, 0) : (tensor<2xf32>) -> tensor<2xi1> "
      "key(\"norm\", 5)\n"
      "%h = aten.masked_fill.Scalar(%g, %zero, 0) : (tensor<2xf32>, "
      "tensor<2xi1>) -> tensor<2xf32> key(\"norm\", 5)\n";
  std::vector<RuntimeValue> values = {floats({2}, {4, 0}), floats({2}, {1, 1})};
  check("x t",
        masked + unary("k", "neg", "h", "key(\"first\", 3)") + "return %k",
        values);
  EXPECT_EQ(nameOfAnomaly(), "none");
  EXPECT_EQ(message, "");
  EXPECT_GT(anomaly->numLooked(), 0u);
  // Another op reads what was not masked.
  check("x t",
        masked + unary("k", "neg", "g", "key(\"first\", 3)") + "return %h",
        values);
  EXPECT_EQ(nameOfAnomaly(), "g");
}

TEST_F(AnomalyCheckTest, AGradientThatIsReturnedHasLeft) {
  check("x t",
        binary("g", "div.Tensor", "t", "x", "key(\"root\", 5)") + "return %g",
        {floats({2}, {4, 0}), floats({2}, {1, 0})});
  EXPECT_EQ(nameOfAnomaly(), "g");
  expectMessage("NaN at [1], 1 of 2 elements");
}

TEST_F(AnomalyCheckTest, WhatTheForwardMakesStopsNothing) {
  std::string forward = unary("log", "log", "x", "line(2)") +
                        unary("exp", "exp", "log", "line(3)");
  std::vector<RuntimeValue> values = {floats({2}, {4, 0}), floats({2}, {1, 1})};
  check("x t",
        forward + binary("g", "mul.Tensor", "t", "exp", "key(\"exp\", 3)") +
            "return %g",
        values);
  EXPECT_EQ(nameOfAnomaly(), "none");
  // It is named where the backward reads it.
  check("x t",
        forward + binary("g", "mul.Tensor", "t", "log", "key(\"exp\", 3)") +
            "return %g",
        values);
  EXPECT_EQ(nameOfAnomaly(), "g");
  expectMessage("'g' = mul makes a gradient that is not finite: minus infinite "
                "at [1]");
  expectMessage("note: operand 'log', f32[2], was not: minus infinite at [1], "
                "1 of 2 elements, made in front of the backward");
}

TEST_F(AnomalyCheckTest, ConstantsThatRulesShareAreNoGradients) {
  std::string shared =
      "%inf = aten.full([2], 0x7FF0000000000000 : f64) : () -> tensor<2xf32> "
      "key(\"max\", 5)\n"
      "%far = aten.lt.Tensor(%x, %inf) : (tensor<2xf32>, tensor<2xf32>) -> "
      "tensor<2xi1> key(\"min\", 3)\n"
      "%g = aten.mul.Tensor(%t, %far) : (tensor<2xf32>, tensor<2xi1>) -> "
      "tensor<2xf32> key(\"min\", 3)\n";
  std::vector<RuntimeValue> values = {floats({2}, {4, 0}), floats({2}, {1, 1})};
  check("x t", shared + "return %g", values);
  EXPECT_EQ(nameOfAnomaly(), "none") << message;
  check("x t",
        shared + binary("h", "mul.Tensor", "g", "inf", "key(\"min\", 3)") +
            "return %h",
        values);
  EXPECT_EQ(nameOfAnomaly(), "h");
  expectMessage("note: operand 'inf', f32[2], was not: infinite at [0], 2 of 2 "
                "elements, a constant");
}

TEST_F(AnomalyCheckTest, WhatIsGivenIsSaidToBe) {
  check("x t",
        binary("g", "mul.Tensor", "t", "x", "key(\"exp\", 3)") + "return %g",
        {floats({2}, {kInf, 0}), floats({2}, {1, 1})});
  expectMessage("note: operand 'x', f32[2], was not: infinite at [0], 1 of 2 "
                "elements, given to the step");
}

TEST_F(AnomalyCheckTest, TheParentOfASecondDerivativeIsNamedToo) {
  check("x t",
        unary("root", "sqrt", "x", "line(5)") +
            binary("first", "div.Tensor", "t", "root", "key(\"root\", 5)") +
            "%g = aten.div.Tensor(%t, %root) : (tensor<2xf32>, tensor<2xf32>) "
            "-> tensor<2xf32> loc(fused<{backward_of = \"first\", sequence_nr "
            "= 9 : i64, region = array<i64: 0, 2>}>[fused<{backward_of = "
            "\"root\", "
            "sequence_nr = 5 : i64}>[\"m.py\":5:0]])\n" +
            "return %g",
        {floats({2}, {4, 0}), floats({2}, {1, 1})});
  EXPECT_EQ(nameOfAnomaly(), "g");
  expectMessage(
      "note: in the backward of 'first' = div (number 9 of region [0, 2])");
  expectMessage("note: which is of the backward of 'root' = sqrt (number 5)"
                "");
}

TEST_F(AnomalyCheckTest, WithoutKeysItIsWhatDependsOnATangent) {
  std::string body = unary("log", "log", "x", "line(2)") +
                     unary("exp", "exp", "log", "line(3)") +
                     binary("g", "mul.Tensor", "t", "exp", "line(3)");
  std::vector<RuntimeValue> values = {floats({2}, {4, 0}), floats({2}, {1, 1})};
  check("x t", body + "return %g", values);
  EXPECT_EQ(nameOfAnomaly(), "none");
  check("x t",
        body + binary("h", "div.Tensor", "g", "x", "line(3)") +
            unary("k", "neg", "h", "line(2)") + "return %k",
        {floats({2}, {4, 0}), floats({2}, {1, 1})});
  EXPECT_EQ(nameOfAnomaly(), "h");
  expectMessage("note: the forward on this line ends with 'exp' = exp");
}

TEST_F(AnomalyCheckTest, ElementsAreCountedAndBounded) {
  ElementSummary real = summarize(
      tensorOf(DType::BF16, {4}, {-2, kInf, 3, std::nan("")}).contiguous());
  EXPECT_EQ(real.count, 4);
  EXPECT_EQ(real.wrong, 2);
  EXPECT_EQ(real.first, 1);
  EXPECT_EQ(real.value, kInf);
  EXPECT_EQ(real.least, -2);
  EXPECT_EQ(real.greatest, 3);
  Tensor pairs = Tensor::zeros(DType::C64, {2});
  pairs.setComplex(0, {3, 4});
  pairs.setComplex(1, {0, kInf});
  ElementSummary complex = summarize(pairs);
  EXPECT_EQ(complex.greatest, 5);
  EXPECT_EQ(complex.first, 1);
  EXPECT_TRUE(summarize(tensorOf(DType::I64, {2}, {1, 2})).isFinite());
}

} // namespace
