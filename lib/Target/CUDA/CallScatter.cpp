// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is put, added or combined where indices along one dimension say. A
// thread has one element of the result and goes over all that may be for it, in
// the order of the indices: no atomics, and the same bits on every run. That is
// as many reads as there are indices along the axis for each element.

#include "CallDescription.h"
#include "ScalarText.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

using precompiled::Combine;

Combine combineOf(StringRef name) {
  return llvm::StringSwitch<Combine>(name)
      .Cases({"prod", "multiply"}, Combine::Product)
      .Case("mean", Combine::Mean)
      .Case("amax", Combine::Max)
      .Case("amin", Combine::Min)
      .Default(Combine::Sum);
}

/// "Max()(x, value)"
std::string combineText(Combine how) {
  switch (how) {
  case Combine::Put:
    return "value";
  case Combine::Product:
    return "x * value";
  case Combine::Max:
    return "Max()(x, value)";
  case Combine::Min:
    return "Min()(x, value)";
  case Combine::Sum:
  case Combine::Mean:
    break;
  }
  return "x + value";
}

/// Elements of `out` that are those of `self`, with what comes to them.
struct Owners {
  aten::CallReader call;
  Value self, index, source, out;
  std::optional<size_t> axis;
  Combine how = Combine::Put;
  bool includesSelf = true; ///< in what is combined
  bool areSlices = false;   ///< the index names slices of self
  bool isWrapped = false;   ///< an index below 0 counts from the end

  explicit Owners(aten::CallOp op)
      : call(op), self(call.value("self")), index(call.value("index")),
        out(op.getOperation()->getResult(0)),
        axis(axisOf(call, sizesOf(out).size())) {
    for (aten::ParamRef name : {aten::optional("src"), aten::optional("source"),
                                aten::optional("value")})
      if (!source)
        source = call.value(name);
  }

  /// `number` of [0, count) comes to the element where `isMine` says.
  CallResult
  write(const char *name, int64_t count,
        llvm::function_ref<std::string(CallWriter &, Indices)> isMine,
        llvm::function_ref<Indices(Indices)> from);
  CallResult scatter();
  CallResult slices();

private:
  std::string valueText(ArrayRef<std::string> from) const;
  std::optional<PrecompiledCall> describe(const CallWriter &text,
                                          int64_t count) const;
};

} // namespace

/// A number in the type that such elements are held in.
static std::string heldNumber(Value tensor, double number) {
  if (!isFloatTensor(tensor))
    return std::to_string(static_cast<int64_t>(number));
  Builder b(tensor.getContext());
  return literal(heldType(tensor) == "double" ? Type(b.getF64Type())
                                              : b.getF32Type(),
                 b.getF64FloatAttr(number));
}

/// An element of the source, or the number that is put.
std::string Owners::valueText(ArrayRef<std::string> from) const {
  if (source)
    return held(source, CallWriter::element(
                            source, "source",
                            Indices(from.take_back(sizesOf(source).size()))));
  return heldNumber(out, call.number("value").value_or(0));
}

CallResult
Owners::write(const char *name, int64_t count,
              llvm::function_ref<std::string(CallWriter &, Indices)> isMine,
              llvm::function_ref<Indices(Indices)> from) {
  CallWriter text(name);
  text.comment(std::to_string(count) + " along dimension " +
               std::to_string(*axis) + " of [" + sizesText(sizesOf(out)) + "]");
  text.read(self, "self");
  text.read(index, "index");
  if (source)
    text.read(source, "source");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  text.line(heldType(out) +
            " x = " + held(self, CallWriter::element(self, "self", at)) + ";");
  bool counts = how == Combine::Mean || !includesSelf;
  if (counts)
    text.line("int count = " + std::to_string(includesSelf) + ";");
  text.line("for (int number = 0; number < " + std::to_string(count) +
            "; ++number) {");
  text.line("  if (!(" + isMine(text, at) + "))");
  text.line("    continue;");
  std::string value = valueText(from(at));
  double alpha = call.number(aten::optional("alpha")).value_or(1);
  if (alpha != 1)
    value = heldNumber(out, alpha) + " * " + value;
  text.line("  const " + heldType(out) + " value = " + value + ";");
  text.line("  x = " +
            (counts ? "count++ == 0 ? value : " + combineText(how)
                    : combineText(how)) +
            ";");
  text.line("}");
  if (how == Combine::Mean) {
    text.line("if (count > 1)");
    text.line(isFloatTensor(out)
                  ? "  x /= " + heldType(out) + "(count);"
                  : "  x = floorDivide<" + heldType(out) + ">(" +
                        held(out, stored(out, "x")) + ", count);");
  }
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "x") +
            ";");
  text.kernel().precompiled = describe(text, count);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = 1;
  return result;
}

/// Rows are along the axis, columns all other dimensions. An index of one
/// dimension is that of all columns.
std::optional<PrecompiledCall> Owners::describe(const CallWriter &text,
                                                int64_t count) const {
  ArrayRef<int64_t> sizes = sizesOf(out);
  precompiled::Scatter all;
  all.how = how;
  all.includesSelf = includesSelf;
  all.bounds =
      isWrapped ? precompiled::Scatter::Wrapped : precompiled::Scatter::Checked;
  all.numbers = 1;
  all.columns = static_cast<int64_t>(sizes.size()) - 1;
  all.alpha = call.number(aten::optional("alpha")).value_or(1);
  all.value = source ? 0 : call.number("value").value_or(0);
  auto strideIn = [&](Value tensor, size_t dim) {
    Layout layout = kernel::locate(tensor).layout;
    size_t missing = sizes.size() - layout.sizes.size();
    return dim < missing ? 0 : strideOf(layout, dim - missing);
  };
  auto dimsOf = [&](Value tensor, int64_t length) {
    SmallVector<StridedDim> dims = {{length, strideIn(tensor, *axis)}};
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      if (dim != *axis)
        dims.push_back({sizes[dim], strideIn(tensor, dim)});
    return dims;
  };
  SmallVector<StridedDim> ofIndex = dimsOf(index, count);
  size_t column = 0;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (dim != *axis)
      all.limits[column++] = areSlices ? sizes[dim] : sizesOf(index)[dim];
  if (areSlices) {
    ofIndex.assign(1, {count, 0});
    if (!sizesOf(index).empty())
      ofIndex[0].stride = strideOf(kernel::locate(index).layout, 0);
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      if (dim != *axis)
        ofIndex.push_back({sizes[dim], 0});
  }
  auto ofSource = text.strided("source");
  return describeCall(
      "cutback_scatter",
      {withDims(text.strided("self"), dimsOf(self, sizes[*axis])),
       withDims(text.strided("out"), dimsOf(out, sizes[*axis])),
       source ? withDims(ofSource, dimsOf(source, count)) : ofSource,
       withDims(text.strided("index"), ofIndex)},
      all);
}

/// The index has as many dimensions as self, and may be shorter along each.
CallResult Owners::scatter() {
  if (!axis)
    return CallResult::failed("scatters along a dimension that is not known");
  auto isMine = [&](CallWriter &text, Indices at) {
    std::string mine = at[*axis];
    at[*axis] = "number";
    std::string is = checkedText(text, CallWriter::element(index, "index", at),
                                 sizesOf(out)[*axis]) +
                     " == " + mine;
    for (size_t i = 0; i < at.size(); ++i)
      if (i != *axis && sizesOf(index)[i] < sizesOf(out)[i])
        is = at[i] + " < " + std::to_string(sizesOf(index)[i]) + " && " + is;
    return is;
  };
  return write("scatter", sizesOf(index)[*axis], isMine, [&](Indices at) {
    at[*axis] = "number";
    return at;
  });
}

/// The index has one dimension, and names slices of self.
CallResult Owners::slices() {
  if (!axis)
    return CallResult::failed("goes along a dimension that is not known");
  auto isMine = [&](CallWriter &text, Indices at) {
    Indices number = {"number"};
    number.resize(sizesOf(index).size());
    text.kernel().checks = true;
    return (isWrapped ? "wrapped(" : "checked(") +
           CallWriter::element(index, "index", number) + ", " +
           std::to_string(sizesOf(out)[*axis]) + ", problem) == " + at[*axis];
  };
  return write("slices", productOf(sizesOf(index)), isMine, [&](Indices at) {
    at[*axis] = "number";
    return at;
  });
}

CallResult cuda::writeScatterCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  bool isScatter = name.starts_with("aten.scatter");
  if (!isScatter && name != "aten.index_add" && name != "aten.index_copy" &&
      name != "aten.index_fill" && name != "aten.index_reduce")
    return {};
  Owners owners(op);
  if (name == "aten.scatter_add" || name == "aten.index_add")
    owners.how = Combine::Sum;
  if (StringRef reduce = owners.call.string(aten::optional("reduce"));
      !reduce.empty())
    owners.how = combineOf(reduce);
  owners.areSlices = !isScatter;
  owners.isWrapped = name == "aten.index_fill";
  owners.includesSelf =
      owners.call.boolean(aten::optional("include_self")).value_or(true);
  return isScatter ? owners.scatter() : owners.slices();
}
