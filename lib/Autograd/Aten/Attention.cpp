// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of fused attention. Each kernel has a backward op that computes the
// weights again from query, key, and the log-sum-exp of each row, and needs the
// output besides; it gives the gradients of query, key and value together.
//
// The kernel for CPUs has none for its mask. Asked for, it is written out:
//   P = exp(scale Q K^T + mask - logsumexp), 0 above the diagonal if causal
//   dP = G V^T
//   dS = P (dP - sum(G O))
// and dS, summed to the mask's shape, is the mask's gradient. This takes the
// memory that the kernel saves; PyTorch does not use the kernel then.

#include "AttentionScores.h"
#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

/// Sets those of the gradients of query, key and value that are asked for.
static void setGradients(Vjp &v, ArrayRef<Value> gradients) {
  static const char *const params[] = {"query", "key", "value"};
  if (v.b.failed())
    return;
  for (auto [i, param] : llvm::enumerate(params))
    if (v.needs(param))
      v.set(param, gradients[i]);
}

static bool needsHeads(const Vjp &v) {
  return v.needs("query") || v.needs("key") || v.needs("value");
}

/// Result `i`; for one that the kernel leaves undefined an empty tensor.
static Value definedResult(Vjp &v, unsigned i) {
  Value result = v.result(i);
  if (isa<RankedTensorType>(result.getType()))
    return result;
  return v.zeros(ArrayRef<int64_t>({0}), v.b.getBuilder().getI32Type());
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

/// The gradient of each attention score before its mask, [B, H, L, S].
static Value scoreGradient(Vjp &v) {
  Value weights = attentionWeights(v, v.value("query"), v.value("key"),
                                   v.value("attn_mask"), v.result(1));
  Value products = headProduct(v, v.grad(), false, v.value("value"), true);
  Value sums =
      v.call(op::sum_dim_IntList, {v.mul(v.grad(), v.result(0)), {-1}, true});
  return v.mul(weights, v.sub(products, sums));
}

static LogicalResult flashForCpu(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  if (needsHeads(v))
    setGradients(
        v,
        v.b.callMany(
            "aten._scaled_dot_product_flash_attention_for_cpu_backward."
            "default",
            {v.grad(), v.arg("query"), v.arg("key"), v.arg("value"),
             v.result(0), v.result(1), v.arg("dropout_p"), v.arg("is_causal")},
            {{"attn_mask", v.arg("attn_mask")}, {"scale", v.arg("scale")}}));
  if (v.needs("attn_mask"))
    v.set("attn_mask", scoreGradient(v));
  return v.done();
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

static LogicalResult flash(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  setGradients(v, v.b.callMany(op::_scaled_dot_product_flash_attention_backward,
                               {v.grad(), v.arg("query"), v.arg("key"),
                                v.arg("value"), v.result(0), v.result(1),
                                definedResult(v, 2), definedResult(v, 3),
                                v.result(4), v.result(5), v.arg("dropout_p"),
                                v.arg("is_causal"), v.result(6), v.result(7)},
                               {{"scale", v.arg("scale")}}));
  return v.done();
}

static LogicalResult efficient(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  if (v.in.boolean("compute_log_sumexp") == false)
    return v.error("the gradient of "
                   "'aten._scaled_dot_product_efficient_attention.default' "
                   "needs its log-sum-exp, which is not computed");
  bool bias = v.needs("attn_bias");
  SmallVector<Value> gradients =
      v.b.callMany(op::_scaled_dot_product_efficient_attention_backward,
                   {v.grad(),
                    v.arg("query"),
                    v.arg("key"),
                    v.arg("value"),
                    v.arg("attn_bias"),
                    v.result(0),
                    v.result(1),
                    v.result(2),
                    v.result(3),
                    v.arg("dropout_p"),
                    {v.needs("query"), v.needs("key"), v.needs("value"), bias},
                    v.arg("is_causal")},
                   {{"scale", v.arg("scale")}});
  setGradients(v, gradients);
  if (bias && !v.b.failed())
    v.set("attn_bias", gradients[3]);
  return v.done();
}

static LogicalResult cudnn(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  setGradients(
      v, v.b.callMany(op::_scaled_dot_product_cudnn_attention_backward,
                      {v.grad(), v.arg("query"), v.arg("key"), v.arg("value"),
                       v.result(0), v.result(1), v.result(6), v.result(7),
                       v.arg("attn_bias"), definedResult(v, 2),
                       definedResult(v, 3), v.result(4), v.result(5),
                       v.arg("dropout_p"), v.arg("is_causal")},
                      {{"scale", v.arg("scale")}}));
  return v.done();
}

const VjpFn vjps::flashForCpu = ::flashForCpu;
const VjpFn vjps::flash = ::flash;
const VjpFn vjps::efficient = ::efficient;
const VjpFn vjps::cudnn = ::cudnn;
