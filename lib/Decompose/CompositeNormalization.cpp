// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations as the ops that also give the statistics which their
// gradients read, and dropouts.
//
// `rms_norm` becomes `_fused_rms_norm`, which saves one number a row.
// `instance_norm` of its own statistics is `group_norm` with a group for each
// channel. A batch norm that still has to update its statistics is an error:
// that is a write, and functionalization's business.
//
// `dropout` is `native_dropout`, whose mask is what the gradient reads; without
// training, or with probability 0, it is its input.

#include "Rules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value first(const Values &values) {
  return values.empty() ? Value() : values.front();
}

static Value layerNorm(Rewrite &c) {
  return first(
      c.b.callMany(op::native_layer_norm,
                   {c.r.value("input"), c.r.arg("normalized_shape"),
                    c.r.arg("weight"), c.r.arg("bias"), c.r.arg("eps")}));
}

static Value rmsNorm(Rewrite &c) {
  return first(c.b.callMany(op::_fused_rms_norm,
                            {c.r.value("input"), c.r.arg("normalized_shape"),
                             c.r.arg("weight"), c.r.arg("eps")}));
}

static Value groupNormOf(Rewrite &c, const Arg &groups) {
  Value input = c.r.value("input");
  return first(c.b.callMany(op::native_group_norm,
                            {input, c.r.arg("weight"), c.r.arg("bias"),
                             c.b.size(input, 0), c.b.size(input, 1),
                             countOf(c.b, input, 2, rankOf(input)), groups,
                             c.r.arg("eps")}));
}

static Value groupNorm(Rewrite &c) {
  return groupNormOf(c, c.r.arg("num_groups"));
}

/// Running statistics given; nothing to update. The statistics of the batch,
/// which nobody reads then, are empty, as PyTorch's CPU kernel gives them.
static Values evaluated(Rewrite &c) {
  Values results =
      c.b.callMany(op::_native_batch_norm_legit_no_training,
                   {c.r.value("input"), c.r.arg("weight"), c.r.arg("bias"),
                    c.r.arg("running_mean"), c.r.arg("running_var"),
                    c.r.arg("momentum"), c.r.arg("eps")});
  for (Value statistic : ArrayRef<Value>(results).drop_front(!results.empty()))
    statistic.setType(RankedTensorType::get({0}, elementOf(statistic)));
  return results;
}

static Value evaluatedBatchNorm(Rewrite &c) { return first(evaluated(c)); }

static Value failToUpdate(Rewrite &c) {
  c.b.error("'" + c.packet() +
            "' updates its running statistics: run "
            "--cutback-functionalize first");
  return {};
}

static Value instanceNorm(Rewrite &c) {
  bool own = c.r.boolean("use_input_stats").value_or(true);
  if (!own)
    return evaluatedBatchNorm(c);
  if (!c.r.isNone("running_mean"))
    return failToUpdate(c);
  int64_t channels = shapeOf(c.r.value("input"))[1];
  if (ShapedType::isDynamic(channels)) {
    c.b.error("'aten.instance_norm' over channels whose number is not known");
    return {};
  }
  return groupNormOf(c, channels);
}

/// Of no elements PyTorch takes any rank, and the first channel's factors.
static Value batchNormOfNothing(Rewrite &c) {
  Value result = c.b.call(op::clone, {c.r.value("input")});
  auto first = [&](const char *name) {
    return c.b.call(op::select_int, {c.r.value(name), 0, 0});
  };
  if (!c.r.isNone("weight"))
    result = c.b.call(op::mul_Tensor, {result, first("weight")});
  if (!c.r.isNone("bias"))
    result = c.b.call(op::add_Tensor, {result, first("bias")});
  return result;
}

static Value batchNorm(Rewrite &c) {
  if (llvm::is_contained(shapeOf(c.r.value("input")), 0))
    return batchNormOfNothing(c);
  bool training = c.r.boolean("training").value_or(true);
  if (!training)
    return evaluatedBatchNorm(c);
  if (!c.r.isNone("running_mean"))
    return failToUpdate(c);
  return first(
      c.b.callMany(op::_native_batch_norm_legit_no_stats,
                   {c.r.value("input"), c.r.arg("weight"), c.r.arg("bias"),
                    true, c.r.arg("momentum"), c.r.arg("eps")}));
}

/// What cuDNN keeps for the backward; other devices keep nothing.
static Value noReserve(CallBuilder &b) {
  Type byte = b.getBuilder().getIntegerType(8, /*isSigned=*/false);
  return b.call(op::empty_memory_format, {{0}}, {{"dtype", byte}});
}

/// The running statistics stand behind the reserve.
static Values updatedBatchNorm(Rewrite &c) {
  Values results =
      c.b.callMany(op::_native_batch_norm_legit_functional,
                   {c.r.value("input"), c.r.arg("weight"), c.r.arg("bias"),
                    c.r.arg("running_mean"), c.r.arg("running_var"), true,
                    c.r.arg("momentum"), c.r.arg("eps")});
  if (!results.empty())
    results.insert(results.begin() + 3, noReserve(c.b));
  return results;
}

static Values batchNormAsItStands(Rewrite &c) {
  Values results = evaluated(c);
  if (!results.empty())
    results.push_back(noReserve(c.b));
  return results;
}

static Values gradientsOfBatchNorm(Rewrite &c) {
  return c.b.callMany(op::native_batch_norm_backward,
                      {c.r.value("grad_out"), c.r.value("input"),
                       c.r.arg("weight"), c.r.arg("running_mean"),
                       c.r.arg("running_var"), c.r.arg("save_mean"),
                       c.r.arg("save_var"), c.r.arg("update"), c.r.arg("eps"),
                       c.r.arg("output_mask")});
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static bool dropsNothing(Rewrite &c) {
  return c.r.boolean("train") == false || c.r.number("p") == 0.0;
}

static Value dropout(Rewrite &c) {
  Value input = c.r.value("input");
  if (dropsNothing(c))
    return input;
  return first(c.b.callMany(op::native_dropout, {input, c.r.arg("p"), true}));
}

/// Ones of [N, C, 1, ..]: a feature drops as a whole.
static Value onesOfFeatures(Rewrite &c, Value input) {
  std::vector<Arg> sizes(std::max<int64_t>(rankOf(input), 2), Arg(int64_t(1)));
  sizes[0] = c.b.size(input, 0);
  sizes[1] = c.b.size(input, 1);
  return c.b.call(op::new_ones, {input, sizes});
}

static Value featureDropout(Rewrite &c) {
  Value input = c.r.value("input");
  if (dropsNothing(c))
    return input;
  Value kept = first(c.b.callMany(
      op::native_dropout, {onesOfFeatures(c, input), c.r.arg("p"), true}));
  return c.b.call(op::mul_Tensor, {input, kept});
}

/// Dropped elements become what keeps mean and variance under `selu`; where all
/// drop there is no such value, and they are zero.
static Value alphaDropout(Rewrite &c) {
  constexpr double alpha = 1.7580993408473766;
  Value input = c.r.value("input");
  double p = c.r.number("p").value_or(0.5);
  if (dropsNothing(c))
    return input;
  if (p == 1.0)
    return c.b.call(op::mul_Scalar, {input, 0.0});
  double a = 1.0 / std::sqrt((alpha * alpha * p + 1.0) * (1.0 - p));
  Value ones = c.packet() == "aten.feature_alpha_dropout"
                   ? onesOfFeatures(c, input)
                   : c.b.call(op::ones_like, {input});
  Value kept = c.b.call(op::bernoulli_p, {ones, 1.0 - p});
  Value scale = c.b.call(op::mul_Scalar, {kept, a});
  Value shift =
      c.b.call(op::add_Scalar, {c.b.call(op::mul_Scalar, {kept, alpha * a}),
                                alpha * a * (p - 1.0)});
  return c.b.call(op::add_Tensor,
                  {c.b.call(op::mul_Tensor, {input, scale}), shift});
}

const DecomposeFn decompositions::layerNorm = one<::layerNorm>;
const DecomposeFn decompositions::rmsNorm = one<::rmsNorm>;
const DecomposeFn decompositions::groupNorm = one<::groupNorm>;
const DecomposeFn decompositions::instanceNorm = one<::instanceNorm>;
const DecomposeFn decompositions::batchNorm = one<::batchNorm>;
const DecomposeFn decompositions::updatedBatchNorm = many<::updatedBatchNorm>;
const DecomposeFn decompositions::batchNormAsItStands =
    many<::batchNormAsItStands>;
const DecomposeFn decompositions::gradientsOfBatchNorm =
    many<::gradientsOfBatchNorm>;
const DecomposeFn decompositions::dropout = one<::dropout>;
const DecomposeFn decompositions::featureDropout = one<::featureDropout>;
const DecomposeFn decompositions::alphaDropout = one<::alphaDropout>;
