// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many backward ops of PyTorch take the forward's input although they use its
// shape only: pooling, losses of class numbers, convolution where one of its
// gradients is not asked for. Passed on, the input would have to be saved.
// Arguments live through the backward in any case, so they are passed on.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

Value autograd::shapeOnly(Vjp &v, Value forward) {
  if (!forward || isa<BlockArgument>(forward))
    return forward;
  Value zero = v.zeros(ArrayRef<Arg>(), aten::elementOf(forward));
  if (aten::rankOf(forward) == 0)
    return zero;
  return v.call(op::expand, {zero, v.b.sizes(forward)});
}
