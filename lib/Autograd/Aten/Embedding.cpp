// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of embeddings: rows of the gradient are added where the indices say. Of
// the table only the number of rows is read, but for the weights per sample,
// whose gradients are products with its rows. A gradient is always dense:
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

const VjpFn vjps::embedding = ::embedding;
const VjpFn vjps::embeddingBag = ::embeddingBag;
