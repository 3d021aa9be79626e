// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of calls on the emulated device, against what PyTorch made of the
// same calls (Interpreter/TorchCalls.h): every call of a file that has a
// kernel. Each file is one library. The functions of a CPU, which were compiled
// with Cutback, have the same bits. CUTBACK_KERNEL_CALLS names one more file.
//
// Indices that are outside are marked, and nothing is reached by them.

#include "DeviceCalls.h"

#include "cutback/Interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class DeviceCallsTest : public test::DeviceCalls,
                        public testing::WithParamInterface<std::string> {
protected:
  void checkFile(llvm::StringRef path);
};

void DeviceCallsTest::checkFile(llvm::StringRef path) {
  for (const auto &[text, data] : test::readCallFile(path)) {
    Call call{text, {}};
    ASSERT_EQ(test::readTorchCall(text, data, context, call.torch), "") << text;
    add(std::move(call));
  }
  RecordProperty("calls", static_cast<int>(calls.size()));
  if (calls.empty())
    GTEST_SKIP() << "none of its calls has a kernel";
  compareAll();
}

TEST_P(DeviceCallsTest, AgreeWithTorch) {
  checkFile(test::callFile(GetParam()));
}

class MoreDeviceCallsTest : public DeviceCallsTest {};

TEST_P(MoreDeviceCallsTest, AgreeWithTorch) { checkFile(GetParam()); }

INSTANTIATE_TEST_SUITE_P(More, MoreDeviceCallsTest,
                         testing::ValuesIn(test::moreCallFiles()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MoreDeviceCallsTest);

class WrongIndexTest : public test::DeviceCalls {};

/// The elements of the first tensor of integers are 99, which no table here
/// has, and as a mask is true everywhere.
TEST_F(WrongIndexTest, IsMarkedAndNotReached) {
  const char *const texts[] = {
      "aten.embedding_dense_backward(%0, %1, 5, -1, false) : "
      "(tensor<3x40xf32>, tensor<3xi64>) -> tensor<5x40xf32>",
      "aten._embedding_bag(%0, %1, %2) : (tensor<5x4xf32>, tensor<3xi64>, "
      "tensor<1xi64>) -> (tensor<1x4xf32>, tensor<3xi64>, tensor<1xi64>, "
      "tensor<1xi64>)",
      "aten._embedding_bag_dense_backward(%0, %1, %2, %3, %4, 5, false, 0, "
      "none) : (tensor<1x4xf32>, tensor<3xi64>, tensor<3xi64>, "
      "tensor<1xi64>, tensor<1xi64>) -> tensor<5x4xf32>",
      "aten.index_put(%0, [%1], %2, true) : (tensor<5x40xf32>, tensor<3xi64>, "
      "tensor<3x40xf32>) -> tensor<5x40xf32>",
      "aten.index_put(%0, [%1, %2], %3) : (tensor<5x4xbf16>, tensor<3xi64>, "
      "tensor<i64>, tensor<3xbf16>) -> tensor<5x4xbf16>",
      "aten.scatter_add(%0, 0, %1, %2) : (tensor<5x4xf32>, tensor<3x4xi64>, "
      "tensor<3x4xf32>) -> tensor<5x4xf32>",
      "aten.index_add(%0, 0, %1, %2) : (tensor<5x4xf32>, tensor<3xi64>, "
      "tensor<3x4xf32>) -> tensor<5x4xf32>",
      "aten.gather(%0, 0, %1) : (tensor<5x4xf32>, tensor<3x4xi64>) -> "
      "tensor<3x4xf32>",
      "aten.take_along_dim(%0, %1, none) : (tensor<5x4xf32>, "
      "tensor<3x4xi64>) -> tensor<12xf32>",
      "aten._grouped_mm(%0, %1, %2) : (tensor<3x4xf32>, tensor<2x4x5xf32>, "
      "tensor<2xi32>) -> tensor<3x5xf32>",
      "aten.searchsorted.Tensor(%0, %1, sorter = %2) : (tensor<3xf32>, "
      "tensor<4xf32>, tensor<3xi64>) -> tensor<4xi64>",
      "aten.masked_scatter(%0, %1, %2) : (tensor<5x4xf32>, tensor<5x4xi1>, "
      "tensor<3xf32>) -> tensor<5x4xf32>",
      "aten.masked_scatter_backward(%0, %1, [3]) : (tensor<5x4xf32>, "
      "tensor<5x4xi1>) -> tensor<3xf32>",
  };
  for (const char *text : texts) {
    Call call{text, {}};
    call.torch.module =
        parseSourceString<ModuleOp>(test::functionAround(text), &context);
    ASSERT_TRUE(call.torch.module) << text;
    call.torch.function = *call.torch.module->getOps<func::FuncOp>().begin();
    bool isFirst = true;
    for (Type type : call.torch.function.getArgumentTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      Tensor values =
          Tensor::zeros(*dtypeOf(tensor.getElementType()), tensor.getShape());
      bool isWrong = isFirst && isIntegral(values.type);
      for (int64_t i = 0; isWrong && i < values.numel(); ++i)
        values.setInt(i, 99);
      isFirst &= !isWrong;
      call.torch.arguments.emplace_back(values);
    }
    add(std::move(call));
  }
  ASSERT_EQ(calls.size(), std::size(texts));
  load();
  ASSERT_TRUE(entry);
  for (Call &call : calls) {
    std::vector<std::vector<char>> results;
    EXPECT_TRUE(run(call, results)) << call.text;
    EXPECT_TRUE(run(call, results, By::Cpu)) << call.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, DeviceCallsTest,
                         testing::ValuesIn(test::callFileNames()),
                         [](const auto &info) { return info.param; });

} // namespace
