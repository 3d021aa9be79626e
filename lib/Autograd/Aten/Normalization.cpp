// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of normalizations. Each has a backward op that takes the input, the
// weight and the statistics that the forward computed, and gives the gradients
// that its mask asks for. The statistics are results with gradients of their
// own, which are added to the input's: backwards that PyTorch took apart read
// them, so second derivatives go through them. The weight is read for the
// input's gradient only. A bias alone gets the sum of what arrives and reads
// nothing.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

/// The gradient of one number a channel (dimension 1) that is added.
static Value sumOfChannels(Vjp &v) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rankOf(v.grad()); ++dim)
    if (dim != 1)
      dims.push_back(dim);
  return v.call(op::sum_dim_IntList, {v.grad(), dims});
}

static bool isBiasAlone(Vjp &v) {
  return !v.needs("input") && !v.needs("weight");
}

static LogicalResult biasAlone(Vjp &v, Value gradient) {
  v.set("bias", gradient);
  return v.done();
}

/// Gradients in the order input, weight, bias.
static LogicalResult answer(Vjp &v, ArrayRef<Value> gradients) {
  static const char *const params[] = {"input", "weight", "bias"};
  for (auto [param, gradient] : llvm::zip(params, gradients))
    if (v.needs(param))
      v.set(param, gradient);
  return v.done();
}

/// Adds what gradients of statistics give, which may be null, to the input's.
static LogicalResult answer(Vjp &v, SmallVector<Value> gradients,
                            Value ofStatistics) {
  if (ofStatistics && !gradients.empty())
    gradients[0] = v.add(gradients[0], ofStatistics);
  return answer(v, gradients);
}

/// The answer where the statistics alone have gradients.
static LogicalResult statisticsAlone(Vjp &v, Value ofStatistics) {
  v.set("input", ofStatistics);
  v.setNone("weight");
  v.setNone(optional("bias"));
  return v.done();
}

/// By number of elements: -gradient * rstd^3 / count.
static Value slopeOfRstd(Vjp &v, Value gradient, Value rstd, const Arg &count) {
  Value cube = v.call(op::pow_Tensor_Scalar, {rstd, 3});
  return v.neg(v.call(op::div_Scalar, {v.mul(gradient, cube), count}));
}

/// What the gradients of results 1 and 2, the mean and rstd of `count` elements
/// of `x` each, give `x`; null if there are none. `spread` gives a statistic
/// the rank of `x`.
static Value ofMeanAndRstd(Vjp &v, Value x, const Arg &count,
                           llvm::function_ref<Value(Value)> spread) {
  Value total;
  if (Value mean = v.grad(1))
    total = v.call(op::expand, {spread(v.call(op::div_Scalar, {mean, count})),
                                v.b.sizes(x)});
  if (Value rstd = v.grad(2)) {
    Value slope = slopeOfRstd(v, rstd, v.result(2), count);
    Value along = v.mul(v.sub(x, spread(v.result(1))), spread(slope));
    total = total ? v.add(total, along) : along;
  }
  return total;
}

/// Whether the input's gradient has a part that comes through results 1 and 2.
static bool readsMeanOrRstd(Vjp &v) {
  Value mean = v.grad(1), rstd = v.grad(2);
  return (mean || rstd) && v.needs("input");
}

static Value ofGroupStatistics(Vjp &v) {
  if (!readsMeanOrRstd(v))
    return {};
  // A row a group. Of no samples the length of one does not follow.
  Arg length = -1;
  std::optional<int64_t> channels = v.arg("C").getInt(),
                         places = v.arg("HxW").getInt(),
                         groups = v.arg("group").getInt();
  if (channels && places && groups.value_or(0) > 0)
    length = *channels * *places / *groups;
  Value rows = v.call(op::reshape,
                      {v.value("input"), {v.arg("N"), v.arg("group"), length}});
  if (!rows)
    return {};
  Value total = ofMeanAndRstd(v, rows, v.b.size(rows, 2), [&](Value x) {
    return v.call(op::unsqueeze, {x, -1});
  });
  return v.call(op::reshape, {total, v.b.sizes(v.value("input"))});
}

/// Elements of `input` in its last dimensions, as many as are normalized.
static Arg countNormalized(Vjp &v, Value input) {
  Arg count = 1;
  for (size_t i = 1; i <= v.in.list("normalized_shape").size(); ++i)
    count = v.b.times(count, v.b.size(input, -static_cast<int64_t>(i)));
  return count;
}

/// The statistics of layer norm keep the dimensions that they combine.
static Value ofLayerStatistics(Vjp &v) {
  if (!readsMeanOrRstd(v))
    return {};
  Value input = v.value("input");
  return ofMeanAndRstd(v, input, countNormalized(v, input),
                       [](Value x) { return x; });
}

/// Those of batch norm have a number a channel.
static Value ofBatchStatistics(Vjp &v) {
  if (!readsMeanOrRstd(v))
    return {};
  Value input = v.value("input");
  Arg count = v.b.size(input, 0);
  for (int64_t dim = 2; dim < rankOf(input); ++dim)
    count = v.b.times(count, v.b.size(input, dim));
  return ofMeanAndRstd(v, input, count, [&](Value x) {
    for (int64_t dim = 2; dim < rankOf(input); ++dim)
      x = v.call(op::unsqueeze, {x, -1});
    return x;
  });
}

/// The same of the root mean square.
static Value ofRootMeanSquare(Vjp &v) {
  if (!v.grad(1) || !v.needs("input"))
    return {};
  Value input = v.value("input");
  return v.mul(
      input, slopeOfRstd(v, v.grad(1), v.result(1), countNormalized(v, input)));
}

static LogicalResult nativeLayerNorm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value ofStatistics = ofLayerStatistics(v);
  if (!v.grad())
    return statisticsAlone(v, ofStatistics);
  if (isBiasAlone(v))
    return biasAlone(v, v.grad());
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  return answer(v,
                v.b.callMany(op::native_layer_norm_backward,
                             {v.grad(),
                              v.value("input"),
                              v.arg("normalized_shape"),
                              v.result(1),
                              v.result(2),
                              readIf(input, v, v.value("weight")),
                              shapeOnly(v, v.value("bias")),
                              {input, weight, bias}}),
                ofStatistics);
}

static LogicalResult nativeGroupNorm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value ofStatistics = ofGroupStatistics(v);
  if (!v.grad())
    return statisticsAlone(v, ofStatistics);
  if (isBiasAlone(v))
    return biasAlone(v, sumOfChannels(v));
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  return answer(v,
                v.b.callMany(op::native_group_norm_backward,
                             {v.grad(),
                              v.value("input"),
                              v.result(1),
                              v.result(2),
                              readIf(input, v, v.value("weight")),
                              v.arg("N"),
                              v.arg("C"),
                              v.arg("HxW"),
                              v.arg("group"),
                              {input, weight, bias}}),
                ofStatistics);
}

static LogicalResult fusedRmsNorm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (failed(refuseComplex(v)))
    return failure();
  Value ofStatistics = ofRootMeanSquare(v);
  if (!v.grad())
    return statisticsAlone(v, ofStatistics);
  bool input = v.needs("input"), weight = v.needs("weight");
  return answer(v,
                v.b.callMany(op::_fused_rms_norm_backward,
                             {v.grad(),
                              v.value("input"),
                              v.arg("normalized_shape"),
                              v.result(1),
                              readIf(input, v, v.value("weight")),
                              {input, weight}}),
                ofStatistics);
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// With batch statistics the running ones are not read (by now they have their
/// next values), and the other way round.
static LogicalResult batchNorm(CallOp op, VjpContext &context, bool training,
                               ParamRef epsilon) {
  Vjp v(op, context);
  // Without training they are empty, or copies.
  Value ofStatistics = training ? ofBatchStatistics(v) : Value();
  if (!v.grad())
    return statisticsAlone(v, ofStatistics);
  if (isBiasAlone(v))
    return biasAlone(v, sumOfChannels(v));
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  Arg none;
  return answer(v,
                v.b.callMany(op::native_batch_norm_backward,
                             {v.grad(),
                              v.value("input"),
                              readIf(input, v, v.value("weight")),
                              training ? none : v.arg(optional("running_mean")),
                              training ? none : v.arg(optional("running_var")),
                              training ? Arg(v.result(1)) : none,
                              training ? Arg(v.result(2)) : none,
                              training,
                              v.arg(epsilon),
                              {input, weight, bias}}),
                ofStatistics);
}

static LogicalResult nativeBatchNorm(CallOp op, VjpContext &context) {
  bool training = aten::CallReader(op).boolean("training").value_or(true);
  return batchNorm(op, context, training, "eps");
}

static LogicalResult evaluatedBatchNorm(CallOp op, VjpContext &context) {
  return batchNorm(op, context, /*training=*/false, "eps");
}

static LogicalResult cudnnBatchNorm(CallOp op, VjpContext &context) {
  bool training = aten::CallReader(op).boolean("training").value_or(true);
  return batchNorm(op, context, training, "epsilon");
}

/// Result 1 is the norm of each slice of `v`.
static void weightNorm(Vjp &v) {
  Value direction, ofNorm = v.grad(1);
  if (v.grad(0)) {
    SmallVector<Value> both = v.b.callMany(
        op::_weight_norm_interface_backward,
        {v.grad(0), v.value("v"), v.value("g"), v.result(1), v.arg("dim")});
    if (both.empty())
      return;
    direction = both[0];
    v.set("g", both[1]);
  } else {
    v.setNone("g");
  }
  if (ofNorm && v.needs("v")) {
    Value along = v.mul(v.value("v"), v.div(ofNorm, v.result(1)));
    direction = direction ? v.add(direction, along) : along;
  }
  v.set("v", direction);
}

const VjpFn vjps::nativeLayerNorm = ::nativeLayerNorm;
const VjpFn vjps::nativeGroupNorm = ::nativeGroupNorm;
const VjpFn vjps::fusedRmsNorm = ::fusedRmsNorm;
const VjpFn vjps::nativeBatchNorm = ::nativeBatchNorm;
const VjpFn vjps::evaluatedBatchNorm = ::evaluatedBatchNorm;
const VjpFn vjps::cudnnBatchNorm = ::cudnnBatchNorm;
const VjpFn vjps::weightNorm = vjp<::weightNorm>;
