// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, forward and backward, 64 rows a block: of bf16 and f16 on tensor
// cores (Device/cutback_tile_attention.cuh), else in full precision (attend()
// and its gradients in Device/cutback_attention.cuh). A CPU has a head at a
// time (lib/Target/CPU/Precompiled/AttentionBlocks.h). Scores are not stored.
// The gradient of keys and values runs over queries in their order, so that no
// sum depends on how warps were scheduled.

#include "CallDescription.h"
#include "ScalarText.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

struct AttentionProblem {
  Value query, key, value, mask, gradient;
  bool isCausal = false;
  double scale = 1;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0, width = 0, outWidth = 0;
};

/// Of AttentionBlock, shared memory: 64 and 32 rows of 36 numbers, two times 64
/// rows for weights, 32 rows of 64, and two numbers a row.
constexpr int64_t kBlockBytes = 4 * ((3 * 64 + 32) * 36 + 32 * 64 + 2 * 64);

class AttentionWriter {
public:
  AttentionWriter(aten::CallOp op, CallOptions options)
      : op(op), call(op), form(options.form) {}

  CallResult run() {
    StringRef name = op.getPacketName();
    bool isForward = !name.consume_back("_backward");
    if (!name.consume_front("aten._scaled_dot_product_") ||
        !llvm::is_contained({"flash_attention_for_cpu", "flash_attention",
                             "efficient_attention", "cudnn_attention"},
                            name))
      return {};
    if (std::string why = readProblem(); !why.empty())
      return CallResult::failed(why);
    CallResult result;
    result.isKnown = true;
    if (isForward) {
      writeZeros(result);
      result.kernels.push_back(writeForward());
    } else {
      bool readsKeys = isRead(1) || isRead(2);
      if (form == StepKernels::AreMachineCode) {
        // A CPU has one function for all: it computes scores once.
        if (isRead(0) || readsKeys)
          result.kernels.push_back(writeGradients());
      } else {
        if (isRead(0))
          result.kernels.push_back(writeQueryGradient());
        if (readsKeys)
          result.kernels.push_back(writeKeyGradient());
      }
      if (op->getNumResults() > 3 && isRead(3))
        result.kernels.push_back(writeBiasGradient());
    }
    return result;
  }

private:
  /// A result of no tensor (the gradient of a bias that is not there) is not.
  bool isRead(unsigned i) {
    Value result = op->getResult(i);
    return isa<RankedTensorType>(result.getType()) && !result.use_empty();
  }
  /// A result that nobody reads has no memory: what is computed is dropped.
  void writeIfRead(CallWriter &text, unsigned i, const char *name) {
    if (isRead(i))
      text.write(op->getResult(i), name);
  }
  std::string writerIfRead(unsigned i, const char *name, const char *row) {
    return isRead(i) ? writer(op->getResult(i), name, row)
                     : "    [](int, int, float) {}";
  }

  std::string readProblem() {
    p.query = call.value("query");
    p.key = call.value("key");
    p.value = call.value("value");
    p.mask = call.value(aten::optional("attn_mask"));
    if (!p.mask)
      p.mask = call.value(aten::optional("attn_bias"));
    p.gradient = call.value(aten::optional("grad_out"));
    if (!p.gradient)
      p.gradient = call.value(aten::optional("grad_out_"));
    p.isCausal = call.boolean(aten::optional("is_causal")).value_or(false);
    if (!isFloatTensor(p.query) || sizesOf(p.query).size() != 4 ||
        elementTypeText(p.query) == "double")
      return "is attention of other tensors than [batch, heads, length, width] "
             "of f32, bf16 or f16";
    if (call.number(aten::optional("dropout_p")).value_or(0) != 0)
      return "drops weights";
    bool hasBiasGradient = p.gradient && op->getNumResults() > 3 && isRead(3);
    if (hasBiasGradient &&
        sizesOf(op->getResult(3)) !=
            ArrayRef<int64_t>({sizesOf(p.query)[0], sizesOf(p.query)[1],
                               sizesOf(p.query)[2], sizesOf(p.key)[2]}))
      return "has the gradient of a bias that several scores share";
    ArrayRef<int64_t> sizes = sizesOf(p.query);
    p.batch = sizes[0], p.heads = sizes[1], p.queries = sizes[2];
    p.width = sizes[3];
    p.keys = sizesOf(p.key)[2], p.outWidth = sizesOf(p.value)[3];
    if (sizesOf(p.key)[1] != p.heads || sizesOf(p.value)[1] != p.heads)
      return "has other heads of keys than of queries";
    if (std::max(p.width, p.outWidth) > 256)
      return "has heads of more than 256 elements";
    p.scale = call.number(aten::optional("scale"))
                  .value_or(1 / std::sqrt(static_cast<double>(p.width)));
    return "";
  }

  std::string at(Value tensor, const char *name, const char *row) const {
    SmallVector<std::string> indices = {"batch", "head", row, "e"};
    indices.resize(sizesOf(tensor).size());
    return CallWriter::element(tensor, name, indices);
  }
  /// "[=](int i, int e) { return toFloat(q[...]); },"
  std::string reader(Value tensor, const char *name, const char *row) const {
    return std::string("    [=](int ") + row + ", int e) { return toFloat(" +
           at(tensor, name, row) + "); },";
  }
  std::string writer(Value tensor, const char *name, const char *row) const {
    return std::string("    [=](int ") + row + ", int e, float x) { " +
           at(tensor, name, row) + " = to<" + elementTypeText(tensor) +
           ">(x); }";
  }
  std::string bias() const {
    std::string text = "0.0f";
    if (p.mask) {
      Layout layout = kernel::locate(p.mask).layout;
      SmallVector<std::string> indices = {"batch", "head", "i", "j"};
      std::string element = CallWriter::element(
          layout, "mask",
          ArrayRef<std::string>(indices).take_back(layout.sizes.size()));
      text = elementTypeText(p.mask) == "bool" ? element + " ? 0.0f : lowest()"
                                               : "toFloat(" + element + ")";
    }
    if (p.isCausal)
      text = p.mask ? "j > i ? lowest() : (" + text + ")"
                    : "j > i ? lowest() : " + text;
    return "    [=](int i, int j) { return " + text + "; },";
  }
  std::string scaleText() const {
    Builder b(op.getContext());
    return literal(b.getF32Type(), b.getF64FloatAttr(p.scale));
  }

  void readOperands(CallWriter &text) const {
    text.read(p.query, "query");
    text.read(p.key, "key");
    text.read(p.value, "value");
    if (p.mask)
      text.read(p.mask, "mask");
  }

  void describeSizes(CallWriter &text) const {
    text.comment("[" + sizesText(sizesOf(p.query)) + "] with " +
                 std::to_string(p.keys) + " keys" +
                 (p.isCausal ? ", causal" : ""));
  }
  /// A warp for each query of each head.
  void openQueries(CallWriter &text) const {
    int64_t all = p.batch * p.heads * p.queries;
    describeSizes(text);
    text.line("const AttentionRow at = attentionRow(" +
              std::to_string(p.queries) + ");");
    if (all % 4) {
      text.line("if (at.head >= " + std::to_string(p.batch * p.heads) + ")");
      text.line("  return;");
    }
    openHead(text);
    text.shape({(all + 3) / 4, 1, 1}, {128, 1, 1});
  }
  /// A block for each 64 of `rows` rows of each head.
  void openBlocks(CallWriter &text, int64_t rows, int64_t threads,
                  int64_t sharedBytes) const {
    describeSizes(text);
    text.line("const AttentionRow at = attentionTile(" + std::to_string(rows) +
              ");");
    openHead(text);
    text.shape({p.batch * p.heads * ((rows + 63) / 64), 1, 1}, {threads, 1, 1},
               sharedBytes);
  }
  void open(CallWriter &text, int64_t rows) const {
    openBlocks(text, rows, 256, kBlockBytes);
  }
  void openHead(CallWriter &text) const {
    std::string heads = std::to_string(p.heads);
    if (p.batch > 1)
      text.line("const int batch = at.head / " + heads + ";");
    if (p.heads > 1)
      text.line("const int head = at.head % " + heads + ";");
    text.kernel().waits = true;
  }
  /// "<1>(at.row, 37, 37, 37, 64, 64, 0.125f,": rows, others, and where these
  /// end (or begin).
  std::string sizes(int64_t rows, int64_t others,
                    const std::string &bound) const {
    int64_t parts = (std::max(p.width, p.outWidth) + 63) / 64;
    return "<" + std::to_string(parts) + ">(" +
           rowArguments(rows, others, bound);
  }
  std::string rowArguments(int64_t rows, int64_t others,
                           const std::string &bound) const {
    return "at.row, " + std::to_string(rows) + ", " + std::to_string(others) +
           (bound.empty() ? "" : ", " + bound) + ", " +
           std::to_string(p.width) + ", " + std::to_string(p.outWidth) + ", " +
           scaleText() + ",";
  }
  /// Keys that queries of a block look at: none behind the last query.
  std::string lastKeys() const {
    std::string keys = std::to_string(p.keys);
    return p.isCausal ? "at.row + 64 < " + keys + " ? at.row + 64 : " + keys
                      : keys;
  }
  /// Of queries that look at keys of a block.
  const char *firstQuery() const { return p.isCausal ? "at.row" : "0"; }

  /// What a forward tells besides: of its random numbers, of which there are
  /// none, and some have more sums than queries: 0.
  void writeZeros(CallResult &result) {
    for (unsigned i = 1; i < op->getNumResults(); ++i) {
      Value zeros = op->getResult(i);
      if (!isRead(i) || (i == 1 && sizesOf(zeros).size() == 3 &&
                         sizesOf(zeros)[2] <= p.queries))
        continue;
      CallWriter text("attention_zeros");
      text.comment("[" + sizesText(sizesOf(zeros)) + "]");
      text.write(zeros, "out");
      text.openElements(productOf(sizesOf(zeros)));
      text.line("out[element] = " + stored(zeros, "0.0f") + ";");
      text.kernel().precompiled =
          describeCall("cutback_elements", text, {"from", "out"},
                       precompiled::Elements{precompiled::Elements::Zero});
      result.kernels.push_back(text.take());
    }
  }

  //===--- On tensor cores ------------------------------------------------===//

  /// Elements of a head in shared memory: steps of 16.
  int64_t tileWidth() const {
    return (std::max(p.width, p.outWidth) + 15) / 16 * 16;
  }
  /// Rows of the other operands that shared memory has room for at a time.
  int64_t tileOthers() const { return tileWidth() <= 112 ? 32 : 16; }
  bool onTiles() const {
    return isOfTiles(p.query, p.key) && isOfTiles(p.query, p.value) &&
           tileWidth() <= 144;
  }
  void openTiles(CallWriter &text, int64_t rows) const {
    int64_t row = 2 * (tileWidth() + 8);
    openBlocks(text, rows, 128,
               2 * (64 + tileOthers()) * row + 4 * tileOthers());
  }
  std::string tileOperand(Value tensor, const char *name) const {
    return "    " + tileOperandText(tensor, name, {"batch", "head"}, 0) + ",";
  }
  /// As sizes(), with elements of a head and others at a time in front.
  std::string tileSizes(int64_t rows, int64_t others,
                        const std::string &bound) const {
    return "<" + std::to_string(tileWidth()) + ", " +
           std::to_string(tileOthers()) + ">(" +
           rowArguments(rows, others, bound);
  }
  void readTiles(CallWriter &text) const {
    text.line(tileOperand(p.query, "query"));
    text.line(tileOperand(p.key, "key"));
    text.line(tileOperand(p.value, "value"));
    text.line(bias());
  }
  void lookUpTiles(CallWriter &text) {
    readTiles(text);
    text.line(tileOperand(p.gradient, "dOut"));
    lookUpSums(text);
  }

  //===--- Descriptions ---------------------------------------------------===//

  /// The parameter `name` of `text`, whose lines are those of a matrix.
  precompiled::HeadTensor describe(CallWriter &text, Value tensor,
                                   StringRef name) const {
    precompiled::HeadTensor described;
    for (auto [i, parameter] : llvm::enumerate(text.kernel().parameters))
      if (parameter.name == name)
        described.operand = static_cast<int64_t>(i);
    if (described.operand < 0)
      return described;
    Layout layout = kernel::locate(tensor).layout;
    described.type = elementTypeText(tensor) == "bool" ? precompiled::Bool
                     : isFloatTensor(tensor) ? *precompiledType(tensor)
                                             : precompiled::F64;
    described.at = layout.offset;
    // A mask has the last dimensions, sums of rows have no elements.
    size_t rank = layout.sizes.size(), missing = name == "mask" ? 4 - rank : 0;
    int64_t *strides[] = {&described.batch, &described.head, &described.row,
                          &described.element};
    for (size_t dim = 0; dim < rank; ++dim)
      *strides[missing + dim] = strideOf(layout, dim);
    return described;
  }
  /// The operands, before results are.
  precompiled::Attention describe(CallWriter &text,
                                  precompiled::Attention::Kind kind) {
    precompiled::Attention all;
    all.kind = kind;
    bool isTile = onTiles() && kind != precompiled::Attention::BiasGradient;
    all.group = isTile ? tileOthers() : 0;
    all.batch = p.batch, all.heads = p.heads;
    all.queries = p.queries, all.keys = p.keys;
    all.width = p.width, all.outWidth = p.outWidth;
    all.isCausal = p.isCausal;
    all.scale = p.scale;
    all.query = describe(text, p.query, "query");
    all.key = describe(text, p.key, "key");
    all.value = describe(text, p.value, "value");
    if (p.mask)
      all.mask = describe(text, p.mask, "mask");
    if (kind == precompiled::Attention::Forward)
      return all;
    all.gradient = describe(text, p.gradient, "dOut");
    all.out = describe(text, call.value(aten::optional("out")), "out");
    all.logSum =
        describe(text, call.value(aten::optional("logsumexp")), "logSum");
    return all;
  }
  /// Gradients compute scores again.
  static int64_t flopsOf(const precompiled::Attention &attention) {
    using precompiled::Attention;
    int64_t pairs =
        attention.batch * attention.heads * attention.queries * attention.keys;
    int64_t width = attention.width, outWidth = attention.outWidth;
    switch (attention.kind) {
    case Attention::Forward:
    case Attention::BiasGradient:
      return 2 * pairs * (width + outWidth);
    default:
      return 2 * pairs *
             ((1 + (attention.result.operand >= 0) +
               (attention.keyGradient.operand >= 0)) *
                  width +
              (1 + (attention.valueGradient.operand >= 0)) * outWidth);
    }
  }
  /// Text and description as one; the text alone where a type has none.
  static CallKernel take(CallWriter &text,
                         const precompiled::Attention &attention) {
    for (const precompiled::HeadTensor *tensor :
         {&attention.query, &attention.key, &attention.value, &attention.mask,
          &attention.gradient, &attention.out, &attention.logSum,
          &attention.result, &attention.keyGradient, &attention.valueGradient})
      if (tensor->operand >= 0 && tensor->type == precompiled::F64)
        return text.take();
    for (const precompiled::HeadTensor *tensor :
         {&attention.key, &attention.value, &attention.gradient,
          &attention.out})
      if (tensor->operand >= 0 && tensor->type != attention.query.type)
        return text.take();
    PrecompiledCall call{attention.group ? "cutback_attention_by_tiles"
                                         : "cutback_attention",
                         ""};
    appendDescription(call.description, attention);
    call.flops = flopsOf(attention);
    text.kernel().precompiled = std::move(call);
    return text.take();
  }

  //===--- Kernels --------------------------------------------------------===//

  /// Stores of the forward: the result, and the logarithm of the sum.
  void storeForward(CallWriter &text, bool hasLogSum) {
    text.line(writerIfRead(0, "out", "i") + ",");
    text.line(hasLogSum ? "    [=](int i, float x) { " +
                              at(op->getResult(1), "logSum", "i") + " = x; });"
                        : "    [](int, float) {});");
  }

  CallKernel writeForward() {
    CallWriter text("attention");
    readOperands(text);
    writeIfRead(text, 0, "out");
    bool hasLogSum = isRead(1) && productOf(sizesOf(op->getResult(1))) > 0;
    if (hasLogSum)
      text.write(op->getResult(1), "logSum");
    precompiled::Attention described =
        describe(text, precompiled::Attention::Forward);
    described.out = describe(text, op->getResult(0), "out");
    if (hasLogSum)
      described.logSum = describe(text, op->getResult(1), "logSum");
    if (onTiles()) {
      openTiles(text, p.queries);
      text.line("tileAttend" + tileSizes(p.queries, p.keys, lastKeys()));
      readTiles(text);
      storeForward(text, hasLogSum);
      return take(text, described);
    }
    open(text, p.queries);
    text.line("attend" + sizes(p.queries, p.keys, lastKeys()));
    text.line(reader(p.query, "query", "i"));
    text.line(reader(p.key, "key", "j"));
    text.line(reader(p.value, "value", "j"));
    text.line(bias());
    storeForward(text, hasLogSum);
    return take(text, described);
  }

  /// Lines of the operands that gradients have besides.
  void readGradientOperands(CallWriter &text) {
    readOperands(text);
    text.read(p.gradient, "dOut");
    text.read(call.value(aten::optional("out")), "out");
    text.read(call.value(aten::optional("logsumexp")), "logSum");
  }
  void lookUp(CallWriter &text) {
    text.line(reader(p.query, "query", "i"));
    text.line(reader(p.key, "key", "j"));
    text.line(reader(p.value, "value", "j"));
    text.line(bias());
    text.line(reader(p.gradient, "dOut", "i"));
    lookUpSums(text);
  }
  void lookUpSums(CallWriter &text) {
    Value logSum = call.value(aten::optional("logsumexp"));
    text.line(reader(call.value(aten::optional("out")), "out", "i"));
    text.line("    [=](int i) { return " + at(logSum, "logSum", "i") + "; },");
  }
  /// Those of query, key and value that are read: a description alone.
  CallKernel writeGradients() {
    CallWriter text("attention_gradients");
    text.comment("[" + sizesText(sizesOf(p.query)) + "] with " +
                 std::to_string(p.keys) + " keys");
    text.shape({p.batch * p.heads, 1, 1}, {1, 1, 1});
    readGradientOperands(text);
    writeIfRead(text, 0, "dQuery");
    writeIfRead(text, 1, "dKey");
    writeIfRead(text, 2, "dValue");
    precompiled::Attention described =
        describe(text, precompiled::Attention::Gradients);
    described.result = describe(text, op->getResult(0), "dQuery");
    described.keyGradient = describe(text, op->getResult(1), "dKey");
    described.valueGradient = describe(text, op->getResult(2), "dValue");
    return take(text, described);
  }
  CallKernel writeQueryGradient() {
    CallWriter text("attention_query_gradient");
    readGradientOperands(text);
    text.write(op->getResult(0), "dQuery");
    if (onTiles()) {
      openTiles(text, p.queries);
      text.line("tileQueryGradient" + tileSizes(p.queries, p.keys, lastKeys()));
      lookUpTiles(text);
    } else {
      open(text, p.queries);
      text.line("attendQueryGradient" + sizes(p.queries, p.keys, lastKeys()));
      lookUp(text);
    }
    text.line(writer(op->getResult(0), "dQuery", "i") + ");");
    return text.take();
  }
  CallKernel writeKeyGradient() {
    CallWriter text("attention_key_gradient");
    readGradientOperands(text);
    writeIfRead(text, 1, "dKey");
    writeIfRead(text, 2, "dValue");
    if (onTiles()) {
      openTiles(text, p.keys);
      text.line("tileKeyGradient" + tileSizes(p.keys, p.queries, firstQuery()));
      lookUpTiles(text);
    } else {
      open(text, p.keys);
      text.line("attendKeyGradient" + sizes(p.keys, p.queries, firstQuery()));
      lookUp(text);
    }
    text.line(writerIfRead(1, "dKey", "j") + ",");
    text.line(writerIfRead(2, "dValue", "j") + ");");
    return text.take();
  }

  CallKernel writeBiasGradient() {
    CallWriter text("attention_bias_gradient");
    readGradientOperands(text);
    Value out = op->getResult(3);
    text.write(out, "dBias");
    openQueries(text);
    text.line("attendBiasGradient(" + rowArguments(p.queries, p.keys, ""));
    lookUp(text);
    text.line("    [=](int i, int j, float x) { " +
              CallWriter::element(out, "dBias", {"batch", "head", "i", "j"}) +
              " = to<" + elementTypeText(out) + ">(x); });");
    precompiled::Attention described =
        describe(text, precompiled::Attention::BiasGradient);
    described.result = describe(text, out, "dBias");
    return take(text, described);
  }

  mutable aten::CallOp op;
  aten::CallReader call;
  const StepKernels form;
  AttentionProblem p;
};

} // namespace

CallResult cuda::writeAttentionCall(aten::CallOp op, CallOptions options) {
  return AttentionWriter(op, options).run();
}
