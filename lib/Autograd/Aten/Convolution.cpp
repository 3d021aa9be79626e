// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of convolution, and of what images are cut into and put together from.
//
// `convolution_backward` gives the gradients that its mask asks for. That of
// the input reads the weight, that of the weight the input, that of the bias
// neither; where one of them is not read, a placeholder stands for it. The
// others here only move elements, so each is the adjoint of another: im2col of
// col2im, pixel_shuffle of pixel_unshuffle.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult convolution(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  Arg biasSizes;
  if (v.value("bias"))
    biasSizes = v.b.sizes(v.value("bias"));
  SmallVector<Value> gradients = v.b.callMany(
      op::convolution_backward, {v.grad(),
                                 readIf(weight, v, v.value("input")),
                                 readIf(input, v, v.value("weight")),
                                 biasSizes,
                                 v.arg("stride"),
                                 v.arg("padding"),
                                 v.arg("dilation"),
                                 v.arg("transposed"),
                                 v.arg("output_padding"),
                                 v.arg("groups"),
                                 {input, weight, bias}});
  if (v.b.failed())
    return v.done();
  if (input)
    v.set("input", gradients[0]);
  if (weight)
    v.set("weight", gradients[1]);
  if (bias)
    v.set("bias", gradients[2]);
  return v.done();
}

//===----------------------------------------------------------------------===//
// Windows and blocks
//===----------------------------------------------------------------------===//

static LogicalResult im2col(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self");
  v.set("self", v.call(op::col2im, {v.grad(),
                                    {v.b.size(self, -2), v.b.size(self, -1)},
                                    v.arg("kernel_size"),
                                    v.arg("dilation"),
                                    v.arg("padding"),
                                    v.arg("stride")}));
  return v.done();
}

static LogicalResult col2im(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self",
        v.call(op::im2col, {v.grad(), v.arg("kernel_size"), v.arg("dilation"),
                            v.arg("padding"), v.arg("stride")}));
  return v.done();
}

static LogicalResult pixelShuffle(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self",
        v.call(op::pixel_unshuffle, {v.grad(), v.arg("upscale_factor")}));
  return v.done();
}

static LogicalResult pixelUnshuffle(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self",
        v.call(op::pixel_shuffle, {v.grad(), v.arg("downscale_factor")}));
  return v.done();
}

/// Groups of channels dealt out one by one; undone by as many groups as one had
/// members.
static LogicalResult channelShuffle(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Arg channels = v.b.size(v.value("self"), 1), groups = v.arg("groups");
  Arg members = channels.getInt() && groups.getInt().value_or(0) > 0
                    ? Arg(*channels.getInt() / *groups.getInt())
                    : Arg(v.call(op::operator_floordiv, {channels, groups}));
  v.set("self", v.call(op::native_channel_shuffle, {v.grad(), members}));
  return v.done();
}

const VjpFn vjps::convolution = ::convolution;
const VjpFn vjps::channelShuffle = ::channelShuffle;
const VjpFn vjps::im2col = ::im2col;
const VjpFn vjps::col2im = ::col2im;
const VjpFn vjps::pixelShuffle = ::pixelShuffle;
const VjpFn vjps::pixelUnshuffle = ::pixelUnshuffle;
