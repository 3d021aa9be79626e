// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls as rules write them: defaults, named arguments, inferred types, names,
// sizes that fold, and what is refused.

#include "cutback/Dialect/Aten/CallBuilder.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <gtest/gtest.h>

#include <functional>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

class CallBuilderTest : public testing::Test {
protected:
  CallBuilderTest()
      : builder(&context), module(ModuleOp::create(builder.getUnknownLoc())) {
    context.loadDialect<AtenDialect, joint::JointDialect>();
    builder.setInsertionPointToEnd(module->getBody());
  }

  Value argument(ArrayRef<int64_t> shape) {
    return module->getBody()->addArgument(
        RankedTensorType::get(shape, builder.getF32Type()),
        builder.getUnknownLoc());
  }

  /// The error of what `build` does.
  std::string errorOf(const std::function<void(CallBuilder &)> &build) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    CallBuilder b(builder, builder.getUnknownLoc());
    build(b);
    EXPECT_TRUE(b.failed());
    // Nothing more is built, and nothing more is said.
    EXPECT_FALSE(b.call("aten.relu.default", {argument({2})}));
    return message;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(CallBuilderTest, ArgumentsAreFilledInAndTypesInferred) {
  Value x = argument({2, 3});
  CallBuilder b(builder, builder.getUnknownLoc());
  Value y = b.call("aten.sum.dim_IntList", {x, {0, -1}, true},
                   {{"dtype", builder.getF64Type()}});
  ASSERT_TRUE(y);
  EXPECT_EQ(y.getType(), RankedTensorType::get({1, 1}, builder.getF64Type()));
  CallReader reader(cast<CallOp>(y.getDefiningOp()));
  EXPECT_EQ(reader.value("self"), x);
  EXPECT_EQ(reader.integers("dim"), (SmallVector<int64_t>{0, -1}));
  EXPECT_EQ(reader.boolean("keepdim"), true);
  EXPECT_EQ(reader.dtype("dtype"), builder.getF64Type());
  EXPECT_TRUE(reader.isNone(optional("unbiased")));
}

TEST_F(CallBuilderTest, NamesAreThoseThatNoValueHas) {
  Value x = argument({2});
  ValueNamer namer(*module);
  CallBuilder b(builder, builder.getUnknownLoc(), &namer);
  EXPECT_EQ(joint::getValueName(b.call("aten.relu.default", {x})), "relu");
  EXPECT_EQ(joint::getValueName(b.call("aten.relu.default", {x})), "relu_1");
}

TEST_F(CallBuilderTest, NumbersOfNamesAreTheLowestFreeOnes) {
  Value x = argument({2});
  CallBuilder b(builder, builder.getUnknownLoc());
  auto name = [&](StringRef text) {
    b.call("aten.relu.default", {x})
        .getDefiningOp()
        ->setInherentAttr(builder.getStringAttr("names"),
                          builder.getStrArrayAttr({text}));
  };
  for (StringRef text : {"mul_1", "mul_3", "mul_04", "mul_99999999999", "_2"})
    name(text);
  ValueNamer namer(*module);
  auto next = [&](StringRef stem) { return namer.next(stem).getValue(); };
  EXPECT_EQ(next("mul"), "mul");
  EXPECT_EQ(next("mul"), "mul_2");
  EXPECT_EQ(next("mul"), "mul_4");
  EXPECT_EQ(next("mul_1"), "mul_1_1");
  EXPECT_EQ(next("mul_5"), "mul_5");
  EXPECT_EQ(next("mul"), "mul_6");
  EXPECT_EQ(next("mul_04"), "mul_04_1");
  EXPECT_EQ(next("mul_99999999999"), "mul_99999999999_1");
  EXPECT_EQ(next(""), "");
  EXPECT_EQ(next(""), "_1");
  EXPECT_EQ(next(""), "_3");
}

TEST_F(CallBuilderTest, SizesAreNumbersWhereTheyAreKnown) {
  Value x = argument({2, ShapedType::kDynamic});
  CallBuilder b(builder, builder.getUnknownLoc());
  EXPECT_EQ(b.size(x, 0).getInt(), 2);
  EXPECT_TRUE(b.size(x, -1).isValue());
  EXPECT_EQ(b.times(Arg(2), Arg(3)).getInt(), 6);
  EXPECT_TRUE(b.numel(x).isValue());
  EXPECT_EQ(b.size(argument({}), 0).getInt(), 1);
}

TEST_F(CallBuilderTest, WrongCallsAreErrors) {
  Value x = argument({2, 3});
  EXPECT_EQ(errorOf([&](CallBuilder &b) { b.call("aten.none.default", {x}); }),
            "no call 'aten.none.default' with these arguments");
  EXPECT_EQ(errorOf([&](CallBuilder &b) { b.call("aten.mm.default", {x}); }),
            "'aten.mm.default' needs its argument 'mat2'");
  EXPECT_EQ(errorOf([&](CallBuilder &b) {
              b.call("aten.gelu.default", {x}, {{"approximate", 2}});
            }),
            "argument 'approximate' of 'aten.gelu.default' is of another kind");
  EXPECT_EQ(
      errorOf([&](CallBuilder &b) { b.call("aten.topk.default", {x, 1}); }),
      "'aten.topk.default' has 2 results");
  EXPECT_EQ(errorOf([&](CallBuilder &b) { b.call("aten.mm.default", {x, x}); }),
            "aten.mm: inner sizes differ: 3 and 2");
}

} // namespace
