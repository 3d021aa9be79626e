// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of ops that move data: the gradient moves the other way. They read
// shapes only. What a piece overwrote, and padding, has no gradient; what was
// copied several times gets the sum over its copies. Backward ops of views
// (`slice_backward`) are here too: their VJPs are the views.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static void pass(Vjp &v) { v.set(0u, v.grad()); }

/// The old elements are gone.
/// The old elements are gone.
static void copy(Vjp &v) {
  v.setZero("self");
  v.set("src", v.grad());
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// One slice, or all pieces by one split.
static void cat(Vjp &v) {
  auto [begin, end] = v.operands("tensors");
  int64_t dim = v.in.integer("dim").value_or(0);
  unsigned needed = 0;
  std::vector<Arg> sizes;
  for (unsigned i = begin; i < end; ++i) {
    needed += v.needsOperand(i);
    // A tensor of shape [0] stands in a list of any rank.
    sizes.push_back(aten::rankOf(v.operand(i)) == aten::rankOf(v.grad())
                        ? v.b.size(v.operand(i), dim)
                        : Arg(0));
  }
  if (needed > 1) {
    SmallVector<Value> pieces =
        v.b.callMany(op::split_with_sizes, {v.grad(), sizes, dim});
    for (unsigned i = begin; i < end && !v.b.failed(); ++i)
      v.setOperand(i, v.viewLike(pieces[i - begin], v.operand(i)));
    return;
  }
  Arg offset(0);
  for (unsigned i = begin; i < end && needed > 0; ++i) {
    Arg next = v.plus(offset, sizes[i - begin]);
    if (v.needsOperand(i)) {
      v.setOperand(i, v.call(op::slice_Tensor, {v.grad(), dim, offset, next}));
      return;
    }
    offset = next;
  }
}

static void stack(Vjp &v) {
  auto [begin, end] = v.operands("tensors");
  unsigned needed = 0;
  for (unsigned i = begin; i < end; ++i)
    needed += v.needsOperand(i);
  SmallVector<Value> pieces;
  if (needed > 1)
    pieces = v.b.callMany(op::unbind_int, {v.grad(), v.arg("dim")});
  for (unsigned i = begin; i < end && !v.b.failed(); ++i)
    if (v.needsOperand(i))
      v.setOperand(i, needed > 1 ? pieces[i - begin]
                                 : v.call(op::select_int,
                                          {v.grad(), v.arg("dim"), i - begin}));
}

//===----------------------------------------------------------------------===//
// Padding, turning
//===----------------------------------------------------------------------===//

static void cropPadding(Vjp &v, const char *param) {
  std::vector<Arg> pads;
  for (const Arg &pad : v.in.list(param))
    pads.push_back(v.minus(pad));
  v.set("self", v.call(op::constant_pad_nd, {v.grad(), pads}));
}

static void constantPad(Vjp &v) {
  if (v.needs("self"))
    cropPadding(v, "pad");
}

static void pad(Vjp &v) {
  if (!v.needs("self"))
    return;
  StringRef mode = v.in.string("mode");
  if (mode == "constant")
    return cropPadding(v, "pad");
  StringRef kind = mode == "reflect"     ? "reflection"
                   : mode == "replicate" ? "replication"
                                         : "";
  if (kind.empty()) {
    v.b.error("no rule for the gradient of padding of mode '" + mode + "'");
    return;
  }
  std::string name = ("aten." + kind + "_pad" +
                      Twine(v.in.list("pad").size() / 2) + "d_backward.default")
                         .str();
  v.set("self", v.call(name, {v.grad(), v.value("self"), v.arg("pad")}));
}

static void flip(Vjp &v) {
  if (v.needsOperand(0))
    v.set(0u, v.call(op::flip, {v.grad(), v.arg("dims")}));
}

static void roll(Vjp &v) {
  if (!v.needs("self"))
    return;
  std::vector<Arg> shifts;
  for (const Arg &shift : v.in.list("shifts"))
    shifts.push_back(v.minus(shift));
  v.set("self", v.call(op::roll, {v.grad(), shifts, v.arg("dims")}));
}

static void tril(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.un2("tril", v.grad(), v.arg("diagonal")));
}
static void triu(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.un2("triu", v.grad(), v.arg("diagonal")));
}

//===----------------------------------------------------------------------===//
// A piece written into a tensor
//===----------------------------------------------------------------------===//

/// `params`: the arguments behind `self` and `src`. `scatter` writes zeros to
/// the piece for `self`; `view` takes the piece for `src`.
static void scatterPiece(Vjp &v, StringRef scatter, StringRef view,
                         ArrayRef<const char *> params) {
  SmallVector<Arg> args{v.grad()};
  for (const char *param : params)
    args.push_back(v.arg(param));
  if (v.needs("src"))
    v.set("src", v.call(view, args));
  if (!v.needs("self"))
    return;
  Value zeros = v.zeros(v.b.sizes(v.value("src")), aten::elementOf(v.grad()));
  args.insert(args.begin() + 1, Arg(zeros));
  v.set("self", v.call(scatter, args));
}

static void sliceScatter(Vjp &v) {
  scatterPiece(v, op::slice_scatter, op::slice_Tensor,
               {"dim", "start", "end", "step"});
}
static void selectScatter(Vjp &v) {
  scatterPiece(v, op::select_scatter, op::select_int, {"dim", "index"});
}
static void diagonalScatter(Vjp &v) {
  scatterPiece(v, op::diagonal_scatter, op::diagonal,
               {"offset", "dim1", "dim2"});
}
static void asStridedScatter(Vjp &v) {
  scatterPiece(v, op::as_strided_scatter, op::as_strided,
               {"size", "stride", "storage_offset"});
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

static bool isOne(const Arg &arg) { return arg.getInt() == 1; }

/// Each repeated dimension is split in (copies, elements); copies are summed.
static void repeatBy(Vjp &v, std::vector<Arg> repeats) {
  Value self = v.value("self");
  size_t rank = aten::rankOf(self);
  while (repeats.size() < rank)
    repeats.insert(repeats.begin(), Arg(1));
  std::vector<Arg> sizes;
  SmallVector<int64_t> copies;
  for (size_t dim = 0; dim < repeats.size(); ++dim) {
    bool isLeading = dim + rank < repeats.size();
    if (isLeading || !isOne(repeats[dim])) {
      copies.push_back(sizes.size());
      sizes.push_back(repeats[dim]);
    }
    if (!isLeading)
      sizes.push_back(v.b.size(self, dim - (repeats.size() - rank)));
  }
  Value gradient = v.grad();
  if (!copies.empty()) {
    if (sizes.size() != repeats.size())
      gradient = v.call(op::view, {gradient, sizes});
    gradient = v.call(op::sum_dim_IntList, {gradient, copies});
  }
  v.set("self", gradient);
}

static void repeat(Vjp &v) {
  if (v.needs("self"))
    repeatBy(v, v.in.list("repeats"));
}
static void tile(Vjp &v) {
  if (v.needs("self"))
    repeatBy(v, v.in.list("dims"));
}

/// Copies stand next to each other.
static void repeatInterleave(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value self = v.value("self");
  std::vector<Arg> sizes;
  int64_t dim = 0;
  if (std::optional<int64_t> given = v.in.integer("dim")) {
    dim = aten::wrapDim(*given, aten::rankOf(self));
    sizes = v.b.sizes(self).getList().vec();
  } else {
    sizes.push_back(v.b.numel(self));
  }
  sizes.insert(sizes.begin() + std::min<size_t>(dim + 1, sizes.size()),
               v.arg("repeats"));
  Value gradient = v.call(op::view, {v.grad(), sizes});
  gradient = v.call(op::sum_dim_IntList, {gradient, {dim + 1}});
  v.set("self", v.viewLike(gradient, self));
}

/// Each copy's gradient is added to the row that it was made of.
static void repeatInterleaveTensor(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value self = v.value("self"), repeats = v.value("repeats");
  std::optional<int64_t> dim = v.in.integer("dim");
  Arg length = dim ? v.b.size(self, *dim) : v.b.numel(self);
  Value counts = v.call(op::expand, {repeats, listOf(length)});
  Value rows = v.call(op::repeat_interleave_Tensor, {counts},
                      {{"output_size", v.b.size(v.grad(), dim.value_or(0))}});
  Value zeros =
      dim ? v.zerosLike(self) : v.zeros(listOf(length), aten::elementOf(self));
  Value sum = v.call(op::index_add, {zeros, dim.value_or(0), rows, v.grad()});
  v.set("self", v.viewLike(sum, self));
}

//===----------------------------------------------------------------------===//
// Backwards of views
//===----------------------------------------------------------------------===//

static void viewOfGradient(Vjp &v, StringRef view,
                           ArrayRef<const char *> params) {
  SmallVector<Arg> args{v.grad()};
  for (const char *param : params)
    args.push_back(v.arg(param));
  if (v.needsOperand(0))
    v.set(0u, v.call(view, args));
}

static void sliceBackward(Vjp &v) {
  viewOfGradient(v, op::slice_Tensor, {"dim", "start", "end", "step"});
}
static void selectBackward(Vjp &v) {
  viewOfGradient(v, op::select_int, {"dim", "index"});
}
static void diagonalBackward(Vjp &v) {
  viewOfGradient(v, op::diagonal, {"offset", "dim1", "dim2"});
}
static void unfoldBackward(Vjp &v) {
  viewOfGradient(v, op::unfold, {"dim", "size", "step"});
}

const VjpFn vjps::copyOf = vjpAny<pass>;
const VjpFn vjps::copy = vjpAny<::copy>;
const VjpFn vjps::cat = vjpAny<::cat>;
const VjpFn vjps::stack = vjpAny<::stack>;
const VjpFn vjps::constantPad = vjpAny<::constantPad>;
const VjpFn vjps::pad = vjpAny<::pad>;
const VjpFn vjps::flip = vjpAny<::flip>;
const VjpFn vjps::roll = vjpAny<::roll>;
const VjpFn vjps::tril = vjpAny<::tril>;
const VjpFn vjps::triu = vjpAny<::triu>;
const VjpFn vjps::sliceScatter = vjpAny<::sliceScatter>;
const VjpFn vjps::selectScatter = vjpAny<::selectScatter>;
const VjpFn vjps::diagonalScatter = vjpAny<::diagonalScatter>;
const VjpFn vjps::asStridedScatter = vjp<::asStridedScatter>;
const VjpFn vjps::repeat = vjpAny<::repeat>;
const VjpFn vjps::tile = vjpAny<::tile>;
const VjpFn vjps::repeatInterleave = vjpAny<::repeatInterleave>;
const VjpFn vjps::repeatInterleaveTensor = vjp<::repeatInterleaveTensor>;
const VjpFn vjps::sliceBackward = vjpAny<::sliceBackward>;
const VjpFn vjps::selectBackward = vjpAny<::selectBackward>;
const VjpFn vjps::diagonalBackward = vjpAny<::diagonalBackward>;
const VjpFn vjps::unfoldBackward = vjpAny<::unfoldBackward>;
