// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of pooling. A maximum goes back to where the forward's indices say, an
// average to all of its window; both backward ops take the input for its shape
// only. In one dimension an average is one in two dimensions whose first has
// size 1.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult maxPool(Vjp &v, StringRef backward) {
  if (!v.grad())
    return v.done();
  v.set("self", v.call(backward,
                       {v.grad(), shapeOnly(v, v.value("self")),
                        v.arg("kernel_size"), v.arg("stride"), v.arg("padding"),
                        v.arg("dilation"), v.arg("ceil_mode"), v.result(1)}));
  return v.done();
}

static LogicalResult maxPool2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return maxPool(v, op::max_pool2d_with_indices_backward);
}

static LogicalResult maxPool3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return maxPool(v, op::max_pool3d_with_indices_backward);
}

/// Without a stride windows stand side by side.
static Arg strideOf(Vjp &v) {
  return v.in.list("stride").empty() ? v.arg("kernel_size") : v.arg("stride");
}

static LogicalResult avgPool(Vjp &v, StringRef backward) {
  v.set("self",
        v.call(backward,
               {v.grad(), shapeOnly(v, v.value("self")), v.arg("kernel_size"),
                strideOf(v), v.arg("padding"), v.arg("ceil_mode"),
                v.arg("count_include_pad"), v.arg("divisor_override")}));
  return v.done();
}

static LogicalResult avgPool2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return avgPool(v, op::avg_pool2d_backward);
}

static LogicalResult avgPool3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return avgPool(v, op::avg_pool3d_backward);
}

/// The list [first, number of `param`].
static Arg with(Vjp &v, int64_t first, ParamRef param) {
  std::vector<Arg> own = v.in.list(param);
  return Arg({Arg(first), own.empty() ? Arg(first) : own.front()});
}

static Value addDimension(Vjp &v, Value tensor) {
  return v.call(op::unsqueeze, {tensor, -2});
}

static LogicalResult avgPool1d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  bool side = v.in.list("stride").empty();
  Value gradient = v.call(op::avg_pool2d_backward,
                          {addDimension(v, v.grad()),
                           addDimension(v, shapeOnly(v, v.value("self"))),
                           with(v, 1, "kernel_size"),
                           with(v, 1, side ? "kernel_size" : "stride"),
                           with(v, 0, "padding"), v.arg("ceil_mode"),
                           v.arg("count_include_pad"), Arg()});
  v.set("self", v.call(op::squeeze_dim, {gradient, -2}));
  return v.done();
}

static LogicalResult maxPool1d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  bool side = v.in.list("stride").empty();
  Value gradient = v.call(op::max_pool2d_with_indices_backward,
                          {addDimension(v, v.grad()),
                           addDimension(v, shapeOnly(v, v.value("self"))),
                           with(v, 1, "kernel_size"),
                           with(v, 1, side ? "kernel_size" : "stride"),
                           with(v, 0, "padding"), with(v, 1, "dilation"),
                           v.arg("ceil_mode"), addDimension(v, v.result(1))});
  v.set("self", v.call(op::squeeze_dim, {gradient, -2}));
  return v.done();
}

//===----------------------------------------------------------------------===//
// Windows from the sizes
//===----------------------------------------------------------------------===//

static LogicalResult adaptiveAverage(Vjp &v, StringRef backward) {
  v.set("self", v.call(backward, {v.grad(), shapeOnly(v, v.value("self"))}));
  return v.done();
}

static LogicalResult adaptiveAvgPool2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return adaptiveAverage(v, op::_adaptive_avg_pool2d_backward);
}

static LogicalResult adaptiveAvgPool3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return adaptiveAverage(v, op::_adaptive_avg_pool3d_backward);
}

static LogicalResult adaptiveAvgPool1d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value gradient = v.call(op::_adaptive_avg_pool2d_backward,
                          {addDimension(v, v.grad()),
                           addDimension(v, shapeOnly(v, v.value("self")))});
  v.set("self", v.call(op::squeeze_dim, {gradient, -2}));
  return v.done();
}

static LogicalResult adaptiveMaximum(Vjp &v, StringRef backward) {
  if (v.grad())
    v.set("self", v.call(backward, {v.grad(), shapeOnly(v, v.value("self")),
                                    v.result(1)}));
  return v.done();
}

static LogicalResult adaptiveMaxPool2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return adaptiveMaximum(v, op::adaptive_max_pool2d_backward);
}

static LogicalResult adaptiveMaxPool3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return adaptiveMaximum(v, op::adaptive_max_pool3d_backward);
}

/// "aten.fractional_max_pool2d.default": the windows are random, their maxima
/// are known.
static LogicalResult fractionalMaximum(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  StringRef name = op.getInfo().torchName;
  name.consume_back(".default");
  v.set("self",
        v.call((name + "_backward.default").str(),
               {v.grad(), shapeOnly(v, v.value("self")), v.arg("kernel_size"),
                v.arg("output_size"), v.result(1)}));
  return v.done();
}

/// The indices count along the one dimension, as they do in the flat plane of
/// a single row.
static LogicalResult adaptiveMaxPool1d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  Value gradient = v.call(op::adaptive_max_pool2d_backward,
                          {addDimension(v, v.grad()),
                           addDimension(v, shapeOnly(v, v.value("self"))),
                           addDimension(v, v.result(1))});
  v.set("self", v.call(op::squeeze_dim, {gradient, -2}));
  return v.done();
}

const VjpFn vjps::maxPool1d = ::maxPool1d;
const VjpFn vjps::maxPool2d = ::maxPool2d;
const VjpFn vjps::maxPool3d = ::maxPool3d;
const VjpFn vjps::avgPool1d = ::avgPool1d;
const VjpFn vjps::avgPool2d = ::avgPool2d;
const VjpFn vjps::avgPool3d = ::avgPool3d;
const VjpFn vjps::adaptiveAvgPool2d = ::adaptiveAvgPool2d;
const VjpFn vjps::adaptiveAvgPool3d = ::adaptiveAvgPool3d;
const VjpFn vjps::adaptiveAvgPool1d = ::adaptiveAvgPool1d;
const VjpFn vjps::adaptiveMaxPool1d = ::adaptiveMaxPool1d;
const VjpFn vjps::adaptiveMaxPool2d = ::adaptiveMaxPool2d;
const VjpFn vjps::adaptiveMaxPool3d = ::adaptiveMaxPool3d;
const VjpFn vjps::fractionalMaximum = ::fractionalMaximum;
