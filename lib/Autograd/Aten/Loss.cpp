// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of losses. All have a `reduction`: 0 gives an element a sample, 1 their
// mean, 2 their sum; the gradient of a mean is divided by their number. A loss
// of a difference has the same gradient for the target as for the input, but
// for the sign. Class weights have no gradient, and a class number that is
// ignored gives none (the backward ops see to it).

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

namespace {
enum Reduction { kNone = 0, kMean = 1, kSum = 2 };
} // namespace

//===----------------------------------------------------------------------===//
// Losses with a backward op
//===----------------------------------------------------------------------===//

/// Sets both gradients of a loss of `self - target`.
static LogicalResult setDifference(Vjp &v, Value gradient) {
  if (v.needs("self"))
    v.set("self", gradient);
  if (v.needs("target"))
    v.set("target", v.neg(gradient));
  return v.done();
}

static LogicalResult mseLoss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return setDifference(
      v, v.call(op::mse_loss_backward, {v.grad(), v.arg("self"),
                                        v.arg("target"), v.arg("reduction")}));
}

static LogicalResult smoothL1Loss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return setDifference(v, v.call(op::smooth_l1_loss_backward,
                                 {v.grad(), v.arg("self"), v.arg("target"),
                                  v.arg("reduction"), v.arg("beta")}));
}

static LogicalResult huberLoss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return setDifference(v, v.call(op::huber_loss_backward,
                                 {v.grad(), v.arg("self"), v.arg("target"),
                                  v.arg("reduction"), v.arg("delta")}));
}

/// Of the log-probabilities only the shape is read. The sum of weights depends
/// on the labels alone.
static LogicalResult nll(Vjp &v, StringRef backward) {
  v.endsAt(1);
  if (!v.grad())
    return v.done();
  v.set("self",
        v.call(backward, {v.grad(), shapeOnly(v, v.value("self")),
                          v.arg("target"), v.arg("weight"), v.arg("reduction"),
                          v.arg("ignore_index"), v.result(1)}));
  return v.done();
}

static LogicalResult nllLoss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return nll(v, op::nll_loss_backward);
}

static LogicalResult nllLoss2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return nll(v, op::nll_loss2d_backward);
}

//===----------------------------------------------------------------------===//
// Losses written out
//===----------------------------------------------------------------------===//

/// The gradient that arrives at one element of the loss: divided by their
/// number for a mean. `elements` has the shape of the loss before reduction.
static Value perElement(Vjp &v, Value elements) {
  if (v.in.integer("reduction") != kMean)
    return v.grad();
  return v.div(v.grad(), v.b.numel(elements));
}

/// min(x, 0) - log(1 + exp(-|x|)): nothing overflows.
static Value logSigmoid(Vjp &v, Value x) {
  Value magnitude = v.call(op::abs, {x});
  Value tail = v.call(op::exp, {v.neg(magnitude)});
  return v.sub(v.call(op::clamp_max, {x, 0}), v.call(op::log1p, {tail}));
}

static Value weighted(Vjp &v, Value gradient) {
  return v.in.isNone("weight") ? gradient : v.mul(gradient, v.arg("weight"));
}

static LogicalResult l1Loss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value sign = v.call(op::sign, {v.sub(v.arg("self"), v.arg("target"))});
  return setDifference(v, v.mul(sign, perElement(v, sign)));
}

/// d/dt of -(t log p + (1 - t) log(1 - p)).
static LogicalResult binaryCrossEntropy(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), target = v.value("target");
  if (v.needs("self"))
    v.set("self", v.call(op::binary_cross_entropy_backward,
                         {v.grad(), self, target, v.arg("weight"),
                          v.arg("reduction")}));
  if (v.needs("target")) {
    Value odds =
        v.sub(v.call(op::log1p, {v.neg(self)}), v.call(op::log, {self}));
    v.set("target", weighted(v, v.mul(odds, perElement(v, target))));
  }
  return v.done();
}

/// The loss of one element, with weight w of the positive class, is
/// (1 - t) x - (1 - t + w t) log sigmoid(x).
static LogicalResult binaryCrossEntropyWithLogits(CallOp op,
                                                  VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), target = v.value("target");
  bool hasPositive = !v.in.isNone("pos_weight");
  if (v.needs("self")) {
    Value sigmoid = v.call(op::sigmoid, {self});
    Value slope;
    if (hasPositive) {
      Value positive = v.mul(target, v.arg("pos_weight"));
      Value factor = v.sub(v.add(positive, 1.0), target);
      slope = v.sub(v.mul(factor, sigmoid), positive);
    } else {
      slope = v.sub(sigmoid, target);
    }
    v.set("self", weighted(v, v.mul(slope, perElement(v, slope))));
  }
  if (v.needs("target")) {
    Value slope = v.neg(self);
    if (hasPositive) {
      Value positive = v.mul(logSigmoid(v, self), v.arg("pos_weight"));
      slope = v.sub(logSigmoid(v, slope), positive);
    }
    v.set("target", weighted(v, v.mul(slope, perElement(v, target))));
  }
  if (v.needs("pos_weight")) {
    Value loss = v.neg(v.mul(target, logSigmoid(v, self)));
    v.set("pos_weight", weighted(v, v.mul(loss, perElement(v, loss))));
  }
  return v.done();
}

/// t (log t - x); with `log_target` exp(t) (t - x).
static LogicalResult klDiv(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), target = v.value("target");
  bool isLog = v.in.boolean("log_target").value_or(false);
  Value share = isLog ? v.call(op::exp, {target}) : target;
  Value elements = self;
  if (v.needs("target") || self.getType() != target.getType())
    elements = v.sub(target, self);
  Value arriving = perElement(v, elements);
  if (v.needs("self")) {
    Value slope = v.neg(v.mul(share, arriving));
    // A target that stands for several inputs gives each its slope.
    if (slope && elements && aten::shapeOf(slope) != aten::shapeOf(elements))
      slope = v.call(op::expand, {slope, v.b.sizes(elements)});
    v.set("self", slope);
  }
  if (v.needs("target")) {
    Value slope = isLog ? v.mul(share, v.add(elements, 1.0))
                        : v.sub(v.add(v.call(op::log, {target}), 1.0), self);
    v.set("target", v.mul(slope, arriving));
  }
  return v.done();
}

/// log(1 + exp(-t x)).
static LogicalResult softMarginLoss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), target = v.value("target");
  Value share = v.call(op::sigmoid, {v.neg(v.mul(self, target))});
  Value slope = v.neg(v.mul(share, perElement(v, share)));
  if (v.needs("self"))
    v.set("self", v.mul(slope, target));
  if (v.needs("target"))
    v.set("target", v.mul(slope, self));
  return v.done();
}

/// Of the log-probabilities, by the paths that the forward has counted.
static LogicalResult ctcLoss(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad(0) || !v.needs("log_probs"))
    return v.done();
  bool isList = op.getSchema().overload == "default";
  v.set("log_probs",
        v.call(isList ? op::_ctc_loss_backward : op::_ctc_loss_backward_Tensor,
               {v.grad(0), v.arg("log_probs"), v.arg("targets"),
                v.arg("input_lengths"), v.arg("target_lengths"), v.result(0),
                v.result(1), v.arg("blank"), v.arg("zero_infinity")}));
  return v.done();
}

const VjpFn vjps::mseLoss = ::mseLoss;
const VjpFn vjps::l1Loss = ::l1Loss;
const VjpFn vjps::smoothL1Loss = ::smoothL1Loss;
const VjpFn vjps::huberLoss = ::huberLoss;
const VjpFn vjps::nllLoss = ::nllLoss;
const VjpFn vjps::nllLoss2d = ::nllLoss2d;
const VjpFn vjps::binaryCrossEntropy = ::binaryCrossEntropy;
const VjpFn vjps::binaryCrossEntropyWithLogits = ::binaryCrossEntropyWithLogits;
const VjpFn vjps::klDiv = ::klDiv;
const VjpFn vjps::softMarginLoss = ::softMarginLoss;
const VjpFn vjps::ctcLoss = ::ctcLoss;
