// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of ops that have no model, under the hint of a symbol: each way in
// which MLIR itself knows a shape, and ops of which it knows none.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/SizeFallback.h"
#include "cutback/Analysis/ValueSizes.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

/// An op that says no more than that its result is of its operand's type.
class AlikeOp : public Op<AlikeOp, OpTrait::OneOperand, OpTrait::OneResult,
                          OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                          InferTypeOpInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AlikeOp)
  using Op::Op;
  static StringRef getOperationName() { return "sizes.alike"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static LogicalResult inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        ValueRange operands, DictionaryAttr,
                                        OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &types) {
    if (operands.size() != 1)
      return failure();
    types.push_back(operands[0].getType());
    return success();
  }
};

class SizesDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SizesDialect)
  static StringRef getDialectNamespace() { return "sizes"; }
  explicit SizesDialect(MLIRContext *context)
      : Dialect("sizes", context, TypeID::get<SizesDialect>()) {
    addOperations<AlikeOp>();
  }
};

class SizeFallbackTest : public ::testing::Test {
protected:
  SizeFallbackTest() {
    loadDialects(context);
    context.loadDialect<tosa::TosaDialect, SizesDialect>();
    context.allowUnregisteredDialects();
  }

  /// Types of the results of ops on `%x: tensor<?x4xf32>` and `%n: index`, both
  /// 6; what is not known stays `?`.
  std::string typesOf(const std::string &ops) {
    OwningOpRef<ModuleOp> module = parse(
        context,
        "joint.graph @g(%x: tensor<?x4xf32> {joint.role = #joint.role<input>, "
        "joint.dims = [\"s\", \"4\"]}, %n: index {joint.role = "
        "#joint.role<size>, joint.dims = [\"s\"]}) -> () gradients () "
        "attributes {symbols = {s = #joint.symbol<hint = 6>}} {\n" +
            ops + "\njoint.output\n}");
    if (!module)
      return "no module";
    GraphView view = GraphView::build(graphOf(*module));
    FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
    if (failed(sizes))
      return "no sizes";
    std::string text;
    llvm::raw_string_ostream out(text);
    for (uint32_t value = 2; value < view.numValues(); ++value)
      out << (value > 2 ? " " : "") << sizes->type[value];
    return text;
  }

  MLIRContext context;
};

TEST_F(SizeFallbackTest, ResultsHaveTheShapesOfTheirDestinations) {
  EXPECT_EQ(typesOf("%r = linalg.exp ins(%x : tensor<?x4xf32>) "
                    "outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>"),
            "tensor<6x4xf32>");
}

TEST_F(SizeFallbackTest, ElementwiseOpsHaveTheShapeOfAnOperand) {
  EXPECT_EQ(typesOf("%r = math.exp %x : tensor<?x4xf32>\n"
                    "%c = arith.cmpf ogt, %r, %x : tensor<?x4xf32>"),
            "tensor<6x4xf32> tensor<6x4xi1>");
}

TEST_F(SizeFallbackTest, OpsThatInferShapesAreAsked) {
  EXPECT_EQ(typesOf("%r = tosa.reduce_sum %x {axis = 1 : i32} : "
                    "(tensor<?x4xf32>) -> tensor<?x1xf32>"),
            "tensor<6x1xf32>");
}

TEST_F(SizeFallbackTest, OpsThatInferTypesAreAsked) {
  EXPECT_EQ(typesOf("%r = \"sizes.alike\"(%x) : (tensor<?x4xf32>) -> "
                    "tensor<?x4xf32>"),
            "tensor<6x4xf32>");
}

TEST_F(SizeFallbackTest, WhatNobodyKnowsStaysOpen) {
  EXPECT_EQ(typesOf("%r = \"who.knows\"(%x) : (tensor<?x4xf32>) -> "
                    "tensor<?x4xf32>"),
            "tensor<?x4xf32>");
}

TEST_F(SizeFallbackTest, ConstantsAreTheirValues) {
  OwningOpRef<ModuleOp> module =
      parse(context, "%c = arith.constant 7 : index");
  ASSERT_TRUE(module);
  SmallVector<Type> types;
  SmallVector<int64_t> ints;
  inferSizes(&module->getBody()->front(), {}, types, ints);
  EXPECT_EQ(types, SmallVector<Type>{IndexType::get(&context)});
  EXPECT_EQ(ints, SmallVector<int64_t>{7});
}

} // namespace
