// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCalls.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

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

} // namespace

std::string test::functionAround(StringRef call) {
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

std::string test::differenceOf(const Tensor &expected, const Tensor &actual) {
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

std::string test::readTorchCall(StringRef call, StringRef data,
                                MLIRContext &context, TorchCall &read) {
  read.module = parseSourceString<ModuleOp>(functionAround(call), &context);
  if (!read.module)
    return "is not parsed";
  read.function = *read.module->getOps<func::FuncOp>().begin();
  auto [inputs, outputs] = data.split(" -> ");
  SmallVector<StringRef> given, expected;
  inputs.split(given, ' ', -1, /*KeepEmpty=*/false);
  outputs.split(expected, ' ', -1, /*KeepEmpty=*/false);
  if (given.size() != read.function.getNumArguments() ||
      expected.size() != read.function.getNumResults())
    return "has another number of tensors than its types";
  for (auto [text, type] :
       llvm::zip_equal(given, read.function.getArgumentTypes())) {
    FailureOr<Tensor> tensor = decode(text, type);
    if (failed(tensor))
      return "has an operand of other bytes";
    read.arguments.emplace_back(*tensor);
  }
  for (auto [text, type] :
       llvm::zip_equal(expected, read.function.getResultTypes())) {
    read.expected.emplace_back();
    if (text == "-")
      continue;
    FailureOr<Tensor> tensor = decode(text, type);
    if (failed(tensor))
      return "has a result of other bytes";
    read.expected.back() = *tensor;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>>
test::readCallFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  std::vector<std::pair<std::string, std::string>> calls;
  if (!file)
    return calls;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (size_t i = 0; i + 1 < lines.size(); i += 2)
    calls.emplace_back(lines[i].str(), lines[i + 1].str());
  return calls;
}

static std::string folder() {
  return std::string(CUTBACK_SOURCE_DIR) + "/test/unit/Interpreter/Kernels";
}

std::string test::callFile(StringRef name) {
  return folder() + "/" + name.str() + ".calls";
}

std::vector<std::string> test::callFileNames() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder(), error), end;
       it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".calls"))
      files.push_back(llvm::sys::path::stem(it->path()).str());
  llvm::sort(files);
  return files;
}

std::vector<std::string> test::moreCallFiles() {
  const char *path = std::getenv("CUTBACK_KERNEL_CALLS");
  return path ? std::vector<std::string>{path} : std::vector<std::string>();
}
