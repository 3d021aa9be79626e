// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and the losses of classes.
//
// cross_entropy_loss is log_softmax and then
//   class numbers    nll_loss; with label smoothing e, (1 - e) nll + e/C times
//                    the loss against equal probabilities
//   probabilities    - Σ p log q over classes, with p smoothed
// A mean is over the samples that are not ignored, weighted by the weights of
// their classes where there are weights.
//
// nll_loss_nd goes by the number of dimensions: [C] and [N, C] are nll_loss,
// all others are images, [N, C, H, W], if need be with H = 1.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value softmaxOf(Rewrite &c, const char *name) {
  Value self = c.r.value("self");
  if (Type type = c.r.dtype("dtype"))
    self = castTo(c.b, self, type);
  return c.b.call(name, {self, c.r.arg("dim"), false});
}

static Value softmax(Rewrite &c) { return softmaxOf(c, op::_softmax); }

static Value logSoftmax(Rewrite &c) { return softmaxOf(c, op::_log_softmax); }

//===----------------------------------------------------------------------===//
// nll_loss
//===----------------------------------------------------------------------===//

namespace {
/// A loss of classes; `logits` or their logarithms of softmax are in `input`.
struct ClassLoss {
  CallBuilder &b;
  Value input, target, weight;
  int64_t reduction;
  Arg ignored;

  explicit ClassLoss(Rewrite &c)
      : b(c.b), input(c.r.value("self")), target(c.r.value("target")),
        weight(c.r.value("weight")),
        reduction(c.r.integer("reduction").value_or(1)),
        ignored(c.r.arg("ignore_index")) {}

  int64_t classDim() const { return rankOf(input) == 1 ? 0 : 1; }
  Arg classes() const { return b.size(input, classDim()); }
};
} // namespace

static Value forward(ClassLoss &l, const char *name, Value input,
                     Value target) {
  Values results =
      l.b.callMany(name, {input, target, l.weight, l.reduction, l.ignored});
  return results.empty() ? Value() : results.front();
}

static Value nll(ClassLoss &l) {
  int64_t rank = rankOf(l.input);
  if (rank <= 2)
    return forward(l, op::nll_loss_forward, l.input, l.target);
  const char *image = op::nll_loss2d_forward;
  if (rank == 4)
    return forward(l, image, l.input, l.target);
  Arg samples = l.b.size(l.input, 0);
  Arg places = countOf(l.b, l.input, 2, rank);
  Value input = viewAs(l.b, l.input, {samples, l.classes(), Arg(1), places});
  Value target = viewAs(l.b, l.target, {samples, Arg(1), places});
  Value loss = forward(l, image, input, target);
  if (l.reduction != 0 || l.b.failed())
    return loss;
  return viewAs(l.b, loss, l.b.sizes(l.target).getList().vec());
}

static Value nllRule(Rewrite &c) {
  ClassLoss loss(c);
  return nll(loss);
}

//===----------------------------------------------------------------------===//
// cross_entropy_loss
//===----------------------------------------------------------------------===//

/// The weights of classes along the dimension of classes.
static Value alongClasses(ClassLoss &l) {
  std::vector<Arg> sizes(rankOf(l.input), Arg(int64_t(1)));
  sizes[l.classDim()] = l.classes();
  return viewAs(l.b, l.weight, sizes);
}

static Value negative(CallBuilder &b, Value value) {
  return b.call(op::neg, {value});
}

static Value sumOver(CallBuilder &b, Value value, int64_t dim) {
  return b.call(op::sum_dim_IntList, {value, ArrayRef<int64_t>(dim)});
}

/// Divides by a size.
static Value divideBy(CallBuilder &b, Value value, const Arg &size) {
  return b.call(op::div_Scalar, {value, size});
}

/// a · e + k/C, of a value.
static Value smoothed(ClassLoss &l, Value target, double smoothing) {
  Value kept = l.b.call(op::mul_Scalar, {target, 1.0 - smoothing});
  if (std::optional<int64_t> classes = l.classes().getInt())
    return l.b.call(op::add_Scalar,
                    {kept, smoothing / static_cast<double>(*classes)});
  Value share = divideBy(
      l.b,
      l.b.call(op::scalar_tensor, {smoothing}, {{"dtype", elementOf(target)}}),
      l.classes());
  return l.b.call(op::add_Tensor, {kept, share});
}

static Value ofProbabilities(ClassLoss &l, double smoothing) {
  Value target = l.target;
  if (smoothing > 0.0)
    target = smoothed(l, target, smoothing);
  Value product = l.b.call(op::mul_Tensor, {l.input, target});
  if (l.weight)
    product = l.b.call(op::mul_Tensor, {product, alongClasses(l)});
  if (l.b.failed())
    return {};
  if (l.reduction == 0)
    return negative(l.b, sumOver(l.b, product, l.classDim()));
  Value loss = negative(l.b, l.b.call(op::sum, {product}));
  if (l.reduction == 2)
    return loss;
  // The number of samples: all sizes but the classes.
  Arg samples(int64_t(1));
  for (int64_t dim = 0; dim < rankOf(l.input); ++dim)
    if (dim != l.classDim())
      samples = l.b.times(samples, l.b.size(l.input, dim));
  return divideBy(l.b, loss, samples);
}

/// What the samples that count weigh, for a mean.
static Value totalWeight(ClassLoss &l, Value isIgnored) {
  Value counts = l.b.call(op::logical_not, {isIgnored});
  if (!l.weight)
    return l.b.call(op::sum, {counts});
  Value classes = l.b.call(op::masked_fill_Scalar, {l.target, isIgnored, 0});
  Value flat = l.b.call(op::view, {classes, {-1}});
  Value weights = l.b.call(op::index_select, {l.weight, 0, flat});
  Value flatCounts = l.b.call(op::view, {counts, {-1}});
  return l.b.call(op::sum, {l.b.call(op::mul_Tensor, {weights, flatCounts})});
}

/// The loss against equal probabilities of all classes, times C.
static Value uniformLoss(ClassLoss &l) {
  Value logs = l.input;
  if (l.weight)
    logs = l.b.call(op::mul_Tensor, {logs, alongClasses(l)});
  Value loss = negative(l.b, sumOver(l.b, logs, l.classDim()));
  Value isIgnored = l.b.call(op::eq_Scalar, {l.target, l.ignored});
  loss = l.b.call(op::masked_fill_Scalar, {loss, isIgnored, 0.0});
  if (l.reduction == 0)
    return loss;
  loss = l.b.call(op::sum, {loss});
  return l.reduction == 2
             ? loss
             : l.b.call(op::div_Tensor, {loss, totalWeight(l, isIgnored)});
}

static Value crossEntropy(Rewrite &c) {
  ClassLoss l(c);
  double smoothing = c.r.number("label_smoothing").value_or(0.0);
  l.input = c.b.call(op::_log_softmax, {l.input, l.classDim(), false});
  if (!l.input)
    return {};
  if (isa<FloatType>(elementOf(l.target)))
    return ofProbabilities(l, smoothing);
  if (smoothing == 0.0)
    return nll(l);
  Value hard = c.b.call(op::mul_Scalar, {nll(l), 1.0 - smoothing});
  Value soft = uniformLoss(l);
  if (std::optional<int64_t> classes = l.classes().getInt())
    soft = c.b.call(op::mul_Scalar,
                    {soft, smoothing / static_cast<double>(*classes)});
  else
    soft =
        divideBy(c.b, c.b.call(op::mul_Scalar, {soft, smoothing}), l.classes());
  return c.b.call(op::add_Tensor, {hard, soft});
}

namespace {
/// The loss of a linear map, whole: PyTorch computes it, and its gradients
/// ahead, in pieces of the batch.
struct LinearLoss {
  explicit LinearLoss(Rewrite &c)
      : c(c), b(c.b), input(c.r.value("input")),
        map(c.r.value("linear_weight")), classWeight(c.r.arg("weight")) {
    Type type = c.r.dtype("acc_dtype");
    logits = castTo(b, linear(b, input, map, c.r.value("linear_bias")), type);
    if (Value given = c.r.value("weight"))
      classWeight = castTo(b, given, type);
    if (c.op.getSchema().find("reduction") >= 0) {
      StringRef name = c.r.string("reduction");
      reduction = name == "mean" ? 1 : name == "sum" ? 2 : 0;
    }
  }

  Value loss() {
    Value whole =
        b.call(op::cross_entropy_loss,
               {logits, c.r.value("target"), classWeight, reduction,
                c.r.arg("ignore_index"),
                c.r.number(optional("label_smoothing")).value_or(0.0)});
    return castTo(b, whole, elementOf(input));
  }
  /// Without smoothing, which PyTorch's op has not.
  Value gradientOfLogits();

  Rewrite &c;
  CallBuilder &b;
  Value input, map, logits;
  Arg classWeight;
  int64_t reduction = 0;
};
} // namespace

Value LinearLoss::gradientOfLogits() {
  Type type = elementOf(logits);
  Value logs = b.call(op::_log_softmax, {logits, 1, false});
  Value target = c.r.value("target");
  Values forward =
      b.callMany(op::nll_loss_forward, {logs, target, classWeight, reduction,
                                        c.r.arg("ignore_index")});
  if (forward.empty())
    return {};
  Value one = b.call(op::full, {ArrayRef<int64_t>(), 1.0}, {{"dtype", type}});
  Value gradient =
      b.call(op::nll_loss_backward, {one, logs, target, classWeight, reduction,
                                     c.r.arg("ignore_index"), forward[1]});
  return b.call(op::_log_softmax_backward_data, {gradient, logs, 1, type});
}

static Value linearCrossEntropy(Rewrite &c) { return LinearLoss(c).loss(); }

/// The loss, and the gradients that somebody reads.
static Values linearCrossEntropyAndGradients(Rewrite &c) {
  LinearLoss l(c);
  CallBuilder &b = c.b;
  Values results = {l.loss(), Value(), Value(), Value()};
  auto isRead = [&](unsigned i) { return !c.result(i).use_empty(); };
  if (!isRead(1) && !isRead(2) && !isRead(3))
    return results;
  Value gradient = l.gradientOfLogits();
  if (b.failed())
    return {};
  auto product = [&](Value left, Value right) {
    return castTo(b,
                  b.call(op::mm, {left, castTo(b, right, elementOf(gradient))}),
                  elementOf(l.input));
  };
  if (isRead(1))
    results[1] = product(gradient, l.map);
  if (isRead(2))
    results[2] = product(b.call(op::transpose_int, {gradient, 0, 1}), l.input);
  if (isRead(3))
    results[3] = castTo(b, sumOver(b, gradient, 0), elementOf(l.input));
  return results;
}

const DecomposeFn decompositions::softmax = one<::softmax>;
const DecomposeFn decompositions::logSoftmax = one<::logSoftmax>;
const DecomposeFn decompositions::nllRule = one<::nllRule>;
const DecomposeFn decompositions::crossEntropy = one<::crossEntropy>;
const DecomposeFn decompositions::linearCrossEntropyAndGradients =
    many<::linearCrossEntropyAndGradients>;
const DecomposeFn decompositions::linearCrossEntropy =
    one<::linearCrossEntropy>;
