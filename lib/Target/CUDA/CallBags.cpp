// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bags of rows of a table: sums, means or greatest elements, and the gradients
// of the table and of the rows' weights.
//
// Forward, a thread has a column of a bag and goes over the bag's indices. The
// gradient of a row of the table is summed by a warp over all indices that name
// it, in their order, as that of an embedding; of greatest elements a thread
// has one element and goes over the bags. What the forward says of bags (bag of
// each index, indices of each bag) is written where somebody reads it.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

enum Mode : int64_t { Sum, Mean, Max };

std::string numberText(int64_t number) { return std::to_string(number); }

/// What all of them read.
struct Bags {
  Operation *op;
  aten::CallReader call;
  Value indices, offsets, weights;
  int64_t mode, padding;

  explicit Bags(aten::CallOp op)
      : op(op), call(op), indices(call.value("indices")),
        offsets(call.value(aten::optional("offsets"))),
        weights(call.value(aten::optional("per_sample_weights"))),
        mode(call.integer(aten::optional("mode")).value_or(Sum)),
        padding(call.integer(aten::optional("padding_idx")).value_or(-1)) {}

  Value result(unsigned i) const { return op->getResult(i); }
  bool isRead(unsigned i) const {
    return !result(i).use_empty() && productOf(sizesOf(result(i))) > 0;
  }
  int64_t total() const { return productOf(sizesOf(indices)); }
  std::string index(const std::string &number) const {
    return CallWriter::element(indices, "indices", {number});
  }
  std::string offset(const std::string &number) const {
    return CallWriter::element(offsets, "offsets", {number});
  }
  std::string notPadding(const std::string &row) const {
    return padding < 0 ? "" : row + " != " + numberText(padding);
  }

  CallResult forward() const;
  CallResult tableGradient() const;
  CallResult weightGradient() const;

private:
  int64_t bagCount() const { return sizesOf(result(0))[0]; }
  int64_t tableRows() const { return sizesOf(call.value("weight"))[0]; }
  void writeRange(CallWriter &text) const;
  void describe(CallWriter &text, precompiled::Bags::Kind kind,
                int64_t bags) const;
  CallWriter rowsOfBags() const;
  CallWriter bagsOfIndices() const;
  CallWriter sizesOfBags(unsigned result) const;
  std::string bagText(CallWriter &text, Value bagOfIndex, int64_t bags) const;
  CallResult gradientOfGreatest(Value gradient) const;
};

} // namespace

/// Where the indices of `bag` begin and end.
void Bags::writeRange(CallWriter &text) const {
  int64_t count = sizesOf(offsets)[0];
  std::string next = checkedText(text, offset("bag + 1"), total() + 1);
  if (!call.boolean(aten::optional("include_last_offset")).value_or(false))
    next = "bag + 1 < " + numberText(count) + " ? " + next + " : " +
           numberText(total());
  text.line("const int begin = " +
            checkedText(text, offset("bag"), total() + 1) + ";");
  text.line("const int end = " + next + ";");
  text.line(checkedText(text, "end - begin", total() + 1) + ";");
}

/// What a CPU is told.
void Bags::describe(CallWriter &text, precompiled::Bags::Kind kind,
                    int64_t bags) const {
  precompiled::Bags all;
  all.kind = kind;
  all.mode = mode;
  all.padding = padding;
  all.count = total();
  all.bags = bags;
  if (kind == precompiled::Bags::TableGradient)
    all.tableRows = sizesOf(result(0))[0];
  else if (Value table = call.value(aten::optional("weight")))
    all.tableRows = sizesOf(table)[0];
  all.includesLast =
      call.boolean(aten::optional("include_last_offset")).value_or(false);
  all.isScaled =
      call.boolean(aten::optional("scale_grad_by_freq")).value_or(false);
  text.kernel().precompiled =
      describeCall("cutback_bags", text,
                   {"table", "indices", "offsets", "weights", "bag_of_index",
                    "sizes", "out", "rows", "gradient"},
                   all);
}

CallWriter Bags::rowsOfBags() const {
  Value table = call.value("weight"), out = result(0);
  CallWriter text("embedding_bag");
  text.comment("[" + sizesText(sizesOf(out)) + "] from " + numberText(total()) +
               " rows of [" + sizesText(sizesOf(table)) + "]");
  text.read(table, "table");
  text.read(indices, "indices");
  text.read(offsets, "offsets");
  if (weights)
    text.read(weights, "weights");
  if (isRead(0))
    text.write(out, "out");
  if (mode == Max && isRead(3))
    text.write(result(3), "rows");
  text.openElements(productOf(sizesOf(out)));
  int64_t width = sizesOf(out)[1];
  text.line("const int bag = element / " + numberText(width) +
            ", column = element % " + numberText(width) + ";");
  writeRange(text);
  text.line(sumTypeText(out) + " x = 0;");
  text.line(mode == Max ? "long long from = -1;" : "int count = 0;");
  text.line("for (int number = begin; number < end; ++number) {");
  text.line("  const long long row = " +
            checkedText(text, index("number"), tableRows()) + ";");
  if (padding >= 0) {
    text.line("  if (row == " + numberText(padding) + ")");
    text.line("    continue;");
  }
  std::string value =
      "toFloat(" + CallWriter::element(table, "table", {"row", "column"}) + ")";
  if (mode == Max) {
    text.line("  const " + sumTypeText(out) + " value = " + value + ";");
    text.line("  if (from >= 0 && !(value > x))");
    text.line("    continue;");
    text.line("  x = value;");
    text.line("  from = row;");
  } else {
    if (weights)
      value = "toFloat(" + CallWriter::element(weights, "weights", {"number"}) +
              ") * " + value;
    text.line("  x += " + value + ";");
    text.line("  ++count;");
  }
  text.line("}");
  if (isRead(0))
    text.line("out[element] = to<" + elementTypeText(out) + ">(" +
              (mode == Mean ? "count ? x / " + sumTypeText(out) + "(count) : 0"
                            : std::string("x")) +
              ");");
  if (mode == Max && isRead(3))
    text.line("rows[element] = from < 0 ? 0 : from;");
  describe(text, precompiled::Bags::Rows, bagCount());
  return text;
}

CallWriter Bags::bagsOfIndices() const {
  Value out = result(1);
  CallWriter text("bag_of_index");
  text.comment("of each of " + numberText(total()) + " indices");
  text.read(offsets, "offsets");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("out[element] = bagOf(" + numberText(bagCount()) +
            ", element, [=](int bag) { return " + offset("bag") + "; });");
  describe(text, precompiled::Bags::BagOfIndex, bagCount());
  return text;
}

/// Without padding; those behind the last bag are 0.
CallWriter Bags::sizesOfBags(unsigned number) const {
  Value out = result(number);
  CallWriter text("bag_sizes");
  text.comment("of " + numberText(bagCount()) + " bags");
  text.read(indices, "indices");
  text.read(offsets, "offsets");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const int bag = element < " + numberText(bagCount()) +
            " ? element : 0;");
  writeRange(text);
  text.line("int count = 0;");
  text.line("for (int number = begin; number < end; ++number)");
  text.line("  count += " + (padding < 0 ? "1" : notPadding(index("number"))) +
            ";");
  text.line("out[element] = element < " + numberText(bagCount()) +
            " ? count : 0;");
  describe(text, precompiled::Bags::Sizes, bagCount());
  return text;
}

CallResult Bags::forward() const {
  if (!isFloatTensor(result(0)))
    return CallResult::failed("is of another type than floats");
  CallResult all;
  all.isKnown = true;
  auto add = [&](CallWriter text) { all.kernels.push_back(text.take()); };
  if (isRead(0) || (mode == Max && isRead(3)))
    add(rowsOfBags());
  if (isRead(1))
    add(bagsOfIndices());
  if (isRead(2))
    add(sizesOfBags(2));
  if (mode != Max && isRead(3)) // PyTorch leaves it as it is
    add(sizesOfBags(3));
  return all;
}

/// The bag of index `number`: as the forward says, else by its offsets.
std::string Bags::bagText(CallWriter &text, Value bagOfIndex,
                          int64_t bags) const {
  if (productOf(sizesOf(bagOfIndex)) == total())
    return checkedText(
        text, CallWriter::element(bagOfIndex, "bag_of_index", {"number"}),
        bags);
  return "bagOf(" + numberText(bags) + ", number, [=](int bag) { return " +
         offset("bag") + "; })";
}

CallResult Bags::gradientOfGreatest(Value gradient) const {
  Value rows = call.value(aten::optional("maximum_indices")), out = result(0);
  Value sizes = call.value(aten::optional("bag_size"));
  int64_t bags = sizesOf(gradient)[0], width = sizesOf(out)[1];
  CallWriter text("embedding_bag_gradient");
  text.comment("[" + sizesText(sizesOf(out)) + "] from " + numberText(bags) +
               " bags");
  text.read(gradient, "gradient");
  text.read(rows, "rows");
  text.read(sizes, "sizes");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  text.line("const int row = element / " + numberText(width) +
            ", column = element % " + numberText(width) + ";");
  text.line(sumTypeText(out) + " sum = 0;");
  text.line("for (int bag = 0; bag < " + numberText(bags) + "; ++bag)");
  text.line(
      "  if (" +
      checkedText(text, CallWriter::element(rows, "rows", {"bag", "column"}),
                  sizesOf(out)[0]) +
      " == row && " + CallWriter::element(sizes, "sizes", {"bag"}) + " > 0)");
  text.line("    sum += toFloat(" +
            CallWriter::element(gradient, "gradient", {"bag", "column"}) +
            ");");
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  describe(text, precompiled::Bags::GreatestGradient, bags);
  return CallResult::of(text);
}

CallResult Bags::tableGradient() const {
  Value gradient = call.value("grad"), out = result(0);
  Value bagOfIndex = call.value(aten::optional("offset2bag")),
        sizes = call.value(aten::optional("bag_size"));
  if (!isFloatTensor(gradient) || !isFloatTensor(out))
    return CallResult::failed("is of another type than floats");
  if (mode == Max)
    return gradientOfGreatest(gradient);
  bool isListed = productOf(sizesOf(bagOfIndex)) == total();
  if (!isListed && !offsets)
    return CallResult::failed("does not know the bags of its indices");
  int64_t rows = sizesOf(out)[0], width = sizesOf(out)[1];
  CallWriter text("embedding_bag_gradient");
  text.comment("rows of [" + sizesText(sizesOf(out)) + "] from " +
               numberText(total()) + " indices in " +
               numberText(sizesOf(gradient)[0]) + " bags");
  text.read(gradient, "gradient");
  text.read(indices, "indices");
  isListed ? text.read(bagOfIndex, "bag_of_index")
           : text.read(offsets, "offsets");
  if (weights)
    text.read(weights, "weights");
  if (mode == Mean)
    text.read(sizes, "sizes");
  text.write(out, "out");
  text.openRows(rows, width);
  std::string type = sumTypeText(out);
  bool isScaled =
      call.boolean(aten::optional("scale_grad_by_freq")).value_or(false);
  std::string mine = notPadding("row");
  text.line("const auto isMine = [=](int number) {");
  text.line("  return " + checkedText(text, index("number"), rows) + " == row" +
            (mine.empty() ? "" : " && " + mine) + ";");
  text.line("};");
  if (isScaled)
    text.line("const int uses = countRows(" + numberText(total()) +
              ", isMine);");
  text.line("const auto row_of = [=](int number, int column) {");
  text.line("  const int bag = " +
            bagText(text, bagOfIndex, sizesOf(gradient)[0]) + ";");
  text.line("  " + type + " x = toFloat(" +
            CallWriter::element(gradient, "gradient", {"bag", "column"}) +
            ");");
  if (weights)
    text.line("  x *= toFloat(" +
              CallWriter::element(weights, "weights", {"number"}) + ");");
  if (mode == Mean)
    text.line("  x /= " + type + "(" +
              CallWriter::element(sizes, "sizes", {"bag"}) + ");");
  text.line("  return x;");
  text.line("};");
  text.line("sumRows<" + type + ">(" + numberText(total()) + ", " +
            numberText(width) + ", isMine, row_of,");
  text.line("    [=](int column, " + type + " sum) { " +
            CallWriter::element(out, "out", {"row", "column"}) + " = to<" +
            elementTypeText(out) + ">(" +
            (isScaled ? "uses ? sum / " + type + "(uses) : 0" : "sum") +
            "); });");
  describe(text, precompiled::Bags::TableGradient, sizesOf(gradient)[0]);
  return CallResult::of(text);
}

/// A thread an index: its row times the gradient of its bag.
CallResult Bags::weightGradient() const {
  Value gradient = call.value("grad"), table = call.value("weight");
  Value bagOfIndex = call.value(aten::optional("offset2bag")), out = result(0);
  if (!isFloatTensor(gradient) || !isFloatTensor(table))
    return CallResult::failed("is of another type than floats");
  CallWriter text("embedding_bag_weights_gradient");
  text.comment("of " + numberText(total()) + " rows of [" +
               sizesText(sizesOf(table)) + "]");
  text.read(gradient, "gradient");
  text.read(table, "table");
  text.read(indices, "indices");
  productOf(sizesOf(bagOfIndex)) == total()
      ? text.read(bagOfIndex, "bag_of_index")
      : text.read(offsets, "offsets");
  text.write(out, "out");
  text.openElements(total());
  text.line("const int number = element;");
  text.line("const int bag = " +
            bagText(text, bagOfIndex, sizesOf(gradient)[0]) + ";");
  text.line("const long long row = " +
            checkedText(text, index("number"), sizesOf(table)[0]) + ";");
  text.line(sumTypeText(table) + " sum = 0;");
  std::string mine = notPadding("row");
  text.line("for (int column = 0; " + (mine.empty() ? "" : mine + " && ") +
            "column < " + numberText(sizesOf(table)[1]) + "; ++column)");
  text.line("  sum += toFloat(" +
            CallWriter::element(gradient, "gradient", {"bag", "column"}) +
            ") * toFloat(" +
            CallWriter::element(table, "table", {"row", "column"}) + ");");
  text.line("out[element] = to<" + elementTypeText(out) + ">(sum);");
  describe(text, precompiled::Bags::WeightGradient, sizesOf(gradient)[0]);
  return CallResult::of(text);
}

CallResult cuda::writeBagCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten._embedding_bag" ||
      name == "aten._embedding_bag_forward_only")
    return Bags(op).forward();
  if (name == "aten._embedding_bag_backward" ||
      name == "aten._embedding_bag_dense_backward")
    return Bags(op).tableGradient();
  if (name == "aten._embedding_bag_per_sample_weights_backward")
    return Bags(op).weightGradient();
  return {};
}
