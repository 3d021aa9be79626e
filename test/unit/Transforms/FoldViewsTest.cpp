// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of views that are, and that are not, the identity.

#include "RandomGraph.h"

#include "cutback/Transforms/FoldViews.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class FoldViewsTest : public ::testing::Test {
protected:
  FoldViewsTest() { loadDialects(context); }

  /// The name of what is returned when `body` computes it as %r.
  std::string resultOf(const std::string &body) {
    module = parse(
        context, "joint.graph @g(%x: tensor<4x2xf32> {joint.role = "
                 "#joint.role<input>}) -> (tensor<4x2xf32>) gradients () {\n" +
                     body + "\njoint.output %r : tensor<4x2xf32>\n}\n");
    EXPECT_TRUE(module);
    if (!module)
      return "";
    Block &block = graphOf(*module).getBlock();
    foldViews(block);
    EXPECT_TRUE(succeeded(verify(*module)));
    Value result = block.getTerminator()->getOperand(0);
    if (isa<BlockArgument>(result))
      return "x";
    return result.getDefiningOp()->getName().stripDialect().str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const std::string kThere =
    "%p = aten.permute(%x, [1, 0]) : (tensor<4x2xf32>) -> tensor<2x4xf32>\n";
const std::string kBack =
    "%r = aten.permute(%p, [1, 0]) : (tensor<2x4xf32>) -> tensor<4x2xf32>\n";

TEST_F(FoldViewsTest, APermuteOfItsInverseIsWhatWasThere) {
  EXPECT_EQ(resultOf(kThere + kBack), "x");
}

TEST_F(FoldViewsTest, AChainOfThreeIsFollowed) {
  EXPECT_EQ(resultOf("%p = aten.permute(%x, [1, 0]) : (tensor<4x2xf32>) -> "
                     "tensor<2x4xf32>\n"
                     "%u = aten.unsqueeze(%p, 0) : (tensor<2x4xf32>) -> "
                     "tensor<1x2x4xf32>\n"
                     "%q = aten.permute(%u, [2, 1, 0]) : (tensor<1x2x4xf32>) "
                     "-> tensor<4x2x1xf32>\n"
                     "%r = aten.squeeze.dim(%q, 2) : (tensor<4x2x1xf32>) -> "
                     "tensor<4x2xf32>\n"),
            "x");
}

TEST_F(FoldViewsTest, OtherElementsStay) {
  EXPECT_EQ(resultOf("%p = aten.view(%x, [2, 4]) : (tensor<4x2xf32>) -> "
                     "tensor<2x4xf32>\n" +
                     kBack),
            "permute");
  EXPECT_EQ(resultOf("%p = aten.slice.Tensor(%x, 0, 0, 2) : (tensor<4x2xf32>)"
                     " -> tensor<2x2xf32>\n"
                     "%r = aten.expand(%x, [4, 2]) : (tensor<4x2xf32>) -> "
                     "tensor<4x2xf32>\n"),
            "x");
}

TEST_F(FoldViewsTest, StridesThatAreSetSayNothing) {
  EXPECT_EQ(resultOf("%r = aten.as_strided(%x, [4, 2], [2, 1]) : "
                     "(tensor<4x2xf32>) -> tensor<4x2xf32>\n"),
            "as_strided");
}

TEST_F(FoldViewsTest, AnArgumentThatIsWrittenIsReadBefore) {
  EXPECT_EQ(resultOf(kThere + kBack +
                     "%n = aten.neg(%x) : (tensor<4x2xf32>) -> "
                     "tensor<4x2xf32>\n"
                     "%w = joint.write %x, %n : tensor<4x2xf32>, "
                     "tensor<4x2xf32>\n"),
            "permute");
}

TEST_F(FoldViewsTest, ACopyIsNoView) {
  EXPECT_EQ(resultOf("%r = aten.clone(%x) : (tensor<4x2xf32>) -> "
                     "tensor<4x2xf32>\n"),
            "clone");
}

} // namespace
