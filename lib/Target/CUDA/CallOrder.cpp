// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans, and orders along a dimension.
//
// A scan has a thread a row, which goes over it in its order. An order counts
// for each element those that stand in front of it, which is its place: as many
// reads as a row is long, no exchange between threads, the first of equals
// first, and NaN the greatest.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

/// What a CPU is told of a scan.
void describeScan(CallWriter &text, const char *values,
                  precompiled::Scan::Kind kind, size_t axis) {
  precompiled::Scan scan;
  scan.kind = kind;
  scan.axis = static_cast<int64_t>(axis);
  text.kernel().precompiled =
      describeCall("cutback_scan", text, {"self", values, "places"}, scan);
}

/// Sums (products) of all that stands in front: a thread a row.
CallResult writeScan(aten::CallOp op, bool multiplies) {
  aten::CallReader call(op);
  Value self = call.value("self"), out = op->getResult(0);
  std::optional<size_t> axis = axisOf(call, sizesOf(out).size());
  if (!axis)
    return CallResult::failed("scans along a dimension that is not known");
  SmallVector<int64_t> rows(sizesOf(out));
  rows[*axis] = 1;
  CallWriter text(multiplies ? "cumprod" : "cumsum");
  text.comment("[" + sizesText(sizesOf(out)) + "] along " +
               std::to_string(*axis));
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(rows));
  Indices at = indicesOf("element", rows);
  at[*axis] = "number";
  text.line(heldType(out) + " x = " + (multiplies ? "1;" : "0;"));
  text.line("for (int number = 0; number < " +
            std::to_string(sizesOf(out)[*axis]) + "; ++number) {");
  text.line("  x " + std::string(multiplies ? "*= " : "+= ") +
            held(self, CallWriter::element(self, "self", at)) + ";");
  text.line("  " + CallWriter::element(out, "out", at) + " = " +
            stored(out, "x") + ";");
  text.line("}");
  describeScan(text, "out",
               multiplies ? precompiled::Scan::Product : precompiled::Scan::Sum,
               *axis);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = sizesOf(self) == sizesOf(out);
  return result;
}

/// log(exp(x_0) + ... + exp(x_i)).
CallResult writeLogScan(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), out = op->getResult(0);
  std::optional<size_t> axis = axisOf(call, sizesOf(out).size());
  if (!axis || !isFloatTensor(self))
    return CallResult::failed("scans other elements than floats");
  SmallVector<int64_t> rows(sizesOf(out));
  rows[*axis] = 1;
  CallWriter text("logcumsumexp");
  text.comment("[" + sizesText(sizesOf(out)) + "] along " +
               std::to_string(*axis));
  text.read(self, "self");
  text.write(out, "out");
  text.openElements(productOf(rows));
  Indices at = indicesOf("element", rows);
  at[*axis] = "number";
  text.line(heldType(out) + " x = lowest();");
  text.line("for (int number = 0; number < " +
            std::to_string(sizesOf(out)[*axis]) + "; ++number) {");
  text.line("  x = addPowers(x, " +
            held(self, CallWriter::element(self, "self", at)) + ");");
  text.line("  " + CallWriter::element(out, "out", at) + " = " +
            stored(out, "x") + ";");
  text.line("}");
  describeScan(text, "out", precompiled::Scan::LogSum, *axis);
  return CallResult::of(text);
}

/// The greatest (least) so far and where it stands: the last of equals, or NaN.
CallResult writeExtremes(aten::CallOp op, bool isLeast) {
  aten::CallReader call(op);
  Value self = call.value("self"), values = op->getResult(0);
  Value places = op->getResult(1);
  std::optional<size_t> axis = axisOf(call, sizesOf(self).size());
  if (!axis)
    return CallResult::failed("scans along a dimension that is not known");
  SmallVector<int64_t> rows(sizesOf(self));
  rows[*axis] = 1;
  CallWriter text(isLeast ? "cummin" : "cummax");
  text.comment("[" + sizesText(sizesOf(self)) + "] along " +
               std::to_string(*axis));
  text.read(self, "self");
  if (!values.use_empty())
    text.write(values, "values");
  if (!places.use_empty())
    text.write(places, "places");
  text.openElements(productOf(rows));
  Indices at = indicesOf("element", rows);
  at[*axis] = "number";
  text.line(heldType(self) + " x = 0;");
  text.line("int place = -1;");
  text.line("for (int number = 0; number < " +
            std::to_string(sizesOf(self)[*axis]) + "; ++number) {");
  text.line("  const " + heldType(self) + " next = " +
            held(self, CallWriter::element(self, "self", at)) + ";");
  text.line("  if (place < 0 || next != next || (x == x && next " +
            std::string(isLeast ? "<=" : ">=") + " x)) {");
  text.line("    x = next;");
  text.line("    place = number;");
  text.line("  }");
  if (!values.use_empty())
    text.line("  " + CallWriter::element(values, "values", at) + " = " +
              stored(values, "x") + ";");
  if (!places.use_empty())
    text.line("  " + CallWriter::element(places, "places", at) + " = place;");
  text.line("}");
  describeScan(text, "values",
               isLeast ? precompiled::Scan::Min : precompiled::Scan::Max,
               *axis);
  return CallResult::of(text);
}

/// Each element counts those that stand in front of it: that is its place. The
/// first of equals comes first; NaN is greater than all.
CallResult writeOrder(aten::CallOp op, bool isTopK) {
  aten::CallReader call(op);
  Value self = call.value("self");
  bool areBoth = op->getNumResults() > 1; // argsort has places alone
  Value places = op->getResult(areBoth);
  Value values = areBoth ? Value(op->getResult(0)) : Value();
  ArrayRef<int64_t> sizes = sizesOf(self);
  int64_t dim = call.integer("dim").value_or(-1);
  size_t axis = dim < 0 ? dim + sizes.size() : dim;
  if (sizes.empty())
    return CallResult::failed("orders a number");
  bool isFalling =
      isTopK ? call.boolean(aten::optional("largest")).value_or(true)
             : call.boolean(aten::optional("descending")).value_or(false);
  int64_t kept = sizesOf(places)[axis];
  CallWriter text(isTopK ? "topk" : "sort");
  text.comment(std::to_string(kept) + " of [" + sizesText(sizes) + "] along " +
               std::to_string(axis));
  text.read(self, "self");
  if (values && values.use_empty())
    values = Value();
  if (values)
    text.write(values, "values");
  if (!places.use_empty())
    text.write(places, "places");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes), other = at, to = at;
  other[axis] = "number";
  to[axis] = "place";
  std::string y = held(self, CallWriter::element(self, "self", other));
  text.line("const int mine = " + at[axis] + ";");
  text.line("const auto x = " +
            held(self, CallWriter::element(self, "self", at)) + ";");
  text.line("int place = 0;");
  text.line("for (int number = 0; number < " + std::to_string(sizes[axis]) +
            "; ++number)");
  text.line("  place += " +
            std::string(isFalling ? "isBefore<true>" : "isBefore<false>") +
            "(" + y + ", number, x, mine);");
  if (kept < sizes[axis]) {
    text.line("if (place >= " + std::to_string(kept) + ")");
    text.line("  return;");
  }
  if (values)
    text.line(CallWriter::element(values, "values", to) + " = " +
              CallWriter::element(self, "self", at) + ";");
  if (!places.use_empty())
    text.line(CallWriter::element(places, "places", to) + " = mine;");
  precompiled::Order order;
  order.axis = static_cast<int64_t>(axis);
  order.isFalling = isFalling;
  order.kept = kept;
  text.kernel().precompiled =
      describeCall("cutback_order", text, {"self", "values", "places"}, order);
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeOrderCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.cumsum" || name == "aten.cumprod")
    return writeScan(op, name == "aten.cumprod");
  if (name == "aten.logcumsumexp")
    return writeLogScan(op);
  if (name == "aten.cummax" || name == "aten.cummin")
    return writeExtremes(op, name == "aten.cummin");
  if (name == "aten.topk" || name == "aten.sort" || name == "aten.argsort")
    return writeOrder(op, name == "aten.topk");
  return {};
}
