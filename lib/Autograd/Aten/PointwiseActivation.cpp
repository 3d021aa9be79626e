// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of activation functions: each has a backward op of its own. Those of
// relu, hardtanh, leaky_relu, sigmoid and tanh read the result, which the next
// op mostly keeps anyway, the others the input. Gradients of the backward ops
// are in ActivationBackward.cpp.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

/// backward(gradient, self)
static Value ofInput(Vjp &v, StringRef name) {
  return v.un2(name, v.grad(), v.value("self"));
}
static Value ofResult(Vjp &v, StringRef name) {
  return v.un2(name, v.grad(), v.result());
}

static Value sigmoid(Vjp &v) { return ofResult(v, "sigmoid_backward"); }
static Value tanh(Vjp &v) { return ofResult(v, "tanh_backward"); }
static Value silu(Vjp &v) { return ofInput(v, "silu_backward"); }
static Value mish(Vjp &v) { return ofInput(v, "mish_backward"); }
static Value hardswish(Vjp &v) { return ofInput(v, "hardswish_backward"); }
static Value hardsigmoid(Vjp &v) { return ofInput(v, "hardsigmoid_backward"); }

static Value relu(Vjp &v) {
  return v.call(op::threshold_backward, {v.grad(), v.result(), 0});
}
static Value threshold(Vjp &v) {
  return v.call(op::threshold_backward,
                {v.grad(), v.value("self"), v.arg("threshold")});
}
static Value hardtanh(Vjp &v) {
  return v.call(op::hardtanh_backward,
                {v.grad(), v.result(), v.arg("min_val"), v.arg("max_val")});
}
static Value relu6(Vjp &v) {
  return v.call(op::hardtanh_backward, {v.grad(), v.result(), 0, 6});
}
static Value leakyRelu(Vjp &v) {
  // With a negative slope the result does not tell the sign of the input.
  bool ofResult = v.in.number("negative_slope").value_or(0.01) >= 0;
  return v.call(op::leaky_relu_backward,
                {v.grad(), ofResult ? v.result() : v.value("self"),
                 v.arg("negative_slope"), ofResult});
}
static Value hardshrink(Vjp &v) {
  return v.call(op::hardshrink_backward,
                {v.grad(), v.value("self"), v.arg("lambd")});
}
static Value softshrink(Vjp &v) {
  return v.call(op::softshrink_backward,
                {v.grad(), v.value("self"), v.arg("lambd")});
}
static Value gelu(Vjp &v) {
  return v.call(op::gelu_backward, {v.grad(), v.value("self")},
                {{"approximate", v.arg("approximate")}});
}
static Value softplus(Vjp &v) {
  return v.call(op::softplus_backward,
                {v.grad(), v.value("self"), v.arg("beta"), v.arg("threshold")});
}

static Value eluWith(Vjp &v, const Arg &alpha, const Arg &scale,
                     const Arg &inputScale) {
  return v.call(op::elu_backward,
                {v.grad(), alpha, scale, inputScale, false, v.value("self")});
}
static Value elu(Vjp &v) {
  return eluWith(v, v.arg("alpha"), v.arg("scale"), v.arg("input_scale"));
}
static Value selu(Vjp &v) {
  return eluWith(v, 1.6732632423543772, 1.0507009873554805, 1);
}
static Value celu(Vjp &v) {
  double alpha = v.in.number("alpha").value_or(1);
  return eluWith(v, alpha, 1, 1 / alpha);
}

static Value glu(Vjp &v) {
  return v.call(op::glu_backward, {v.grad(), v.value("self"), v.arg("dim")});
}

/// 1 - sigmoid(x) = sigmoid(-x), without cancellation. Of 16-bit floats in f32,
/// to round once.
static Value logSigmoid(Vjp &v) {
  Value x = v.value("self");
  if (aten::elementOf(x).getIntOrFloatBitWidth() < 32)
    x = castTo(v.b, x, v.b.getBuilder().getF32Type());
  return v.mul(v.grad(), v.un("sigmoid", v.neg(x)));
}
/// The buffer is a result on some devices only.
static Value logSigmoidForward(Vjp &v) {
  if (!v.grad())
    return {};
  if (!isa<RankedTensorType>(v.result(1).getType()))
    return logSigmoid(v);
  return v.call(op::log_sigmoid_backward,
                {v.grad(), v.value("self"), v.result(1)});
}

static void prelu(Vjp &v) {
  SmallVector<Value> gradients =
      v.b.callMany(op::_prelu_kernel_backward,
                   {v.grad(), v.value("self"), v.value("weight")});
  if (v.b.failed())
    return;
  v.set("self", gradients[0]);
  v.set("weight", gradients[1]);
}

const VjpFn vjps::sigmoid = vjpOfSelf<::sigmoid>;
const VjpFn vjps::tanh = vjpOfSelf<::tanh>;
const VjpFn vjps::relu = vjpOfSelf<::relu>;
const VjpFn vjps::relu6 = vjpOfSelf<::relu6>;
const VjpFn vjps::threshold = vjpOfSelf<::threshold>;
const VjpFn vjps::hardtanh = vjpOfSelf<::hardtanh>;
const VjpFn vjps::hardswish = vjpOfSelf<::hardswish>;
const VjpFn vjps::hardsigmoid = vjpOfSelf<::hardsigmoid>;
const VjpFn vjps::leakyRelu = vjpOfSelf<::leakyRelu>;
const VjpFn vjps::hardshrink = vjpOfSelf<::hardshrink>;
const VjpFn vjps::softshrink = vjpOfSelf<::softshrink>;
const VjpFn vjps::silu = vjpOfSelf<::silu>;
const VjpFn vjps::gelu = vjpOfSelf<::gelu>;
const VjpFn vjps::mish = vjpOfSelf<::mish>;
const VjpFn vjps::softplus = vjpOfSelf<::softplus>;
const VjpFn vjps::elu = vjpOfSelf<::elu>;
const VjpFn vjps::selu = vjpOfSelf<::selu>;
const VjpFn vjps::celu = vjpOfSelf<::celu>;
const VjpFn vjps::glu = vjpOfSelf<::glu>;
const VjpFn vjps::logSigmoid = vjpOfSelf<::logSigmoid>;
const VjpFn vjps::logSigmoidForward = vjpOfSelf<::logSigmoidForward>;
const VjpFn vjps::prelu = vjp<::prelu>;
