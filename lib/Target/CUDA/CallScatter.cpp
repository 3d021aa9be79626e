// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writes where indices say, scans, and orders. A thread has one element of
// the result and goes over all that may be for it, in the order of the indices:
// no atomics, and the same bits on every run. That is as many reads as there
// are indices along the axis for each element.

#include "CallText.h"

#include "cutback/Dialect/Aten/CallBuilder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

/// A dimension counted from 0; nothing if it is not known.
std::optional<size_t> axisOf(const aten::CallReader &call, size_t rank) {
  std::optional<int64_t> dim = call.integer("dim");
  if (!dim || rank == 0)
    return std::nullopt;
  return *dim < 0 ? *dim + rank : *dim;
}

/// The type that a sum of such elements is held in: not narrower than `float`.
std::string heldType(Value tensor) {
  return isFloatTensor(tensor) ? sumTypeText(tensor) : "long long";
}
std::string held(Value tensor, const std::string &element) {
  return isFloatTensor(tensor) ? "toFloat(" + element + ")" : element;
}
std::string stored(Value tensor, const std::string &value) {
  return isFloatTensor(tensor)
             ? "to<" + elementTypeText(tensor) + ">(" + value + ")"
             : "(" + elementTypeText(tensor) + ")(" + value + ")";
}

/// An index, marked as wrong where it is outside of [0, size).
std::string checkedText(CallBuilder &text, const std::string &index,
                        int64_t size) {
  text.kernel().checks = true;
  return "checked(" + index + ", " + std::to_string(size) + ", problem)";
}

/// self with values added (or put) where `isMine` says, for numbers below
/// `count`.
void writeOwner(CallBuilder &text, Value self, Value out, int64_t count,
                const std::string &isMine, const std::string &value,
                bool adds) {
  Indices at = indicesOf("element", sizesOf(out));
  text.line(heldType(out) +
            " x = " + held(self, CallBuilder::element(self, "self", at)) + ";");
  text.line("for (int number = 0; number < " + std::to_string(count) +
            "; ++number)");
  text.line("  if (" + isMine + ")");
  text.line("    x " + std::string(adds ? "+= " : "= ") + value + ";");
  text.line(CallBuilder::element(out, "out", at) + " = " + stored(out, "x") +
            ";");
}

/// `call` has self, dim, index of as many dimensions, and src.
CallResult writeScatter(aten::CallOp op, bool adds) {
  aten::CallReader call(op);
  Value self = call.value("self"), index = call.value("index");
  Value source = call.value(aten::optional("src")), out = op->getResult(0);
  std::optional<size_t> axis = axisOf(call, sizesOf(out).size());
  if (!axis || !source || !index)
    return CallResult::failed("scatters another thing than a tensor along a "
                              "known dimension");
  CallBuilder text("scatter");
  text.comment("[" + sizesText(sizesOf(index)) + "] into [" +
               sizesText(sizesOf(out)) + "] along " + std::to_string(*axis));
  text.read(self, "self");
  text.read(index, "index");
  text.read(source, "source");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out)), from = at;
  from[*axis] = "number";
  std::string isMine =
      checkedText(text, CallBuilder::element(index, "index", from),
                  sizesOf(out)[*axis]) +
      " == " + at[*axis];
  // The index may be shorter than the result along the other dimensions.
  for (size_t i = 0; i < at.size(); ++i)
    if (i != *axis && sizesOf(index)[i] < sizesOf(out)[i])
      isMine =
          at[i] + " < " + std::to_string(sizesOf(index)[i]) + " && " + isMine;
  writeOwner(text, self, out, sizesOf(index)[*axis], isMine,
             held(source, CallBuilder::element(source, "source", from)), adds);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplaceFirst = true;
  return result;
}

CallResult writeIndexAdd(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), index = call.value("index");
  Value source = call.value("source"), out = op->getResult(0);
  std::optional<size_t> axis = axisOf(call, sizesOf(out).size());
  if (!axis || call.number("alpha").value_or(1) != 1)
    return CallResult::failed("adds multiples, or along an unknown dimension");
  CallBuilder text("index_add");
  text.comment("[" + sizesText(sizesOf(source)) + "] into [" +
               sizesText(sizesOf(out)) + "] along " + std::to_string(*axis));
  text.read(self, "self");
  text.read(index, "index");
  text.read(source, "source");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out)), from = at;
  from[*axis] = "number";
  Indices number = {"number"};
  number.resize(sizesOf(index).size());
  writeOwner(text, self, out, sizesOf(source)[*axis],
             checkedText(text, CallBuilder::element(index, "index", number),
                         sizesOf(out)[*axis]) +
                 " == " + at[*axis],
             held(source, CallBuilder::element(source, "source", from)),
             /*adds=*/true);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplaceFirst = true;
  return result;
}

/// One index of one dimension, in place of one dimension of self.
CallResult writeIndexPut(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), values = call.value("values");
  Value out = op->getResult(0), index;
  size_t axis = 0, count = 0;
  for (auto [i, arg] : llvm::enumerate(call.list("indices")))
    if (Value given = arg.isValue() ? arg.getValue() : Value()) {
      index = given;
      axis = i;
      ++count;
    }
  if (count != 1 || elementTypeText(index) == "bool" ||
      sizesOf(index).size() != 1 ||
      sizesOf(values).size() != sizesOf(out).size())
    return CallResult::failed("puts at other places than rows of one index");
  CallBuilder text("index_put");
  text.comment("[" + sizesText(sizesOf(values)) + "] into [" +
               sizesText(sizesOf(out)) + "] along " + std::to_string(axis));
  text.read(self, "self");
  text.read(index, "index");
  text.read(values, "values");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out)), from = at;
  from[axis] = "number";
  text.line("const int mine = " + at[axis] + ";");
  std::string chosen = CallBuilder::element(index, "index", {"number"});
  std::string size = std::to_string(sizesOf(out)[axis]);
  writeOwner(
      text, self, out, sizesOf(index)[0],
      checkedText(text,
                  chosen + " < 0 ? " + chosen + " + " + size + " : " + chosen,
                  sizesOf(out)[axis]) +
          " == mine",
      held(values, CallBuilder::element(values, "values", from)),
      call.boolean("accumulate").value_or(false));
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplaceFirst = true;
  return result;
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
  CallBuilder text(multiplies ? "cumprod" : "cumsum");
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
            held(self, CallBuilder::element(self, "self", at)) + ";");
  text.line("  " + CallBuilder::element(out, "out", at) + " = " +
            stored(out, "x") + ";");
  text.line("}");
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplaceFirst = sizesOf(self) == sizesOf(out);
  return result;
}

/// Each element counts those that stand in front of it: that is its place. The
/// first of equals comes first; NaN is greater than all.
CallResult writeOrder(aten::CallOp op, bool isTopK) {
  aten::CallReader call(op);
  Value self = call.value("self");
  Value values = op->getResult(0), places = op->getResult(1);
  ArrayRef<int64_t> sizes = sizesOf(self);
  int64_t dim = call.integer("dim").value_or(-1);
  size_t axis = dim < 0 ? dim + sizes.size() : dim;
  if (sizes.empty())
    return CallResult::failed("orders a number");
  bool isFalling = isTopK ? call.boolean("largest").value_or(true)
                          : call.boolean("descending").value_or(false);
  int64_t kept = sizesOf(values)[axis];
  CallBuilder text(isTopK ? "topk" : "sort");
  text.comment(std::to_string(kept) + " of [" + sizesText(sizes) + "] along " +
               std::to_string(axis));
  text.read(self, "self");
  if (!values.use_empty())
    text.write(values, "values");
  if (!places.use_empty())
    text.write(places, "places");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes), other = at, to = at;
  other[axis] = "number";
  to[axis] = "place";
  std::string y = held(self, CallBuilder::element(self, "self", other));
  text.line("const int mine = " + at[axis] + ";");
  text.line("const auto x = " +
            held(self, CallBuilder::element(self, "self", at)) + ";");
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
  if (!values.use_empty())
    text.line(CallBuilder::element(values, "values", to) + " = " +
              CallBuilder::element(self, "self", at) + ";");
  if (!places.use_empty())
    text.line(CallBuilder::element(places, "places", to) + " = mine;");
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeScatterCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.scatter_add")
    return writeScatter(op, /*adds=*/true);
  if (name == "aten.scatter")
    return writeScatter(op, /*adds=*/false);
  if (name == "aten.index_add")
    return writeIndexAdd(op);
  if (name == "aten.index_put")
    return writeIndexPut(op);
  if (name == "aten.cumsum" || name == "aten.cumprod")
    return writeScan(op, name == "aten.cumprod");
  if (name == "aten.topk" || name == "aten.sort")
    return writeOrder(op, name == "aten.topk");
  return {};
}
