// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of embeddings: rows of the gradient are added where the indices say. Of
// the table only the number of rows is read, but for the weights per sample,
// whose gradients are products with its rows. Bags are linear in both, so their
// gradients are bags again. A gradient is always dense:
// `sparse` says how PyTorch stores it, not what it is.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult embedding(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("weight",
        v.call(op::embedding_dense_backward,
               {v.grad(), v.arg("indices"), v.b.size(v.value("weight"), 0),
                v.arg("padding_idx"), v.arg("scale_grad_by_freq")}));
  return v.done();
}

static LogicalResult embeddingBag(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (!v.grad())
    return v.done();
  if (v.needs("weight"))
    v.set("weight",
          v.call(op::_embedding_bag_backward,
                 {v.grad(), v.arg("indices"), v.arg("offsets"), v.result(1),
                  v.result(2), v.result(3), v.b.size(v.value("weight"), 0),
                  v.arg("scale_grad_by_freq"), v.arg("mode"), false,
                  v.arg("per_sample_weights"), v.arg("padding_idx")}));
  if (v.needs("per_sample_weights"))
    v.set("per_sample_weights",
          v.call(op::_embedding_bag_per_sample_weights_backward,
                 {v.grad(), v.arg("weight"), v.arg("indices"), v.arg("offsets"),
                  v.result(1), v.arg("mode"), v.arg("padding_idx")}));
  return v.done();
}

/// The last offset is the end of the last bag: the call does not say so.
static bool includesLastOffset(Vjp &v) {
  int64_t bags = shapeOf(v.value("grad"))[0];
  int64_t offsets = shapeOf(v.value("offsets"))[0];
  if (ShapedType::isDynamic(bags) || ShapedType::isDynamic(offsets))
    v.b.error("no rule for the second derivative of bags whose number is not "
              "known");
  return bags + 1 == offsets;
}

/// Of maxima: where each element came from, which an empty bag has not.
static Value takenFrom(Vjp &v, Value table) {
  Value taken = v.call(op::gather, {table, 0, v.arg("maximum_indices")});
  Value size = v.call(op::unsqueeze, {v.arg("bag_size"), 1});
  return v.keepWhere(v.call(op::gt_Scalar, {size, 0}), taken);
}

/// A bag's gradient went, with its weights, to the rows that it is made of: the
/// gradient of that is the same bag of what arrives. Each weight multiplied the
/// bag's gradient on its way to one row.
static LogicalResult embeddingBagBackward(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.in.boolean("scale_grad_by_freq") == true)
    return v.error("no rule for the second derivative of rows that are scaled "
                   "by how often they occur");
  if (v.needs("grad") && v.in.integer("mode") == 2) {
    v.set("grad", takenFrom(v, v.grad()));
  } else if (v.needs("grad")) {
    SmallVector<Value> bags =
        v.b.callMany(op::_embedding_bag,
                     {v.grad(), v.arg("indices"), v.arg("offsets"), false,
                      v.arg("mode"), false, v.arg("per_sample_weights"),
                      includesLastOffset(v), v.arg("padding_idx")});
    v.set("grad", bags.empty() ? Value() : bags.front());
  }
  if (v.needs("per_sample_weights"))
    v.set("per_sample_weights",
          v.call(op::_embedding_bag_per_sample_weights_backward,
                 {v.arg("grad"), v.grad(), v.arg("indices"), v.arg("offsets"),
                  v.arg("offset2bag"), v.arg("mode"), v.arg("padding_idx")}));
  return v.done();
}

/// The product of a bag's gradient and a row, for each sample: weights that
/// arrive make a bag of rows, and give rows the gradients of their bags.
static LogicalResult embeddingBagWeightsBackward(CallOp op,
                                                 VjpContext &context) {
  Vjp v(op, context);
  SmallVector<Value> bags = v.b.callMany(
      op::_embedding_bag, {v.arg("weight"), v.arg("indices"), v.arg("offsets"),
                           false, v.arg("mode"), false, v.grad(),
                           includesLastOffset(v), v.arg("padding_idx")});
  if (v.b.failed())
    return v.done();
  v.set("grad", bags.front());
  if (v.needs("weight"))
    v.set("weight",
          v.call(op::_embedding_bag_backward,
                 {v.arg("grad"), v.arg("indices"), v.arg("offsets"), bags[1],
                  bags[2], bags[3], v.b.size(v.value("weight"), 0), false,
                  v.arg("mode"), false, v.grad(), v.arg("padding_idx")}));
  return v.done();
}

const VjpFn vjps::embedding = ::embedding;
const VjpFn vjps::embeddingBagBackward = ::embeddingBagBackward;
const VjpFn vjps::embeddingBagWeightsBackward = ::embeddingBagWeightsBackward;
const VjpFn vjps::embeddingBag = ::embeddingBag;
