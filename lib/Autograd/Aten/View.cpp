// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of views and casts. They read shapes only. Permutations of all spellings
// become `permute`, reshapes `view`, so that equal ones merge. A piece has the
// backward op that PyTorch has for it; pieces of a split that nobody uses count
// as zeros. `as_strided` assumes the storage of a contiguous tensor.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static void pass(Vjp &v) { v.set(0u, v.grad()); }

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// `other` lends its shape.
static void reshape(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.viewLike(v.grad(), v.value("self")));
  v.setNone(optional("other"));
}

static void unsqueeze(Vjp &v) {
  int64_t rank = aten::rankOf(v.grad());
  int64_t dim = v.in.integer("dim").value_or(0);
  if (v.needs("self"))
    v.set("self",
          v.call(op::squeeze_dim, {v.grad(), aten::wrapDim(dim, rank)}));
}

/// `Vjp::set` sums what was broadcast.
static void expandAs(Vjp &v) {
  v.set("self", v.grad());
  v.setNone(optional("other"));
}

static void sumToSizeOf(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.call(op::expand, {v.grad(), v.b.sizes(v.value("self"))}));
}

static void broadcastTensors(Vjp &v) {
  for (unsigned i = 0; i < v.in.getOp()->getNumResults(); ++i)
    v.setOperand(i, v.grad(i));
}

/// A grid is each tensor expanded along the others' dimensions.
static void meshgrid(Vjp &v) {
  unsigned count = v.in.getOp()->getNumResults();
  bool isSwapped = v.in.string(optional("indexing")) == "xy" && count > 1;
  for (unsigned i = 0; i < count; ++i) {
    if (!v.grad(i) || !v.needsOperand(i))
      continue;
    unsigned axis = isSwapped && i < 2 ? 1 - i : i;
    SmallVector<int64_t> others;
    for (unsigned dim = 0; dim < count; ++dim)
      if (dim != axis)
        others.push_back(dim);
    Value gradient = v.grad(i);
    if (!others.empty())
      gradient = v.call(op::sum_dim_IntList, {gradient, others});
    v.setOperand(i, gradient);
  }
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// The gradient permuted back; result dimension i was dimension `dims[i]`.
static void permuteBack(Vjp &v, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> inverse(dims.size());
  for (auto [to, from] : llvm::enumerate(dims))
    inverse[from] = static_cast<int64_t>(to);
  v.set("self", v.permute(v.grad(), inverse));
}

static SmallVector<int64_t> identity(Vjp &v) {
  return llvm::to_vector(llvm::seq<int64_t>(0, aten::rankOf(v.value("self"))));
}

static void permute(Vjp &v) {
  SmallVector<int64_t> dims = v.in.integers("dims").value_or(identity(v));
  for (int64_t &dim : dims)
    dim = aten::wrapDim(dim, dims.size());
  permuteBack(v, dims);
}

static void swapDims(Vjp &v, int64_t x, int64_t y) {
  SmallVector<int64_t> dims = identity(v);
  int64_t rank = dims.size();
  if (rank > 0)
    std::swap(dims[aten::wrapDim(x, rank)], dims[aten::wrapDim(y, rank)]);
  permuteBack(v, dims);
}

/// The dimensions are parameters 1 and 2, whatever their names.
static void transpose(Vjp &v) {
  swapDims(v, v.in.integer(1).value_or(0), v.in.integer(2).value_or(0));
}

static void matrixTranspose(Vjp &v) { swapDims(v, -2, -1); }

static void reverseDims(Vjp &v) {
  SmallVector<int64_t> dims = identity(v);
  std::reverse(dims.begin(), dims.end());
  permuteBack(v, dims);
}

/// Moved dimensions take their places, the others fill the rest in order.
static void movedim(Vjp &v) {
  SmallVector<int64_t> dims = identity(v), rest = dims;
  int64_t rank = dims.size();
  auto numbers = [&](const char *name) {
    SmallVector<int64_t> list = v.in.integers(name).value_or(rest);
    for (int64_t &dim : list)
      dim = aten::wrapDim(dim, rank);
    return list;
  };
  SmallVector<int64_t> from = numbers("source"), to = numbers("destination");
  if (rank == 0)
    return permuteBack(v, dims);
  llvm::erase_if(rest,
                 [&](int64_t dim) { return llvm::is_contained(from, dim); });
  for (int64_t dim = 0, next = 0; dim < rank; ++dim) {
    auto *moved = llvm::find(to, dim);
    dims[dim] = moved == to.end() ? rest[next++] : from[moved - to.begin()];
  }
  permuteBack(v, dims);
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

static void slice(Vjp &v) {
  if (!v.needs("self"))
    return;
  Arg start = v.in.isNone("start") ? Arg(0) : v.arg("start");
  Arg end = v.in.isNone("end") ? Arg(std::numeric_limits<int64_t>::max())
                               : v.arg("end");
  v.set("self",
        v.call(op::slice_backward, {v.grad(), v.b.sizes(v.value("self")),
                                    v.arg("dim"), start, end, v.arg("step")}));
}

static void narrow(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value self = v.value("self");
  int64_t dim = v.in.integer("dim").value_or(0);
  Arg start = v.arg("start");
  if (start.getInt().value_or(0) < 0)
    start = v.plus(start, v.b.size(self, dim));
  v.set("self",
        v.call(op::slice_backward, {v.grad(), v.b.sizes(self), dim, start,
                                    v.plus(start, v.arg("length")), 1}));
}

static void select(Vjp &v) {
  if (v.needs("self"))
    v.set("self",
          v.call(op::select_backward, {v.grad(), v.b.sizes(v.value("self")),
                                       v.arg("dim"), v.arg("index")}));
}

/// Pieces without a gradient are zeros.
static SmallVector<Value> allGradients(Vjp &v) {
  SmallVector<Value> gradients;
  for (unsigned i = 0; i < v.in.getOp()->getNumResults(); ++i)
    gradients.push_back(v.gradOrZeros(i));
  return gradients;
}

static void joinAlong(Vjp &v, int64_t dim) {
  if (!v.needs("self"))
    return;
  SmallVector<Value> gradients = allGradients(v);
  v.set("self", gradients.size() == 1 ? gradients.front()
                                      : v.call(op::cat, {gradients, dim}));
}

static void split(Vjp &v) { joinAlong(v, v.in.integer("dim").value_or(0)); }
static void vsplit(Vjp &v) { joinAlong(v, 0); }
static void dsplit(Vjp &v) { joinAlong(v, 2); }
static void hsplit(Vjp &v) {
  joinAlong(v, aten::rankOf(v.value("self")) == 1 ? 0 : 1);
}

static void unbind(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.call(op::stack, {allGradients(v), v.arg("dim")}));
}

static void unfold(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.call(op::unfold_backward,
                         {v.grad(), v.b.sizes(v.value("self")),
                          v.arg("dimension"), v.arg("size"), v.arg("step")}));
}

static void diagonal(Vjp &v) {
  if (v.needsOperand(0))
    v.set(0u, v.call(op::diagonal_backward,
                     {v.grad(), v.b.sizes(v.operand(0)), v.arg("offset"),
                      v.arg("dim1"), v.arg("dim2")}));
}

/// Elements may overlap, so the gradient is added up place by place. The
/// storage is that of a contiguous `self`.
static void asStrided(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value self = v.value("self");
  std::vector<Arg> sizes = v.in.list("size"), strides = v.in.list("stride");
  Type i64 = v.b.i64();
  Value place =
      v.call(op::full,
             {ArrayRef<Arg>(),
              v.in.isNone("storage_offset") ? Arg(0) : v.arg("storage_offset")},
             {{"dtype", i64}});
  for (unsigned dim = 0; dim < sizes.size(); ++dim) {
    Value steps = v.call(op::arange, {sizes[dim]}, {{"dtype", i64}});
    steps = v.call(op::mul_Scalar, {steps, strides[dim]});
    place = v.add(v.call(op::unsqueeze, {place, -1}), steps);
  }
  Value zeros = v.zeros(listOf(v.b.numel(self)), aten::elementOf(v.grad()));
  Value sum = v.call(op::index_put, {zeros,
                                     {v.call(op::view, {place, {-1}})},
                                     v.call(op::view, {v.grad(), {-1}}),
                                     true});
  v.set("self", v.viewLike(sum, self));
}

//===----------------------------------------------------------------------===//
// Complex tensors
//===----------------------------------------------------------------------===//

static void viewAsReal(Vjp &v) {
  v.set("self", v.un("view_as_complex", v.grad()));
}
static void viewAsComplex(Vjp &v) {
  v.set("self", v.un("view_as_real", v.grad()));
}

static Value zerosLikeGradient(Vjp &v) { return v.zerosLike(v.grad()); }

static void realPart(Vjp &v) {
  if (!v.needs("self"))
    return;
  v.set("self", isComplex(v.value("self"))
                    ? v.un2("complex", v.grad(), zerosLikeGradient(v))
                    : v.grad());
}
static void imaginaryPart(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.un2("complex", zerosLikeGradient(v), v.grad()));
}

const VjpFn vjps::reshape = vjpAny<::reshape>;
const VjpFn vjps::unsqueeze = vjpAny<::unsqueeze>;
const VjpFn vjps::expandAs = vjpAny<::expandAs>;
const VjpFn vjps::sumToSizeOf = vjpAny<::sumToSizeOf>;
const VjpFn vjps::broadcastTensors = vjpAny<::broadcastTensors>;
const VjpFn vjps::meshgrid = vjpAny<::meshgrid>;
const VjpFn vjps::permute = vjpAny<::permute>;
const VjpFn vjps::transpose = vjpAny<::transpose>;
const VjpFn vjps::reverseDims = vjpAny<::reverseDims>;
const VjpFn vjps::matrixTranspose = vjpAny<::matrixTranspose>;
const VjpFn vjps::adjoint = vjp<::matrixTranspose>;
const VjpFn vjps::movedim = vjpAny<::movedim>;
const VjpFn vjps::slice = vjpAny<::slice>;
const VjpFn vjps::narrow = vjpAny<::narrow>;
const VjpFn vjps::select = vjpAny<::select>;
const VjpFn vjps::split = vjpAny<::split>;
const VjpFn vjps::hsplit = vjpAny<::hsplit>;
const VjpFn vjps::vsplit = vjpAny<::vsplit>;
const VjpFn vjps::dsplit = vjpAny<::dsplit>;
const VjpFn vjps::unbind = vjpAny<::unbind>;
const VjpFn vjps::unfold = vjpAny<::unfold>;
const VjpFn vjps::diagonal = vjpAny<::diagonal>;
const VjpFn vjps::asStrided = vjp<::asStrided>;
const VjpFn vjps::viewAsReal = vjpAny<::viewAsReal>;
const VjpFn vjps::viewAsComplex = vjpAny<::viewAsComplex>;
const VjpFn vjps::realPart = vjpAny<::realPart>;
const VjpFn vjps::imaginaryPart = vjpAny<::imaginaryPart>;
const VjpFn vjps::alias = vjpAny<pass>;
