// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of writing at computed places. The tensor written to gets the gradient,
// without what was overwritten; the values get the gradient at the places where
// they went. Adding overwrites nothing. Where several values were written to
// one place, each gets the gradient of that place, as in PyTorch: which of them
// stayed is not defined.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

//===----------------------------------------------------------------------===//
// index_put and its kin
//===----------------------------------------------------------------------===//

static LogicalResult put(Vjp &v, StringRef put, StringRef get) {
  bool accumulate = v.in.boolean("accumulate").value_or(false);
  if (v.needs("self")) {
    Value gradient = v.grad();
    if (!accumulate)
      gradient = v.call(put, {gradient, v.arg("indices"),
                              v.zeros(ArrayRef<Arg>(), elementOf(gradient))});
    v.set("self", gradient);
  }
  if (v.needs("values"))
    v.set("values", v.call(get, {v.grad(), v.arg("indices")}));
  return v.done();
}

static LogicalResult indexPut(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return put(v, op::index_put, op::index_Tensor);
}

static LogicalResult unsafeIndexPut(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return put(v, op::_unsafe_index_put, op::_unsafe_index_Tensor);
}

static LogicalResult maskedIndexPut(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.grad());
  if (v.needs("values"))
    v.set("values", v.call(op::_unsafe_masked_index,
                           {v.grad(), v.arg("mask"), v.arg("indices"), 0}));
  return v.done();
}

/// `put` with flat indices; the source has as many elements as the index.
static LogicalResult putFlat(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self")) {
    Value gradient = v.grad(), index = v.value("index");
    if (!v.in.boolean("accumulate").value_or(false))
      gradient = v.call(
          op::put, {gradient, index,
                    v.zeros(v.b.sizes(index), elementOf(gradient)), false});
    v.set("self", gradient);
  }
  if (v.needs("source")) {
    Value taken = v.call(op::take, {v.grad(), v.arg("index")});
    v.set("source", v.call(op::view, {taken, v.b.sizes(v.value("source"))}));
  }
  return v.done();
}

//===----------------------------------------------------------------------===//
// Along a dimension, one index a slice
//===----------------------------------------------------------------------===//

/// The slices of the gradient that `index` names, in the shape of `source`.
static Value selected(Vjp &v) {
  Value source = v.value("source");
  Value slices =
      v.call(op::index_select, {v.grad(), v.arg("dim"), v.arg("index")});
  // A source without dimensions stands for one slice with one element.
  if (slices && rankOf(slices) != rankOf(source))
    slices = v.call(op::view, {slices, v.b.sizes(source)});
  return slices;
}

static LogicalResult indexAdd(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.grad());
  if (v.needs("source")) {
    Value gradient = selected(v);
    if (v.in.number("alpha") != 1.0)
      gradient = v.mul(gradient, v.arg("alpha"));
    v.set("source", gradient);
  }
  return v.done();
}

static Value filledWithZeros(Vjp &v) {
  return v.call(op::index_fill_int_Scalar,
                {v.grad(), v.arg("dim"), v.arg("index"), 0});
}

static LogicalResult indexCopy(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", filledWithZeros(v));
  if (v.needs("source"))
    v.set("source", selected(v));
  return v.done();
}

/// An index may name a slice twice: it is filled once.
static LogicalResult indexFill(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", filledWithZeros(v));
  if (v.needs("value")) {
    Value isFilled =
        v.call(op::index_fill_int_Scalar,
               {v.call(op::zeros_like, {v.grad()},
                       {{"dtype", IntegerType::get(op.getContext(), 1)}}),
                v.arg("dim"), v.arg("index"), true});
    v.set("value", v.call(op::sum, {v.keepWhere(isFilled, v.grad())}));
  }
  return v.done();
}

//===----------------------------------------------------------------------===//
// Along a dimension, one index an element
//===----------------------------------------------------------------------===//

/// The gradient where the elements of `src` went. `src` may be larger than
/// `index`; its further elements went nowhere.
static Value gathered(Vjp &v, Value gradient) {
  Value src = v.value("src"), index = v.value("index");
  Value result = v.call(op::gather, {gradient, v.arg("dim"), index});
  std::vector<Arg> pad;
  bool isLarger = false;
  ArrayRef<int64_t> have = shapeOf(index), want = shapeOf(src);
  if (have.size() != want.size())
    return result;
  for (int64_t i = static_cast<int64_t>(have.size()) - 1; i >= 0; --i) {
    bool known =
        !ShapedType::isDynamic(have[i]) && !ShapedType::isDynamic(want[i]);
    int64_t more = known ? want[i] - have[i] : 0;
    isLarger |= more != 0;
    pad.push_back(0);
    pad.push_back(more);
  }
  return isLarger ? v.call(op::constant_pad_nd, {result, pad}) : result;
}

static Value withoutScattered(Vjp &v, Value gradient) {
  return v.call(op::scatter_value, {gradient, v.arg("dim"), v.arg("index"), 0});
}

static LogicalResult scatter(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", withoutScattered(v, v.grad()));
  if (v.needs(optional("src")))
    v.set(optional("src"), gathered(v, v.grad()));
  return v.done();
}

static LogicalResult scatterAdd(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.grad());
  if (v.needs("src"))
    v.set("src", gathered(v, v.grad()));
  return v.done();
}

//===----------------------------------------------------------------------===//
// masked_scatter
//===----------------------------------------------------------------------===//

/// Element k of the source goes to the k-th place under the mask. Counting
/// along the mask gives each place its k, so the gradient is a scatter of a
/// size that does not depend on data.
static Value sourceGradient(Vjp &v) {
  Value source = v.value("source"), gradient = v.grad();
  Value mask = v.value("mask");
  if (shapeOf(mask) != shapeOf(gradient))
    mask = v.call(op::expand, {mask, v.b.sizes(gradient)});
  mask = v.call(op::view, {mask, {-1}});
  gradient = v.call(op::view, {gradient, {-1}});
  Value count = v.call(op::cumsum, {mask, 0});
  Value place = v.call(op::clamp_min, {v.sub(count, 1), 0});
  place = v.call(op::where_ScalarOther, {mask, place, 0});
  Value flat =
      v.call(op::scatter_add,
             {v.zeros(std::vector<Arg>{v.b.numel(source)}, elementOf(gradient)),
              0, place, v.keepWhere(mask, gradient)});
  return v.call(op::view, {flat, v.b.sizes(source)});
}

static LogicalResult maskedScatter(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.dropWhere(v.value("mask"), v.grad()));
  if (v.needs("source"))
    v.set("source", sourceGradient(v));
  return v.done();
}

const VjpFn vjps::indexPut = ::indexPut;
const VjpFn vjps::unsafeIndexPut = ::unsafeIndexPut;
const VjpFn vjps::maskedIndexPut = ::maskedIndexPut;
const VjpFn vjps::putFlat = ::putFlat;
const VjpFn vjps::indexAdd = ::indexAdd;
const VjpFn vjps::indexCopy = ::indexCopy;
const VjpFn vjps::indexFill = ::indexFill;
const VjpFn vjps::scatter = ::scatter;
const VjpFn vjps::scatterAdd = ::scatterAdd;
const VjpFn vjps::maskedScatter = ::maskedScatter;
