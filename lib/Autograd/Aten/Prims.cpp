// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of ops of namespace `prims` that PyTorch's backend leaves, and of
// dropout. Dropout keeps its mask as a result only in the form
// `native_dropout`; the others are differentiated where they are the identity,
// and must be decomposed where they draw.

#include "Common.h"
#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static void pass(Vjp &v) { v.set(0u, v.grad()); }

/// The backward op wants indices, which the offsets give.
static void maxPoolWithOffsets(Vjp &v) {
  if (!v.needs("self") || !v.grad(0))
    return;
  Value self = v.value("self");
  std::vector<Arg> all = v.b.sizes(self).getList().vec();
  std::vector<Arg> spatial(all.end() - 2, all.end());
  Value indices =
      v.call("prims._low_memory_max_pool_offsets_to_indices.default",
             {v.result(1), v.arg("kernel_size"), spatial, v.arg("stride"),
              v.arg("padding"), v.arg("dilation")});
  v.set("self", v.call(op::max_pool2d_with_indices_backward,
                       {v.grad(0), shapeOnly(v, self), v.arg("kernel_size"),
                        v.arg("stride"), v.arg("padding"), v.arg("dilation"),
                        v.arg("ceil_mode"), indices}));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static void nativeDropout(Vjp &v) {
  if (!v.needs("input") || !v.grad(0))
    return;
  double p = v.in.number("p").value_or(0);
  bool trains = v.in.boolean("train").value_or(true);
  double scale = !trains ? 1 : p == 1 ? 0 : 1 / (1 - p);
  v.set("input",
        v.call(op::native_dropout_backward, {v.grad(0), v.result(1), scale}));
}

static void nativeDropoutBackward(Vjp &v) {
  if (v.needs("grad_output"))
    v.set("grad_output", v.call(op::native_dropout_backward,
                                {v.grad(), v.arg("mask"), v.arg("scale")}));
}

static bool refuseRandom(Vjp &v) {
  if (!v.in.getOp().isRandom())
    return false;
  v.b.error("a random mask that is no result of the op has no gradient; "
            "decompose the op first");
  return true;
}

static void dropout(Vjp &v) {
  if (!refuseRandom(v))
    v.set("input", v.grad());
}

/// In training the slope is random, otherwise it is the mean of its bounds.
static void rrelu(Vjp &v) {
  if (v.in.boolean("training").value_or(false)) {
    refuseRandom(v);
    return;
  }
  double slope =
      (v.in.number("lower").value_or(0) + v.in.number("upper").value_or(0)) / 2;
  v.set("self", v.call(op::leaky_relu_backward,
                       {v.grad(), v.value("self"), slope, false}));
}

const VjpFn vjps::primsConvert = vjpAny<pass>;
const VjpFn vjps::maxPoolWithOffsets = vjp<::maxPoolWithOffsets>;
const VjpFn vjps::nativeDropout = vjp<::nativeDropout>;
const VjpFn vjps::nativeDropoutBackward = vjp<::nativeDropoutBackward>;
const VjpFn vjps::dropout = vjp<::dropout>;
const VjpFn vjps::rrelu = vjp<::rrelu>;
