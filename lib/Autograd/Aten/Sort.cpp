// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of ordering: each value that came out goes back to the place that the
// forward's indices name. Where no element comes out twice the gradients are
// scattered, where one may they are added (running extrema). Nothing but the
// indices is read.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult toIndices(Vjp &v, StringRef scatter) {
  if (!v.grad())
    return v.done();
  v.set("self", v.call(scatter, {v.zerosLike(v.value("self")), v.arg("dim"),
                                 v.result(1), v.grad()}));
  return v.done();
}

static LogicalResult sort(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return toIndices(v, op::scatter_src);
}

static LogicalResult scan(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return toIndices(v, op::scatter_add);
}

const VjpFn vjps::sort = ::sort;
const VjpFn vjps::scan = ::scan;
