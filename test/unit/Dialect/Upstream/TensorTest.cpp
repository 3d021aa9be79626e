// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of `tensor`: views, moves, literals, and the shapes they give.

#include "UpstreamFixture.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace cutback;

namespace {

class TensorTest : public UpstreamFixture {
protected:
  /// The one result's type, or its integer, for operands of the given types
  /// and integers.
  std::string evaluate(const std::string &arguments, const std::string &ops,
                       ArrayRef<StringRef> types, ArrayRef<int64_t> ints) {
    Operation *op =
        probe("func.func @f(" + arguments + ") {\n" + ops + "\nreturn\n}");
    SmallVector<Type> operandTypes;
    for (StringRef type : types)
      operandTypes.push_back(parseType(type, &context));
    SmallVector<Type> resultTypes;
    SmallVector<int64_t> resultInts;
    auto model = dyn_cast_or_null<joint::SizeEvaluationOpInterface>(op);
    if (!model ||
        !model.evaluateSizes(operandTypes, ints, resultTypes, resultInts))
      return "unknown";
    if (resultTypes.front().isIndex())
      return std::to_string(resultInts.front());
    std::string text;
    llvm::raw_string_ostream(text) << resultTypes.front();
    return text;
  }

  static constexpr int64_t no = ShapedType::kDynamic;
};

TEST_F(TensorTest, ReshapesAndSlicesAreViews) {
  EXPECT_EQ(describe("%a: tensor<6x4xf32>",
                     "%r = tensor.collapse_shape %a [[0, 1]] {probe} : "
                     "tensor<6x4xf32> into tensor<24xf32>"),
            "view of 0, 0 flops");
  EXPECT_EQ(describe("%a: tensor<6x4xf32>",
                     "%r = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] {probe} "
                     ": tensor<6x4xf32> to tensor<2x2xf32>"),
            "view of 0, 0 flops");
  EXPECT_EQ(describe("%a: tensor<6x4xf32>",
                     "%r = tensor.cast %a {probe} : tensor<6x4xf32> to "
                     "tensor<?x4xf32>"),
            "view of 0, 0 flops");
}

TEST_F(TensorTest, ViewsLieInTheirBase) {
  auto in = [&](const std::string &op) {
    return viewOf("func.func @f(%a: tensor<6x4xf32>, %n: index) {\n" + op +
                  "\nreturn\n}");
  };
  EXPECT_EQ(in("%r = tensor.collapse_shape %a [[0, 1]] {probe} : "
               "tensor<6x4xf32> into tensor<24xf32>"),
            "[24] [1] + 0");
  EXPECT_EQ(in("%r = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, "
               "4] {probe} : tensor<6x4xf32> into tensor<2x3x4xf32>"),
            "[2 3 4] [12 4 1] + 0");
  EXPECT_EQ(in("%r = tensor.extract_slice %a[1, 2] [3, 1] [2, 1] {probe} : "
               "tensor<6x4xf32> to tensor<3xf32>"),
            "[3] [8] + 6");
  // Where it begins is not known.
  EXPECT_EQ(in("%r = tensor.extract_slice %a[%n, 0] [2, 4] [1, 1] {probe} : "
               "tensor<6x4xf32> to tensor<2x4xf32>"),
            "none");
  // New contents.
  EXPECT_EQ(in("%r = tensor.concat dim(0) %a, %a {probe} : (tensor<6x4xf32>, "
               "tensor<6x4xf32>) -> tensor<12x4xf32>"),
            "none");
}

TEST_F(TensorTest, EmptyAndSplatAreLiterals) {
  EXPECT_EQ(describe("", "%r = tensor.empty() {probe} : tensor<4xf32>"),
            "create, 0 flops, literal");
  EXPECT_EQ(describe("%a: f32", "%r = tensor.splat %a {probe} : tensor<4xf32>"),
            "create, 0 flops, literal");
}

TEST_F(TensorTest, DataMovesAsItsOpsSay) {
  EXPECT_EQ(describe("%a: tensor<2xf32>, %b: tensor<4xf32>",
                     "%r = tensor.insert_slice %a into %b[0] [2] [1] {probe} : "
                     "tensor<2xf32> into tensor<4xf32>"),
            "concat, 0 flops");
  EXPECT_EQ(describe("%a: tensor<2xf32>",
                     "%r = tensor.concat dim(0) %a, %a {probe} : "
                     "(tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>"),
            "concat, 0 flops");
  EXPECT_EQ(describe("%a: tensor<4xf32>, %i: tensor<3x1xindex>",
                     "%r = tensor.gather %a[%i] gather_dims([0]) {probe} : "
                     "(tensor<4xf32>, tensor<3x1xindex>) -> tensor<3x1xf32>"),
            "gather, 0 flops");
}

TEST_F(TensorTest, ShapesAreFollowed) {
  EXPECT_EQ(evaluate("%n: index",
                     "%r = tensor.empty(%n) {probe} : tensor<?x4xf32>",
                     {"index"}, {7}),
            "tensor<7x4xf32>");
  EXPECT_EQ(evaluate("%n: index",
                     "%r = tensor.empty(%n) {probe} : tensor<?x4xf32>",
                     {"index"}, {no}),
            "tensor<?x4xf32>");
  EXPECT_EQ(evaluate("%v: f32, %n: index",
                     "%r = tensor.splat %v[%n] {probe} : tensor<?xf32>",
                     {"f32", "index"}, {no, 3}),
            "tensor<3xf32>");
  EXPECT_EQ(evaluate("%a: tensor<?x4xf32>, %i: index",
                     "%r = tensor.dim {probe} %a, %i : tensor<?x4xf32>",
                     {"tensor<9x4xf32>", "index"}, {no, 0}),
            "9");
  EXPECT_EQ(evaluate("%a: tensor<?x4xf32>",
                     "%r = tensor.collapse_shape %a [[0, 1]] {probe} : "
                     "tensor<?x4xf32> into tensor<?xf32>",
                     {"tensor<5x4xf32>"}, {no}),
            "tensor<20xf32>");
  EXPECT_EQ(evaluate("%a: tensor<?x4xf32>, %n: index",
                     "%r = tensor.expand_shape %a [[0, 1], [2]] output_shape "
                     "[%n, 2, 4] {probe} : tensor<?x4xf32> into "
                     "tensor<?x2x4xf32>",
                     {"tensor<6x4xf32>", "index"}, {no, 3}),
            "tensor<3x2x4xf32>");
  EXPECT_EQ(evaluate("%a: tensor<?x4xf32>, %n: index",
                     "%r = tensor.extract_slice %a[0, 0] [%n, 1] [1, 1] "
                     "{probe} : tensor<?x4xf32> to tensor<?xf32>",
                     {"tensor<6x4xf32>", "index"}, {no, 5}),
            "tensor<5xf32>");
  EXPECT_EQ(evaluate("%a: tensor<?xf32>, %b: tensor<2xf32>",
                     "%r = tensor.concat dim(0) %a, %b {probe} : "
                     "(tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>",
                     {"tensor<5xf32>", "tensor<2xf32>"}, {no, no}),
            "tensor<7xf32>");
  EXPECT_EQ(evaluate("%a: tensor<?xf32>, %v: f32",
                     "%r = tensor.pad %a low[1] high[2] {\n^bb0(%i: index):\n"
                     "tensor.yield %v : f32\n} {probe} : tensor<?xf32> to "
                     "tensor<?xf32>",
                     {"tensor<5xf32>"}, {no}),
            "tensor<8xf32>");
  EXPECT_EQ(evaluate("%a: tensor<?xf32>",
                     "%r = tensor.cast %a {probe} : tensor<?xf32> to "
                     "tensor<?xf32>",
                     {"tensor<5xf32>"}, {no}),
            "tensor<5xf32>");
}

} // namespace
