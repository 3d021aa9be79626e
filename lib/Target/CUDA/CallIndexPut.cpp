// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values put, or added, where several index tensors say. The indices broadcast
// against each other; their dimensions stand in `values` where the indexed
// dimensions lie side by side, and in front where they do not. A thread has one
// element of the result and goes over all indices in their order: no atomics.
// Where rows are added, a warp has a row, as the gradient of an embedding has.
//
// Under a mask, those numbers alone count that it has; their indices name the
// nearest row, as PyTorch's do.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

/// `self[indices]` of one call.
struct IndexedPlaces {
  struct Entry {
    size_t dim; ///< of self
    Value index;
  };
  SmallVector<Entry> entries;
  Value mask;                 ///< of what numbers count, or none
  SmallVector<int64_t> sizes; ///< of the indices, broadcast
  size_t rank = 0;            ///< of self

  /// Why it is not known; empty if it is.
  std::string read(const aten::CallReader &call, Value self) {
    rank = sizesOf(self).size();
    for (auto [dim, arg] : llvm::enumerate(call.list("indices")))
      if (Value index = arg.isValue() ? arg.getValue() : Value())
        entries.push_back({dim, index});
    for (const Entry &entry : entries) {
      std::string type = elementTypeText(entry.index);
      if (type == "bool" || type == "unsigned char")
        return "has a mask as index";
      ArrayRef<int64_t> own = sizesOf(entry.index);
      if (own.size() > sizes.size())
        sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
      for (size_t i = 0; i < own.size(); ++i) {
        int64_t &size = sizes[sizes.size() - own.size() + i];
        size = size == 1 ? own[i] : size;
      }
    }
    return entries.empty() ? "has no index" : "";
  }

  /// Index `i` of the call at `number` of all indices.
  std::string indexAt(const Entry &entry, size_t i) const {
    Indices at = indicesOf("number", sizes);
    return CallWriter::element(
        entry.index, "index" + std::to_string(i),
        ArrayRef(at).take_back(sizesOf(entry.index).size()));
  }
  bool isSideBySide() const {
    return entries.back().dim - entries.front().dim + 1 == entries.size();
  }
  /// Where `values` has what is put at `at` of self by `number`.
  Indices placeInValues(ArrayRef<std::string> at) const {
    Indices place, numbers = indicesOf("number", sizes);
    if (!isSideBySide())
      place.append(numbers);
    for (size_t dim = 0; dim < rank; ++dim) {
      if (isSideBySide() && dim == entries.front().dim)
        place.append(numbers);
      if (!isIndexed(dim))
        place.push_back(at[dim]);
    }
    return place;
  }
  /// The same for a description, of strides: those of `numbers`, and of
  /// `columns`, which are the dimensions of self that are not indexed.
  std::vector<StridedDim *> dimsInValues(MutableArrayRef<StridedDim> numbers,
                                         MutableArrayRef<StridedDim> columns) {
    std::vector<StridedDim *> dims;
    auto add = [&](MutableArrayRef<StridedDim> some) {
      for (StridedDim &dim : some)
        dims.push_back(&dim);
    };
    size_t before = isSideBySide() ? entries.front().dim : 0;
    add(columns.take_front(before));
    add(numbers);
    add(columns.drop_front(before));
    return dims;
  }
  bool isIndexed(size_t dim) const {
    return llvm::any_of(entries,
                        [&](const Entry &entry) { return entry.dim == dim; });
  }
  /// Rows of self that one index names.
  bool areRows(ArrayRef<int64_t> self) const {
    if (entries.size() != 1 || entries[0].dim != 0 || self.size() < 2 ||
        productOf(self) / self[0] < 32)
      return false;
    // The mask says nothing of columns.
    ArrayRef<int64_t> own = mask ? sizesOf(mask) : ArrayRef<int64_t>();
    return productOf(own.take_back(std::min(own.size(), rank - 1))) == 1;
  }
};

/// The element of `values` that is put, or of the mask, by dimensions that may
/// be missing or 1.
std::string valueText(Value values, ArrayRef<std::string> place,
                      const char *name = "values") {
  Indices own(place.take_back(sizesOf(values).size()));
  return CallWriter::element(values, name, own);
}

/// "mask[number] && wrapped(index0[number], 5, problem) == row && ..."
std::string isMineText(CallWriter &text, const IndexedPlaces &places,
                       ArrayRef<int64_t> sizes, ArrayRef<std::string> at) {
  std::string all;
  if (places.mask)
    all = valueText(places.mask, places.placeInValues(at), "mask");
  for (auto [i, entry] : llvm::enumerate(places.entries))
    all += (all.empty() ? "" : " && ") +
           std::string(places.mask ? "clamped(" : "wrapped(") +
           places.indexAt(entry, i) + ", " + std::to_string(sizes[entry.dim]) +
           (places.mask ? ") == " : ", problem) == ") + at[entry.dim];
  text.kernel().checks = !places.mask;
  return all;
}

void writeRowSums(CallWriter &text, const IndexedPlaces &places, Value self,
                  Value values, Value out) {
  ArrayRef<int64_t> sizes = sizesOf(out);
  int64_t count = productOf(places.sizes), width = productOf(sizes) / sizes[0];
  text.openRows(sizes[0], width);
  Indices at = {"row"};
  at.append(indicesOf("column", sizes.drop_front()));
  std::string type = sumTypeText(out);
  text.line("sumRows<" + type + ">(" + std::to_string(count) + ", " +
            std::to_string(width) + ",");
  text.line("    [=](int number) { return " +
            isMineText(text, places, sizes, at) + "; },");
  text.line("    [=](int number, int column) { return toFloat(" +
            valueText(values, places.placeInValues(at)) + "); },");
  text.line("    [=](int column, " + type + " sum) {");
  text.line("      " + CallWriter::element(out, "out", at) + " = to<" +
            elementTypeText(out) + ">(toFloat(" +
            CallWriter::element(self, "self", at) + ") + sum);");
  text.line("    });");
}

void writeOwners(CallWriter &text, const IndexedPlaces &places, Value self,
                 Value values, Value out, bool adds) {
  ArrayRef<int64_t> sizes = sizesOf(out);
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes);
  for (const IndexedPlaces::Entry &entry : places.entries) {
    std::string name = "at" + std::to_string(entry.dim);
    text.line("const int " + name + " = " + at[entry.dim] + ";");
    at[entry.dim] = name;
  }
  text.line(heldType(out) +
            " x = " + held(self, CallWriter::element(self, "self", at)) + ";");
  text.line("for (int number = 0; number < " +
            std::to_string(productOf(places.sizes)) + "; ++number)");
  text.line("  if (" + isMineText(text, places, sizes, at) + ")");
  text.line("    x " + std::string(adds ? "+= " : "= ") +
            held(values, valueText(values, places.placeInValues(at))) + ";");
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "x") +
            ";");
}

/// Rows are the places of the indexed dimensions, columns all others.
std::optional<PrecompiledCall> describe(const CallWriter &text,
                                        IndexedPlaces &places, Value values,
                                        Value out, bool adds, bool areRows) {
  ArrayRef<int64_t> sizes = sizesOf(out);
  precompiled::Scatter all;
  all.how = adds ? precompiled::Combine::Sum : precompiled::Combine::Put;
  all.isApart = areRows;
  all.bounds = places.mask ? precompiled::Scatter::Clamped
                           : precompiled::Scatter::Wrapped;
  all.isMasked = places.mask ? 1 : 0;
  all.numbers = static_cast<int64_t>(places.sizes.size());
  auto dimsOf = [&](llvm::StringRef name) {
    auto tensor = text.strided(name);
    SmallVector<StridedDim> dims;
    for (bool isIndexed : {true, false})
      for (size_t dim = 0; tensor && dim < sizes.size(); ++dim)
        if (places.isIndexed(dim) == isIndexed)
          dims.push_back({sizes[dim], tensor->strides[dim]});
    return withDims(tensor, dims);
  };
  SmallVector<StridedDim> numbers, columns;
  for (int64_t size : places.sizes)
    numbers.push_back({size, 0});
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (!places.isIndexed(dim))
      columns.push_back({sizes[dim], 0});
  all.columns = static_cast<int64_t>(columns.size());
  for (size_t i = 0; i < columns.size() && i < precompiled::kMostDims; ++i)
    all.limits[i] = columns[i].size;
  auto joined = [&] {
    SmallVector<StridedDim> dims(numbers);
    dims.append(columns);
    return dims;
  };
  SmallVector<std::optional<precompiled::StridedTensor>, 1> ofIndices;
  for (auto [i, entry] : llvm::enumerate(places.entries)) {
    Layout layout = kernel::locate(entry.index).layout;
    size_t rank = layout.sizes.size();
    SmallVector<StridedDim> dims = joined();
    for (size_t dim = 0; dim < rank; ++dim)
      dims[numbers.size() - rank + dim].stride = strideOf(layout, dim);
    ofIndices.push_back(
        withDims(text.strided("index" + std::to_string(i)), dims));
  }
  /// A tensor that broadcasts to `values`.
  auto broadcast = [&](Value tensor, llvm::StringRef name) {
    Layout layout = kernel::locate(tensor).layout;
    std::vector<StridedDim *> own = places.dimsInValues(numbers, columns);
    for (StridedDim *dim : own)
      dim->stride = 0;
    for (size_t dim = 0; dim < layout.sizes.size(); ++dim)
      own[own.size() - layout.sizes.size() + dim]->stride =
          strideOf(layout, dim);
    return withDims(text.strided(name), joined());
  };
  SmallVector<std::optional<precompiled::StridedTensor>, 1> tensors = {
      dimsOf("self"), dimsOf("out"), broadcast(values, "values")};
  tensors.append(ofIndices);
  if (places.mask)
    tensors.push_back(broadcast(places.mask, "mask"));
  return describeCall("cutback_scatter", tensors, all);
}

} // namespace

CallResult cuda::writeIndexPutCall(aten::CallOp op) {
  bool isMasked =
      op.getPacketName() == "aten._unsafe_masked_index_put_accumulate";
  if (!isMasked && op.getPacketName() != "aten.index_put" &&
      op.getPacketName() != "aten._unsafe_index_put")
    return {};
  aten::CallReader call(op);
  Value self = call.value("self"), values = call.value("values");
  Value out = op->getResult(0);
  IndexedPlaces places;
  if (std::string why = places.read(call, self); !why.empty())
    return CallResult::failed(why);
  if (elementTypeText(out).empty())
    return CallResult::failed("has elements of a type without text");
  if (isMasked)
    places.mask = call.value("mask");
  bool adds =
      isMasked || call.boolean(aten::optional("accumulate")).value_or(false);
  CallWriter text("index_put");
  text.comment("[" + sizesText(sizesOf(values)) + "] into [" +
               sizesText(sizesOf(out)) + "] at " +
               std::to_string(productOf(places.sizes)) + " places");
  text.read(self, "self");
  for (auto [i, entry] : llvm::enumerate(places.entries))
    text.read(entry.index, "index" + std::to_string(i));
  text.read(values, "values");
  if (places.mask)
    text.read(places.mask, "mask");
  text.write(out, "out");
  bool areRows = adds && isFloatTensor(out) && places.areRows(sizesOf(out));
  if (areRows)
    writeRowSums(text, places, self, values, out);
  else
    writeOwners(text, places, self, values, out, adds);
  text.kernel().precompiled =
      describe(text, places, values, out, adds, areRows);
  CallResult result = CallResult::of(text);
  result.kernels.back().mayReplace = 1;
  return result;
}
