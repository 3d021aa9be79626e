// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that indices name: the gradient of an embedding, gathers, and copies.
// A row of a gradient is summed by one warp, in the order of the indices: no
// atomics, and the same bits on every run. That reads all indices for each row
// of the table.

#include "CallText.h"

#include "cutback/Dialect/Joint/Joint.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

static CallResult writeEmbeddingGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value gradient = call.value("grad_output"), indices = call.value("indices");
  Value out = op->getResult(0);
  if (call.boolean("scale_grad_by_freq").value_or(false))
    return CallResult::failed("divides by how often an index occurs");
  int64_t rows = sizesOf(out)[0], width = sizesOf(out)[1];
  int64_t count = productOf(sizesOf(indices));
  if (!isFloatTensor(gradient))
    return CallResult::failed("is of another type than floats");
  CallBuilder text("embedding_gradient");
  text.comment("rows of [" + sizesText(sizesOf(out)) + "] from " +
               std::to_string(count) + " rows of the gradient");
  text.read(gradient, "gradient");
  text.read(indices, "indices");
  text.write(out, "out");
  std::string type = sumTypeText(gradient);
  text.line("const int row = blockIdx.x * 4 + threadIdx.x / 32;");
  if (rows % 4) {
    text.line("if (row >= " + std::to_string(rows) + ")");
    text.line("  return;");
  }
  int64_t padding = call.integer("padding_idx").value_or(-1);
  SmallVector<std::string> at = indicesOf("number", sizesOf(indices));
  std::string index = CallBuilder::element(indices, "indices", at);
  SmallVector<std::string> from = at;
  from.push_back("column");
  text.line("sumRows<" + type + ">(" + std::to_string(count) + ", " +
            std::to_string(width) + ",");
  text.line("    [=](int number) { return " + index + " == row" +
            (padding >= 0 ? " && row != " + std::to_string(padding) : "") +
            "; },");
  text.line("    [=](int number, int column) { return toFloat(" +
            CallBuilder::element(gradient, "gradient", from) + "); },");
  text.line("    [=](int column, " + type + " sum) { " +
            CallBuilder::element(out, "out", {"row", "column"}) + " = to<" +
            elementTypeText(out) + ">(sum); });");
  text.shape({(rows + 3) / 4, (width + 127) / 128, 1}, {128, 1, 1});
  text.kernel().waits = true;
  return CallResult::of(text);
}

static CallResult writeGather(aten::CallOp op) {
  aten::CallReader call(op);
  Value table = call.value("self"), indices = call.value("index");
  Value out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out);
  std::optional<int64_t> dim = call.integer("dim");
  if (!dim || sizes.empty())
    return CallResult::failed("gathers along a dimension that is not known");
  size_t axis = *dim < 0 ? *dim + sizes.size() : *dim;
  CallBuilder text("gather");
  text.comment("[" + sizesText(sizes) + "] of [" + sizesText(sizesOf(table)) +
               "] along " + std::to_string(axis));
  text.read(table, "table");
  text.read(indices, "indices");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  SmallVector<std::string> at = indicesOf("element", sizes);
  text.line("const long long chosen = checked(" +
            CallBuilder::element(indices, "indices", at) + ", " +
            std::to_string(sizesOf(table)[axis]) + ", problem);");
  SmallVector<std::string> from = at;
  from[axis] = "chosen";
  text.line("out[element] = " + CallBuilder::element(table, "table", from) +
            ";");
  text.kernel().checks = true;
  return CallResult::of(text);
}

static CallResult writeStack(aten::CallOp op) {
  aten::CallReader call(op);
  Value out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out);
  int64_t dim = call.integer("dim").value_or(0);
  size_t axis = dim < 0 ? dim + sizes.size() : dim;
  CallResult result;
  result.isKnown = true;
  for (auto [part, tensor] : llvm::enumerate(op->getOperands())) {
    CallBuilder text("stack");
    text.comment("part " + std::to_string(part) + " of [" + sizesText(sizes) +
                 "] along " + std::to_string(axis));
    text.read(tensor, "part");
    text.write(out, "out");
    text.openElements(productOf(sizesOf(tensor)));
    SmallVector<std::string> at = indicesOf("element", sizesOf(tensor));
    SmallVector<std::string> to = at;
    to.insert(to.begin() + axis, "");
    Layout layout = kernel::locate(out).layout;
    layout.offset += static_cast<int64_t>(part) * layout.strides[axis];
    text.line(CallBuilder::element(layout, "out", to) + " = " +
              CallBuilder::element(tensor, "part", at) + ";");
    result.kernels.push_back(text.take());
  }
  return result;
}

CallResult cuda::writeRowsCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.embedding_dense_backward")
    return writeEmbeddingGradient(op);
  if (name == "aten.gather")
    return writeGather(op);
  return name == "aten.stack" ? writeStack(op) : CallResult();
}

/// Each element of `from` to where `to` has it; both have the same sizes.
static void copyElements(CallBuilder &text, Value from, const Layout &to) {
  text.openElements(productOf(to.sizes));
  SmallVector<std::string> at = indicesOf("element", to.sizes);
  text.line(CallBuilder::element(to, "to", at) + " = " +
            CallBuilder::element(from, "from", at) + ";");
}

CallResult cuda::writeCopyCall(Operation *op) {
  auto write = dyn_cast<joint::WriteOp>(op);
  if (!write)
    return {};
  Value to = write->getOperand(0), from = write->getOperand(1);
  if (sizesOf(to) != sizesOf(from) ||
      elementTypeText(to) != elementTypeText(from))
    return CallResult::failed("writes a tensor of another type or size");
  CallBuilder text("copy");
  text.comment("[" + sizesText(sizesOf(to)) + "] into an argument");
  text.read(from, "from");
  text.write(to, "to");
  copyElements(text, from, kernel::locate(to).layout);
  return CallResult::of(text);
}

CallKernel cuda::writeDenseCopy(Value tensor) {
  CallBuilder text("copy");
  text.comment("[" + sizesText(sizesOf(tensor)) +
               "], a saved view with strides, for the backward");
  text.read(tensor, "from");
  text.kernel().parameters.push_back({elementTypeText(tensor), "to", true});
  copyElements(text, tensor, Layout::contiguous(sizesOf(tensor)));
  return text.take();
}
