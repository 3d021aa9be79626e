// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that indices name: the gradient of an embedding, and gathers.
// A row of a gradient is summed by one warp, in the order of the indices: no
// atomics, and the same bits on every run. That reads all indices for each row
// of the table.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// What the text of a gradient of an embedding says.
static std::optional<PrecompiledCall>
describeEmbedding(Value gradient, Value indices, Value out, int64_t padding,
                  bool isScaled) {
  auto layoutOf = [](Value tensor) { return kernel::locate(tensor).layout; };
  std::optional<precompiled::Type> type = precompiledType(gradient),
                                   index = precompiledType(indices),
                                   result = precompiledType(out);
  Layout from = layoutOf(gradient);
  ArrayRef<int64_t> sizes = sizesOf(indices);
  auto gradientRow = describeIndices(from, 0, sizes),
       indexRow = describeIndices(layoutOf(indices), 0, sizes);
  if (!type || !result || !gradientRow || !indexRow ||
      (index != precompiled::I32 && index != precompiled::I64) ||
      (*type == precompiled::F64) != (*result == precompiled::F64))
    return std::nullopt;
  precompiled::EmbeddingGradient all;
  all.count = productOf(sizes);
  all.rows = sizesOf(out)[0], all.width = sizesOf(out)[1];
  all.padding = padding, all.isScaled = isScaled;
  all.gradient = describeTensor(gradient, 0);
  all.indices = describeTensor(indices, 1);
  all.indices.type = *index;
  all.out = describeTensor(out, 2);
  all.gradientRow = *gradientRow, all.indexRow = *indexRow;
  all.gradientColumn = strideOf(from, sizes.size());
  all.outRow = strideOf(layoutOf(out), 0);
  all.outColumn = strideOf(layoutOf(out), 1);
  PrecompiledCall call{"cutback_embedding_gradient", ""};
  appendDescription(call.description, all);
  return call;
}

/// An index outside of the table is marked, as the forward marks it: no row of
/// the gradient would have it.
static CallResult writeEmbeddingGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value gradient = call.value("grad_output"), indices = call.value("indices");
  Value out = op->getResult(0);
  bool isScaled =
      call.boolean(aten::optional("scale_grad_by_freq")).value_or(false);
  int64_t rows = sizesOf(out)[0], width = sizesOf(out)[1];
  int64_t count = productOf(sizesOf(indices));
  if (!isFloatTensor(gradient))
    return CallResult::failed("is of another type than floats");
  CallWriter text("embedding_gradient");
  text.comment("rows of [" + sizesText(sizesOf(out)) + "] from " +
               std::to_string(count) + " rows of the gradient");
  text.read(gradient, "gradient");
  text.read(indices, "indices");
  text.write(out, "out");
  std::string type = sumTypeText(gradient);
  text.openRows(rows, width);
  int64_t padding = call.integer(aten::optional("padding_idx")).value_or(-1);
  SmallVector<std::string> at = indicesOf("number", sizesOf(indices));
  SmallVector<std::string> from = at;
  from.push_back("column");
  text.line("const auto isMine = [=](int number) {");
  text.line(
      "  return " +
      checkedText(text, CallWriter::element(indices, "indices", at), rows) +
      " == row" +
      (padding >= 0 ? " && row != " + std::to_string(padding) : "") + ";");
  text.line("};");
  if (isScaled)
    text.line("const int uses = countRows(" + std::to_string(count) +
              ", isMine);");
  text.line("sumRows<" + type + ">(" + std::to_string(count) + ", " +
            std::to_string(width) + ", isMine,");
  text.line("    [=](int number, int column) { return toFloat(" +
            CallWriter::element(gradient, "gradient", from) + "); },");
  text.line("    [=](int column, " + type + " sum) { " +
            CallWriter::element(out, "out", {"row", "column"}) + " = to<" +
            elementTypeText(out) + ">(" +
            (isScaled ? "uses ? sum / " + type + "(uses) : 0" : "sum") +
            "); });");
  text.kernel().precompiled =
      describeEmbedding(gradient, indices, out, padding, isScaled);
  return CallResult::of(text);
}

/// An element of `table` at the indices of the result, but along the axis.
static std::optional<PrecompiledCall>
describeTake(const CallWriter &text, const char *name, const char *indices,
             Value table, std::optional<size_t> axis, ArrayRef<int64_t> sizes,
             bool isModulo) {
  precompiled::Take take;
  take.isModulo = isModulo;
  take.size = axis && !sizesOf(table).empty() ? sizesOf(table)[*axis] : 1;
  auto own = text.strided(name), index = text.strided(indices);
  if (!own || !index)
    return std::nullopt;
  if (axis && !sizesOf(table).empty())
    take.stride = own->strides[*axis];
  SmallVector<StridedDim> dims, ofIndex;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    bool isAlong = dim == axis || int64_t(dim) >= own->rank;
    dims.push_back({sizes[dim], isAlong ? 0 : own->strides[dim]});
    ofIndex.push_back({sizes[dim], index->strides[dim]});
  }
  return describeCall(
      "cutback_take",
      {withDims(own, dims), withDims(index, ofIndex), text.strided("out")},
      take);
}

/// The element of that number; indices and result have the same ones.
static std::optional<PrecompiledCall> describeFlatTake(const CallWriter &text,
                                                       int64_t length) {
  precompiled::Take take;
  take.isFlat = true;
  take.size = length;
  auto index = text.strided("indices"), out = text.strided("out");
  if (!index || !out)
    return std::nullopt;
  SmallVector<StridedDim> dims;
  for (int64_t dim = 0; dim < index->rank; ++dim)
    dims.push_back({index->sizes[dim], index->strides[dim]});
  SmallVector<StridedDim> dense = dims;
  int64_t stride = 1;
  for (size_t dim = dims.size(); dim-- > 0; stride *= dims[dim].size)
    dense[dim].stride = stride;
  return describeCall(
      "cutback_take",
      {text.strided("self"), withDims(index, dims), withDims(out, dense)},
      take);
}

static CallResult writeGather(aten::CallOp op) {
  aten::CallReader call(op);
  Value table = call.value("self"), indices = call.value("index");
  Value out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out);
  // A scalar counts as a list of one, on either side.
  size_t rank = sizesOf(table).size();
  std::optional<size_t> axis = axisOf(call, std::max<size_t>(rank, 1));
  if (!axis)
    return CallResult::failed("gathers along a dimension that is not known");
  CallWriter text("gather");
  text.comment("[" + sizesText(sizes) + "] of [" + sizesText(sizesOf(table)) +
               "] along " + std::to_string(*axis));
  text.read(table, "table");
  text.read(indices, "indices");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  SmallVector<std::string> at = indicesOf("element", sizes);
  text.line("const long long chosen = checked(" +
            CallWriter::element(indices, "indices", at) + ", " +
            std::to_string(rank ? sizesOf(table)[*axis] : 1) + ", problem);");
  SmallVector<std::string> from = at;
  from.resize(rank);
  if (rank)
    from[*axis] = "chosen";
  text.line("out[element] = " + CallWriter::element(table, "table", from) +
            ";");
  text.kernel().checks = true;
  text.kernel().precompiled =
      describeTake(text, "table", "indices", table, rank ? axis : std::nullopt,
                   sizes, /*isModulo=*/false);
  return CallResult::of(text);
}

/// Without a dimension both are flat; else they broadcast in all others, and an
/// index counts modulo the size.
static CallResult writeTakeAlong(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), indices = call.value("indices");
  Value out = op->getResult(0);
  ArrayRef<int64_t> sizes = sizesOf(out), own = sizesOf(self);
  bool isFlat = call.isNone("dim");
  std::optional<size_t> axis = axisOf(call, sizes.size());
  if (!isFlat && !axis && !sizes.empty())
    return CallResult::failed("takes along a dimension that is not known");
  int64_t length = isFlat ? productOf(own) : own.empty() ? 1 : own[*axis];
  CallWriter text("take_along");
  text.comment("[" + sizesText(sizes) + "] of [" + sizesText(own) + "]");
  text.read(self, "self");
  text.read(indices, "indices");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  SmallVector<std::string> at = indicesOf("element", sizes), from = at;
  SmallVector<std::string> where =
      isFlat ? indicesOf("element", sizesOf(indices)) : at;
  text.line(std::string("const long long chosen = ") +
            (isFlat ? "checked(" : "floorRemainder<long long>(") +
            CallWriter::element(indices, "indices", where) + ", " +
            std::to_string(length) + (isFlat ? ", problem);" : ");"));
  if (isFlat)
    from = indicesOf("chosen", own);
  else if (axis)
    from[*axis] = "chosen";
  text.line(CallWriter::element(out, "out", at) + " = " +
            CallWriter::element(self, "self", from) + ";");
  text.kernel().checks = isFlat;
  text.kernel().precompiled =
      isFlat ? describeFlatTake(text, length)
             : describeTake(text, "self", "indices", self, axis, sizes,
                            /*isModulo=*/true);
  return CallResult::of(text);
}

CallResult cuda::writeRowsCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.embedding_dense_backward")
    return writeEmbeddingGradient(op);
  if (name == "aten.gather")
    return writeGather(op);
  if (name == "aten.take_along_dim")
    return writeTakeAlong(op);
  return {};
}
