// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the views of dialect `aten` move over their base: sizes, strides and
// offset, one function a family, found by the name of the op without overload.
// Here those that show all elements; parts are in ViewParts.cpp.
//
// A function reads its arguments through InferCall, so symbolic sizes count
// with the values that the caller knows; where one is needed and not known, or
// strides do not allow a view, it gives nothing. The caller checks that the
// view stays inside its base, so no function here does.

#include "ViewLayout.h"

#include "ViewParts.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::views;

namespace {

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
  if (failed(view.call.boolean(optional("copy"), copy)) || copy ||
      getElementTypeOrSelf(view.op->getOperand(0)) !=
          getElementTypeOrSelf(view.op->getResult(view.result)))
    return std::nullopt;
  return view.base;
}

MaybeLayout reshape(const ViewCall &view) {
  return view.base.reshaped(view.sizes);
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
  if (view.rank() == 1 ||
      (isComplex && view.call.getSchema().packet == "aten.adjoint"))
    return std::nullopt;
  if (view.rank() == 0)
    return view.base;
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
  if (failed(view.call.string(optional("indexing"), indexing)))
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
  llvm::SmallBitVector candidates(view.rank(),
                                  view.call.isNone(optional("dim")));
  auto dims = integersOf(view, optional("dim"));
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
// Other element types
//===----------------------------------------------------------------------===//

int64_t bytesOf(Value value) {
  return elementBytes(getElementTypeOrSelf(value));
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

class AtenViewLayouts : public ViewLayoutInterface {
public:
  using ViewLayoutInterface::ViewLayoutInterface;

  int64_t getViewedOperand(Operation *op, unsigned result) const override {
    auto call = dyn_cast<CallOp>(op);
    if (!call || op->getNumOperands() == 0)
      return -1;
    const Schema &schema = call.getSchema();
    if (!find(schema))
      return -1;
    // Result i of an op on a list sees entry i.
    int64_t operand = schema.params.front().isList ? result : 0;
    return operand < op->getNumOperands() ? operand : -1;
  }

  std::optional<Layout>
  viewLayout(Operation *op, unsigned result, const Layout &base,
             ArrayRef<int64_t> resultSizes,
             ArrayRef<int64_t> operandInts) const override {
    auto call = cast<CallOp>(op);
    const Schema &schema = call.getSchema();
    LayoutFn layout = find(schema);
    if (!layout || llvm::is_contained(resultSizes, kUnknown) ||
        llvm::is_contained(base.sizes, kUnknown))
      return std::nullopt;
    InferCall arguments(schema, call.getArgs(), op->getOperandTypes(),
                        operandInts, std::nullopt);
    return layout({op, arguments, result, base, resultSizes});
  }

private:
  /// Every op of a step is asked for, so the table is by schema, not by name.
  /// Made with the first question: reading the schemas takes its time.
  LayoutFn find(const Schema &schema) const {
    std::call_once(once, [&] {
      llvm::StringMap<LayoutFn> families;
      for (const Entry &entry : entries)
        families[entry.packet] = entry.layout;
      for (const Schema *each : SchemaTable::get(getContext()).all()) {
        StringRef packet = each->packet;
        // Copies of views move over their base as the views do.
        if (getOpInfo(each->op)->has(kMayAlias))
          packet.consume_back("_copy");
        if (LayoutFn layout = families.lookup(packet))
          layouts[each] = layout;
      }
    });
    return layouts.lookup(&schema);
  }

  mutable std::once_flag once;
  mutable llvm::DenseMap<const Schema *, LayoutFn> layouts;
};

} // namespace

std::unique_ptr<ViewLayoutInterface> aten::createViewLayouts(Dialect *dialect) {
  return std::make_unique<AtenViewLayouts>(dialect);
}
