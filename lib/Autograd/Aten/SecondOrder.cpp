// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of backward ops, for gradients of gradients.
//
// Where the forward is linear its backward is too, and the backward's VJP is
// the forward again: average pooling, resampling, padding, embedding. A maximum
// is linear once its indices are fixed. For softmax, losses and convolution the
// backward also depends on what the forward read. With z what arrives:
//   softmax      y (g - sum(g y))     dg = y (z - sum(z y))
//                                     dy = z (g - sum(g y)) - g sum(z y)
//   log softmax  g - exp(y) sum(g)    dg = z - sum(z exp(y))
//                                     dy = -z exp(y) sum(g)
//   loss         n g l'(x - t)        dg = n l'(x - t) z, summed
//                                     dx = n g l''(x - t) z,  dt = -dx
// Backwards of norms are taken apart before (Decompose); those of attention are
// in AttentionBackward.cpp.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

//===----------------------------------------------------------------------===//
// Linear backwards
//===----------------------------------------------------------------------===//

/// "aten.avg_pool2d_backward.default" gives "aten.avg_pool2d" + `suffix` +
/// ".default".
static std::string forwardName(Vjp &v, StringRef suffix = "") {
  StringRef name = v.in.getOp().getInfo().torchName;
  auto [packet, rest] = name.split("_backward");
  return (packet + suffix + rest).str();
}

static LogicalResult averageBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("grad_output",
        v.call(forwardName(v),
               {v.grad(), v.arg("kernel_size"), v.arg("stride"),
                v.arg("padding"), v.arg("ceil_mode"),
                v.arg("count_include_pad"), v.arg("divisor_override")}));
  v.setNone(optional("self"));
  return v.done();
}

/// Dimensions of the plane or volume of a channel.
static int64_t spatialRank(Vjp &v) {
  return StringRef(v.in.getOp().getInfo().torchName).contains("3d") ? 3 : 2;
}

static LogicalResult adaptiveAverageBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  std::vector<Arg> sizes;
  for (int64_t dim = -spatialRank(v); dim < 0; ++dim)
    sizes.push_back(v.b.size(v.value("grad_output"), dim));
  v.set("grad_output", v.call(forwardName(v), {v.grad(), sizes}));
  v.setNone(optional("self"));
  return v.done();
}

/// The indices count in the flat plane or volume.
static LogicalResult maximumBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value indices = v.value("indices");
  auto flat = [&](Value tensor) {
    std::vector<Arg> sizes;
    for (int64_t dim = 0; dim < rankOf(tensor) - spatialRank(v); ++dim)
      sizes.push_back(v.b.size(tensor, dim));
    sizes.emplace_back(-1);
    return v.call(op::view, {tensor, sizes});
  };
  Value picked = v.call(op::gather, {flat(v.grad()), -1, flat(indices)});
  v.set("grad_output", v.call(op::view, {picked, v.b.sizes(indices)}));
  v.setNone(optional("self"));
  return v.done();
}

static LogicalResult upsampleBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  std::vector<Arg> args = {v.grad(), v.arg("output_size")};
  for (const char *param :
       {"align_corners", "scales", "scales_d", "scales_h", "scales_w"})
    if (op.getSchema().find(param) >= 0)
      args.push_back(v.arg(param));
  v.set("grad_output", v.call(forwardName(v), args));
  return v.done();
}

static LogicalResult padBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("grad_output", v.call(forwardName(v), {v.grad(), v.arg("padding")}));
  v.setNone(optional("self"));
  return v.done();
}

static LogicalResult embeddingBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.in.boolean("scale_grad_by_freq") != false)
    return v.error("no gradient of the gradient of an embedding that is scaled "
                   "by frequency");
  Value indices = v.value("indices");
  Value rows = v.call(op::embedding, {v.grad(), indices});
  int64_t padding = v.in.integer("padding_idx").value_or(-1);
  if (padding >= 0) {
    Value isPadding = v.call(op::eq_Scalar, {indices, padding});
    rows = v.dropWhere(v.call(op::unsqueeze, {isPadding, -1}), rows);
  }
  v.set("grad_output", rows);
  return v.done();
}

static LogicalResult nllBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  SmallVector<Value> results = v.b.callMany(
      forwardName(v, "_forward"), {v.grad(), v.arg("target"), v.arg("weight"),
                                   v.arg("reduction"), v.arg("ignore_index")});
  if (!v.b.failed())
    v.set("grad_output", results[0]);
  // The total weight is a function of the weights alone.
  for (const char *name : {"self", "total_weight"})
    v.setNone(name);
  return v.done();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value sumAlong(Vjp &v, Value tensor) {
  return v.call(op::sum_dim_IntList,
                {tensor, {v.in.integer("dim").value_or(-1)}, true});
}

static LogicalResult softmaxBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value z = v.grad(), g = v.value("grad_output"), y = v.value("output");
  Value sum = sumAlong(v, v.mul(z, y));
  if (v.needs("grad_output"))
    v.set("grad_output", v.mul(y, v.sub(z, sum)));
  if (v.needs("output")) {
    Value rest = v.sub(g, sumAlong(v, v.mul(g, y)));
    v.set("output", v.sub(v.mul(z, rest), v.mul(g, sum)));
  }
  return v.done();
}

static LogicalResult logSoftmaxBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value z = v.grad();
  Value weighted = v.mul(z, v.call(op::exp, {v.value("output")}));
  if (v.needs("grad_output"))
    v.set("grad_output", v.sub(z, sumAlong(v, weighted)));
  if (v.needs("output"))
    v.set("output",
          v.neg(v.mul(weighted, sumAlong(v, v.value("grad_output")))));
  return v.done();
}

//===----------------------------------------------------------------------===//
// Losses of a difference
//===----------------------------------------------------------------------===//

/// 1 where |x - t| < `width`, else 0.
static Value isNear(Vjp &v, ParamRef width) {
  Value difference = v.sub(v.arg("self"), v.arg("target"));
  Value magnitude = v.call(op::abs, {difference});
  Value result = v.call(op::lt_Scalar, {magnitude, v.arg(width)});
  return castTo(v.b, result, elementOf(v.grad()));
}

/// The backward itself with z in place of the gradient gives dg. `width` is the
/// name of the parameter that says where the loss is quadratic, null for
/// everywhere.
static LogicalResult lossBackward(CallOp op, VjpContext &context,
                                  const char *width) {
  Vjp v(op, context);
  if (v.needs("grad_output")) {
    std::vector<Arg> args = {v.grad(), v.arg("self"), v.arg("target"),
                             v.arg("reduction")};
    if (width)
      args.push_back(v.arg(width));
    v.set("grad_output", v.call(op.getInfo().torchName, args));
  }
  if (!v.needs("self") && !v.needs("target"))
    return v.done();
  Value second = v.mul(v.grad(), v.value("grad_output"));
  if (!width)
    second = v.mul(second, 2.0);
  else
    second = v.mul(second, isNear(v, width));
  if (width == StringRef("beta"))
    second = v.div(second, v.arg(width));
  if (v.in.integer("reduction") == 1)
    second = v.div(second, v.b.numel(v.grad()));
  if (v.needs("self"))
    v.set("self", second);
  if (v.needs("target"))
    v.set("target", v.neg(second));
  return v.done();
}

static LogicalResult mseBackward(CallOp op, VjpContext &context) {
  return lossBackward(op, context, nullptr);
}

static LogicalResult smoothL1Backward(CallOp op, VjpContext &context) {
  return lossBackward(op, context, "beta");
}

static LogicalResult huberBackward(CallOp op, VjpContext &context) {
  return lossBackward(op, context, "delta");
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// `torchName` with the convolution's parameters; `lead` is what comes first.
static SmallVector<Value> convolve(Vjp &v, StringRef torchName,
                                   std::vector<Arg> args,
                                   ArrayRef<Arg> last = {}) {
  for (const char *param : {"stride", "padding", "dilation", "transposed",
                            "output_padding", "groups"})
    args.push_back(v.arg(param));
  args.insert(args.end(), last.begin(), last.end());
  return v.b.callMany(torchName, args);
}

/// The bias gradient's gradient, one number a channel, in the shape of g.
static Value perChannel(Vjp &v, Value z) {
  Value g = v.value("grad_output");
  std::vector<Arg> sizes(rankOf(g), Arg(1));
  sizes[1] = v.b.size(g, 1);
  z = v.call(op::view, {z, sizes});
  return v.call(op::expand, {z, v.b.sizes(g)});
}

/// With zi, zw, zb what arrives at the gradients of input, weight and bias:
/// each of them is a product of two of output gradient, input and weight, so
///   d grad_output = conv(zi, weight) + conv(input, zw) + zb
///   d input = gradient of the input for weight zw
///   d weight = gradient of the weight for input zi
static LogicalResult convolutionBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value g = v.value("grad_output"), input = v.value("input"),
        weight = v.value("weight");
  Value zi = v.grad(0), zw = v.grad(1), zb = v.grad(2), sum;
  auto addTo = [&](Value term) { sum = sum ? v.add(sum, term) : term; };
  auto forward = [&](Value x, Value w) {
    SmallVector<Value> results = convolve(v, op::convolution, {x, w, Arg()});
    addTo(results.empty() ? Value() : results[0]);
  };
  auto backward = [&](const char *param, unsigned which, Value x, Value w) {
    SmallVector<Value> results =
        convolve(v, op::convolution_backward, {g, x, w, Arg()},
                 {{which == 0, which == 1, false}});
    v.set(param, results.empty() ? Value() : results[which]);
  };
  if (v.needs("grad_output")) {
    if (zi)
      forward(zi, weight);
    if (zw)
      forward(input, zw);
    if (zb)
      addTo(perChannel(v, zb));
    v.set("grad_output", sum);
  }
  if (v.needs("input") && zw)
    backward("input", 0, shapeOnly(v, input), zw);
  else
    v.setNone("input");
  if (v.needs("weight") && zi)
    backward("weight", 1, zi, shapeOnly(v, weight));
  else
    v.setNone("weight");
  return v.done();
}

const VjpFn vjps::averageBackward = ::averageBackward;
const VjpFn vjps::adaptiveAverageBackward = ::adaptiveAverageBackward;
const VjpFn vjps::maximumBackward = ::maximumBackward;
const VjpFn vjps::upsampleBackward = ::upsampleBackward;
const VjpFn vjps::padBackward = ::padBackward;
const VjpFn vjps::embeddingBackward = ::embeddingBackward;
const VjpFn vjps::nllBackward = ::nllBackward;
const VjpFn vjps::softmaxBackward = ::softmaxBackward;
const VjpFn vjps::logSoftmaxBackward = ::logSoftmaxBackward;
const VjpFn vjps::mseBackward = ::mseBackward;
const VjpFn vjps::smoothL1Backward = ::smoothL1Backward;
const VjpFn vjps::huberBackward = ::huberBackward;
const VjpFn vjps::convolutionBackward = ::convolutionBackward;
