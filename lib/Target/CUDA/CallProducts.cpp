// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products. Operands are read with their strides, so that a transposed
// one is not copied; what is added to the product is added before it is
// rounded.
//
//   bf16, f16   on tensor cores (tileProduct() of Device/cutback_tile.cuh), in
//               tiles of 128 x 128 results where that keeps a device busy, else
//               of 64 x 64; sums in single precision; by option f32 too,
//               rounded to tf32
//   f32, f64    product() of Device/cutback_product.cuh, in tiles that
//               ProductShape.cpp chooses; sums in the same type

#include "CallDescription.h"
#include "ProductShape.h"
#include "ScalarText.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

std::string numberText(const std::string &type, double value, Builder &b) {
  return literal(type == "double" ? Type(b.getF64Type()) : b.getF32Type(),
                 b.getF64FloatAttr(value));
}

} // namespace

std::optional<ProductProblem> cuda::readProduct(aten::CallOp op) {
  aten::CallReader call(op);
  StringRef name = op.getPacketName();
  ProductProblem p;
  p.out = op->getResult(0);
  if (name == "aten.mm" || name == "aten.bmm") {
    p.a = call.value("self");
    p.b = call.value("mat2");
    return p;
  }
  if (name == "aten._grouped_mm" && !call.value("offs") &&
      !call.value(aten::optional("bias"))) { // a matrix each
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

//===-- Tiles
//--------------------------------------------------------------===//

/// Large tiles are worth it from so many of them on: as many multiprocessors
/// as devices have.
static constexpr int64_t kManyTiles = 128;

/// "a + batch * 4096"
static std::string beginText(const std::string &name, const Layout &layout,
                             ArrayRef<std::string> outer) {
  std::string text = name;
  for (auto [i, index] : llvm::enumerate(outer))
    if (layout.sizes[i] > 1 && layout.strides[i])
      text += " + " + index + " * " + std::to_string(layout.strides[i]);
  if (layout.offset)
    text += " + " + std::to_string(layout.offset);
  return text;
}
/// Whether eight neighbours along a dimension of stride 1 are one access, of
/// floats two, where the other dimension has stride `other`.
static bool isAligned(Value tensor, size_t numOuter, int64_t other) {
  Layout layout = kernel::locate(tensor).layout;
  int64_t access = elementTypeText(tensor) == "float" ? 4 : 8;
  return layout.offset % access == 0 && other % access == 0 &&
         llvm::all_of(ArrayRef<int64_t>(layout.strides).take_front(numOuter),
                      [&](int64_t stride) { return stride % access == 0; });
}

std::string cuda::tileOperandText(Value tensor, const std::string &name,
                                  ArrayRef<std::string> outer, unsigned line) {
  Layout layout = kernel::locate(tensor).layout;
  int64_t lineStride = layout.strides[outer.size() + line];
  int64_t kStride = layout.strides[outer.size() + 1 - line];
  bool isAlongK = kStride == 1 || lineStride != 1;
  bool isWhole =
      (isAlongK ? kStride : lineStride) == 1 &&
      isAligned(tensor, outer.size(), isAlongK ? lineStride : kStride);
  return "TileOperand<" + elementTypeText(tensor) +
         (isAlongK ? ", true" : ", false") +
         (isWhole ? ", true>{" : ", false>{") + beginText(name, layout, outer) +
         ", " + std::to_string(lineStride) + ", " + std::to_string(kStride) +
         "}";
}
/// "tileResult<true>(out, 64, 1,"
static std::string tileResultText(Value tensor, ArrayRef<std::string> outer) {
  Layout layout = kernel::locate(tensor).layout;
  ArrayRef<int64_t> strides = ArrayRef<int64_t>(layout.strides).take_back(2);
  bool isWhole = strides[1] == 1 && isAligned(tensor, outer.size(), strides[0]);
  return std::string(isWhole ? "tileResult<true>(" : "tileResult<false>(") +
         beginText("out", layout, outer) + ", " + std::to_string(strides[0]) +
         ", " + std::to_string(strides[1]) + ",";
}

bool cuda::isOfTiles(Value a, Value b, CallOptions options) {
  std::string type = elementTypeText(a);
  return (type == "bf16" || type == "f16" ||
          (type == "float" && options.cuda.tf32)) &&
         elementTypeText(b) == type;
}

int64_t cuda::tileProductOf(int64_t rows, int64_t columns, int64_t batch) {
  int64_t large = (rows + 127) / 128 * ((columns + 127) / 128) * batch;
  return std::min(rows, columns) > 64 && large >= kManyTiles ? 128 : 64;
}

void cuda::shapeTiles(CallWriter &text, int64_t rows, int64_t columns,
                      int64_t batch, int64_t tile) {
  text.shape(
      {(rows + tile - 1) / tile * ((columns + tile - 1) / tile), 1, batch},
      {2 * tile, 1, 1}, 2 * 2 * tile * (32 + 8) * 2);
  text.kernel().waits = true;
}
std::string cuda::shapeScalars(CallWriter &text, int64_t rows, int64_t columns,
                               int64_t products, int64_t batch,
                               const std::string &sum) {
  int64_t bytes = sum == "double" ? 8 : 4;
  ProductShape shape =
      chooseProductShape(rows, columns, products * batch, bytes);
  text.shape({shape.tiles(rows, columns), products, batch},
             {shape.threads, 1, 1}, shape.sharedBytes(bytes));
  text.kernel().waits = true;
  return "product<" + sum + ", " + shape.text() + ">";
}

namespace {

/// Rows, columns, steps, matrices.
struct ProductSizes {
  int64_t m, n, k, batch;

  explicit ProductSizes(const ProductProblem &p) {
    bool isBatch = p.isBatch();
    m = sizesOf(p.out)[isBatch], n = sizesOf(p.out)[isBatch + 1];
    k = sizesOf(p.a)[isBatch + 1];
    batch = isBatch ? sizesOf(p.out)[0] : 1;
  }
  /// "64, 64, 32,"
  std::string text() const {
    return std::to_string(m) + ", " + std::to_string(n) + ", " +
           std::to_string(k) + ",";
  }
};

SmallVector<std::string> matrixIndices(const ProductProblem &p, const char *i,
                                       const char *j) {
  SmallVector<std::string> indices = {i, j};
  if (p.isBatch())
    indices.insert(indices.begin(), "batch");
  return indices;
}

} // namespace

static void writeTiles(CallWriter &text, const ProductProblem &p, Builder &b) {
  ProductSizes sizes(p);
  int64_t tile = tileProductOf(sizes.m, sizes.n, sizes.batch);
  SmallVector<std::string> outer;
  if (p.isBatch())
    outer.push_back("batch");
  text.line("tileProduct<" + std::to_string(tile) + ">(" + sizes.text());
  text.line("    " + tileOperandText(p.a, "a", outer, 0) + ",");
  text.line("    " + tileOperandText(p.b, "b", outer, 1) + ",");
  text.line("    " + tileResultText(p.out, outer));
  text.line("        [=](int i, int j, float sum) { return " +
            resultText(p, b, matrixIndices(p, "i", "j")) + "; }));");
  shapeTiles(text, sizes.m, sizes.n, sizes.batch, tile);
}

std::string cuda::placeText(Value tensor, const char *parameter,
                            ArrayRef<std::string> indices, bool offset) {
  Layout layout = kernel::locate(tensor).layout;
  if (!offset)
    layout.offset = 0;
  std::string at = CallWriter::element(layout, "", indices);
  return "[=](int " + std::string(parameter) + ") { return " +
         at.substr(1, at.size() - 2) + "; },";
}

/// Lines are dimension `line` of a matrix, steps the other one.
static FactorLayout matrixLayout(const ProductProblem &p, Value tensor,
                                 size_t line) {
  Layout layout = kernel::locate(tensor).layout;
  size_t first = p.isBatch(), step = first + 1 - line;
  FactorLayout factor;
  factor.lines = layout.sizes[first + line];
  factor.lineStride = strideOf(layout, first + line);
  factor.steps.push_back({layout.sizes[step], strideOf(layout, step)});
  factor.offset = layout.offset;
  if (p.isBatch())
    factor.added.push_back(strideOf(layout, 0));
  return factor;
}
/// "MatrixFactor<float, true, 4>(a, 64, 1)"
static std::string matrixFactorText(const ProductProblem &p, Value tensor,
                                    const std::string &name, size_t line) {
  std::string begin = name;
  int64_t matrix = p.isBatch() ? strideOf(kernel::locate(tensor).layout, 0) : 0;
  if (matrix)
    begin += " + batch * " + std::to_string(matrix);
  return matrixLayout(p, tensor, line)
      .matrixText(elementTypeText(tensor), begin);
}

static void writeScalars(CallWriter &text, const ProductProblem &p,
                         Builder &b) {
  ProductSizes sizes(p);
  std::string sum = sumTypeText(p.out);
  text.line(shapeScalars(text, sizes.m, sizes.n, 1, sizes.batch, sum) + "(" +
            sizes.text());
  text.line("    " + matrixFactorText(p, p.a, "a", 0) + ",");
  text.line("    " + matrixFactorText(p, p.b, "b", 1) + ",");
  // The matrix is a part of where lines lie, not of columns too.
  SmallVector<std::string> column = matrixIndices(p, "", "j");
  if (p.isBatch())
    column.front().clear();
  text.line("    results<" +
            std::to_string(matrixLayout(p, p.out, 0).wideResults()) + ">(out,");
  text.line("        " +
            placeText(p.out, "i", matrixIndices(p, "i", ""), true));
  text.line("        " + placeText(p.out, "j", column, false));
  text.line("        [=](int i, int j, " + sum + " sum) { return " +
            resultText(p, b, matrixIndices(p, "i", "j")) + "; }));");
}

/// The same without text.
static std::optional<PrecompiledCall> describe(const ProductProblem &p) {
  ProductSizes sizes(p);
  size_t row = p.isBatch(), column = row + 1;
  auto layoutOf = [](Value tensor) { return kernel::locate(tensor).layout; };
  auto tensorOf = [&](Value tensor, int64_t operand) {
    return describeTensor(tensor, operand,
                          p.isBatch() ? strideOf(layoutOf(tensor), 0) : 0);
  };
  SmallVector<Value> tensors = {p.out, p.a, p.b};
  precompiled::Product product;
  product.rows = sizes.m, product.columns = sizes.n, product.steps = sizes.k;
  product.a.tensor = tensorOf(p.a, 0);
  product.a.line = describeIndex(layoutOf(p.a), row);
  product.a.step = describeIndex(layoutOf(p.a), column);
  product.b.tensor = tensorOf(p.b, 1);
  product.b.line = describeIndex(layoutOf(p.b), column);
  product.b.step = describeIndex(layoutOf(p.b), row);
  product.alpha = p.alpha, product.beta = p.beta;
  bool isAdded = p.self && p.beta != 0;
  if (isAdded) {
    // Dimensions that it has not stand for all.
    Layout layout = layoutOf(p.self);
    size_t missing = sizesOf(p.out).size() - layout.sizes.size();
    bool hasBatch = p.isBatch() && missing == 0;
    product.self =
        describeTensor(p.self, 2, hasBatch ? strideOf(layout, 0) : 0);
    if (row >= missing)
      product.selfRow = describeIndex(layout, row - missing);
    if (column >= missing)
      product.selfColumn = describeIndex(layout, column - missing);
    tensors.push_back(p.self);
  }
  product.out = tensorOf(p.out, 2 + isAdded);
  product.outRow = describeIndex(layoutOf(p.out), row);
  product.outColumn = describeIndex(layoutOf(p.out), column);
  return describeProducts(product, sizes.batch, tensors);
}

CallResult cuda::writeProductCall(aten::CallOp op, CallOptions options) {
  std::optional<ProductProblem> found = readProduct(op);
  if (!found)
    return {};
  const ProductProblem &p = *found;
  if (!p.a || !p.b || !isFloatTensor(p.a) || !isFloatTensor(p.b) ||
      !isFloatTensor(p.out) || (p.self && !isFloatTensor(p.self)))
    return CallResult::failed("is a product of other elements than floats");
  ProductSizes sizes(p);
  if (sizes.batch > 65535)
    return CallResult::failed("has more matrices than a grid takes");
  Builder b(op.getContext());
  std::string name = op.getPacketName().split('.').second.str();
  std::string shape = p.isBatch() ? std::to_string(sizes.batch) + "x" : "";
  CallWriter text(name + "_" + shape + std::to_string(sizes.m) + "x" +
                  std::to_string(sizes.n) + "x" + std::to_string(sizes.k));
  text.comment(name + ": [" + sizesText(sizesOf(p.a)) + "] by [" +
               sizesText(sizesOf(p.b)) + "], " +
               std::to_string(2 * sizes.batch * sizes.m * sizes.n * sizes.k) +
               " FLOPs");
  text.read(p.a, "a");
  text.read(p.b, "b");
  if (p.self && p.beta != 0)
    text.read(p.self, "self");
  text.write(p.out, "out");
  if (p.isBatch())
    text.line("const int batch = blockIdx.z;");
  isOfTiles(p.a, p.b, options) ? writeTiles(text, p, b)
                               : writeScalars(text, p, b);
  text.kernel().precompiled = describe(p);
  return CallResult::of(text);
}
