// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of scatter_reduce and of index_reduce, which does the same with whole
// slices: elements of `src` are combined with each other, and
// with `self` if it is included, at the places that the index names. With G the
// gradient and R the result:
// * sum: each element gets G at its place.
// * mean: the same, divided by the number of elements at the place.
// * amin, amax: the elements that are equal to R share G.
// * prod: G R / element. An element that is the only zero at its place gets
//   G times the product of the others, which is computed anew with a one in its
//   stead.
// What is not included of `self` gets no gradient. Ties and counts are as in
// PyTorch, where `self` counts as a tie even if it is not included.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

namespace {

struct Reduce {
  /// `source` is the name of what is combined.
  Reduce(Vjp &v, const char *source)
      : v(v), source(source), self(v.value("self")), src(v.value(source)),
        isIncluded(v.in.boolean("include_self").value_or(true)),
        ofSlices(StringRef(source) == "source") {}

  Vjp &v;
  const char *source;
  Value self, src;
  bool isIncluded, ofSlices;
  /// Gradients, null where not asked for.
  Value forSelf, forSrc;

  Value gather(Value tensor) {
    return v.call(ofSlices ? op::index_select : op::gather,
                  {tensor, v.arg("dim"), v.arg("index")});
  }
  /// `values`, one an element of `src`, added to `base` at their places.
  Value addTo(Value base, Value values) {
    return v.call(ofSlices ? op::index_add : op::scatter_add,
                  {base, v.arg("dim"), v.arg("index"), values});
  }
  Value isZero(Value tensor) { return v.call(op::eq_Scalar, {tensor, 0}); }
  Value asNumber(Value truth, Value like) {
    return castTo(v.b, truth, elementOf(like));
  }
  Value oneWhere(Value condition, Value tensor) {
    return v.call(op::masked_fill_Scalar, {tensor, condition, 1});
  }
  Value product(Value base, Value values) {
    return v.call(ofSlices ? op::index_reduce : op::scatter_reduce_two,
                  {base, v.arg("dim"), v.arg("index"), values, "prod"},
                  {{"include_self", isIncluded}});
  }
  Value ones(Value like) {
    return v.call(op::full, {v.b.sizes(like), 1.0},
                  {{"dtype", elementOf(like)}});
  }

  void sum();
  void mean();
  void extremum();
  void prod();
};

} // namespace

void Reduce::sum() {
  forSelf = v.grad();
  if (v.needs(source))
    forSrc = gather(v.grad());
}

void Reduce::mean() {
  Value base = isIncluded ? ones(self) : v.zerosLike(self);
  Value count = addTo(base, ones(src));
  count = v.call(op::clamp_min, {count, 1});
  Value share = v.div(v.grad(), count);
  forSelf = share;
  if (v.needs(source))
    forSrc = gather(share);
}

void Reduce::extremum() {
  Value result = v.result();
  Value selfTies = asNumber(v.call(op::eq_Tensor, {self, result}), self);
  Value srcTies = asNumber(v.call(op::eq_Tensor, {src, gather(result)}), src);
  Value share = v.div(v.grad(), addTo(selfTies, srcTies));
  if (v.needs("self"))
    forSelf = v.mul(selfTies, share);
  if (v.needs(source))
    forSrc = v.mul(srcTies, gather(share));
}

void Reduce::prod() {
  if (v.needs("self")) {
    Value nonzero = oneWhere(isZero(self), self);
    forSelf = v.div(v.mul(v.grad(), product(nonzero, src)), nonzero);
  }
  if (!v.needs(source))
    return;
  Value zero = isZero(src);
  Value zeros = gather(addTo(v.zerosLike(self), asNumber(zero, self)));
  Value onlyZero =
      v.call(op::logical_and, {zero, v.call(op::eq_Scalar, {zeros, 1})});
  Value others = product(self, oneWhere(onlyZero, src));
  Value atZero = gather(v.mul(v.grad(), others));
  Value elsewhere =
      v.div(gather(v.mul(v.grad(), v.result())), oneWhere(zero, src));
  forSrc = v.call(op::where_self, {onlyZero, atZero, elsewhere});
}

static LogicalResult reduce(Vjp &v, const char *source) {
  Reduce reduce(v, source);
  StringRef kind = v.in.string("reduce");
  if (kind == "sum")
    reduce.sum();
  else if (kind == "mean")
    reduce.mean();
  else if (kind == "prod")
    reduce.prod();
  else
    reduce.extremum();
  if (v.needs("self")) {
    Value gradient = reduce.forSelf;
    if (!reduce.isIncluded)
      gradient = v.call(reduce.ofSlices ? op::index_fill_int_Scalar
                                        : op::scatter_value,
                        {gradient, v.arg("dim"), v.arg("index"), 0});
    v.set("self", gradient);
  }
  if (v.needs(source))
    v.set(source, reduce.forSrc);
  return v.done();
}

static LogicalResult scatterReduce(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return reduce(v, "src");
}

static LogicalResult indexReduce(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return reduce(v, "source");
}

static void segmentReduce(Vjp &v) {
  if (v.needs("data"))
    v.set("data",
          v.call(op::_segment_reduce_backward,
                 {v.grad(), v.result(), v.value("data"), v.arg("reduce")},
                 {{"lengths", v.arg("lengths")},
                  {"offsets", v.arg("offsets")},
                  {"axis", v.arg("axis")},
                  {"initial", v.arg("initial")}}));
}

const VjpFn vjps::scatterReduce = ::scatterReduce;
const VjpFn vjps::indexReduce = ::indexReduce;
const VjpFn vjps::segmentReduce = vjp<::segmentReduce>;
