// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops of dialect `aten` answer through the interfaces of dialect `joint`:
// views and their bases, randomness, order, FLOPs, gradients, names. Each case
// is one op parsed from text.

#include "cutback/Dialect/Aten/AtenOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

class InterfacesTest : public ::testing::Test {
protected:
  InterfacesTest() {
    context.loadDialect<AtenDialect, joint::JointDialect, func::FuncDialect>();
  }

  /// The last call in `body`, which may use %x: 4x8, %w: 8x16, %v: 8 and the
  /// symbolic size %s.
  CallOp parse(StringRef body) {
    std::string text =
        ("func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, "
         "%v: tensor<8xf32>, %s: index) {\n" +
         body + "\nreturn\n}")
            .str();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    CallOp last;
    module->walk([&](CallOp op) { last = op; });
    return last;
  }

  /// FLOPs under the declared shapes.
  double flops(StringRef body) {
    CallOp op = parse(body);
    SmallVector<SmallVector<int64_t>> storage;
    auto add = [&](Type type) {
      storage.emplace_back();
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        llvm::append_range(storage.back(), tensor.getShape());
    };
    for (Type type : op->getOperandTypes())
      add(type);
    for (Type type : op->getResultTypes())
      add(type);
    SmallVector<ArrayRef<int64_t>> shapes(storage.begin(), storage.end());
    return cast<joint::CostModelOpInterface>(op.getOperation())
        .getFlops(shapes);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(InterfacesTest, OpClassesTellOpsApart) {
  CallOp op = parse("%y = aten.relu(%x) : (tensor<4x8xf32>) -> "
                    "tensor<4x8xf32>");
  EXPECT_TRUE(isa<ReluOp>(op.getOperation()));
  EXPECT_FALSE(isa<NegOp>(op.getOperation()));
  EXPECT_EQ(&op.getInfo(), &ReluOp::getOpInfo());
  EXPECT_EQ(op->getName().getTypeID(), TypeID::get<ReluOp>());
  EXPECT_NE(op->getName().getTypeID(), TypeID::get<NegOp>());
  EXPECT_EQ(cast<ReluOp>(op.getOperation()).getPacketName(), "aten.relu");
  EXPECT_FALSE(isa<CallOp>(module->getOperation()));
}

TEST_F(InterfacesTest, AnOpBuiltByItsClassVerifies) {
  CallOp relu = parse("%y = aten.relu(%x) : (tensor<4x8xf32>) -> "
                      "tensor<4x8xf32>");
  OpBuilder builder(relu);
  auto neg = NegOp::create(builder, relu.getLoc(), relu->getResultTypes(),
                           relu->getOperands(), relu.getArgs());
  EXPECT_TRUE(succeeded(module->verify()));
  EXPECT_EQ(neg.getArgs(), relu.getArgs());
}

TEST_F(InterfacesTest, AViewAliasesItsBase) {
  EXPECT_EQ(parse("%y = aten.view(%x, [%s, 8]) : (tensor<4x8xf32>, index) -> "
                  "tensor<?x8xf32>")
                .getAliasedOperand(0),
            0);
  EXPECT_EQ(parse("%a, %b = aten.split.Tensor(%x, 2) : (tensor<4x8xf32>) -> "
                  "(tensor<2x8xf32>, tensor<2x8xf32>)")
                .getAliasedOperand(1),
            0);
  EXPECT_EQ(parse("%y = aten.clone(%x) : (tensor<4x8xf32>) -> "
                  "tensor<4x8xf32>")
                .getAliasedOperand(0),
            -1);
}

TEST_F(InterfacesTest, WhereStridesDecideNothingIsSaidToAlias) {
  EXPECT_EQ(parse("%y = aten.reshape(%x, [32]) : (tensor<4x8xf32>) -> "
                  "tensor<32xf32>")
                .getAliasedOperand(0),
            -1);
  EXPECT_EQ(parse("%y = aten.contiguous(%x) : (tensor<4x8xf32>) -> "
                  "tensor<4x8xf32>")
                .getAliasedOperand(0),
            -1);
}

TEST_F(InterfacesTest, RandomOpsAreNotRecomputable) {
  CallOp rand = parse("%y = aten.rand([4]) : () -> tensor<4xf32>");
  EXPECT_TRUE(rand.isRandom());
  EXPECT_FALSE(rand.isRecomputable());
  CallOp dropout = parse("%y, %m = aten.native_dropout(%x, 0.5, true) : "
                         "(tensor<4x8xf32>) -> (tensor<4x8xf32>, "
                         "tensor<4x8xi1>)");
  EXPECT_TRUE(dropout.isRandom());
}

TEST_F(InterfacesTest, DropoutThatDropsNothingIsNotRandom) {
  EXPECT_FALSE(parse("%y, %m = aten.native_dropout(%x, 0.0, true) : "
                     "(tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)")
                   .isRandom());
  EXPECT_TRUE(parse("%y = aten.dropout(%x, 0.5, false) : (tensor<4x8xf32>) "
                    "-> tensor<4x8xf32>")
                  .isRecomputable());
  EXPECT_TRUE(parse("%y = aten.relu(%x) : (tensor<4x8xf32>) -> "
                    "tensor<4x8xf32>")
                  .isRecomputable());
}

TEST_F(InterfacesTest, CollectivesKeepTheirOrder) {
  CallOp op = parse("%y = aten.c10d.all_reduce(%x, \"sum\", \"0\") : "
                    "(tensor<4x8xf32>) -> tensor<4x8xf32>");
  EXPECT_TRUE(op.hasOrderedEffects());
  EXPECT_FALSE(op.isRecomputable());
}

TEST_F(InterfacesTest, MatrixProductsCountTwoForEachMultiplication) {
  EXPECT_EQ(flops("%y = aten.mm(%x, %w) : (tensor<4x8xf32>, "
                  "tensor<8x16xf32>) -> tensor<4x16xf32>"),
            2.0 * 4 * 8 * 16);
  EXPECT_EQ(flops("%b = aten.full([16], 0, dtype = f32) : () -> tensor<16xf32>"
                  "\n%y = aten.addmm(%b, %x, %w) : (tensor<16xf32>, "
                  "tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>"),
            2.0 * 4 * 8 * 16);
}

TEST_F(InterfacesTest, ConvolutionsCountTheirFilters) {
  const char *operands = "%i = aten.full([2, 6, 8, 8], 0, dtype = f32) : () -> "
                         "tensor<2x6x8x8xf32>\n"
                         "%f = aten.full([4, 3, 3, 3], 0, dtype = f32) : () -> "
                         "tensor<4x3x3x3xf32>\n";
  std::string forward =
      std::string(operands) +
      "%y = aten.convolution(%i, %f, none, [1, 1], [1, 1], [1, 1], false, "
      "[0, 0], 2) : (tensor<2x6x8x8xf32>, tensor<4x3x3x3xf32>) -> "
      "tensor<2x4x8x8xf32>";
  double one = 2.0 * (2 * 4 * 8 * 8) * (3 * 3 * 3);
  EXPECT_EQ(flops(forward), one);
  std::string backward =
      forward +
      "\n%a, %b, %c = aten.convolution_backward(%y, %i, %f, [4], [1, 1], "
      "[1, 1], [1, 1], false, [0, 0], 2, [true, true, false]) : "
      "(tensor<2x4x8x8xf32>, tensor<2x6x8x8xf32>, tensor<4x3x3x3xf32>) -> "
      "(tensor<2x6x8x8xf32>, tensor<4x3x3x3xf32>, none)";
  EXPECT_EQ(flops(backward), 2 * one);
}

TEST_F(InterfacesTest, AttentionCountsItsProducts) {
  std::string forward =
      "%q = aten.full([2, 4, 32, 16], 0, dtype = f32) : () -> "
      "tensor<2x4x32x16xf32>\n"
      "%o, %l = aten._scaled_dot_product_flash_attention_for_cpu(%q, %q, %q) "
      ": (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, "
      "tensor<2x4x32x16xf32>) -> (tensor<2x4x32x16xf32>, tensor<2x4x32xf32>)";
  double product = 2.0 * 2 * 4 * 32 * 32 * 16;
  EXPECT_EQ(flops(forward), 2 * product);
  std::string t = "tensor<2x4x32x16xf32>";
  EXPECT_EQ(
      flops(forward +
            "\n%a, %b, %c = aten._scaled_dot_product_flash_attention_for_cpu_"
            "backward(%o, %q, %q, %q, %o, %l, 0.0, false) : (" +
            t + ", " + t + ", " + t + ", " + t + ", " + t +
            ", tensor<2x4x32xf32>) -> (" + t + ", " + t + ", " + t + ")"),
      5 * product);
}

TEST_F(InterfacesTest, PointwiseAndReductionsCountElements) {
  EXPECT_EQ(flops("%y = aten.neg(%x) : (tensor<4x8xf32>) -> "
                  "tensor<4x8xf32>"),
            32.0);
  EXPECT_EQ(flops("%y = aten.exp(%x) : (tensor<4x8xf32>) -> "
                  "tensor<4x8xf32>"),
            320.0);
  EXPECT_EQ(flops("%y = aten.sum(%x) : (tensor<4x8xf32>) -> tensor<f32>"),
            32.0);
  EXPECT_EQ(flops("%y = aten.view(%x, [32]) : (tensor<4x8xf32>) -> "
                  "tensor<32xf32>"),
            0.0);
  EXPECT_EQ(
      flops("%c = aten.full([8], 0, dtype = complex<f32>) : () -> "
            "tensor<8xcomplex<f32>>\n%y = aten._fft_c2c(%c, [0], 0, true) : "
            "(tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>"),
      5.0 * 8 * 3);
}

TEST_F(InterfacesTest, GradientsFlowToFloatOperandsOnly) {
  CallOp gather =
      parse("%i = aten.full([4, 1], 0, dtype = i64) : () -> tensor<4x1xi64>\n"
            "%y = aten.gather(%x, 1, %i) : (tensor<4x8xf32>, tensor<4x1xi64>) "
            "-> tensor<4x1xf32>");
  EXPECT_TRUE(gather.canHaveGradient(0));
  EXPECT_FALSE(gather.canHaveGradient(1));
  EXPECT_FALSE(gather.canHaveGradient(2));
  EXPECT_FALSE(parse("%y = aten.le.Scalar(%x, 0) : (tensor<4x8xf32>) -> "
                     "tensor<4x8xi1>")
                   .canHaveGradient(0));
  EXPECT_FALSE(parse("%y = aten.detach(%x) : (tensor<4x8xf32>) -> "
                     "tensor<4x8xf32>")
                   .canHaveGradient(0));
}

TEST_F(InterfacesTest, RunningStatisticsHaveNoGradient) {
  CallOp norm =
      parse("%y = aten.batch_norm(%x, %v, %v, %v, %v, true, 0.1, 1.0e-5, "
            "false) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, "
            "tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>");
  EXPECT_TRUE(norm.canHaveGradient(0));
  EXPECT_TRUE(norm.canHaveGradient(2));
  EXPECT_FALSE(norm.canHaveGradient(3));
  EXPECT_FALSE(norm.canHaveGradient(4));
}

TEST_F(InterfacesTest, CallsKnowTheirNames) {
  CallOp op = parse("%y = aten.mul.Tensor(%x, 2) : (tensor<4x8xf32>) -> "
                    "tensor<4x8xf32>");
  auto call = cast<joint::FrameworkCallOpInterface>(op.getOperation());
  EXPECT_EQ(call.getPacketName(), "aten.mul");
  EXPECT_EQ(call.getOverloadName(), "Tensor");
  EXPECT_FALSE(call.returnsTuple());
  EXPECT_EQ(call.getNumPositionalArgs(), 2u);
  CallOp sym = parse("%y = aten.sym.add(%s, 1) : (index) -> index");
  EXPECT_EQ(sym.getPacketName(), "operator.add");
  EXPECT_EQ(sym.getOverloadName(), "");
}

} // namespace
