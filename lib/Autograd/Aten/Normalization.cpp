// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of normalizations. Each has a backward op that takes the input, the
// weight and the statistics that the forward computed, and gives the gradients
// that its mask asks for. As in PyTorch the statistics are results without
// gradients of their own. The weight is read for the input's gradient only. A
// bias alone gets the sum of what arrives and reads nothing.

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
  return v.call("aten.sum.dim_IntList", {v.grad(), dims});
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

static LogicalResult nativeLayerNorm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  if (isBiasAlone(v))
    return biasAlone(v, v.grad());
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  return answer(v, v.b.callMany("aten.native_layer_norm_backward.default",
                                {v.grad(),
                                 v.value("input"),
                                 v.arg("normalized_shape"),
                                 v.result(1),
                                 v.result(2),
                                 readIf(input, v, v.value("weight")),
                                 shapeOnly(v, v.value("bias")),
                                 {input, weight, bias}}));
}

static LogicalResult nativeGroupNorm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  if (isBiasAlone(v))
    return biasAlone(v, sumOfChannels(v));
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  return answer(v, v.b.callMany("aten.native_group_norm_backward.default",
                                {v.grad(),
                                 v.value("input"),
                                 v.result(1),
                                 v.result(2),
                                 readIf(input, v, v.value("weight")),
                                 v.arg("N"),
                                 v.arg("C"),
                                 v.arg("HxW"),
                                 v.arg("group"),
                                 {input, weight, bias}}));
}

static LogicalResult fusedRmsNorm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  bool input = v.needs("input"), weight = v.needs("weight");
  return answer(v, v.b.callMany("aten._fused_rms_norm_backward.default",
                                {v.grad(),
                                 v.value("input"),
                                 v.arg("normalized_shape"),
                                 v.result(1),
                                 readIf(input, v, v.value("weight")),
                                 {input, weight}}));
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// With batch statistics the running ones are not read (by now they have their
/// next values), and the other way round.
static LogicalResult batchNorm(CallOp op, VjpContext &context, bool training,
                               ParamRef epsilon) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  if (isBiasAlone(v))
    return biasAlone(v, sumOfChannels(v));
  bool input = v.needs("input"), weight = v.needs("weight"),
       bias = v.needs("bias");
  Arg none;
  return answer(v, v.b.callMany("aten.native_batch_norm_backward.default",
                                {v.grad(),
                                 v.value("input"),
                                 readIf(input, v, v.value("weight")),
                                 training ? none : v.arg("running_mean"),
                                 training ? none : v.arg("running_var"),
                                 training ? Arg(v.result(1)) : none,
                                 training ? Arg(v.result(2)) : none,
                                 training,
                                 v.arg(epsilon),
                                 {input, weight, bias}}));
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

static void weightNorm(Vjp &v) {
  if (!v.grad(0))
    return;
  SmallVector<Value> both = v.b.callMany(
      "aten._weight_norm_interface_backward.default",
      {v.grad(0), v.value("v"), v.value("g"), v.result(1), v.arg("dim")});
  if (both.empty())
    return;
  v.set("v", both[0]);
  v.set("g", both[1]);
}

VjpTable autograd::normalizationVjps() {
  static constexpr VjpRule rules[] = {
      {"aten.native_layer_norm.default", nativeLayerNorm},
      {"aten.native_group_norm.default", nativeGroupNorm},
      {"aten._fused_rms_norm.default", fusedRmsNorm},
      {"aten.native_batch_norm.default", nativeBatchNorm},
      {"aten._native_batch_norm_legit.default", nativeBatchNorm},
      {"aten._native_batch_norm_legit.no_stats", nativeBatchNorm},
      {"aten._native_batch_norm_legit_functional.default", nativeBatchNorm},
      {"aten._native_batch_norm_legit_no_training.default", evaluatedBatchNorm},
      {"aten.cudnn_batch_norm.default", cudnnBatchNorm},
      {"aten._weight_norm_interface.default", vjp<weightNorm>},
  };
  return rules;
}
