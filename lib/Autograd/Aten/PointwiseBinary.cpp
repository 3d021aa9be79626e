// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of elementwise ops with two or more operands. `Vjp::set` undoes
// broadcasting and type promotion, so a formula here is that of one element.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static LogicalResult mulTensor(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.mul(v.grad(), v.arg("other")));
  if (v.needs("other"))
    v.set("other", v.mul(v.grad(), v.arg("self")));
  return v.done();
}

VjpTable autograd::pointwiseVjps() {
  static constexpr VjpRule rules[] = {
      {"aten.mul.Tensor", mulTensor},
  };
  return rules;
}
