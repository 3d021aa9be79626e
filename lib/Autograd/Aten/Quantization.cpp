// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of fake quantization: the straight-through estimator. Rounding counts as
// the identity inside of the range, and outside of it no gradient passes: the
// op that rounds keeps a mask for that. Of learned grids scale and zero point
// have gradients too, by PyTorch's op. What that is, and what the ops compute,
// is in lib/Decompose/Quantization.cpp.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static void fakeQuantize(Vjp &v) {
  if (v.needs("self") && v.grad())
    v.set("self", v.mul(v.grad(), v.result(1)));
}

/// What the observer notes is no function of `self` that has a gradient.
static void observedQuantize(Vjp &v) {
  fakeQuantize(v);
  for (unsigned i = 2; i < 6; ++i)
    v.endsAt(i);
}

static void learnedQuantize(Vjp &v) {
  SmallVector<Arg> args = {v.grad(), v.arg("self"), v.arg("scale"),
                           v.arg("zero_point")};
  bool perChannel = v.in.integer(optional("axis")).has_value();
  if (perChannel)
    args.push_back(v.arg("axis"));
  args.append({v.arg("quant_min"), v.arg("quant_max"), v.arg("grad_factor")});
  SmallVector<Value> gradients = v.b.callMany(
      perChannel ? op::_fake_quantize_learnable_per_channel_affine_backward
                 : op::_fake_quantize_learnable_per_tensor_affine_backward,
      args);
  if (v.b.failed())
    return;
  v.set("self", gradients[0]);
  v.set("scale", gradients[1]);
  v.set("zero_point", gradients[2]);
}

const VjpFn vjps::fakeQuantize = vjp<::fakeQuantize>;
const VjpFn vjps::observedQuantize = vjp<::observedQuantize>;
const VjpFn vjps::learnedQuantize = vjp<::learnedQuantize>;
