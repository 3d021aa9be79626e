// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of padding with the tensor's own elements: each element of the border
// adds to the one it was taken from, so no value is read. The backward ops take
// the input for its shape, and a placeholder serves them as well. Padding with
// a constant is a matter of moving data (Data.cpp): its gradient is cropping.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult pad(Vjp &v, StringRef backward) {
  v.set("self", v.call(backward, {v.grad(), shapeOnly(v, v.value("self")),
                                  v.arg("padding")}));
  return v.done();
}

static LogicalResult reflection1d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return pad(v, op::reflection_pad1d_backward);
}

static LogicalResult reflection2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return pad(v, op::reflection_pad2d_backward);
}

static LogicalResult reflection3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return pad(v, op::reflection_pad3d_backward);
}

static LogicalResult replication1d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return pad(v, op::replication_pad1d_backward);
}

static LogicalResult replication2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return pad(v, op::replication_pad2d_backward);
}

static LogicalResult replication3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return pad(v, op::replication_pad3d_backward);
}

const VjpFn vjps::reflection1d = ::reflection1d;
const VjpFn vjps::reflection2d = ::reflection2d;
const VjpFn vjps::reflection3d = ::reflection3d;
const VjpFn vjps::replication1d = ::replication1d;
const VjpFn vjps::replication2d = ::replication2d;
const VjpFn vjps::replication3d = ::replication3d;
