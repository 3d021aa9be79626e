// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What heavy kernels say about operands that types cannot rule out: indices and
// offsets out of range, masks with more elements than their source.

#include "../RunHarness.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

Tensor ints(ArrayRef<int64_t> sizes, ArrayRef<double> values) {
  return tensorOf(DType::I64, sizes, values);
}

class KernelErrorTest : public RunTest {
protected:
  /// Runs `call` on operands of `types`, "tensor<2xf32>; tensor<i64>", named
  /// %0, %1, ...
  void fails(const std::string &call, const std::string &types,
             const std::string &result, ArrayRef<RuntimeValue> values,
             StringRef expected) {
    SmallVector<StringRef> parts;
    StringRef(types).split(parts, "; ");
    std::string arguments, list;
    for (auto [i, type] : llvm::enumerate(parts)) {
      arguments += (i ? ", %" : "%") + std::to_string(i) + ": " + type.str();
      list += (i ? ", " : "") + type.str();
    }
    std::vector<RuntimeValue> results =
        run(arguments,
            "{\n  " + call + " : (" + list + ") -> " + result + "\n  return\n}",
            values);
    EXPECT_TRUE(results.empty());
    expectMessage(expected);
  }
};

TEST_F(KernelErrorTest, IndicesOutOfRangeAreRefused) {
  Tensor x = counting({2, 3});
  std::vector<RuntimeValue> four = {x, ints({2, 1}, {0, 4})};
  fails("aten.gather(%0, 1, %1)", "tensor<2x3xf32>; tensor<2x1xi64>",
        "tensor<2x1xf32>", four,
        "aten.gather.default: index 4 is out of range for a dimension of size "
        "3");
  std::vector<RuntimeValue> negative = {x, ints({1}, {-4})};
  fails("aten.index.Tensor(%0, [none, %1])", "tensor<2x3xf32>; tensor<1xi64>",
        "tensor<2x1xf32>", negative,
        "index -4 is out of range for a dimension of size 3");
  fails("aten.index_select(%0, 0, %1)", "tensor<2x3xf32>; tensor<1xi64>",
        "tensor<1x3xf32>", negative,
        "index -4 is out of range for a dimension of size 2");
  fails("aten.embedding(%0, %1)", "tensor<2x3xf32>; tensor<1xi64>",
        "tensor<1x3xf32>", negative,
        "index -4 is out of range for a dimension of size 2");
  fails("aten.take(%0, %1)", "tensor<2x3xf32>; tensor<2x1xi64>",
        "tensor<2x1xf32>", {x, ints({2, 1}, {0, 6})},
        "index 6 is out of range for a dimension of size 6");
  fails("aten.gather(%0, 1, %1)", "tensor<2x3xf32>; tensor<2x1xi64>",
        "tensor<2x1xf32>", {x, ints({2, 1}, {0, -1})},
        "index -1 is out of range for a dimension of size 3");
}

TEST_F(KernelErrorTest, AnIndexOutOfRangeSaysWhichThereAre) {
  std::vector<RuntimeValue> negative = {counting({2, 3}), ints({1}, {-4})};
  fails("%r = aten.take(%0, %1)", "tensor<0xf32>; tensor<1xi64>",
        "tensor<1xf32>", {counting({0}), ints({1}, {0})},
        "note: 'r' takes no index at all; this one does not come from an "
        "input: check what the graph computes it from");
  fails("aten.index.Tensor(%0, [none, %1])", "tensor<2x3xf32>; tensor<1xi64>",
        "tensor<2x1xf32>", negative,
        "note: 'aten.index.Tensor' takes indices from -3 to 2; this one does");
  // Through what is made of integers, and past what is made of floats.
  runText("joint.graph @g(%ids: tensor<1xi64> {joint.role = #joint.role<input>}"
          ", %other: tensor<1xi64> {joint.role = #joint.role<input>}, %x: "
          "tensor<2x3xf32> {joint.role = #joint.role<input>}) -> "
          "(tensor<1x3xf32>) gradients () {\n"
          "  %f = aten._to_copy(%other, dtype = f32) : (tensor<1xi64>) -> "
          "tensor<1xf32>\n"
          "  %i = aten._to_copy(%f, dtype = i64) : (tensor<1xf32>) -> "
          "tensor<1xi64>\n"
          "  %sum = aten.add.Tensor(%ids, %i) : (tensor<1xi64>, tensor<1xi64>)"
          " -> tensor<1xi64>\n"
          "  %e = aten.embedding(%x, %sum) : (tensor<2x3xf32>, tensor<1xi64>)"
          " -> tensor<1x3xf32>\n"
          "  joint.output %e gradients() : tensor<1x3xf32>\n}",
          {ints({1}, {2}), ints({1}, {0}), counting({2, 3})});
  expectMessage("note: 'e' takes indices from 0 to 1; this one comes from "
                "'input.0': correct it in the file of --inputs");
}

TEST_F(KernelErrorTest, ClassesOutOfRangeAreRefusedUnlessIgnored) {
  Tensor x = counting({2, 3});
  fails("aten.cross_entropy_loss(%0, %1)", "tensor<2x3xf32>; tensor<2xi64>",
        "tensor<f32>", {x, ints({2}, {0, 3})},
        "index 3 is out of range for a dimension of size 3");
  std::vector<double> loss = runToDoubles(
      "%x: tensor<2x3xf32>, %t: tensor<2xi64>",
      "-> tensor<f32> {\n %r = aten.cross_entropy_loss(%x, %t, none, 1, 3) : "
      "(tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>\n"
      " return %r : tensor<f32>\n}",
      {x, ints({2}, {0, 3})});
  ASSERT_EQ(loss.size(), 1u);
  EXPECT_NEAR(loss[0], std::log(1 + std::exp(1.0) + std::exp(2.0)), 1e-5);
}

TEST_F(KernelErrorTest, OffsetsOfGroupsMustRiseWithinTheFactor) {
  fails("aten._grouped_mm(%0, %1, %2)",
        "tensor<2x2xf32>; tensor<2x2x2xf32>; tensor<2xi32>", "tensor<2x2xf32>",
        {counting({2, 2}), counting({2, 2, 2}),
         tensorOf(DType::I32, {2}, {1, 3})},
        "offset 3 of a group that begins at 1 of 2");
  fails("aten._grouped_mm(%0, %1, %2)",
        "tensor<2x2xf32>; tensor<2x2x2xf32>; tensor<2xi32>", "tensor<2x2xf32>",
        {counting({2, 2}), counting({2, 2, 2}),
         tensorOf(DType::I32, {2}, {2, 1})},
        "offset 1 of a group that begins at 2 of 2");
}

TEST_F(KernelErrorTest, OffsetsOfBagsMustRiseWithinTheIndices) {
  fails("aten._embedding_bag(%0, %1, %2)",
        "tensor<2x2xf32>; tensor<2xi64>; tensor<2xi64>",
        "(tensor<2x2xf32>, tensor<0xi64>, tensor<2xi64>, tensor<0xi64>)",
        {counting({2, 2}), ints({2}, {0, 1}), ints({2}, {0, 3})},
        "offsets of bags go from 0 to 3, there are 2 indices");
}

TEST_F(KernelErrorTest, AMaskMustNotHaveMoreElementsThanItsSource) {
  fails("aten.masked_scatter(%0, %1, %2)",
        "tensor<2xf32>; tensor<2xi1>; tensor<1xf32>", "tensor<2xf32>",
        {counting({2}), tensorOf(DType::Bool, {2}, {1, 1}), counting({1})},
        "the mask has 2 elements, the source 1");
}

TEST_F(KernelErrorTest, OperandsThatInferenceDoesNotCompareAreCounted) {
  fails("aten.layer_norm(%0, [3], %1)", "tensor<2x3xf32>; tensor<2xf32>",
        "tensor<2x3xf32>", {counting({2, 3}), counting({2})},
        "aten.layer_norm.default: 'weight' has 2 elements, not 3");
  fails("aten._softmax_backward_data(%0, %1, 0, f32)",
        "tensor<1xf32>; tensor<2xf32>", "tensor<2xf32>",
        {counting({1}), counting({2})}, "'grad_output' has 1 elements, not 2");
  fails("aten.index_fill.int_Tensor(%0, 0, %1, %2)",
        "tensor<2xf32>; tensor<1xi64>; tensor<2xf32>", "tensor<2xf32>",
        {counting({2}), ints({1}, {0}), counting({2})},
        "'value' has 2 elements, not 1");
}

TEST_F(KernelErrorTest, ChannelsMustBeAMultipleOfTheGroups) {
  fails("aten.group_norm(%0, 3)", "tensor<2x4x3xf32>", "tensor<2x4x3xf32>",
        {counting({2, 4, 3})}, "4 channels cannot be divided into 3 groups");
  fails("aten.channel_shuffle(%0, 0)", "tensor<1x4x3xf32>", "tensor<1x4x3xf32>",
        {counting({1, 4, 3})}, "4 channels cannot be divided into 0 groups");
}

TEST_F(KernelErrorTest, AnEmptyPlaneCannotBeResampled) {
  fails("aten.upsample_nearest2d(%0, [2, 2])", "tensor<1x1x0x0xf32>",
        "tensor<1x1x2x2xf32>", {counting({1, 1, 0, 0})},
        "nothing to interpolate between");
}

TEST_F(KernelErrorTest, IndicesMustHaveTheRankOfTheTensor) {
  fails("aten.scatter_add(%0, 0, %1, %2)",
        "tensor<2x3xf32>; tensor<2xi64>; tensor<2xf32>", "tensor<2x3xf32>",
        {counting({2, 3}), ints({2}, {0, 1}), counting({2})},
        "an index of rank 1 for a tensor of rank 2");
  fails("aten.index_put(%0, [%1, %2], %3)",
        "tensor<2xf32>; tensor<1xi64>; tensor<1xi64>; tensor<1xf32>",
        "tensor<2xf32>",
        {counting({2}), ints({1}, {0}), ints({1}, {0}), counting({1})},
        "2 indices for a tensor of rank 1");
}

TEST_F(KernelErrorTest, TensorsThatAreJoinedMustFit) {
  fails("aten.hstack([%0, %1])", "tensor<2x2xf32>; tensor<3x2xf32>",
        "tensor<2x4xf32>", {counting({2, 2}), counting({3, 2})},
        "tensors differ beside dimension 1, along which they are joined");
}

TEST_F(KernelErrorTest, ParametersAndStatesMustFitTheLayers) {
  std::string layer = "aten.gru.input(%0, %1, [%2, %3], false, 1, 0.0, false, "
                      "false, false)";
  std::string types = "tensor<1x1x1xf32>; tensor<1x1x1xf32>; ";
  std::string results = "(tensor<1x1x1xf32>, tensor<1x1x1xf32>)";
  Tensor x = counting({1, 1, 1});
  fails(layer, types + "tensor<3x2xf32>; tensor<3x1xf32>", results,
        {x, x, counting({3, 2}), counting({3, 1})},
        "parameters of a layer do not fit it");
  fails("aten.gru.input(%0, %1, [], false, 0, 0.0, false, false, false)",
        "tensor<1x1x1xf32>; tensor<1x1x1xf32>", results, {x, x},
        "the states do not fit the layers");
}

TEST_F(KernelErrorTest, ACrossProductNeedsADimensionOfThree) {
  fails("aten.linalg_cross(%0, %1)", "tensor<2xf32>; tensor<2xf32>",
        "tensor<2xf32>", {counting({2}), counting({2})},
        "no dimension of size 3");
}

TEST_F(KernelErrorTest, AttentionWithoutARandomStateHasNoDropout) {
  fails(
      "aten._scaled_dot_product_flash_attention_for_cpu(%0, %1, %2, 0.5)",
      "tensor<1x1x2x2xf32>; tensor<1x1x2x2xf32>; tensor<1x1x2x2xf32>",
      "(tensor<1x1x2x2xf32>, tensor<1x1x2xf32>)",
      {counting({1, 1, 2, 2}), counting({1, 1, 2, 2}), counting({1, 1, 2, 2})},
      "this kernel has no dropout");
}

TEST_F(KernelErrorTest, FactorizationsSayWhatTheyCannotDo) {
  Tensor zero = tensorOf(DType::F32, {2, 2}, {1, 2, 2, 4});
  const char *matrix = "tensor<2x2xf32>";
  fails("aten.linalg_inv_ex(%0)", matrix, "(tensor<2x2xf32>, tensor<i32>)",
        {zero}, "the matrix is singular");
  fails("aten.linalg_cholesky_ex(%0)", matrix, "(tensor<2x2xf32>, tensor<i32>)",
        {tensorOf(DType::F32, {2, 2}, {1, 2, 2, 1})},
        "the matrix is not positive definite");
  double infinity = std::numeric_limits<double>::infinity();
  Tensor endless = tensorOf(DType::F32, {2, 2}, {infinity, 0, 0, 1});
  fails("aten._linalg_svd(%0)", matrix,
        "(tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>)", {endless},
        "the matrix has elements that are not finite");
  fails("aten._unique2(%0)", "tensor<2xcomplex<f32>>",
        "(tensor<?xcomplex<f32>>, tensor<0xi64>, tensor<0xi64>)",
        {Tensor::zeros(DType::C64, {2})}, "runs on real numbers only");
  fails("aten.hash_tensor(%0, mode = 1)", "tensor<2xf32>", "tensor<ui64>",
        {counting({2})}, "runs in mode 0 only");
  fails("aten.polygamma(-1, %0)", "tensor<2xf32>", "tensor<2xf32>",
        {counting({2})}, "runs for n from 0 on");
  // Sizes that only the data has.
  fails("aten.linalg_inv_ex(%0)", "tensor<?x?xf32>",
        "(tensor<?x?xf32>, tensor<i32>)", {counting({2, 3})},
        "runs on square matrices only");
  fails("aten.linalg_solve_triangular(%0, %1, upper = true)",
        "tensor<?x?xf32>; tensor<?x?xf32>", "tensor<?x?xf32>",
        {counting({2, 2}), counting({3, 1})},
        "operands of sizes that do not fit");
}

TEST_F(KernelErrorTest, AlignmentsNeedLengthsThatFit) {
  Tensor logs = Tensor::zeros(DType::F32, {3, 1, 2});
  auto ctc = [&](const char *lengths, ArrayRef<RuntimeValue> values,
                 const char *expected) {
    fails(std::string("aten._ctc_loss(%0, %1, ") + lengths + ")",
          "tensor<3x1x2xf32>; tensor<1x1xi64>",
          "(tensor<1xf32>, tensor<1x3x?xf32>)", values, expected);
  };
  std::vector<RuntimeValue> values = {logs, ints({1, 1}, {1})};
  ctc("[3, 3], [1]", values, "has lengths for another number of sequences");
  ctc("[4], [1]", values, "has a length beyond its sequence");
  ctc("[3], [2]", values, "has a length beyond its sequence");
  std::vector<RuntimeValue> beyond = {logs, ints({1, 1}, {2})};
  ctc("[3], [1]", beyond, "index 2 is out of range for a dimension of size 2");
  fails("aten._ctc_loss(%0, %1, [3], [1])", "tensor<3x2xf32>; tensor<1xi64>",
        "(tensor<f32>, tensor<3x3xf32>)",
        {Tensor::zeros(DType::F32, {3, 2}), ints({1}, {1})},
        "runs on log_probs of 3 dimensions and targets of 1 or 2");
}

TEST_F(KernelErrorTest, PivotsAndGroupsBeyondTheRowsAreRefused) {
  std::vector<RuntimeValue> factors = {counting({2, 2}),
                                       tensorOf(DType::I32, {2}, {1, 3})};
  fails("aten.lu_unpack(%0, %1)", "tensor<2x2xf32>; tensor<2xi32>",
        "(tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)", factors,
        "pivot 3 of 2 rows");
  std::vector<RuntimeValue> rows = {counting({2, 2}), counting({1, 2, 2}),
                                    ints({1}, {3})};
  fails("aten.transformers.grouped_mm_fallback(%0, %1, %2)",
        "tensor<2x2xf32>; tensor<1x2x2xf32>; tensor<1xi64>", "tensor<2x2xf32>",
        rows, "a group ends at row 3 of 2");
}

TEST_F(KernelErrorTest, SomeKernelsAreReal) {
  fails("aten.logcumsumexp(%0, 0)", "tensor<2xcomplex<f32>>",
        "tensor<2xcomplex<f32>>", {Tensor::zeros(DType::C64, {2})},
        "is executed for real numbers only");
  fails("aten.col2im(%0, [2, 2], [1, 1], [1, 1], [0, 0], [1, 1])",
        "tensor<1x1x4xcomplex<f32>>", "tensor<1x1x2x2xcomplex<f32>>",
        {Tensor::zeros(DType::C64, {1, 1, 4})},
        "is executed for real numbers only");
}

TEST_F(KernelErrorTest, PseudoInversesOfOtherSizes) {
  fails("aten.linalg_pinv.atol_rtol_tensor(%0, hermitian = true)",
        "tensor<?x?xf32>", "tensor<?x?xf32>", {counting({2, 3})},
        "a symmetric matrix is square");
  fails("aten.linalg_pinv.atol_rtol_tensor(%0, atol = %1)",
        "tensor<2x2xf32>; tensor<?xf32>", "tensor<2x2xf32>",
        {counting({2, 2}), counting({2})},
        "a tolerance for each matrix, not of other sizes");
  fails(
      "aten.linalg_pinv.atol_rtol_tensor(%0)", "tensor<1x1xf32>",
      "tensor<1x1xf32>",
      {tensorOf(DType::F32, {1, 1}, {std::numeric_limits<float>::infinity()})},
      "the matrix has elements that are not finite");
}

TEST_F(KernelErrorTest, RandomWindowsMustFitIntoThePlane) {
  fails("aten.fractional_max_pool2d(%0, [3, 3], [3, 1], %1)",
        "tensor<1x4x4xf32>; tensor<1x1x2xf32>",
        "(tensor<1x3x1xf32>, tensor<1x3x1xi64>)",
        {counting({1, 4, 4}), counting({1, 1, 2})},
        "has more windows than places for them");
}

TEST_F(KernelErrorTest, SegmentsBeyondTheDataAreRefused) {
  fails("aten.segment_reduce(%0, \"sum\", lengths = %1)",
        "tensor<3xf32>; tensor<2xi64>", "tensor<2xf32>",
        {counting({3}), ints({2}, {1, 3})}, "a segment from 1 to 4 of 3");
  fails("aten._segment_reduce_backward(%0, %1, %2, \"sum\", lengths = %3, axis "
        "= 1)",
        "tensor<2x1xf32>; tensor<2x1xf32>; tensor<2x3xf32>; tensor<1xi64>",
        "tensor<2x3xf32>",
        {counting({2, 1}), counting({2, 1}), counting({2, 3}), ints({1}, {3})},
        "the segments of 2 rows are given by 1 numbers");
  fails("aten._pdist_backward(%0, %1, 2.0, %2)",
        "tensor<1xf32>; tensor<2xf32>; tensor<1xf32>", "tensor<2xf32>",
        {counting({1}), counting({2}), counting({1})},
        "runs on a matrix of points, not on 1 dimensions");
  fails("aten._convert_indices_from_coo_to_csr(%0, 2)", "tensor<2xi64>",
        "tensor<3xi64>", {ints({2}, {0, 2})},
        "index 2 is out of range for a dimension of size 2");
}

TEST_F(KernelErrorTest, GradientsOfOtherSizesAreRefused) {
  fails("aten.masked_scatter_backward(%0, %1, [1])",
        "tensor<2xf32>; tensor<2xi1>", "tensor<1xf32>",
        {counting({2}), tensorOf(DType::Bool, {2}, {1, 1})},
        "the mask has more elements than the source, 1");
  fails("aten.rrelu_with_noise_backward(%0, %1, %2, 0.1, 0.3, true, false)",
        "tensor<2xf32>; tensor<3xf32>; tensor<2xf32>", "tensor<3xf32>",
        {counting({2}), counting({3}), counting({2})},
        "the gradient, the noise and the input have 2, 2 and 3 elements");
}

} // namespace
