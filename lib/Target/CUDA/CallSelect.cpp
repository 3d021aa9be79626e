// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element that stands at a place of an order (kthvalue, median), and the
// place that an element has in what is sorted (searchsorted).
//
// As in CallOrder.cpp each element counts those that stand in front of it; the
// one whose place is asked for is the result: as many reads as a row is long
// for each element, the first of equals first, and NaN the greatest. A value
// that is looked for halves a row: as many reads as its length has digits.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

/// A row is a dimension, or all elements.
struct Rows {
  aten::CallReader call;
  Value self, values, places;
  size_t axis = 0;
  bool isAll = false;
  int64_t length = 1;

  explicit Rows(aten::CallOp op) : call(op), self(call.value("self")) {
    ArrayRef<int64_t> sizes = sizesOf(self);
    values = op->getResult(0);
    if (op->getNumResults() > 1)
      places = op->getResult(1);
    isAll = !places || sizes.empty();
    int64_t dim = call.integer(aten::optional("dim")).value_or(-1);
    if (!isAll)
      axis = dim < 0 ? dim + sizes.size() : dim;
    length = isAll ? productOf(sizes) : sizes[axis];
    for (Value *result : {&values, &places})
      if (*result && result->use_empty())
        *result = Value();
  }
  void open(CallWriter &text) const {
    text.comment("of " + std::to_string(length) + " of [" +
                 sizesText(sizesOf(self)) + "]");
    text.read(self, "self");
    if (values)
      text.write(values, "values");
    if (places)
      text.write(places, "places");
  }
  /// What a CPU is told of them.
  std::optional<PrecompiledCall> describe(const CallWriter &text,
                                          precompiled::Order::Kind kind,
                                          int64_t nth) const {
    precompiled::Order order;
    order.kind = kind;
    order.axis = static_cast<int64_t>(axis);
    order.isAll = isAll;
    order.nth = nth;
    return describeCall("cutback_order",
                        {text.strided("self"), inResult(text, "values", values),
                         inResult(text, "places", places)},
                        order);
  }
  /// A result that has an element a row, with the dimensions of self.
  std::optional<precompiled::StridedTensor>
  inResult(const CallWriter &text, const char *name, Value result) const {
    std::optional<precompiled::StridedTensor> own = text.strided(name);
    if (!result || !own)
      return own;
    size_t rank = sizesOf(self).size();
    bool isKept = own->rank == static_cast<int64_t>(rank);
    SmallVector<StridedDim> dims;
    for (size_t dim = 0; dim < rank; ++dim)
      dims.push_back(
          isAll || dim == axis
              ? StridedDim{1, 0}
              : StridedDim{sizesOf(self)[dim],
                           own->strides[dim - (!isKept && dim > axis)]});
    return withDims(own, dims);
  }
  /// `number` of the row that `at` lies in.
  std::string inRow(Indices at, const std::string &number) const {
    if (isAll)
      at = indicesOf(number, sizesOf(self));
    else
      at[axis] = number;
    return held(self, CallWriter::element(self, "self", at));
  }
  /// The results of the row that `at` lies in.
  void store(CallWriter &text, Indices at, const std::string &value,
             const std::string &place) const {
    auto index = [&](Value result) {
      if (sizesOf(result).size() < at.size())
        at.erase(at.begin() + axis);
      return isAll ? Indices(sizesOf(result).size()) : at;
    };
    if (places)
      text.line(CallWriter::element(places, "places", index(places)) + " = " +
                place + ";");
    if (values)
      text.line(CallWriter::element(values, "values", index(values)) + " = " +
                stored(values, value) + ";");
  }
};

CallResult writeSelection(aten::CallOp op) {
  StringRef name = op.getPacketName();
  Rows rows(op);
  std::optional<int64_t> k = rows.call.integer(aten::optional("k"));
  if (rows.length == 0 || (name == "aten.kthvalue" && !k))
    return CallResult::failed("picks from nothing, or at a place that is not "
                              "known");
  ArrayRef<int64_t> sizes = sizesOf(rows.self);
  std::string length = std::to_string(rows.length);
  CallWriter text(name.split('.').second.str());
  rows.open(text);
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes);
  text.line("const int mine = " + (rows.isAll ? "element" : at[rows.axis]) +
            ";");
  text.line("const auto x = " +
            held(rows.self, CallWriter::element(rows.self, "self", at)) + ";");
  text.line("int place = 0, nans = 0;");
  text.line("for (int number = 0; number < " + length + "; ++number) {");
  text.line("  const auto y = " + rows.inRow(at, "number") + ";");
  text.line("  place += isBefore<false>(y, number, x, mine);");
  text.line("  nans += y != y;");
  text.line("}");
  // Where there are some, the first NaN, or the middle of the others.
  std::string wanted = "(nans ? " + length +
                       " - nans : " + std::to_string((rows.length - 1) / 2) +
                       ")";
  if (name == "aten.nanmedian")
    wanted = "(nans < " + length + " ? (" + length + " - nans - 1) / 2 : 0)";
  if (name == "aten.kthvalue")
    wanted = std::to_string(*k - 1);
  text.line("if (place != " + wanted + ")");
  text.line("  return;");
  rows.store(text, at, "x", "mine");
  using precompiled::Order;
  text.kernel().precompiled =
      rows.describe(text,
                    name == "aten.kthvalue"    ? Order::Nth
                    : name == "aten.nanmedian" ? Order::NanMedian
                                               : Order::Median,
                    k.value_or(1) - 1);
  return CallResult::of(text);
}

/// The least of those that are there most often, the last of these.
CallResult writeMode(aten::CallOp op) {
  Rows rows(op);
  if (rows.length == 0)
    return CallResult::failed("picks from nothing");
  SmallVector<int64_t> sizes(sizesOf(rows.self));
  if (!rows.isAll)
    sizes[rows.axis] = 1;
  std::string length = std::to_string(rows.length);
  CallWriter text("mode");
  rows.open(text);
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes);
  text.line("int best = 0, most = 0;");
  text.line("auto value = " + rows.inRow(at, "0") + ";");
  text.line("for (int mine = 0; mine < " + length + "; ++mine) {");
  text.line("  const auto x = " + rows.inRow(at, "mine") + ";");
  text.line("  int uses = 0;");
  text.line("  for (int number = 0; number < " + length + "; ++number)");
  text.line("    uses += " + rows.inRow(at, "number") + " == x;");
  text.line("  if (uses < most || uses == 0 || (uses == most && x > value))");
  text.line("    continue;");
  text.line("  best = mine, most = uses, value = x;");
  text.line("}");
  rows.store(text, at, "value", "best");
  text.kernel().precompiled = rows.describe(text, precompiled::Order::Mode, 0);
  return CallResult::of(text);
}

/// In which two tensors are compared.
std::string commonType(Value a, Value b) {
  std::string ofA = heldType(a), ofB = heldType(b);
  if (ofA == ofB)
    return ofA;
  return ofA == "double" || ofB == "double" ? "double" : "float";
}

/// Where values would stand in rows that are sorted, by themselves or by the
/// indices of `sorter`; one row serves all.
CallResult writeSearch(aten::CallOp op) {
  aten::CallReader call(op);
  Value sorted = call.value(op.getPacketName() == "aten.bucketize"
                                ? aten::ParamRef("boundaries")
                                : aten::ParamRef("sorted_sequence"));
  Value self = call.value("self"), out = op->getResult(0);
  Value sorter = call.value(aten::optional("sorter"));
  if (!self || !sorted)
    return CallResult::failed("looks for a number that is no tensor");
  bool isRight = call.boolean(aten::optional("right")).value_or(false) ||
                 call.string(aten::optional("side")) == "right";
  ArrayRef<int64_t> rows = sizesOf(sorted);
  std::string length = std::to_string(rows.empty() ? 1 : rows.back());
  CallWriter text("search");
  text.comment("[" + sizesText(sizesOf(self)) + "] in rows of [" +
               sizesText(rows) + "]");
  text.read(sorted, "sorted");
  text.read(self, "self");
  if (sorter)
    text.read(sorter, "sorter");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out)), from = at;
  from.resize(rows.size());
  if (!rows.empty())
    from.back() = "number";
  std::string number =
      sorter ? checkedText(text, CallWriter::element(sorter, "sorter", from),
                           rows.empty() ? 1 : rows.back())
             : "";
  if (sorter && !rows.empty())
    from.back() = "chosen";
  std::string type = commonType(sorted, self);
  text.line(CallWriter::element(out, "out", at) + " = placeIn<" +
            (isRight ? "true" : "false") + ", " + type + ">(");
  text.line("    " + length + ", " +
            held(self, CallWriter::element(self, "self", at)) +
            ", [=](int number) {");
  if (sorter)
    text.line("      const int chosen = " + number + ";");
  text.line("      return " +
            held(sorted, CallWriter::element(sorted, "sorted", from)) + ";");
  text.line("    });");
  precompiled::Search search;
  search.isRight = isRight;
  search.compared = type == "float"       ? precompiled::F32
                    : type == "double"    ? precompiled::F64
                    : type == "long long" ? precompiled::I64
                                          : precompiled::U64;
  text.kernel().precompiled = describeCall(
      "cutback_search", text, {"sorted", "self", "sorter", "out"}, search);
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeSelectCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.kthvalue" || name == "aten.median" ||
      name == "aten.nanmedian")
    return writeSelection(op);
  if (name == "aten.mode")
    return writeMode(op);
  if (name == "aten.searchsorted" || name == "aten.bucketize")
    return writeSearch(op);
  return {};
}
