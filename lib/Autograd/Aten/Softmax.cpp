// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of softmax and its logarithm: from the result alone, so that the input
// need not be saved. With y the result and g what arrives they are
// y (g - sum(g y)) and g - exp(y) sum(g). Their backward ops take the input's
// type, which is narrower than the result's where the forward widened it.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult fromResult(Vjp &v, StringRef backward, Type type) {
  v.set("self",
        v.call(backward, {v.grad(), v.result(), v.arg("dim"), Arg(type)}));
  return v.done();
}

static LogicalResult softmax(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return fromResult(v, op::_softmax_backward_data, elementOf(v.value("self")));
}

static LogicalResult logSoftmax(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return fromResult(v, op::_log_softmax_backward_data,
                    elementOf(v.value("self")));
}

/// A row without a finite element is 0 in the result, so it has no gradient.
static LogicalResult safeSoftmax(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return fromResult(v, op::_softmax_backward_data, elementOf(v.result()));
}

const VjpFn vjps::softmax = ::softmax;
const VjpFn vjps::logSoftmax = ::logSoftmax;
const VjpFn vjps::safeSoftmax = ::safeSoftmax;
