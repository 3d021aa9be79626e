// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels against PyTorch: calls with their operands and what PyTorch made of
// them, in test/unit/Interpreter/Kernels/*.calls, written by
// tools/dev/kernel-calls. A file has two lines a call:
//
//   aten.mm(%0, %1) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
//   BASE64 BASE64 -> BASE64
//
// with the bytes of each operand and result; `-` is a result that nobody
// compares. Floats agree within a part of the largest magnitude, integers and
// booleans exactly. What an op's element formula gives, where it has one, is
// compared with the same. CUTBACK_KERNEL_CALLS names one more file of calls.

#include "../ElementRun.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Entries of "a, tensor<2xf32>, b" at bracket depth 0.
std::vector<std::string> splitTypes(StringRef text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += c == '<' ? 1 : (c == '>' ? -1 : 0);
    if (c == ',' && depth == 0) {
      parts.push_back(StringRef(part).trim().str());
      part.clear();
    } else {
      part += c;
    }
  }
  if (!StringRef(part).trim().empty())
    parts.push_back(StringRef(part).trim().str());
  return parts;
}

StringRef withoutParens(StringRef text) {
  text = text.trim();
  if (text.consume_front("("))
    text.consume_back(")");
  return text;
}

/// A function around a call that names its operands %0, %1, ...
std::string functionOf(StringRef call) {
  auto [body, types] = call.rsplit(" : (");
  auto [operands, results] = types.split(") -> ");
  results = withoutParens(results);
  std::string text = "func.func @f(";
  unsigned count = 0;
  for (const std::string &type : splitTypes(operands))
    text += (count ? ", %" : "%") + std::to_string(count) + ": " + type,
        ++count;
  text += ") -> (" + results.str() + ") {\n";
  unsigned made = splitTypes(results).size();
  text += "  %r:" + std::to_string(made) + " = " + call.str() + "\n  return ";
  for (unsigned i = 0; i < made; ++i)
    text += (i ? ", %r#" : "%r#") + std::to_string(i);
  return text + " : " + results.str() + "\n}\n";
}

FailureOr<Tensor> decode(StringRef text, Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  std::optional<DType> dtype =
      tensorType ? dtypeOf(tensorType.getElementType()) : std::nullopt;
  std::vector<char> bytes;
  if (!dtype)
    return failure();
  if (llvm::Error error = llvm::decodeBase64(text == "=" ? "" : text, bytes)) {
    llvm::consumeError(std::move(error));
    return failure();
  }
  Tensor tensor = Tensor::zeros(*dtype, tensorType.getShape());
  if (static_cast<int64_t>(bytes.size()) !=
      tensor.numel() * itemSize(tensor.type))
    return failure();
  if (!bytes.empty())
    std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

double tolerance(DType type) {
  switch (type) {
  case DType::F64:
  case DType::C128:
    return 1e-10;
  case DType::F32:
  case DType::C64:
    return 1e-5;
  default:
    return 1e-2; // a few steps of a 16-bit float
  }
}

/// Empty if both agree, else what differs most.
std::string difference(const Tensor &expected, const Tensor &actual) {
  if (expected.type != actual.type || expected.sizes != actual.sizes)
    return "another type or shape";
  if (isIntegral(expected.type)) {
    std::vector<int64_t> a = expected.ints(), b = actual.ints();
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i])
        return "element " + std::to_string(i) + " is " + std::to_string(b[i]) +
               ", not " + std::to_string(a[i]);
    return "";
  }
  std::vector<std::complex<double>> a = expected.complexes(),
                                    b = actual.complexes();
  double largest = 0;
  for (std::complex<double> value : a)
    if (std::isfinite(std::abs(value)))
      largest = std::max(largest, std::abs(value));
  double allowed = tolerance(expected.type) * largest + 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    bool equal = a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]);
    if (!equal && !(std::abs(a[i] - b[i]) <= allowed))
      return "element " + std::to_string(i) + " is " +
             std::to_string(b[i].real()) + ", not " +
             std::to_string(a[i].real()) + " (largest " +
             std::to_string(largest) + ")";
  }
  return "";
}

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
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(functionOf(call), &context);
  if (!module)
    return "is not parsed: " + messages;
  auto function = *module->getOps<func::FuncOp>().begin();
  auto [inputs, outputs] = data.split(" -> ");
  SmallVector<StringRef> given, expected;
  inputs.split(given, ' ', -1, /*KeepEmpty=*/false);
  outputs.split(expected, ' ', -1, /*KeepEmpty=*/false);
  if (given.size() != function.getNumArguments() ||
      expected.size() != function.getNumResults())
    return "has another number of tensors than its types";
  std::vector<RuntimeValue> arguments;
  for (auto [text, type] :
       llvm::zip_equal(given, function.getArgumentTypes())) {
    FailureOr<Tensor> tensor = decode(text, type);
    if (failed(tensor))
      return "has an operand of other bytes";
    arguments.push_back(*tensor);
  }
  FailureOr<std::vector<RuntimeValue>> results = run(function, arguments);
  if (failed(results))
    return "fails: " + messages;
  test::ElementRun byElements =
      test::runElements(&function.getBody().front().front(), arguments);
  if (!byElements.fault.empty())
    return "its formula " + byElements.fault;
  formulas += byElements.hasRun;
  for (auto [i, text] : llvm::enumerate(expected)) {
    if (text == "-")
      continue;
    FailureOr<Tensor> tensor = decode(text, function.getResultTypes()[i]);
    const auto *actual = std::get_if<Tensor>(&(*results)[i]);
    if (failed(tensor) || !actual)
      return "has a result of other bytes";
    if (std::string apart = difference(*tensor, *actual); !apart.empty())
      return "result " + std::to_string(i) + ": " + apart;
    if (!byElements.hasRun)
      continue;
    std::string apart = difference(*tensor, byElements.results[i]);
    if (!apart.empty())
      return "result " + std::to_string(i) + " of its formula: " + apart;
  }
  return "";
}

void KernelReferenceTest::checkFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(file) << path.str();
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(lines.size() % 2, 0u);
  EXPECT_GE(lines.size(), 2u);
  unsigned wrong = 0;
  for (size_t i = 0; i < lines.size(); i += 2) {
    std::string message = check(lines[i], lines[i + 1]);
    EXPECT_EQ(message, "") << lines[i].str();
    if (!message.empty() && ++wrong == 400)
      FAIL() << "and " << (lines.size() - i) / 2 << " more calls not run";
  }
  RecordProperty("calls", static_cast<int>(lines.size() / 2));
  RecordProperty("formulas", formulas);
}

std::string folder() {
  return std::string(CUTBACK_SOURCE_DIR) + "/test/unit/Interpreter/Kernels";
}

std::vector<std::string> callFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder(), error), end;
       it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".calls"))
      files.push_back(llvm::sys::path::stem(it->path()).str());
  llvm::sort(files);
  return files;
}

TEST_P(KernelReferenceTest, AgreesWithTorch) {
  checkFile(folder() + "/" + GetParam() + ".calls");
}

INSTANTIATE_TEST_SUITE_P(Calls, KernelReferenceTest,
                         ::testing::ValuesIn(callFiles()),
                         [](const auto &info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelReferenceTest);

class MoreCallsTest : public KernelReferenceTest {};

TEST_P(MoreCallsTest, AgreeWithTorch) { checkFile(GetParam()); }

std::vector<std::string> moreFiles() {
  const char *path = std::getenv("CUTBACK_KERNEL_CALLS");
  return path ? std::vector<std::string>{path} : std::vector<std::string>();
}

INSTANTIATE_TEST_SUITE_P(More, MoreCallsTest, ::testing::ValuesIn(moreFiles()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MoreCallsTest);

} // namespace
