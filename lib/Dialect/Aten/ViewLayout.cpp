// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the views of dialect `aten` move over their base: sizes, strides and
// offset, one function a family, found by the name of the op without overload.
//
// A function reads its arguments through InferCall, so symbolic sizes count
// with the values that the caller knows; where one is needed and not known, or
// strides do not allow a view, it gives nothing. The caller checks that the
// view stays inside its base, so no function here does.

#include "ViewLayout.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/Infer.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

/// One view that is asked for.
struct ViewCall {
  Operation *op;
  const InferCall &call;
  unsigned result;
  const Layout &base;
  ArrayRef<int64_t> sizes; ///< of the result

  int64_t rank() const { return static_cast<int64_t>(base.sizes.size()); }
};

using MaybeLayout = std::optional<Layout>;
using LayoutFn = MaybeLayout (*)(const ViewCall &);

/// An integer argument; nothing if it is not known.
std::optional<int64_t> integerOf(const ViewCall &view, ParamRef param,
                                 int64_t ifNone) {
  if (view.call.isNone(param))
    return ifNone;
  int64_t value = 0;
  if (failed(view.call.integer(param, value)) || value == kUnknown)
    return std::nullopt;
  return value;
}

std::optional<int64_t> dimOf(const ViewCall &view, ParamRef param,
                             int64_t rank) {
  int64_t dim = 0;
  if (failed(view.call.dimension(param, rank, dim)))
    return std::nullopt;
  return dim;
}

std::optional<SmallVector<int64_t>> integersOf(const ViewCall &view,
                                               ParamRef param) {
  SmallVector<int64_t> values;
  if (failed(view.call.integers(param, values)) ||
      llvm::is_contained(values, kUnknown))
    return std::nullopt;
  return values;
}

//===----------------------------------------------------------------------===//
// The same elements in the same order
//===----------------------------------------------------------------------===//

MaybeLayout same(const ViewCall &view) { return view.base; }

MaybeLayout ifContiguous(const ViewCall &view) {
  return view.base.isContiguous() ? MaybeLayout(view.base) : std::nullopt;
}

/// `to` is its operand where it changes no type and no copy is asked for.
MaybeLayout ifSameType(const ViewCall &view) {
  bool copy = false;
  if (failed(view.call.boolean("copy", copy)) || copy ||
      getElementTypeOrSelf(view.op->getOperand(0)) !=
          getElementTypeOrSelf(view.op->getResult(view.result)))
    return std::nullopt;
  return view.base;
}

/// Other sizes for the same elements: dimensions of the base that lie behind
/// each other form one block, which the new sizes must divide.
MaybeLayout reshape(const ViewCall &view) {
  const Layout &base = view.base;
  Layout layout = Layout::contiguous(view.sizes);
  layout.offset = base.offset;
  if (layout.numel() != base.numel())
    return std::nullopt;
  if (base.numel() == 0 || base.isContiguous())
    return layout;
  int64_t next = static_cast<int64_t>(view.sizes.size()) - 1;
  for (int64_t dim = view.rank() - 1; dim >= 0;) {
    // The block [first, dim] and its elements.
    int64_t first = dim, count = base.sizes[dim], stride = base.strides[dim];
    while (first > 0 && (base.sizes[first - 1] == 1 || count == 1 ||
                         base.strides[first - 1] == count * stride)) {
      --first;
      if (count == 1)
        stride = base.strides[first];
      count *= base.sizes[first];
    }
    int64_t filled = 1;
    while (next >= 0 && (filled < count || view.sizes[next] == 1)) {
      layout.strides[next] = filled * stride;
      filled *= view.sizes[next--];
    }
    if (filled != count)
      return std::nullopt;
    dim = first - 1;
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Order and number of dimensions
//===----------------------------------------------------------------------===//

Layout reorder(const Layout &base, ArrayRef<int64_t> order) {
  Layout layout;
  layout.offset = base.offset;
  for (int64_t dim : order) {
    layout.sizes.push_back(base.sizes[dim]);
    layout.strides.push_back(base.strides[dim]);
  }
  return layout;
}

MaybeLayout permute(const ViewCall &view) {
  auto order = integersOf(view, "dims");
  if (!order || static_cast<int64_t>(order->size()) != view.rank())
    return std::nullopt;
  for (int64_t &dim : *order)
    dim = dim < 0 ? dim + view.rank() : dim;
  return reorder(view.base, *order);
}

Layout swapped(Layout layout, int64_t a, int64_t b) {
  if (!layout.sizes.empty()) {
    std::swap(layout.sizes[a], layout.sizes[b]);
    std::swap(layout.strides[a], layout.strides[b]);
  }
  return layout;
}

/// transpose.int, swapdims, swapaxes: the dimensions are parameters 1 and 2.
MaybeLayout transpose(const ViewCall &view) {
  auto a = dimOf(view, 1, view.rank()), b = dimOf(view, 2, view.rank());
  if (!a || !b)
    return std::nullopt;
  return swapped(view.base, *a, *b);
}

/// mT, adjoint: of complex numbers, the latter changes their signs too.
MaybeLayout transposeMatrix(const ViewCall &view) {
  bool isComplex =
      isa<ComplexType>(getElementTypeOrSelf(view.op->getOperand(0)));
  if (view.rank() < 2 ||
      (isComplex && view.call.getSchema().packet == "aten.adjoint"))
    return std::nullopt;
  return swapped(view.base, view.rank() - 2, view.rank() - 1);
}

MaybeLayout reverse(const ViewCall &view) {
  Layout layout = view.base;
  std::reverse(layout.sizes.begin(), layout.sizes.end());
  std::reverse(layout.strides.begin(), layout.strides.end());
  return layout;
}

MaybeLayout movedim(const ViewCall &view) {
  auto source = integersOf(view, "source");
  auto destination = integersOf(view, "destination");
  if (!source || !destination || source->size() != destination->size())
    return std::nullopt;
  if (view.rank() == 0)
    return view.base;
  SmallVector<int64_t> order(view.rank(), -1);
  llvm::SmallBitVector moved(view.rank());
  for (auto [from, to] : llvm::zip_equal(*source, *destination)) {
    order[wrapDim(to, view.rank())] = wrapDim(from, view.rank());
    moved.set(wrapDim(from, view.rank()));
  }
  int64_t next = 0;
  for (int64_t &dim : order) {
    if (dim >= 0)
      continue;
    while (moved.test(next))
      ++next;
    dim = next++;
  }
  return reorder(view.base, order);
}

MaybeLayout expand(const ViewCall &view) {
  Layout layout;
  layout.offset = view.base.offset;
  layout.sizes.assign(view.sizes.begin(), view.sizes.end());
  layout.strides.assign(view.sizes.size(), 0);
  int64_t added = static_cast<int64_t>(view.sizes.size()) - view.rank();
  for (int64_t i = 0; i < view.rank(); ++i)
    if (view.base.sizes[i] == view.sizes[added + i])
      layout.strides[added + i] = view.base.strides[i];
  return added < 0 ? std::nullopt : MaybeLayout(layout);
}

/// Operand i of a `meshgrid` lies along one dimension of all results.
MaybeLayout meshgrid(const ViewCall &view) {
  size_t dim = view.result;
  StringRef indexing;
  if (failed(view.call.string("indexing", indexing)))
    return std::nullopt;
  if (indexing == "xy" && dim < 2 && view.sizes.size() > 1)
    dim = 1 - dim;
  Layout layout;
  layout.offset = view.base.offset;
  layout.sizes.assign(view.sizes.begin(), view.sizes.end());
  layout.strides.assign(view.sizes.size(), 0);
  if (view.rank() == 1)
    layout.strides[dim] = view.base.strides[0];
  return layout;
}

MaybeLayout unsqueeze(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank() + 1);
  if (!dim)
    return std::nullopt;
  Layout layout = view.base;
  int64_t stride =
      *dim < view.rank() ? layout.sizes[*dim] * layout.strides[*dim] : 1;
  layout.sizes.insert(layout.sizes.begin() + *dim, 1);
  layout.strides.insert(layout.strides.begin() + *dim, stride);
  return layout;
}

MaybeLayout squeeze(const ViewCall &view) {
  llvm::SmallBitVector candidates(view.rank(), view.call.isNone("dim"));
  auto dims = integersOf(view, "dim");
  if (!dims)
    return std::nullopt;
  for (int64_t dim : *dims)
    if (view.rank() > 0)
      candidates.set(wrapDim(dim, view.rank()));
  Layout layout;
  layout.offset = view.base.offset;
  for (int64_t i = 0; i < view.rank(); ++i) {
    if (view.base.sizes[i] == 1 && candidates.test(i))
      continue;
    layout.sizes.push_back(view.base.sizes[i]);
    layout.strides.push_back(view.base.strides[i]);
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Elements start, start + step, … of one dimension.
Layout part(const ViewCall &view, int64_t dim, int64_t start, int64_t step) {
  Layout layout = view.base;
  layout.offset += start * layout.strides[dim];
  layout.strides[dim] *= step;
  layout.sizes[dim] = view.sizes[dim];
  return layout;
}

MaybeLayout slice(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  auto start = integerOf(view, "start", 0), step = integerOf(view, "step", 1);
  if (!dim || !start || !step || view.rank() == 0)
    return std::nullopt;
  int64_t size = view.base.sizes[*dim];
  int64_t first = *start < 0 ? *start + size : *start;
  return part(view, *dim, std::clamp<int64_t>(first, 0, size), *step);
}

MaybeLayout narrow(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  auto start = integerOf(view, "start", 0);
  if (!dim || !start || view.rank() == 0)
    return std::nullopt;
  int64_t size = view.base.sizes[*dim];
  return part(view, *dim, *start < 0 ? *start + size : *start, 1);
}

/// Takes one element of a dimension away.
MaybeLayout pick(const ViewCall &view, int64_t dim, int64_t index) {
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

MaybeLayout select(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  auto index = integerOf(view, "index", 0);
  if (!dim || !index || view.rank() == 0)
    return std::nullopt;
  return pick(view, *dim, *index);
}

MaybeLayout unbind(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  if (!dim || view.rank() == 0)
    return std::nullopt;
  return pick(view, *dim, view.result);
}

/// Pieces of one width but the last: split.Tensor, chunk.
MaybeLayout pieces(const ViewCall &view) {
  auto dim = dimOf(view, "dim", view.rank());
  if (!dim || view.rank() == 0)
    return std::nullopt;
  int64_t width = 0, size = view.base.sizes[*dim];
  if (auto given = integerOf(view, "split_size", -1); given && *given >= 0) {
    width = *given;
  } else {
    auto chunks = integerOf(view, "chunks", 1);
    if (!chunks || *chunks <= 0)
      return std::nullopt;
    width = (size + *chunks - 1) / *chunks;
  }
  return part(view, *dim, view.result * width, 1);
}

MaybeLayout piecesOfSizes(const ViewCall &view) {
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
MaybeLayout split(const ViewCall &view) {
  int param = view.call.getSchema().find("split_size");
  bool isList = param >= 0 && view.call.getSchema().params[param].isList;
  return isList ? piecesOfSizes(view) : pieces(view);
}

/// tensor_split and those of one dimension: `sections` pieces, the first ones
/// longer by one, or pieces that begin at `indices`.
MaybeLayout splitAt(const ViewCall &view) {
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

MaybeLayout diagonal(const ViewCall &view) {
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

MaybeLayout unfold(const ViewCall &view) {
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
MaybeLayout asStrided(const ViewCall &view) {
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

//===----------------------------------------------------------------------===//
// Other element types
//===----------------------------------------------------------------------===//

int64_t bytesOf(Value value) {
  Type element = getElementTypeOrSelf(value);
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * ((complex.getElementType().getIntOrFloatBitWidth() + 7) / 8);
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

/// Counts `base` in elements of `factor` times fewer bytes.
Layout finer(Layout base, int64_t factor) {
  for (int64_t &stride : base.strides)
    stride *= factor;
  base.offset *= factor;
  return base;
}

/// Counts `base` in elements of `factor` times more bytes; nothing if some do
/// not begin at one.
MaybeLayout coarser(Layout base, int64_t factor) {
  for (size_t i = 0; i + 1 < base.strides.size(); ++i) {
    if (base.strides[i] % factor && base.sizes[i] > 1)
      return std::nullopt;
    base.strides[i] /= factor;
  }
  if (base.offset % factor || base.strides.empty() || base.strides.back() != 1)
    return std::nullopt;
  base.offset /= factor;
  return base;
}

MaybeLayout viewDtype(const ViewCall &view) {
  int64_t from = bytesOf(view.op->getOperand(0));
  int64_t to = bytesOf(view.op->getResult(0));
  if (from == to)
    return view.base;
  if (view.rank() == 0 || view.base.strides.back() != 1)
    return std::nullopt;
  MaybeLayout layout = from > to ? MaybeLayout(finer(view.base, from / to))
                                 : coarser(view.base, to / from);
  if (layout) {
    layout->sizes.back() = view.sizes.back();
    layout->strides.back() = 1;
  }
  return layout;
}

/// `view` has two families of overloads.
MaybeLayout viewSizesOrDtype(const ViewCall &view) {
  return view.call.getSchema().find("dtype") >= 0 ? viewDtype(view)
                                                  : reshape(view);
}

MaybeLayout viewAsReal(const ViewCall &view) {
  Layout layout = finer(view.base, 2);
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  return layout;
}

MaybeLayout viewAsComplex(const ViewCall &view) {
  if (view.rank() == 0)
    return std::nullopt;
  MaybeLayout layout = coarser(view.base, 2);
  if (layout) {
    layout->sizes.pop_back();
    layout->strides.pop_back();
  }
  return layout;
}

bool isComplexOperand(const ViewCall &view) {
  return isa<ComplexType>(getElementTypeOrSelf(view.op->getOperand(0)));
}

MaybeLayout realPart(const ViewCall &view) {
  return isComplexOperand(view) ? finer(view.base, 2) : view.base;
}

MaybeLayout imaginaryPart(const ViewCall &view) {
  if (!isComplexOperand(view))
    return std::nullopt;
  Layout layout = finer(view.base, 2);
  ++layout.offset;
  return layout;
}

struct Entry {
  const char *packet;
  LayoutFn layout;
};

constexpr Entry entries[] = {
    {"aten.alias", same},
    {"aten.detach", same},
    {"aten.lift_fresh", same},
    {"aten.positive", same},
    {"aten.resolve_conj", same},
    {"aten.resolve_neg", same},
    {"aten.contiguous", ifContiguous},
    {"aten.to", ifSameType},
    {"aten.type_as", ifSameType},
    {"aten.view", viewSizesOrDtype},
    {"aten._unsafe_view", reshape},
    {"aten.reshape", reshape},
    {"aten._reshape_alias", reshape},
    {"aten.view_as", reshape},
    {"aten.reshape_as", reshape},
    {"aten.flatten", reshape},
    {"aten.ravel", reshape},
    {"aten.unflatten", reshape},
    {"aten.permute", permute},
    {"aten.transpose", transpose},
    {"aten.swapdims", transpose},
    {"aten.swapaxes", transpose},
    {"aten.mT", transposeMatrix},
    {"aten.adjoint", transposeMatrix},
    {"aten.t", reverse},
    {"aten.numpy_T", reverse},
    {"aten.movedim", movedim},
    {"aten.moveaxis", movedim},
    {"aten.expand", expand},
    {"aten.expand_as", expand},
    {"aten.broadcast_to", expand},
    {"aten.broadcast_tensors", expand},
    {"aten.meshgrid", meshgrid},
    {"aten.unsqueeze", unsqueeze},
    {"aten.squeeze", squeeze},
    {"aten.slice", slice},
    {"aten.narrow", narrow},
    {"aten.select", select},
    {"aten.unbind", unbind},
    {"aten.split", split},
    {"aten.split_with_sizes", piecesOfSizes},
    {"aten.chunk", pieces},
    {"aten.unsafe_split", split},
    {"aten.unsafe_split_with_sizes", piecesOfSizes},
    {"aten.unsafe_chunk", pieces},
    {"aten.tensor_split", splitAt},
    {"aten.hsplit", splitAt},
    {"aten.vsplit", splitAt},
    {"aten.dsplit", splitAt},
    {"aten.diagonal", diagonal},
    {"aten.unfold", unfold},
    {"aten.as_strided", asStrided},
    {"aten.view_as_real", viewAsReal},
    {"aten.view_as_complex", viewAsComplex},
    {"aten.real", realPart},
    {"aten.imag", imaginaryPart},
};

LayoutFn lookup(StringRef packet) {
  static const llvm::StringMap<LayoutFn> *map = [] {
    static llvm::StringMap<LayoutFn> all;
    for (const Entry &entry : entries)
      all[entry.packet] = entry.layout;
    return &all;
  }();
  return map->lookup(packet);
}

class AtenViewLayouts : public ViewLayoutInterface {
public:
  using ViewLayoutInterface::ViewLayoutInterface;

  int64_t getViewedOperand(Operation *op, unsigned result) const override {
    auto call = dyn_cast<CallOp>(op);
    if (!call || op->getNumOperands() == 0 || !lookup(call.getPacketName()))
      return -1;
    // Result i of an op on a list sees entry i.
    bool isList = call.getSchema().params.front().isList;
    int64_t operand = isList ? result : 0;
    return operand < op->getNumOperands() ? operand : -1;
  }

  std::optional<Layout>
  viewLayout(Operation *op, unsigned result, const Layout &base,
             ArrayRef<int64_t> resultSizes,
             ArrayRef<int64_t> operandInts) const override {
    auto call = cast<CallOp>(op);
    LayoutFn layout = lookup(call.getPacketName());
    if (!layout || llvm::is_contained(resultSizes, kUnknown) ||
        llvm::is_contained(base.sizes, kUnknown))
      return std::nullopt;
    InferCall arguments(call.getSchema(), call.getArgs(), op->getOperandTypes(),
                        operandInts, std::nullopt);
    return layout({op, arguments, result, base, resultSizes});
  }
};

} // namespace

std::unique_ptr<ViewLayoutInterface> aten::createViewLayouts(Dialect *dialect) {
  return std::make_unique<AtenViewLayouts>(dialect);
}
