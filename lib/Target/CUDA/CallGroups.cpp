// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of groups, as experts of a model have them: a list of offsets says
// where the stretch of each group ends. What is divided so is
//
//   rows      self [M, K] by mat2 [G, K, N]: each group has a matrix
//   columns   self [G, M, K] by mat2 [K, N]
//   steps     self [M, K] by mat2 [K, N]: each group gives a matrix
//
// `transformers.grouped_mm_fallback` is the first of them, its gradients the
// first and the last. Rows and columns of no group are zero. In the text a
// thread has one element, whose steps it adds in their order; a CPU runs a
// product a group, whose sizes it learns when it runs.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using precompiled::GroupedProducts;
using Indices = SmallVector<std::string, 3>;

namespace {

/// A factor or a result: dimensions of rows and columns, and of groups, or -1.
struct Side {
  Value tensor;
  int64_t row = 0, column = 1, group = -1;

  int64_t stride(int64_t dim) const {
    return dim < 0 ? 0 : strideOf(kernel::locate(tensor).layout, dim);
  }
  int64_t rows() const { return sizesOf(tensor)[row]; }
  int64_t columns() const { return sizesOf(tensor)[column]; }
  std::string element(const char *name, const char *i, const char *j) const {
    Indices all(sizesOf(tensor).size());
    all[row] = i, all[column] = j;
    if (group >= 0)
      all[group] = "group";
    return CallWriter::element(tensor, name, all);
  }
};

Side sideOf(Value tensor, bool isTransposed = false) {
  Side side{tensor};
  if (sizesOf(tensor).size() == 3)
    side = {tensor, 1, 2, 0};
  if (isTransposed)
    std::swap(side.row, side.column);
  return side;
}

struct GroupedProblem {
  Side a, b, out;
  Value offsets;

  GroupedProducts::Along along() const {
    return a.group >= 0   ? GroupedProducts::Columns
           : b.group >= 0 ? GroupedProducts::Rows
                          : GroupedProducts::Steps;
  }
  int64_t groups() const { return sizesOf(offsets)[0]; }
  int64_t length() const {
    return along() == GroupedProducts::Rows      ? out.rows()
           : along() == GroupedProducts::Columns ? out.columns()
                                                 : a.columns();
  }
  CallKernel write(const std::string &name) const;

private:
  std::optional<PrecompiledCall> describe() const;
};

} // namespace

/// A number that is an index of dimension `dim`.
static precompiled::Index indexOf(const Side &side, int64_t dim) {
  return describeIndex(kernel::locate(side.tensor).layout, dim);
}

std::optional<PrecompiledCall> GroupedProblem::describe() const {
  GroupedProducts all;
  all.along = along();
  all.groups = groups();
  bool isWide = sumTypeText(out.tensor) == "double";
  all.sum = isWide ? precompiled::F64 : precompiled::F32;
  for (Value tensor : {a.tensor, b.tensor, out.tensor})
    if (!precompiledType(tensor) || (sumTypeText(tensor) == "double") != isWide)
      return std::nullopt;
  all.offsets = describeTensor(offsets, 2);
  all.offsetStride = strideOf(kernel::locate(offsets).layout, 0);
  if (all.along == GroupedProducts::Rows)
    all.unitA = a.stride(a.row), all.unitOut = out.stride(out.row);
  else if (all.along == GroupedProducts::Columns)
    all.unitB = b.stride(b.column), all.unitOut = out.stride(out.column);
  else
    all.unitA = a.stride(a.column), all.unitB = b.stride(b.row);
  all.groupA = a.stride(a.group), all.groupB = b.stride(b.group);
  all.groupOut = out.stride(out.group);
  precompiled::Product product;
  product.rows = out.rows(), product.columns = out.columns();
  product.steps = a.columns();
  product.a.tensor = describeTensor(a.tensor, 0);
  product.a.line = indexOf(a, a.row);
  product.a.step = indexOf(a, a.column);
  product.b.tensor = describeTensor(b.tensor, 1);
  product.b.line = indexOf(b, b.column);
  product.b.step = indexOf(b, b.row);
  product.out = describeTensor(out.tensor, 3);
  product.outRow = indexOf(out, out.row);
  product.outColumn = indexOf(out, out.column);
  PrecompiledCall call{"cutback_grouped_products", ""};
  appendDescription(call.description, all);
  appendDescription(call.description, product);
  call.flops = 2 * product.rows * product.columns * product.steps;
  return call;
}

CallKernel GroupedProblem::write(const std::string &name) const {
  CallWriter text(name);
  text.comment("[" + sizesText(sizesOf(a.tensor)) + "] by [" +
               sizesText(sizesOf(b.tensor)) + "] in " +
               std::to_string(groups()) + " groups");
  text.read(a.tensor, "a");
  text.read(b.tensor, "b");
  text.read(offsets, "offsets");
  text.write(out.tensor, "out");
  text.openElements(productOf(sizesOf(out.tensor)));
  Indices at = indicesOf("element", sizesOf(out.tensor));
  text.line("const int row = " + at[out.row] + ";");
  text.line("const int column = " + at[out.column] + ";");
  std::string ends = checkedText(
      text, CallWriter::element(offsets, "offsets", {"g"}), length() + 1);
  std::string sum = sumTypeText(out.tensor);
  bool isOfSteps = along() == GroupedProducts::Steps;
  // Where the stretch begins and ends, or whose it is.
  text.line(isOfSteps ? "const int group = " + at[out.group] + ";"
                      : "int group = 0;");
  text.line("long long begin = 0, end = 0;");
  if (isOfSteps) {
    text.line("for (int g = 0; g <= group; ++g) {");
    text.line("  begin = end;");
    text.line("  end = end < " + ends + " ? " + ends + " : end;");
    text.line("}");
  } else {
    const char *mine = along() == GroupedProducts::Rows ? "row" : "column";
    text.line("for (int g = 0; g < " + std::to_string(groups()) + "; ++g)");
    text.line("  if (" + ends + " <= " + mine + " && group == g)");
    text.line("    ++group;");
    text.line("if (group < " + std::to_string(groups()) + ")");
    text.line("  end = " + std::to_string(a.columns()) + ";");
  }
  text.line(sum + " sum = 0;");
  text.line("for (int k = begin; k < end; ++k)");
  text.line("  sum = fma(" + sum + "(toFloat(" + a.element("a", "row", "k") +
            ")), " + sum + "(toFloat(" + b.element("b", "k", "column") +
            ")), sum);");
  text.line(out.element("out", "row", "column") + " = to<" +
            elementTypeText(out.tensor) + ">(sum);");
  text.kernel().precompiled = describe();
  return text.take();
}

/// Of the package `transformers`, and its two gradients.
static CallResult writeFallback(aten::CallOp op, bool isBackward) {
  aten::CallReader call(op);
  Value input = call.value("input"), weight = call.value("weight");
  Value offsets = call.value("offs");
  CallResult result;
  result.isKnown = true;
  if (!isBackward) {
    result.kernels.push_back(GroupedProblem{sideOf(input), sideOf(weight),
                                            sideOf(op->getResult(0)), offsets}
                                 .write("grouped_mm"));
    return result;
  }
  Value gradient = call.value("grad_output");
  if (Value out = op->getResult(0); !out.use_empty())
    result.kernels.push_back(GroupedProblem{
        sideOf(gradient), sideOf(weight, true), sideOf(out), offsets}
                                 .write("grouped_mm_input_gradient"));
  if (Value out = op->getResult(1); !out.use_empty())
    result.kernels.push_back(GroupedProblem{
        sideOf(input, true), sideOf(gradient), sideOf(out), offsets}
                                 .write("grouped_mm_weight_gradient"));
  return result;
}

CallResult cuda::writeGroupedCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  bool isBackward = name == "transformers.grouped_mm_fallback_backward";
  bool isFallback = name == "transformers.grouped_mm_fallback";
  if (!isFallback && !isBackward && name != "aten._grouped_mm")
    return {};
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType());
        type && !isFloatTensor(operand) && elementTypeText(operand) != "int" &&
        elementTypeText(operand) != "long long")
      return CallResult::failed("is a product of other elements than floats");
  if (isFallback || isBackward)
    return writeFallback(op, isBackward);
  aten::CallReader call(op);
  Value offsets = call.value("offs");
  if (!offsets || call.value(aten::optional("bias")))
    return CallResult::failed("has a bias, or no offsets");
  CallResult result;
  result.isKnown = true;
  result.kernels.push_back(GroupedProblem{sideOf(call.value("self")),
                                          sideOf(call.value("mat2")),
                                          sideOf(op->getResult(0)), offsets}
                               .write("grouped_mm"));
  return result;
}
