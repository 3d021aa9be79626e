// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops run in parts along an axis, and which do not though their loops
// look like it.

#include "RandomGraph.h"

#include "cutback/Transforms/AxisUses.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class AxisUsesTest : public ::testing::Test {
protected:
  AxisUsesTest() { loadDialects(context); }

  /// "operands > results" as dimensions, "-" for none, "+" for a sum; "no".
  /// `op` reads %x: 6x4, %y: 6x1, %i: 6x1 (integers), %w: 4x5.
  std::string use(const std::string &op, const std::string &result,
                  AxisPlace place) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "func.func @f(%x: tensor<6x4xf32>, %y: tensor<6x1xf32>, %i: "
        "tensor<6x1xi64>, %w: tensor<4x5xf32>) -> " +
            result + " {\n %r = " + op + " -> " + result +
            "\n return %r : " + result + "\n}\n",
        &context);
    EXPECT_TRUE(module) << op;
    if (!module)
      return "";
    auto function = *module->getOps<func::FuncOp>().begin();
    auto found = findAxisUse(&function.front().front(), place);
    if (!found)
      return "no";
    std::string text;
    auto add = [&](ArrayRef<int> dims) {
      for (int dim : dims)
        text += dim < 0 ? "-" : std::to_string(dim);
    };
    add(found->operandDim);
    text += ">";
    add(found->resultDim);
    return text + (found->isSum ? "+" : "") + "/" +
           std::to_string(found->grains);
  }

  std::string rows(const std::string &op, const std::string &result) {
    return use(op, result, {false, 0, 0});
  }

  MLIRContext context;
};

TEST_F(AxisUsesTest, PointwiseOpsAndReductionsOfRowsRunInParts) {
  EXPECT_EQ(rows("aten.exp(%x) : (tensor<6x4xf32>)", "tensor<6x4xf32>"),
            "0>0/6");
  EXPECT_EQ(rows("aten.sub.Tensor(%x, %y) : (tensor<6x4xf32>, "
                 "tensor<6x1xf32>)",
                 "tensor<6x4xf32>"),
            "00>0/6");
  EXPECT_EQ(
      rows("aten.amax(%x, [1], true) : (tensor<6x4xf32>)", "tensor<6x1xf32>"),
      "0>0/6");
  EXPECT_EQ(rows("aten.gather(%x, 1, %i) : (tensor<6x4xf32>, "
                 "tensor<6x1xi64>)",
                 "tensor<6x1xf32>"),
            "00>0/6");
  EXPECT_EQ(rows("aten.scatter.value(%x, 1, %i, -1.0) : (tensor<6x4xf32>, "
                 "tensor<6x1xi64>)",
                 "tensor<6x4xf32>"),
            "00>0/6");
}

TEST_F(AxisUsesTest, OnlySumsRunInPartsAlongWhatTheyReduce) {
  EXPECT_EQ(rows("aten.sum.dim_IntList(%x, [0]) : (tensor<6x4xf32>)",
                 "tensor<4xf32>"),
            "0>-+/6");
  EXPECT_EQ(rows("aten.sum(%x) : (tensor<6x4xf32>)", "tensor<f32>"), "0>-+/6");
  EXPECT_EQ(rows("aten.amax(%x, [0]) : (tensor<6x4xf32>)", "tensor<4xf32>"),
            "no");
  EXPECT_EQ(rows("aten.mean.dim(%x, [0]) : (tensor<6x4xf32>)", "tensor<4xf32>"),
            "no");
  EXPECT_EQ(rows("aten.cumsum(%x, 0) : (tensor<6x4xf32>)", "tensor<6x4xf32>"),
            "no");
  EXPECT_EQ(rows("aten.gather(%x, 0, %i) : (tensor<6x4xf32>, "
                 "tensor<6x1xi64>)",
                 "tensor<6x1xf32>"),
            "no");
}

TEST_F(AxisUsesTest, WhatAsksForItsRowDoesNot) {
  EXPECT_EQ(rows("aten.tril(%x) : (tensor<6x4xf32>)", "tensor<6x4xf32>"), "no");
  EXPECT_EQ(rows("aten.flip(%x, [0]) : (tensor<6x4xf32>)", "tensor<6x4xf32>"),
            "no");
  EXPECT_EQ(rows("aten.flip(%x, [1]) : (tensor<6x4xf32>)", "tensor<6x4xf32>"),
            "0>0/6");
  EXPECT_EQ(use("aten.prims.iota(6, start = 0, step = 1, dtype = i64, device "
                "= \"cpu\", requires_grad = false) : ()",
                "tensor<6xi64>", {true, 0, 0}),
            "no");
  EXPECT_EQ(use("aten.full([6, 4], 0, dtype = f32) : ()", "tensor<6x4xf32>",
                {true, 0, 0}),
            ">0/6");
  EXPECT_EQ(rows("aten.cat([%x, %x], 0) : (tensor<6x4xf32>, tensor<6x4xf32>)",
                 "tensor<12x4xf32>"),
            "no");
}

TEST_F(AxisUsesTest, WhatIsPaddedOrMadeLikeAnotherKeepsItsRows) {
  EXPECT_EQ(rows("aten.zeros_like(%x) : (tensor<6x4xf32>)", "tensor<6x4xf32>"),
            "0>0/6");
  std::string pad = "aten.slice_backward(%x, [6, 5], 1, 0, 4, 1) : "
                    "(tensor<6x4xf32>)";
  EXPECT_EQ(rows(pad, "tensor<6x5xf32>"), "0>0/6");
  EXPECT_EQ(use(pad, "tensor<6x5xf32>", {false, 0, 1}), "no");
}

TEST_F(AxisUsesTest, ProductsByTheirFactors) {
  std::string mm = "aten.mm(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>)";
  EXPECT_EQ(use(mm, "tensor<6x5xf32>", {false, 0, 0}), "0->0/6");
  EXPECT_EQ(use(mm, "tensor<6x5xf32>", {false, 0, 1}), "10>-+/4");
  EXPECT_EQ(use(mm, "tensor<6x5xf32>", {true, 0, 1}), "-1>1/5");
}

TEST_F(AxisUsesTest, ViewsKeepAnAxisThatStepsOverBlocks) {
  EXPECT_EQ(
      rows("aten.view(%x, [2, 3, 4]) : (tensor<6x4xf32>)", "tensor<2x3x4xf32>"),
      "0>0/2");
  EXPECT_EQ(rows("aten.view(%x, [24]) : (tensor<6x4xf32>)", "tensor<24xf32>"),
            "0>0/6");
  EXPECT_EQ(
      rows("aten.permute(%x, [1, 0]) : (tensor<6x4xf32>)", "tensor<4x6xf32>"),
      "0>1/6");
  EXPECT_EQ(rows("aten.slice.Tensor(%x, 1, 1, 3) : (tensor<6x4xf32>)",
                 "tensor<6x2xf32>"),
            "0>0/6");
  EXPECT_EQ(rows("aten.slice.Tensor(%x, 0, 1, 3) : (tensor<6x4xf32>)",
                 "tensor<2x4xf32>"),
            "no");
  EXPECT_EQ(use("aten.view(%x, [8, 3]) : (tensor<6x4xf32>)", "tensor<8x3xf32>",
                {false, 0, 1}),
            "no");
  EXPECT_EQ(rows("aten.as_strided(%x, [6, 4], [4, 1]) : (tensor<6x4xf32>)",
                 "tensor<6x4xf32>"),
            "no");
}

} // namespace
