// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of the backward ops of fused attention, for gradients of gradients.
// PyTorch has none: who needs one there must choose the form without a kernel.
//
// The output and the log-sum-exp that a backward op reads are functions of
// query, key and value, and are counted as such: their operands get nothing.
// With G the output's gradient and a, b, c, m what arrives at the gradients of
// query, key, value and mask:
//   P = exp(s Q K^T + mask - logsumexp)     dP = G V^T
//   dS = P (dP - D)                         D = sum(P dP)
//   dV = P^T G    dQ = s dS K    dK = s dS^T Q    dMask = dS
//   E = s (a K^T + Q b^T) + m               e = sum(E P)
//   F = P (E - e)
//   W = G c^T + E (dP - D) - e dP           T = P (W - sum(W P))
//   G += P c + F V             V += F^T G
//   Q += s (dS b + T K)        K += s (dS^T a + T^T Q)        mask += T
// Half precision is computed in f32. With dropout there is no gradient: the
// numbers that the kernel drew cannot be drawn again here.

#include "AttentionScores.h"
#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

namespace {

/// x + y, where null is 0.
Value plus(Vjp &v, Value x, Value y) { return !x ? y : !y ? x : v.add(x, y); }

Value rowSums(Vjp &v, Value x) {
  return v.call(op::sum_dim_IntList, {x, {-1}, true});
}

class AttentionBackward {
public:
  AttentionBackward(CallOp op, VjpContext &context)
      : v(op, context), schema(op.getSchema()) {}

  LogicalResult run() {
    if (v.in.number("dropout_p") != 0.0)
      return v.error("no gradient of the gradient of attention with dropout");
    if (!read())
      return v.done();
    scoresGradient();
    if (v.b.failed())
      return v.done();
    setScores();
    setValues();
    return v.done();
  }

private:
  Value wide(Value x) { return x ? castTo(v.b, x, type) : x; }
  bool has(StringRef param) const { return schema.find(param) >= 0; }

  /// [B, H, L], of a log-sum-exp that is padded or has a dimension more.
  Value logSumExp() {
    Value rows = v.value("logsumexp");
    if (rankOf(rows) == 4)
      rows = v.call(op::squeeze_dim, {rows, -1});
    if (StringRef(v.in.getOp().getInfo().torchName).contains("efficient"))
      rows = v.call(op::slice_Tensor, {rows, -1, 0, v.b.size(query, 2)});
    return rows;
  }

  bool read() {
    type = elementOf(v.value("query"));
    if (!type.isF64())
      type = v.b.f32();
    query = wide(v.value("query"));
    key = wide(v.value("key"));
    value = wide(v.value("value"));
    out = has("grad_out_") ? "grad_out_" : "grad_out";
    gradient = wide(v.value(out));
    mask = has("attn_mask")   ? "attn_mask"
           : has("attn_bias") ? "attn_bias"
                              : nullptr;
    auto heads = [](Value x) { return shapeOf(x).take_front(2); };
    if (v.b.failed())
      return false;
    if (heads(key) != heads(query) || heads(value) != heads(query)) {
      v.b.error("no gradient of the gradient of attention whose heads share a "
                "key");
      return false;
    }
    scale = attentionScale(v);
    weights = attentionWeights(
        v, query, key, mask ? wide(v.value(mask)) : Value(), wide(logSumExp()));
    return !v.b.failed();
  }

  /// dP, D, dS and, where something arrives at it, E.
  void scoresGradient() {
    products = headProduct(v, gradient, false, value, true);
    sums = rowSums(v, v.mul(weights, products));
    scores = v.mul(weights, v.sub(products, sums));
    Value arrived;
    if (Value a = wide(v.grad(0)))
      arrived = headProduct(v, a, false, key, true);
    if (Value b = wide(v.grad(1)))
      arrived = plus(v, arrived, headProduct(v, query, false, b, true));
    if (arrived)
      arrived = v.mul(arrived, scale);
    if (v.in.getOp()->getNumResults() > 3)
      arrived = plus(v, arrived, wide(v.grad(3)));
    toScores = arrived;
    if (!toScores || v.b.failed())
      return;
    Value e = rowSums(v, v.mul(toScores, weights));
    toProducts = v.mul(weights, v.sub(toScores, e));
    toWeights =
        v.sub(v.mul(toScores, v.sub(products, sums)), v.mul(e, products));
  }

  /// Gradients of query, key and mask.
  void setScores() {
    Value a = wide(v.grad(0)), b = wide(v.grad(1)), c = wide(v.grad(2));
    if (c)
      toWeights = plus(v, toWeights, headProduct(v, gradient, false, c, true));
    Value again;
    if (toWeights)
      again = v.mul(weights,
                    v.sub(toWeights, rowSums(v, v.mul(toWeights, weights))));
    auto scaled = [&](Value x) { return x ? v.mul(x, scale) : x; };
    if (v.needs("query")) {
      Value sum = b ? headProduct(v, scores, false, b, false) : Value();
      if (again)
        sum = plus(v, sum, headProduct(v, again, false, key, false));
      v.set("query", scaled(sum));
    }
    if (v.needs("key")) {
      Value sum = a ? headProduct(v, scores, true, a, false) : Value();
      if (again)
        sum = plus(v, sum, headProduct(v, again, true, query, false));
      v.set("key", scaled(sum));
    }
    if (mask && v.needs(mask))
      v.set(mask, again);
  }

  /// Gradients of the output's gradient and of the values.
  void setValues() {
    if (v.needs(out)) {
      Value c = wide(v.grad(2));
      Value sum = c ? headProduct(v, weights, false, c, false) : Value();
      if (toProducts)
        sum = plus(v, sum, headProduct(v, toProducts, false, value, false));
      v.set(out, sum);
    }
    if (v.needs("value") && toProducts)
      v.set("value", headProduct(v, toProducts, true, gradient, false));
    else
      v.setNone("value");
    // They are functions of the others, which have their share.
    for (const char *name : {"out", "logsumexp"})
      v.setNone(name);
  }

  Vjp v;
  const Schema &schema;
  Type type;
  Value query, key, value, gradient, weights;
  Value products, sums, scores, toScores, toProducts, toWeights;
  const char *out = "grad_out", *mask = nullptr;
  Arg scale;
};

} // namespace

static LogicalResult attentionBackward(CallOp op, VjpContext &context) {
  return AttentionBackward(op, context).run();
}

const VjpFn vjps::attentionBackward = ::attentionBackward;
