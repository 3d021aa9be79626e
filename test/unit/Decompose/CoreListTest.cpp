// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rules of the list of core ops make of a call, against what PyTorch
// made of it (Interpreter/TorchCalls.h): every call of the reference that a
// rule takes apart. Then what the reference has not: infinities, numbers at the
// edges of a loss, sizes that are not known; against the interpreter's kernels.

#include "CoreFixture.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class CoreList : public test::CoreFixture, public testing::Test {
protected:
  /// The results of `function` after the rules; what failed in `messages`.
  FailureOr<std::vector<RuntimeValue>>
  runInCoreOps(func::FuncOp function,
               const std::vector<RuntimeValue> &arguments) {
    decomposeToCoreList(function, staysNothing);
    return run(function, arguments);
  }
  std::string check(const std::string &call, const std::string &data);
  void compareFunction(const std::string &text);
  void compare(const std::string &call) {
    compareFunction(test::functionAround(call));
  }

  int numTaken = 0; ///< calls that a rule takes apart
};

std::string CoreList::check(const std::string &call, const std::string &data) {
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    messages += diag.str() + "; ";
    return success();
  });
  test::TorchCall read;
  if (std::string wrong = test::readTorchCall(call, data, context, read);
      !wrong.empty())
    return wrong;
  if (isOnCoreList(read.function, staysNothing))
    return "";
  auto results = runInCoreOps(read.function, read.arguments);
  if (failed(results))
    return "fails: " + messages;
  ++numTaken;
  for (auto [expected, result] : llvm::zip_equal(read.expected, *results))
    if (expected)
      if (std::string apart =
              test::differenceOf(*expected, std::get<Tensor>(result));
          !apart.empty())
        return apart;
  return "";
}

class CoreListTest : public CoreList,
                     public testing::WithParamInterface<std::string> {};

TEST_P(CoreListTest, AgreesWithTorch) {
  for (const auto &[call, data] :
       test::readCallFile(test::callFile(GetParam())))
    EXPECT_EQ(check(call, data), "") << call;
  RecordProperty("calls", numTaken);
}

INSTANTIATE_TEST_SUITE_P(Calls, CoreListTest,
                         testing::ValuesIn(test::callFileNames()),
                         [](const auto &info) { return info.param; });

class EdgesTest : public CoreList,
                  public testing::WithParamInterface<const char *> {};

/// Elements in [-1, 1], and among them those at edges.
Tensor edgesOf(RankedTensorType type, unsigned number,
               std::initializer_list<double> edges) {
  SmallVector<int64_t> sizes(type.getShape());
  for (int64_t &size : sizes)
    size = ShapedType::isDynamic(size) ? 3 : size;
  Tensor tensor = Tensor::zeros(*dtypeOf(type.getElementType()), sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    double at = static_cast<double>(i);
    tensor.set(i, std::sin(2.3 * at + 1.1 * number));
    if (tensor.type == DType::Bool)
      tensor.setInt(i, i % 3 == 0);
  }
  if (tensor.type == DType::Bool)
    return tensor;
  int64_t place = number;
  for (double edge : edges)
    if ((place += 2) < tensor.numel())
      tensor.set(place, edge);
  return tensor;
}

/// In core ops a function gives what the interpreter's kernels give.
void CoreList::compareFunction(const std::string &text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  auto given = parseSourceString<ModuleOp>(text, &context);
  auto core = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(given && core) << text;
  func::FuncOp whole = *given->getOps<func::FuncOp>().begin();
  func::FuncOp parts = *core->getOps<func::FuncOp>().begin();
  EXPECT_FALSE(isOnCoreList(parts, staysNothing));
  std::vector<RuntimeValue> inputs;
  for (auto [i, type] : llvm::enumerate(whole.getArgumentTypes()))
    inputs.emplace_back(
        edgesOf(cast<RankedTensorType>(type), static_cast<unsigned>(i),
                {0.0, 1.0, -1.0, 0.5, -0.5, nan, infinity, -infinity}));
  auto expected = run(whole, inputs);
  auto actual = runInCoreOps(parts, inputs);
  ASSERT_TRUE(succeeded(expected) && succeeded(actual));
  EXPECT_TRUE(isOnCoreList(parts, staysNothing));
  for (auto [a, b] : llvm::zip_equal(*expected, *actual))
    EXPECT_EQ(test::differenceOf(std::get<Tensor>(a), std::get<Tensor>(b)), "");
}

TEST_P(EdgesTest, AgreeWithTheKernel) { compare(GetParam()); }

class PutTest : public CoreList {};
class LongSumTest : public CoreList {};

/// Chunks are a function of the extents: divisors of a dimension, or all of it.
TEST_F(LongSumTest, FewColumnsHaveTwoStages) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const char *call :
       {"aten.sum.dim_IntList(%0, [0]) : (tensor<8192x768xf32>) -> "
        "tensor<768xf32>",
        "aten.sum.dim_IntList(%0, [0, 1]) : (tensor<64x197x768xf32>) -> "
        "tensor<768xf32>"}) {
    auto module =
        parseSourceString<ModuleOp>(test::functionAround(call), &context);
    decomposeToCoreList(*module, staysNothing);
    EXPECT_TRUE(isOnCoreList(*module, staysNothing));
    module->print(stream);
  }
  for (const char *part : {"(tensor<32x256x768xf32>) -> tensor<32x768xf32>",
                           "(tensor<32x768xf32>) -> tensor<768xf32>",
                           "(tensor<64x197x768xf32>) -> tensor<64x768xf32>",
                           "(tensor<64x768xf32>) -> tensor<768xf32>"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(LongSumTest, OthersStay) {
  for (const char *call :
       {"aten.sum.dim_IntList(%0, [0]) : (tensor<2040x768xf32>) -> "
        "tensor<768xf32>", // short
        "aten.sum.dim_IntList(%0, [1]) : (tensor<768x8192xf32>) -> "
        "tensor<768xf32>", // rows
        "aten.sum.dim_IntList(%0, [0]) : (tensor<8192x4096xf32>) -> "
        "tensor<4096xf32>", // many
        "aten.sum.dim_IntList(%0, [0]) : (tensor<8191x768xf32>) -> "
        "tensor<768xf32>", // a prime
        "aten.sum.dim_IntList(%0, [0]) : (tensor<?x768xf32>) -> "
        "tensor<768xf32>",
        "aten.sum.dim_IntList(%0, [0]) : (tensor<8192x768xi64>) -> "
        "tensor<768xi64>"}) {
    auto module =
        parseSourceString<ModuleOp>(test::functionAround(call), &context);
    ASSERT_TRUE(module) << call;
    EXPECT_TRUE(isOnCoreList(*module, staysNothing)) << call;
  }
}

#define MATRIX "tensor<?x8xf64>"
#define PAIR " : (" MATRIX ", " MATRIX ") -> "
#define THREE " : (" MATRIX ", " MATRIX ", " MATRIX ") -> "
#define OF_ONE " : (tensor<f64>, " MATRIX ", " MATRIX ") -> " MATRIX

INSTANTIATE_TEST_SUITE_P(
    Calls, EdgesTest,
    testing::Values(
        "aten.mse_loss(%0, %1, 0)" PAIR MATRIX,
        "aten.mse_loss_backward(%0, %1, %2, 1)" OF_ONE,
        "aten.mse_loss_backward(%0, %1, %2, 0)" THREE MATRIX,
        "aten.l1_loss(%0, %1, 0)" PAIR MATRIX,
        "aten.smooth_l1_loss(%0, %1, 0, 0.5)" PAIR MATRIX,
        "aten.smooth_l1_loss_backward(%0, %1, %2, 0, 0.5)" THREE MATRIX,
        "aten.smooth_l1_loss_backward(%0, %1, %2, 1, 1.0)" OF_ONE,
        "aten.huber_loss(%0, %1, 0, 0.5)" PAIR MATRIX,
        "aten.huber_loss_backward(%0, %1, %2, 0, 0.5)" THREE MATRIX,
        "aten.soft_margin_loss(%0, %1, 0)" PAIR MATRIX,
        "aten.kl_div(%0, %1, 0)" PAIR MATRIX,
        "aten.kl_div(%0, %1, 0, log_target = true)" PAIR MATRIX,
        "aten.binary_cross_entropy(%0, %1, none, 0)" PAIR MATRIX,
        "aten.binary_cross_entropy(%0, %1, %2, 0)" THREE MATRIX,
        "aten.binary_cross_entropy_backward(%0, %1, %2, none, 1)" OF_ONE,
        "aten.binary_cross_entropy_with_logits(%0, %1, none, %2, 0)" THREE
            MATRIX,
        "aten.logsumexp(%0, [1]) : (" MATRIX ") -> tensor<?xf64>",
        "aten.logsumexp(%0, [0, 1], true) : (" MATRIX ") -> tensor<1x1xf64>",
        "aten.sum.dim_IntList(%0, [0]) : (tensor<2048x40xf32>) -> "
        "tensor<40xf32>",
        "aten.sum.dim_IntList(%0, [0, 1], true) : (tensor<4x600x40xbf16>) -> "
        "tensor<1x1x40xbf16>",
        "aten.sum.dim_IntList(%0, [0, 2]) : (tensor<64x2x37x24xf32>) -> "
        "tensor<2x24xf32>",
        "aten.sum.dim_IntList(%0, [-4, -3], false, dtype = f64) : "
        "(tensor<8x300x40x1xf32>) -> tensor<40x1xf64>",
        "aten._safe_softmax(%0, 1) : (tensor<3x2xf32>) -> tensor<3x2xf32>",
        "aten._safe_softmax(%0, 0) : (tensor<1x9xbf16>) -> tensor<1x9xbf16>",
        "aten.glu(%0, -1) : (" MATRIX ") -> tensor<?x4xf64>",
        "aten.glu_backward(%0, %1, 1) : (tensor<?x4xf64>, " MATRIX
        ") -> " MATRIX,
        "aten.addmv(%0, %1, %2, beta = 0, alpha = 2) : (tensor<?xf64>, " MATRIX
        ", tensor<8xf64>) -> tensor<?xf64>",
        "aten.dist(%0, %1, 2)" PAIR "tensor<f64>",
        "aten.stack([%0, %1], -1)" PAIR "tensor<?x8x2xf64>",
        "aten.pixel_shuffle(%0, 2) : (tensor<2x12x3x2xf64>) -> "
        "tensor<2x3x6x4xf64>",
        "aten.pixel_unshuffle(%0, 3) : (tensor<2x6x9xf64>) -> "
        "tensor<18x2x3xf64>",
        "aten.channel_shuffle(%0, 3) : (tensor<2x6x2x2xf64>) -> "
        "tensor<2x6x2x2xf64>"));

TEST_F(PutTest, UnderAMaskIsAChoice) {
  for (const char *call :
       {"aten.index_put(%0, [%1], %2) : (tensor<3x4x2xf64>, tensor<3x4xi1>, "
        "tensor<1x2xf64>) -> tensor<3x4x2xf64>",
        "aten.index_put(%0, [none, %1], %2, true) : (tensor<3x4x2xf64>, "
        "tensor<4xi1>, tensor<3x1x2xf64>) -> tensor<3x4x2xf64>",
        "aten._unsafe_index_put(%0, [%1], %2) : (tensor<3x4xf64>, "
        "tensor<3x4xi1>, tensor<f64>) -> tensor<3x4xf64>"})
    compare(call);
}

TEST_F(PutTest, IntoEachElementOnceIsTheSource) {
  auto functionOf = [](const char *places) {
    return std::string(
               "func.func @f(%0: tensor<24xf64>, %1: tensor<2x3x4xf64>) -> "
               "(tensor<24xf64>) {\n  %s = aten.neg(%0) : (tensor<24xf64>) -> "
               "tensor<24xf64>\n  %r = aten.as_strided_scatter(%s, %1, [2, 3, "
               "4], ") +
           places +
           ") : (tensor<24xf64>, tensor<2x3x4xf64>) -> tensor<24xf64>\n  "
           "return %r : tensor<24xf64>\n}\n";
  };
  compareFunction(functionOf("[4, 8, 1]"));
  auto overlapping =
      parseSourceString<ModuleOp>(functionOf("[4, 4, 1]"), &context);
  EXPECT_TRUE(isOnCoreList(*overlapping, staysNothing));
}

TEST_F(PutTest, AValueForEachTrueElementStays) {
  auto module = parseSourceString<ModuleOp>(
      test::functionAround("aten.index_put(%0, [%1], %2) : (tensor<3x4xf64>, "
                           "tensor<3x4xi1>, tensor<5xf64>) -> "
                           "tensor<3x4xf64>"),
      &context);
  EXPECT_TRUE(isOnCoreList(*module, staysNothing));
}

} // namespace
