// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops on complex numbers and transforms in core ops, against the interpreter's
// kernels; CoreListTest has those that the reference has. No op on complex
// numbers is left but views.

#include "CoreFixture.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class CoreComplex : public test::CoreFixture {
protected:
  static RuntimeValue inputOf(Type given, size_t number) {
    auto type = cast<RankedTensorType>(given);
    Tensor tensor =
        Tensor::zeros(*dtypeOf(type.getElementType()), type.getShape());
    for (int64_t i = 0, n = tensor.numel(); i < n; ++i) {
      double at = static_cast<double>(i) + 7.0 * static_cast<double>(number);
      if (tensor.type == DType::I64)
        tensor.setInt(i, i % 2);
      else
        tensor.setComplex(i, {std::sin(1.3 * at), std::cos(2.1 * at)});
    }
    return tensor;
  }

  void compare(const std::string &call) {
    std::string text = test::functionAround(call);
    auto given = parseSourceString<ModuleOp>(text, &context);
    auto core = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(given && core) << text;
    func::FuncOp whole = *given->getOps<func::FuncOp>().begin();
    func::FuncOp parts = *core->getOps<func::FuncOp>().begin();
    std::vector<RuntimeValue> inputs;
    for (auto [i, type] : llvm::enumerate(whole.getArgumentTypes()))
      inputs.push_back(inputOf(type, i));
    EXPECT_FALSE(isOnCoreList(parts, staysNothing));
    decomposeToCoreList(parts, staysNothing);
    EXPECT_TRUE(isOnCoreList(parts, staysNothing));
    parts.walk([&](aten::CallOp op) {
      bool isView = op.getSchema().packet.starts_with("aten.view_as_");
      for (Value operand : op->getOperands())
        EXPECT_TRUE(isView ||
                    !isa<ComplexType>(getElementTypeOrSelf(operand.getType())))
            << op.getSchema().packet.str();
    });
    auto expected = run(whole, inputs), actual = run(parts, inputs);
    ASSERT_TRUE(succeeded(expected) && succeeded(actual));
    for (auto [a, b] : llvm::zip_equal(*expected, *actual))
      EXPECT_EQ(test::differenceOf(std::get<Tensor>(a), std::get<Tensor>(b)),
                "");
  }
};

class CoreComplexTest : public CoreComplex,
                        public testing::TestWithParam<const char *> {};

TEST_P(CoreComplexTest, AgreesWithTheKernel) { compare(GetParam()); }

#define COMPLEX "tensor<3x4xcomplex<f64>>"
#define ONE " : (" COMPLEX ") -> "
#define PAIR " : (" COMPLEX ", " COMPLEX ") -> "
#define WITH_REAL " : (" COMPLEX ", tensor<4xf64>) -> "
#define SMALLER " : (" COMPLEX ", tensor<4xcomplex<f64>>) -> "

INSTANTIATE_TEST_SUITE_P(
    Calls, CoreComplexTest,
    testing::Values(
        "aten.mul.Tensor(%0, %1)" PAIR COMPLEX,
        "aten.mul.Tensor(%0, %1)" SMALLER COMPLEX,
        "aten.mul.Tensor(%0, %1)" WITH_REAL COMPLEX,
        "aten.mul.Tensor(%0, %1) : (tensor<4xf64>, " COMPLEX ") -> " COMPLEX,
        "aten.mul.Tensor(%0, 2.5)" ONE COMPLEX,
        "aten.mul.Scalar(%0, 3)" ONE COMPLEX,
        "aten.div.Tensor(%0, %1)" PAIR COMPLEX,
        "aten.div.Tensor(%0, %1)" WITH_REAL COMPLEX,
        "aten.div.Tensor(%0, %1) : (tensor<4xf64>, " COMPLEX ") -> " COMPLEX,
        "aten.div.Scalar(%0, 3)" ONE COMPLEX,
        "aten.add.Tensor(%0, %1, alpha = 2)" PAIR COMPLEX,
        "aten.add.Tensor(%0, %1)" SMALLER COMPLEX,
        "aten.add.Tensor(%0, %1)" WITH_REAL COMPLEX,
        "aten.add.Tensor(%0, 1.5, alpha = 2)" ONE COMPLEX,
        "aten.add.Scalar(%0, 1.5)" ONE COMPLEX,
        "aten.sub.Tensor(%0, %1, alpha = 3)" PAIR COMPLEX,
        "aten.sub.Tensor(%0, %1) : (tensor<4xf64>, " COMPLEX ") -> " COMPLEX,
        "aten.neg(%0)" ONE COMPLEX, "aten._conj(%0)" ONE COMPLEX,
        "aten.conj_physical(%0)" ONE COMPLEX, "aten.clone(%0)" ONE COMPLEX,
        "aten.exp(%0)" ONE COMPLEX, "aten.sgn(%0)" ONE COMPLEX,
        "aten.abs(%0)" ONE "tensor<3x4xf64>",
        "aten.angle(%0)" ONE "tensor<3x4xf64>",
        "aten.sum(%0)" ONE "tensor<complex<f64>>",
        "aten.sum.dim_IntList(%0, [-1])" ONE "tensor<3xcomplex<f64>>",
        "aten.sum.dim_IntList(%0, [0], true)" ONE "tensor<1x4xcomplex<f64>>",
        "aten.complex(%0, %1) : (tensor<5xf32>, tensor<5xf32>) -> "
        "tensor<5xcomplex<f32>>",
        "aten.polar(%0, %1) : (tensor<5xf32>, tensor<5xf32>) -> "
        "tensor<5xcomplex<f32>>",
        "aten._to_copy(%0, dtype = complex<f32>)" ONE
        "tensor<3x4xcomplex<f32>>",
        "aten._to_copy(%0, dtype = complex<f64>) : (tensor<5xf32>) -> "
        "tensor<5xcomplex<f64>>",
        "aten.mm(%0, %1) : (" COMPLEX ", tensor<4x2xcomplex<f64>>) -> "
        "tensor<3x2xcomplex<f64>>",
        "aten.bmm(%0, %1) : (tensor<2x3x4xcomplex<f32>>, "
        "tensor<2x4x2xcomplex<f32>>) -> tensor<2x3x2xcomplex<f32>>",
        "aten.cat([%0, %1], -1)" PAIR "tensor<3x8xcomplex<f64>>",
        "aten.flip(%0, [-1, 0])" ONE COMPLEX,
        "aten.roll(%0, [1], [-1])" ONE COMPLEX,
        "aten.constant_pad_nd(%0, [1, 2])" ONE "tensor<3x7xcomplex<f64>>",
        "aten.slice_scatter(%0, %1, -1, 1, 3) : (" COMPLEX
        ", tensor<3x2xcomplex<f64>>) -> " COMPLEX,
        "aten.select_scatter(%0, %1, 1, 2) : (" COMPLEX
        ", tensor<3xcomplex<f64>>) -> " COMPLEX,
        "aten.index_select(%0, -1, %1) : (" COMPLEX
        ", tensor<3xi64>) -> tensor<3x3xcomplex<f64>>",
        "aten.zeros_like(%0)" ONE COMPLEX));

// Even and odd sizes, one and several dimensions, each normalization.
INSTANTIATE_TEST_SUITE_P(
    Transforms, CoreComplexTest,
    testing::Values(
        "aten._fft_c2c(%0, [1], 0, true)" ONE COMPLEX,
        "aten._fft_c2c(%0, [-1, 0], 1, false)" ONE COMPLEX,
        "aten._fft_r2c(%0, [1], 0, true) : (tensor<3x6xf64>) -> "
        "tensor<3x4xcomplex<f64>>",
        "aten._fft_r2c(%0, [0, 1], 2, true) : (tensor<3x7xf64>) -> "
        "tensor<3x4xcomplex<f64>>",
        "aten._fft_r2c(%0, [1], 0, false) : (tensor<3x5xf64>) -> "
        "tensor<3x5xcomplex<f64>>",
        "aten._fft_c2r(%0, [1], 2, 6)" ONE "tensor<3x6xf64>",
        "aten._fft_c2r(%0, [1], 0, 7)" ONE "tensor<3x7xf64>",
        "aten._fft_c2r(%0, [0, 1], 1, 6)" ONE "tensor<3x6xf64>",
        "aten._fft_c2r(%0, [1], 0, 5)" ONE "tensor<3x5xf64>",
        "aten._fft_c2c(%0, [1], 0, true) : (tensor<2x1xcomplex<f32>>) -> "
        "tensor<2x1xcomplex<f32>>"));

class CoreTransformTest : public CoreComplex, public testing::Test {};

TEST_F(CoreTransformTest, LargeOnesAndUnknownSizesStay) {
  for (const char *call :
       {"aten._fft_c2c(%0, [1], 0, true) : (tensor<2x2049xcomplex<f32>>) -> "
        "tensor<2x2049xcomplex<f32>>",
        "aten._fft_r2c(%0, [1], 0, false) : (tensor<2x?xf32>) -> "
        "tensor<2x?xcomplex<f32>>"}) {
    auto module =
        parseSourceString<ModuleOp>(test::functionAround(call), &context);
    ASSERT_TRUE(module) << call;
    EXPECT_TRUE(isOnCoreList(*module, staysNothing)) << call;
  }
}

} // namespace
