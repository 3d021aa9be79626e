// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products: a tile of 64 x 64 results a block (product() of
// Device/cutback_product.cuh), operands looked up with their strides, so that a
// transposed operand is not copied. Sums are in single precision, or in double
// for f64; what is added to the product is added before it is rounded.

#include "CallText.h"
#include "ScalarText.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

/// out = beta * self + alpha * (a b), for each matrix of a batch.
struct ProductProblem {
  Value self, a, b, out;
  double alpha = 1, beta = 1;

  bool isBatch() const { return sizesOf(out).size() == 3; }
};

std::string numberText(const std::string &type, double value, Builder &b) {
  return literal(type == "double" ? Type(b.getF64Type()) : b.getF32Type(),
                 b.getF64FloatAttr(value));
}

/// "toFloat(a[i * 64 + k])"
std::string operandText(Value tensor, const std::string &name,
                        ArrayRef<std::string> indices) {
  std::string text = CallWriter::element(tensor, name, indices);
  std::string type = elementTypeText(tensor);
  return type == "bf16" || type == "f16" ? "toFloat(" + text + ")" : text;
}

} // namespace

static std::optional<ProductProblem> readProduct(aten::CallOp op) {
  aten::CallReader call(op);
  StringRef name = op.getPacketName();
  ProductProblem p;
  p.out = op->getResult(0);
  if (name == "aten.mm" || name == "aten.bmm") {
    p.a = call.value("self");
    p.b = call.value("mat2");
    return p;
  }
  if (name != "aten.addmm" && name != "aten.baddbmm")
    return std::nullopt;
  bool isBatch = name == "aten.baddbmm";
  p.self = call.value("self");
  p.a = call.value(isBatch ? "batch1" : "mat1");
  p.b = call.value(isBatch ? "batch2" : "mat2");
  p.alpha = call.number(aten::optional("alpha")).value_or(1);
  p.beta = call.number(aten::optional("beta")).value_or(1);
  return p;
}

/// What is stored: "sum", "self[j] + sum".
static std::string resultText(const ProductProblem &p, Builder &b,
                              ArrayRef<std::string> indices) {
  std::string type = sumTypeText(p.out), text = "sum";
  if (p.alpha != 1)
    text = numberText(type, p.alpha, b) + " * sum";
  if (p.self && p.beta != 0) {
    // Sizes of 1, and missing ones, stand for all.
    Layout layout = kernel::locate(p.self).layout;
    SmallVector<std::string> own(indices.take_back(layout.sizes.size()));
    std::string add = CallWriter::element(layout, "self", own);
    if (elementTypeText(p.self) != type)
      add = "toFloat(" + add + ")";
    if (p.beta != 1)
      add = numberText(type, p.beta, b) + " * " + add;
    text = add + " + " + text;
  }
  std::string outType = elementTypeText(p.out);
  return outType == type ? text : "to<" + outType + ">(" + text + ")";
}

CallResult cuda::writeProductCall(aten::CallOp op) {
  std::optional<ProductProblem> found = readProduct(op);
  if (!found)
    return {};
  const ProductProblem &p = *found;
  if (!p.a || !p.b || !isFloatTensor(p.a) || !isFloatTensor(p.b) ||
      !isFloatTensor(p.out) || (p.self && !isFloatTensor(p.self)))
    return CallResult::failed("is a product of other elements than floats");
  bool isBatch = p.isBatch();
  int64_t m = sizesOf(p.out)[isBatch], n = sizesOf(p.out)[isBatch + 1];
  int64_t k = sizesOf(p.a)[isBatch + 1],
          batch = isBatch ? sizesOf(p.out)[0] : 1;
  int64_t columns = (n + 63) / 64;
  if (columns > 65535 || batch > 65535)
    return CallResult::failed("has more tiles than a grid takes");
  Builder b(op.getContext());
  std::string sum = sumTypeText(p.out);
  std::string name = op.getPacketName().split('.').second.str();
  std::string sizes = (isBatch ? std::to_string(batch) + "x" : "") +
                      std::to_string(m) + "x" + std::to_string(n) + "x" +
                      std::to_string(k);
  CallWriter text(name + "_" + sizes);
  text.comment(name + ": [" + sizesText(sizesOf(p.a)) + "] by [" +
               sizesText(sizesOf(p.b)) + "], " +
               std::to_string(2 * batch * m * n * k) + " FLOPs");
  text.read(p.a, "a");
  text.read(p.b, "b");
  if (p.self && p.beta != 0)
    text.read(p.self, "self");
  text.write(p.out, "out");
  if (isBatch)
    text.line("const int batch = blockIdx.z;");
  auto at = [&](const char *i, const char *j) {
    SmallVector<std::string> indices;
    if (isBatch)
      indices.push_back("batch");
    indices.push_back(i);
    indices.push_back(j);
    return indices;
  };
  text.line("product<" + sum + ">(" + std::to_string(m) + ", " +
            std::to_string(n) + ", " + std::to_string(k) + ",");
  text.line("    [=](int i, int k) { return " +
            operandText(p.a, "a", at("i", "k")) + "; },");
  text.line("    [=](int k, int j) { return " +
            operandText(p.b, "b", at("k", "j")) + "; },");
  text.line("    [=](int i, int j, " + sum + " sum) {");
  text.line("      " + CallWriter::element(p.out, "out", at("i", "j")) + " = " +
            resultText(p, b, at("i", "j")) + ";");
  text.line("    });");
  int64_t item = sum == "double" ? 8 : 4;
  text.shape({(m + 63) / 64, columns, batch}, {256, 1, 1}, 2 * 16 * 65 * item);
  text.kernel().waits = true;
  CallResult result;
  result.isKnown = true;
  result.kernels.push_back(text.take());
  return result;
}
