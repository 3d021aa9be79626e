// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse of each view op, by its name:
//
//   a part        slice, select, diagonal, as_strided, a piece of split:
//                 scatter the value into the base
//   an order      permute, transpose, movedim, …: the inverse order
//   other sizes   view, reshape, squeeze, unsqueeze, …: the base's sizes
//   other types   view.dtype, view_as_real, …: the opposite
//   nothing       alias, detach, contiguous, to: the value itself
//
//   other signs   conj, _neg_view: the same once more
//
// `expand` has an inverse only where it repeats nothing, `unfold` where windows
// do not overlap, and other views whose strides overlap have none: PyTorch
// refuses most of these writes too.
//
// A piece of `split`, `chunk`, `unbind` and their like is made again as one
// slice (or select), so that the other pieces need not be.
//
// Each function builds one to three ops.

#include "Views.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

static CallOp asCall(Operation *op) { return dyn_cast_or_null<CallOp>(op); }

/// Views in PyTorch, which marks a tensor as one to be read so; new values
/// here.
static bool changesSigns(CallOp call) {
  return llvm::is_contained({"aten.conj", "aten._conj", "aten._neg_view"},
                            call.getSchema().packet);
}

/// True for what PyTorch keeps as a mark on the numbers that are there.
static bool isMarked(Value value) {
  bool marked = false;
  while (Operation *op = value.getDefiningOp()) {
    int64_t viewed = getViewed(op);
    if (viewed < 0)
      break;
    marked |= changesSigns(CallOp(op));
    value = op->getOperand(static_cast<unsigned>(viewed));
  }
  return marked;
}

int64_t cutback::getViewed(Operation *op) {
  CallOp call = asCall(op);
  if (!call || op->getNumResults() == 0 || call.hasOrderedEffects())
    return -1;
  // A mark is resolved by a copy.
  if (llvm::is_contained({"aten.resolve_conj", "aten.resolve_neg"},
                         call.getSchema().packet) &&
      isMarked(op->getOperand(0)))
    return -1;
  if (call.getInfo().has(kMayAlias))
    return op->hasAttr("joint.aliases") && op->getNumResults() == 1 ? 0 : -1;
  if (changesSigns(call))
    return 0;
  return call.getAliasedOperand(0);
}

bool cutback::isDetach(Operation *op) {
  CallOp call = asCall(op);
  return call && call.getSchema().packet == "aten.detach";
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

namespace {
/// One view being inverted.
struct Write {
  CallBuilder &b;
  CallReader view;
  unsigned result;
  Value base, value;

  CallOp op() const { return view.getOp(); }
  Value shown() const { return view.getOp().getOperation()->getResult(result); }
};

/// A piece of a dimension: `length` elements from `start` on.
struct Piece {
  int64_t dim = 0;
  Arg start, end;
};
} // namespace

/// Sum of two sizes, folded where both are numbers.
static Arg plus(CallBuilder &b, const Arg &a, const Arg &c) {
  if (a.getInt() && c.getInt())
    return Arg(*a.getInt() + *c.getInt());
  if (a.getInt() == 0)
    return c;
  return Arg(b.call(op::operator_add, {a, c}));
}

static Value refused(CallBuilder &b, StringRef packet) {
  b.error("'" + packet +
          "' may show elements several times, and is written in place; write a "
          "clone of it");
  return {};
}

static Value refusedUnknown(CallBuilder &b, StringRef packet) {
  b.error("'" + packet +
          "' is written in place, and where its elements lie is known only "
          "when the step runs; give it sizes that are numbers, or write a "
          "clone of it");
  return {};
}

static bool isPieces(StringRef packet) {
  return llvm::is_contained({"aten.split", "aten.split_with_sizes",
                             "aten.chunk", "aten.tensor_split", "aten.hsplit",
                             "aten.vsplit", "aten.dsplit"},
                            packet);
}

/// The dimension that a view op of several results cuts.
static int64_t cutDim(const CallReader &view, Value base) {
  CallOp op = view.getOp();
  StringRef packet = op.getSchema().packet;
  int64_t rank = rankOf(base);
  if (packet == "aten.dsplit")
    return 2;
  if (packet == "aten.hsplit")
    return rank > 1 ? 1 : 0;
  return wrapDim(view.integer("dim").value_or(0), rank);
}

/// Pieces lie behind each other, so the sizes of those before are the start.
static Piece pieceOf(CallBuilder &b, const CallReader &view, unsigned result,
                     Value base) {
  CallOp op = view.getOp();
  Operation *operation = op.getOperation();
  Piece piece;
  piece.dim = cutDim(view, base);
  piece.start = Arg(int64_t(0));
  for (unsigned i = 0; i < result; ++i)
    piece.start =
        plus(b, piece.start, b.size(operation->getResult(i), piece.dim));
  piece.end =
      plus(b, piece.start, b.size(operation->getResult(result), piece.dim));
  return piece;
}

Value cutback::viewAgain(CallBuilder &b, Operation *view, unsigned result,
                         Value base) {
  CallReader reader((CallOp(view)));
  StringRef packet = reader.getOp().getSchema().packet;
  if (isPieces(packet)) {
    Piece piece = pieceOf(b, reader, result, base);
    return b.call(op::slice_Tensor,
                  {base, piece.dim, piece.start, piece.end, 1});
  }
  if (packet == "aten.unbind")
    return b.call(op::select_int,
                  {base, cutDim(reader, base), int64_t(result)});
  // Ops that change nothing need not be repeated; a detached value must.
  bool identity = reader.getOp().getInfo().has(kMayAlias) &&
                  view->getResult(0).getType() == base.getType();
  if (identity || packet == "aten.alias" || packet == "aten.lift_fresh")
    return base;
  Operation *copy = b.getBuilder().clone(*view);
  copy->setOperand(static_cast<unsigned>(getViewed(view)), base);
  return copy->getResult(result);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

static Value same(Write &w) { return w.value; }

static Value sizesOfBase(Write &w) {
  return w.b.call(op::view, {w.value, w.b.sizes(w.base)});
}

static Value dtypeOfBase(Write &w) {
  return w.b.call(op::view_dtype, {w.value, elementOf(w.base)});
}

static Value permuted(Write &w) {
  std::optional<SmallVector<int64_t>> order = w.view.integers("dims");
  int64_t rank = rankOf(w.base);
  SmallVector<int64_t> inverse(order ? order->size() : 0);
  for (auto [i, dim] : llvm::enumerate(order.value_or(SmallVector<int64_t>())))
    inverse[wrapDim(dim, rank)] = static_cast<int64_t>(i);
  return w.b.call(op::permute, {w.value, inverse});
}

static Value transposed(Write &w) {
  bool axes = w.op().getSchema().find("axis0") >= 0;
  return w.b.call(op::transpose_int,
                  {w.value, w.view.arg(axes ? "axis0" : "dim0"),
                   w.view.arg(axes ? "axis1" : "dim1")});
}

static Value matrixTransposed(Write &w) {
  if (rankOf(w.base) < 2)
    return w.value;
  return w.b.call(op::transpose_int, {w.value, -2, -1});
}

static Value moved(Write &w) {
  return w.b.call(w.view.arg("source").isList() ? op::movedim_intlist
                                                : op::movedim_int,
                  {w.value, w.view.arg("destination"), w.view.arg("source")});
}

static Value unsqueezed(Write &w) {
  return w.b.call(op::squeeze_dim, {w.value, w.view.arg("dim")});
}

/// Expansion repeats nothing where all sizes that it changes become 1.
static Value expanded(Write &w) {
  ArrayRef<int64_t> to = shapeOf(w.shown()), from = shapeOf(w.base);
  for (size_t i = 0; i < to.size(); ++i) {
    size_t added = to.size() - from.size();
    int64_t size = i < added ? 1 : from[i - added];
    if (to[i] != size && to[i] != 1) {
      return refused(w.b, w.op().getSchema().packet);
    }
  }
  return sizesOfBase(w);
}

static Value sliced(Write &w) {
  return w.b.call(op::slice_scatter,
                  {w.base, w.value, w.view.arg("dim"), w.view.arg("start"),
                   w.view.arg("end"), w.view.arg("step")});
}

static Value selected(Write &w) {
  return w.b.call(op::select_scatter,
                  {w.base, w.value, w.view.arg("dim"), w.view.arg("index")});
}

static Value narrowed(Write &w) {
  Arg start = w.view.arg("start");
  int64_t dim = wrapDim(w.view.integer("dim").value_or(0), rankOf(w.base));
  if (start.getInt().value_or(0) < 0)
    start = plus(w.b, w.b.size(w.base, dim), start);
  return w.b.call(
      op::slice_scatter,
      {w.base, w.value, dim, start, plus(w.b, start, w.view.arg("length")), 1});
}

static Value ofDiagonal(Write &w) {
  return w.b.call(op::diagonal_scatter,
                  {w.base, w.value, w.view.arg("offset"), w.view.arg("dim1"),
                   w.view.arg("dim2")});
}

/// Strides in falling order, each at least the extent of those below: then no
/// element is shown twice.
static bool mayOverlap(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    if (size != 1)
      dims.emplace_back(stride, size);
  llvm::sort(dims);
  int64_t extent = 1;
  for (auto [stride, size] : dims) {
    if (stride < extent)
      return true;
    extent = stride * size;
  }
  return false;
}

static Value strided(Write &w) {
  std::optional<SmallVector<int64_t>> sizes = w.view.integers("size");
  std::optional<SmallVector<int64_t>> strides = w.view.integers("stride");
  if (!sizes || !strides)
    return refusedUnknown(w.b, "aten.as_strided");
  if (mayOverlap(*sizes, *strides))
    return refused(w.b, "aten.as_strided");
  return w.b.call(op::as_strided_scatter,
                  {w.base, w.value, w.view.arg("size"), w.view.arg("stride"),
                   w.view.arg("storage_offset")});
}

/// Windows that do not overlap: element k of each is a slice.
static Value windows(Write &w) {
  std::optional<int64_t> size = w.view.integer("size");
  std::optional<int64_t> step = w.view.integer("step");
  int64_t rank = rankOf(w.base);
  int64_t dim = wrapDim(w.view.integer("dimension").value_or(0), rank);
  int64_t count = rank > 0 ? shapeOf(w.shown())[static_cast<size_t>(dim)] : 1;
  if (size && step && *size > *step &&
      (ShapedType::isDynamic(count) || count > 1))
    return refused(w.b, "aten.unfold");
  if (!size || !step || ShapedType::isDynamic(count))
    return refusedUnknown(w.b, "aten.unfold");
  if (rank == 0)
    return sizesOfBase(w);
  Value base = w.base;
  for (int64_t k = 0; base && k < *size; ++k) {
    Value row = w.b.call(op::select_int, {w.value, int64_t(-1), k});
    base = w.b.call(op::slice_scatter,
                    {base, row, dim, k, k + (count - 1) * *step + 1, *step});
  }
  return base;
}

static Value ofReal(Write &w) {
  return w.b.call(op::view_as_complex, {w.value});
}

static Value ofComplex(Write &w) {
  return w.b.call(op::view_as_real, {w.value});
}

static Value conjugated(Write &w) {
  return w.b.call(op::_conj_physical, {w.value});
}

static Value negated(Write &w) { return w.b.call(op::neg, {w.value}); }

static Value realPart(Write &w) {
  if (!isa<ComplexType>(elementOf(w.base)))
    return w.value;
  Value imaginary = w.b.call(op::imag, {w.base});
  return w.b.call(op::complex, {w.value, imaginary});
}

static Value imaginaryPart(Write &w) {
  Value real = w.b.call(op::real, {w.base});
  return w.b.call(op::complex, {real, w.value});
}

static Value piece(Write &w) {
  Piece piece = pieceOf(w.b, w.view, w.result, w.base);
  return w.b.call(op::slice_scatter,
                  {w.base, w.value, piece.dim, piece.start, piece.end, 1});
}

static Value unbound(Write &w) {
  return w.b.call(op::select_scatter,
                  {w.base, w.value, cutDim(w.view, w.base), int64_t(w.result)});
}

namespace {
struct Inverse {
  const char *packet;
  Value (*build)(Write &);
};
} // namespace

static constexpr Inverse inverses[] = {
    {"aten.view", sizesOfBase},
    {"aten.view_as", sizesOfBase},
    {"aten.reshape", sizesOfBase},
    {"aten.reshape_as", sizesOfBase},
    {"aten._reshape_alias", sizesOfBase},
    {"aten.flatten", sizesOfBase},
    {"aten.unflatten", sizesOfBase},
    {"aten.ravel", sizesOfBase},
    {"aten.squeeze", sizesOfBase},
    {"aten.unsqueeze", unsqueezed},
    {"aten.permute", permuted},
    {"aten.transpose", transposed},
    {"aten.swapaxes", transposed},
    {"aten.swapdims", transposed},
    {"aten.t", matrixTransposed},
    {"aten.numpy_T", matrixTransposed},
    {"aten.mT", matrixTransposed},
    {"aten.adjoint", matrixTransposed},
    {"aten.movedim", moved},
    {"aten.moveaxis", moved},
    {"aten.expand", expanded},
    {"aten.expand_as", expanded},
    {"aten.broadcast_to", expanded},
    {"aten.slice", sliced},
    {"aten.select", selected},
    {"aten.narrow", narrowed},
    {"aten.diagonal", ofDiagonal},
    {"aten.linalg_diagonal", ofDiagonal},
    {"aten.as_strided", strided},
    {"aten.unfold", windows},
    {"aten.view_as_real", ofReal},
    {"aten.view_as_complex", ofComplex},
    {"aten.conj", conjugated},
    {"aten._conj", conjugated},
    {"aten._neg_view", negated},
    {"aten.real", realPart},
    {"aten.imag", imaginaryPart},
    {"aten.alias", same},
    {"aten.detach", same},
    {"aten.lift_fresh", same},
    {"aten.positive", same},
    {"aten.contiguous", same},
    {"aten.to", same},
    {"aten.type_as", same},
    {"aten.resolve_conj", same},
    {"aten.resolve_neg", same},
    {"aten.sum_to_size", same},
    {"aten.split", piece},
    {"aten.split_with_sizes", piece},
    {"aten.chunk", piece},
    {"aten.tensor_split", piece},
    {"aten.hsplit", piece},
    {"aten.vsplit", piece},
    {"aten.dsplit", piece},
    {"aten.unbind", unbound},
};

Value cutback::writeThrough(CallBuilder &b, Operation *view, unsigned result,
                            Value base, Value value) {
  CallOp call(view);
  StringRef packet = call.getSchema().packet;
  Write write{b, CallReader(call), result, base, value};
  if (call.getSchema().overload == "dtype" && packet == "aten.view")
    return dtypeOfBase(write);
  for (const Inverse &inverse : inverses)
    if (packet == inverse.packet)
      return inverse.build(write);
  return refused(b, packet);
}
