// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of running sums and products.
//
// cumsum: element i is in all sums from i on, so its gradient is the sum of
// theirs, a running sum from the other end. No value is read.
//
// cumprod, result y of input x: sum over k >= i of G_k y_k / x_i. Before the
// first zero of a row that is what is computed. At the first zero the division
// is not possible, and the gradient is the product of what stands before it,
// times the sum over k of G_k times the product of what stands between. Behind
// it all results are 0 and stay 0, and so does the gradient.
//
// logcumsumexp: sum over k >= i of G_k exp(x_i - y_k), which is computed as
// logcumsumexp does, so that nothing overflows: positive and negative gradients
// apart, each by its logarithm.

#include "Common.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

/// `scan` along `dim` from the other end.
static Value reversed(Vjp &v, StringRef scan, Value tensor, int64_t dim) {
  Value flipped = v.call(op::flip, {tensor, {dim}});
  return v.call(op::flip, {v.call(scan, {flipped, dim}), {dim}});
}

static int64_t dimOf(Vjp &v) { return v.in.integer("dim").value_or(0); }

static LogicalResult cumsum(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (rankOf(v.grad()) == 0)
    v.set("self", v.grad());
  else
    v.set("self", reversed(v, op::cumsum, v.grad(), dimOf(v)));
  return v.done();
}

static LogicalResult cumprod(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  int64_t dim = dimOf(v);
  if (rankOf(v.grad()) == 0) {
    v.set("self", v.grad());
    return v.done();
  }
  // All that is read, is read as its conjugate.
  Value self = castTo(v.b, v.value("self"), elementOf(v.grad()));
  self = v.conj(self).getValue();
  Value result = v.conj(v.result()).getValue();
  Value zero = v.call(op::eq_Scalar, {self, 0});
  Value zeros = v.call(op::cumsum, {zero, dim});
  Value before = v.call(op::eq_Scalar, {zeros, 0});
  Value once = v.call(op::eq_Scalar, {zeros, 1});
  Value first = v.call(op::logical_and, {zero, once});

  Value sums = reversed(v, op::cumsum,
                        v.keepWhere(before, v.mul(v.grad(), result)), dim);
  Value nonzero = v.call(op::masked_fill_Scalar, {self, zero, 1});
  Value ahead = v.div(sums, nonzero);

  // Products of what stands between the first zero and the second.
  Value between = v.call(op::where_ScalarOther, {once, nonzero, 1.0});
  Value products = v.call(op::cumprod, {between, dim});
  Value behind =
      v.call(op::sum_dim_IntList,
             {v.keepWhere(once, v.mul(v.grad(), products)), {dim}, true});
  Value prefix =
      v.call(op::prod_dim_int,
             {v.call(op::where_ScalarOther, {before, self, 1.0}), dim, true});
  Value atZero = v.keepWhere(first, v.mul(prefix, behind));
  v.set("self", v.call(op::where_self, {before, ahead, atZero}));
  return v.done();
}

static LogicalResult logcumsumexp(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (failed(refuseComplex(v)))
    return failure();
  int64_t dim = dimOf(v);
  if (rankOf(v.grad()) == 0) {
    v.set("self", v.grad());
    return v.done();
  }
  Value log = v.call(op::log, {v.call(op::abs, {v.grad()})});
  Value parts[2];
  for (bool isNegative : {false, true}) {
    Value sign =
        v.call(isNegative ? op::lt_Scalar : op::gt_Scalar, {v.grad(), 0});
    Value logs = v.call(op::where_ScalarOther,
                        {sign, log, -std::numeric_limits<double>::infinity()});
    Value sum = reversed(v, op::logcumsumexp, v.sub(logs, v.result()), dim);
    parts[isNegative] = v.call(op::exp, {v.add(sum, v.arg("self"))});
  }
  v.set("self", v.sub(parts[0], parts[1]));
  return v.done();
}

const VjpFn vjps::cumsum = ::cumsum;
const VjpFn vjps::cumprod = ::cumprod;
const VjpFn vjps::logcumsumexp = ::logcumsumexp;
