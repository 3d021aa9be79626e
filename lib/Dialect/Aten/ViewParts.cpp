// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of parts: slices, single elements, pieces, diagonals, windows, and
// strides that the user gives. A part begins at another element of the base,
// and goes on with a multiple of its strides; what lies outside of a slice's
// bounds is cut, as in Python. Pieces of one tensor differ in their offset
// alone.

#include "ViewParts.h"

#include "cutback/Dialect/Aten/CallBuilder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::views;

/// Elements start, start + step, … of one dimension.
static Layout part(const ViewCall &view, int64_t dim, int64_t start,
                   int64_t step) {
  Layout layout = view.base;
  layout.offset += start * layout.strides[dim];
  layout.strides[dim] *= step;
  layout.sizes[dim] = view.sizes[dim];
  return layout;
}

MaybeLayout views::slice(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  auto start = integerOf(view, "start", 0), step = integerOf(view, "step", 1);
  if (!dim || !start || !step || view.rank() == 0)
    return std::nullopt;
  int64_t size = view.base.sizes[*dim];
  int64_t first = *start < 0 ? *start + size : *start;
  return part(view, *dim, std::clamp<int64_t>(first, 0, size), *step);
}

MaybeLayout views::narrow(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  auto start = integerOf(view, "start", 0);
  if (!dim || !start || view.rank() == 0)
    return std::nullopt;
  int64_t size = view.base.sizes[*dim];
  return part(view, *dim, *start < 0 ? *start + size : *start, 1);
}

/// Takes one element of a dimension away.
static MaybeLayout pick(const ViewCall &view, int64_t dim, int64_t index) {
  int64_t size = view.base.sizes[dim];
  index = index < 0 ? index + size : index;
  if (index < 0 || index >= size)
    return std::nullopt;
  Layout layout = view.base;
  layout.offset += index * layout.strides[dim];
  layout.sizes.erase(layout.sizes.begin() + dim);
  layout.strides.erase(layout.strides.begin() + dim);
  return layout;
}

MaybeLayout views::select(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  auto index = integerOf(view, "index", 0);
  if (!dim || !index || view.rank() == 0)
    return std::nullopt;
  return pick(view, *dim, *index);
}

MaybeLayout views::unbind(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  if (!dim || view.rank() == 0)
    return std::nullopt;
  return pick(view, *dim, view.result);
}

/// Pieces of one width but the last: split.Tensor, chunk.
MaybeLayout views::pieces(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  if (!dim || view.rank() == 0)
    return std::nullopt;
  int64_t width = 0, size = view.base.sizes[*dim];
  if (auto given = integerOf(view, optional("split_size"), -1);
      given && *given >= 0) {
    width = *given;
  } else {
    auto chunks = integerOf(view, "chunks", 1);
    if (!chunks || *chunks <= 0)
      return std::nullopt;
    width = (size + *chunks - 1) / *chunks;
  }
  return part(view, *dim, view.result * width, 1);
}

MaybeLayout views::piecesOfSizes(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  int param = view.call.getSchema().find("split_sizes");
  auto sizes =
      integersOf(view, param < 0 ? ParamRef("split_size") : ParamRef(param));
  if (!dim || !sizes || view.rank() == 0 || view.result >= sizes->size())
    return std::nullopt;
  int64_t start = 0;
  for (int64_t size : ArrayRef(*sizes).take_front(view.result))
    start += size;
  return part(view, *dim, start, 1);
}

/// split.Tensor and split.sizes share a name.
MaybeLayout views::split(const ViewCall &view) {
  int param = view.call.getSchema().find("split_size");
  bool isList = param >= 0 && view.call.getSchema().params[param].isList;
  return isList ? piecesOfSizes(view) : pieces(view);
}

/// tensor_split and those of one dimension: `sections` pieces, the first ones
/// longer by one, or pieces that begin at `indices`.
MaybeLayout views::splitAt(const ViewCall &view) {
  StringRef packet = view.call.getSchema().packet;
  std::optional<int64_t> dim = packet == "aten.vsplit"   ? 0
                               : packet == "aten.dsplit" ? 2
                               : view.rank() == 1        ? 0
                                                         : 1;
  if (packet == "aten.tensor_split")
    dim = dimOf(view, "dim", view.rank());
  if (!dim || *dim >= view.rank())
    return std::nullopt;
  int64_t size = view.base.sizes[*dim], i = view.result, start = 0;
  if (view.call.getSchema().find("sections") >= 0) {
    auto sections = integerOf(view, "sections", 1);
    if (!sections || *sections <= 0)
      return std::nullopt;
    start = i * (size / *sections) + std::min(i, size % *sections);
  } else if (i > 0) {
    auto indices = integersOf(view, "indices");
    if (!indices || i > static_cast<int64_t>(indices->size()))
      return std::nullopt;
    start = (*indices)[i - 1];
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  }
  return part(view, *dim, start, 1);
}

MaybeLayout views::diagonal(const ViewCall &view) {
  auto a = dimOf(view, "dim1", view.rank());
  auto b = dimOf(view, "dim2", view.rank());
  auto offset = integerOf(view, "offset", 0);
  if (!a || !b || !offset || view.rank() < 2 || *a == *b)
    return std::nullopt;
  Layout layout = view.base;
  if (!view.sizes.empty() && view.sizes.back() > 0)
    layout.offset += *offset >= 0 ? *offset * layout.strides[*b]
                                  : -*offset * layout.strides[*a];
  int64_t stride = layout.strides[*a] + layout.strides[*b];
  for (int64_t dim : {std::max(*a, *b), std::min(*a, *b)}) {
    layout.sizes.erase(layout.sizes.begin() + dim);
    layout.strides.erase(layout.strides.begin() + dim);
  }
  layout.sizes.push_back(view.sizes.back());
  layout.strides.push_back(stride);
  return layout;
}

MaybeLayout views::unfold(const ViewCall &view) {
  auto dim = dimOf(view, "dimension", view.rank());
  auto size = integerOf(view, "size", 0), step = integerOf(view, "step", 1);
  if (!dim || !size || !step)
    return std::nullopt;
  Layout layout = view.base;
  layout.sizes.push_back(*size);
  layout.strides.push_back(view.rank() == 0 ? 1 : layout.strides[*dim]);
  if (view.rank() > 0) {
    layout.sizes[*dim] = view.sizes[*dim];
    layout.strides[*dim] *= *step;
  }
  return layout;
}

/// Strides count from the first element of a contiguous base.
MaybeLayout views::asStrided(const ViewCall &view) {
  auto strides = integersOf(view, "stride");
  auto offset = integerOf(view, "storage_offset", 0);
  if (!strides || !offset || strides->size() != view.sizes.size() ||
      !view.base.isContiguous())
    return std::nullopt;
  Layout layout;
  layout.sizes.assign(view.sizes.begin(), view.sizes.end());
  layout.strides.assign(strides->begin(), strides->end());
  layout.offset = view.base.offset + *offset;
  return layout;
}
