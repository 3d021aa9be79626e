// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax, losses of class numbers, and their gradients as pointwise ops and
// reductions: what stays of a row are its largest element and a sum, so that
// the gradient needs the logits and two numbers a row.
//
// The gradient of nll_loss is written with a comparison of class numbers
// instead of a scatter, so that it, the gradient of log_softmax and the
// recomputed logarithms are one loop.

#include "CoreRules.h"
#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value sumAlong(Rewrite &c, Value x) {
  return c.b.call("aten.sum.dim_IntList", {x, {c.r.arg("dim")}, true});
}

/// x - max(x) along the dimension.
static Value shifted(Rewrite &c) {
  Value x = widen(c.b, c.r.value("self"));
  // Nothing has no largest element.
  if (llvm::is_contained(shapeOf(x), 0))
    return x;
  // A scalar has one class; amax over no dimension would be over all.
  Value largest = c.b.call("aten.amax.default", {x, {c.r.arg("dim")}, true});
  return c.b.call("aten.sub.Tensor", {x, largest});
}

static Value softmax(Rewrite &c) {
  Value powers = c.b.call("aten.exp.default", {shifted(c)});
  return asResult(c,
                  c.b.call("aten.div.Tensor", {powers, sumAlong(c, powers)}));
}

static Value logSoftmax(Rewrite &c) {
  Value x = shifted(c);
  Value sum = sumAlong(c, c.b.call("aten.exp.default", {x}));
  Value log = c.b.call("aten.log.default", {sum});
  return asResult(c, c.b.call("aten.sub.Tensor", {x, log}));
}

static Value softmaxBackward(Rewrite &c) {
  Value dy = widen(c.b, c.r.value("grad_output"));
  Value y = widen(c.b, c.r.value("output"));
  Value weighted = c.b.call("aten.mul.Tensor", {dy, y});
  Value back = c.b.call("aten.mul.Tensor", {y, sumAlong(c, weighted)});
  return asResult(c, c.b.call("aten.sub.Tensor", {weighted, back}));
}

static Value logSoftmaxBackward(Rewrite &c) {
  Value dy = widen(c.b, c.r.value("grad_output"));
  Value y = widen(c.b, c.r.value("output"));
  Value powers = c.b.call("aten.exp.default", {y});
  Value back = c.b.call("aten.mul.Tensor", {powers, sumAlong(c, dy)});
  return asResult(c, c.b.call("aten.sub.Tensor", {dy, back}));
}

//===----------------------------------------------------------------------===//
// nll_loss
//===----------------------------------------------------------------------===//

namespace {

/// A loss of class numbers; classes are dimension 1, or 0 of a vector.
struct ClassLoss {
  CallBuilder &b;
  Value input, target, weight;
  int64_t reduction, classDim;
  Arg ignored;

  explicit ClassLoss(Rewrite &c)
      : b(c.b), input(c.r.value("self")), target(c.r.value("target")),
        weight(c.r.value("weight")),
        reduction(c.r.integer("reduction").value_or(1)),
        classDim(rankOf(input) == 1 ? 0 : 1), ignored(c.r.arg("ignore_index")) {
    valid = b.call("aten.ne.Scalar", {target, ignored});
    classes = b.call("aten.where.ScalarOther", {valid, target, 0});
  }

  /// The weight of each sample, 0 where it is ignored; with a weight a class.
  Value weights() {
    // One index into the weights for each sample.
    Value flat = b.call("aten.view.default", {classes, {-1}});
    Value picked = b.call("aten.index_select.default", {weight, 0, flat});
    Value own = viewAs(b, picked, b.sizes(target).getList().vec());
    return b.call("aten.where.ScalarOther", {valid, own, 0.0});
  }

  /// The sum of all weights; without them, the number of samples that count,
  /// which follows from the targets alone: it need not be saved.
  Value totalOf(Value weights) {
    Value total = b.call("aten.sum.default", {weight ? weights : valid});
    return castTo(b, total, elementOf(input));
  }

  Value valid, classes;
};

} // namespace

static Values nllForward(Rewrite &c) {
  ClassLoss l(c);
  Value index = l.b.call("aten.unsqueeze.default", {l.classes, l.classDim});
  Value picked = l.b.call("aten.gather.default", {l.input, l.classDim, index});
  picked = l.b.call("aten.squeeze.dim", {picked, l.classDim});
  Value weights = l.weight ? l.weights() : Value();
  if (l.weight)
    picked = l.b.call("aten.mul.Tensor", {picked, weights});
  Value loss = l.b.call("aten.neg.default", {picked});
  loss = l.b.call("aten.where.ScalarOther", {l.valid, loss, 0.0});
  if (l.reduction == 0) {
    Value none = l.b.call("aten.zeros.default", {std::vector<Arg>()},
                          {{"dtype", elementOf(l.input)}});
    return {loss, none};
  }
  Value total = l.totalOf(weights);
  loss = l.b.call("aten.sum.default", {loss});
  if (l.reduction == 1)
    loss = l.b.call("aten.div.Tensor", {loss, total});
  return {loss, total};
}

/// The number of each class, along its dimension.
static Value classNumbers(ClassLoss &l) {
  std::vector<Arg> shape(static_cast<size_t>(rankOf(l.input)), Arg(1));
  Arg count = l.b.size(l.input, l.classDim);
  shape[static_cast<size_t>(l.classDim)] = count;
  Value numbers = l.b.call("aten.arange.default", {count},
                           {{"dtype", elementOf(l.target)}});
  return viewAs(l.b, numbers, shape);
}

static Value nllBackward(Rewrite &c) {
  ClassLoss l(c);
  auto along = [&](Value value) {
    return rankOf(value) + 1 == rankOf(l.input)
               ? l.b.call("aten.unsqueeze.default", {value, l.classDim})
               : value;
  };
  Value scale = c.r.value("grad_output");
  if (l.reduction == 1)
    scale = l.b.call("aten.div.Tensor", {scale, c.r.value("total_weight")});
  if (l.weight)
    scale = l.b.call("aten.mul.Tensor", {l.weights(), scale});
  scale = along(l.b.call("aten.neg.default", {scale}));
  Value isTarget =
      l.b.call("aten.eq.Tensor", {classNumbers(l), along(l.target)});
  // A number that is no class is nobody's target anyway.
  if (l.ignored.getInt().value_or(0) >= 0)
    isTarget = l.b.call("aten.logical_and.default", {isTarget, along(l.valid)});
  return l.b.call("aten.where.ScalarOther", {isTarget, scale, 0.0});
}

const CoreRule units::softmax = {one<::softmax>};
const CoreRule units::logSoftmax = {one<::logSoftmax>};
const CoreRule units::softmaxBackward = {one<::softmaxBackward>};
const CoreRule units::logSoftmaxBackward = {one<::logSoftmaxBackward>};
const CoreRule units::nllForward = {many<::nllForward>};
const CoreRule units::nllBackward = {one<::nllBackward>};
