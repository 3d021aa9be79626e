// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of reading at computed places: the gradient is added at the places that
// were read, in a tensor of zeros, because a place may have been read many
// times. Indices and masks are read, of the tensor itself only its sizes. Where
// a mask says which elements come out, each came once, so they are put back and
// not added; how many there are may depend on data.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult indexed(Vjp &v, StringRef put) {
  v.set("self", v.call(put, {v.zerosLike(v.value("self")), v.arg("indices"),
                             v.grad(), true}));
  return v.done();
}

static LogicalResult index(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return indexed(v, op::index_put);
}

static LogicalResult unsafeIndex(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return indexed(v, op::_unsafe_index_put);
}

static LogicalResult maskedIndex(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self", v.call(op::_unsafe_masked_index_put_accumulate,
                       {v.zerosLike(v.value("self")), v.arg("mask"),
                        v.arg("indices"), v.grad()}));
  return v.done();
}

static LogicalResult gather(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self",
        v.call(op::scatter_add, {v.zerosLike(v.value("self")), v.arg("dim"),
                                 v.arg("index"), v.grad()}));
  return v.done();
}

/// As `gather`, but all dimensions other than `dim` broadcast; without `dim`
/// both tensors count as flat.
static LogicalResult takeAlongDim(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), indices = v.value("indices");
  if (v.in.isNone("dim")) {
    Value flat =
        v.call(op::scatter_add,
               {v.zeros(std::vector<Arg>{v.b.numel(self)}, elementOf(self)), 0,
                v.call(op::view, {indices, {-1}}),
                v.call(op::view, {v.grad(), {-1}})});
    v.set("self", v.call(op::view, {flat, v.b.sizes(self)}));
    return v.done();
  }
  int64_t rank = rankOf(self);
  int64_t dim = wrapDim(v.in.integer("dim").value_or(0), rank);
  std::vector<Arg> sizes;
  for (int64_t i = 0; i < rank; ++i)
    sizes.push_back(v.b.size(i == dim ? self : v.grad(), i));
  // Indices of the forward count modulo the size.
  indices = v.call(op::remainder_Scalar, {indices, v.b.size(self, dim)});
  v.set("self",
        v.call(op::scatter_add,
               {v.zeros(sizes, elementOf(self)), dim,
                v.call(op::expand, {indices, v.b.sizes(v.grad())}), v.grad()}));
  return v.done();
}

static LogicalResult indexSelect(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self",
        v.call(op::index_add, {v.zerosLike(v.value("self")), v.arg("dim"),
                               v.arg("index"), v.grad()}));
  return v.done();
}

static LogicalResult take(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self", v.call(op::put, {v.zerosLike(v.value("self")), v.arg("index"),
                                 v.grad(), true}));
  return v.done();
}

/// The sizes of `self` and `mask` broadcast together: the masked elements fill
/// up zeros of that shape.
static LogicalResult maskedSelect(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), mask = v.value("mask");
  Value zeros = v.zerosLike(self);
  if (shapeOf(self) != shapeOf(mask))
    // A mask of zeros and ones times zeros has the common shape.
    zeros = v.mul(zeros, mask);
  v.set("self", v.call(op::masked_scatter, {zeros, mask, v.grad()}));
  return v.done();
}

const VjpFn vjps::index = ::index;
const VjpFn vjps::unsafeIndex = ::unsafeIndex;
const VjpFn vjps::maskedIndex = ::maskedIndex;
const VjpFn vjps::gather = ::gather;
const VjpFn vjps::takeAlongDim = ::takeAlongDim;
const VjpFn vjps::indexSelect = ::indexSelect;
const VjpFn vjps::take = ::take;
const VjpFn vjps::maskedSelect = ::maskedSelect;
