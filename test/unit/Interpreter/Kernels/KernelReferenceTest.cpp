// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels against PyTorch, call by call (TorchCalls.h). What an op's element
// formula gives, where it has one, is compared with the same.
// CUTBACK_KERNEL_CALLS names one more file of calls.

#include "../ElementRun.h"
#include "../TorchCalls.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Kernel.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class KernelReferenceTest : public ::testing::TestWithParam<std::string> {
protected:
  KernelReferenceTest() {
    DialectRegistry registry;
    registry
        .insert<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// What is wrong with a call; empty if nothing is.
  std::string check(StringRef call, StringRef data);
  void checkFile(StringRef path);

  MLIRContext context;
  int formulas = 0; ///< calls that have one
};

std::string KernelReferenceTest::check(StringRef call, StringRef data) {
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    messages += diag.str() + "; ";
    return success();
  });
  test::TorchCall read;
  if (std::string wrong = test::readTorchCall(call, data, context, read);
      !wrong.empty())
    return wrong + ": " + messages;
  FailureOr<std::vector<RuntimeValue>> results =
      run(read.function, read.arguments);
  if (failed(results))
    return "fails: " + messages;
  test::ElementRun byElements = test::runElements(
      &read.function.getBody().front().front(), read.arguments);
  if (!byElements.fault.empty())
    return "its formula " + byElements.fault;
  formulas += byElements.hasRun;
  for (auto [i, expected] : llvm::enumerate(read.expected)) {
    if (!expected)
      continue;
    const auto *actual = std::get_if<Tensor>(&(*results)[i]);
    if (!actual)
      return "has a result of other bytes";
    if (std::string apart = test::differenceOf(*expected, *actual);
        !apart.empty())
      return "result " + std::to_string(i) + ": " + apart;
    if (!byElements.hasRun)
      continue;
    std::string apart = test::differenceOf(*expected, byElements.results[i]);
    if (!apart.empty())
      return "result " + std::to_string(i) + " of its formula: " + apart;
  }
  return "";
}

void KernelReferenceTest::checkFile(StringRef path) {
  auto calls = test::readCallFile(path);
  EXPECT_FALSE(calls.empty()) << path.str();
  unsigned wrong = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    std::string message = check(calls[i].first, calls[i].second);
    EXPECT_EQ(message, "") << calls[i].first;
    if (!message.empty() && ++wrong == 400)
      FAIL() << "and " << calls.size() - i << " more calls not run";
  }
  RecordProperty("calls", static_cast<int>(calls.size()));
  RecordProperty("formulas", formulas);
}

TEST_P(KernelReferenceTest, AgreesWithTorch) {
  checkFile(test::callFile(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Calls, KernelReferenceTest,
                         ::testing::ValuesIn(test::callFileNames()),
                         [](const auto &info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelReferenceTest);

class MoreCallsTest : public KernelReferenceTest {};

TEST_P(MoreCallsTest, AgreeWithTorch) { checkFile(GetParam()); }

INSTANTIATE_TEST_SUITE_P(More, MoreCallsTest,
                         ::testing::ValuesIn(test::moreCallFiles()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MoreCallsTest);

} // namespace
